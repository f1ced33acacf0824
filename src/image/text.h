// Internal to image/: files and JSON from outside, read with limits.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace hf::image {

/// The bytes of a file. `kind` begins the messages ("image 'x' does not exist"); `look` is called with the first bytes
/// and may throw before the rest is read. Throws NotFound, Io, InvalidArgument (directory, more than `max_bytes`).
std::string read_file(const std::filesystem::path& path, std::string_view kind, std::size_t max_bytes,
                      const std::function<void(std::string_view)>& look = {});

/// Parses JSON nested at most 8 deep, so that nothing that recurses over it runs out of stack. `what` begins the
/// messages, `hint` ends them. Throws InvalidArgument.
nlohmann::json parse_json(std::string_view text, std::string_view what, std::string_view hint);

/// The first 60 bytes of a user's text, on one line and in single quotes, for messages.
std::string excerpt(std::string_view text);

}  // namespace hf::image

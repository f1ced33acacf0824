// Reading files and JSON that may be anything.
#include "image/text.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.h"

namespace hf::image {
namespace {

constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxExcerpt = 60;

}  // namespace

std::string read_file(const std::filesystem::path& path, std::string_view kind, std::size_t max_bytes,
                      const std::function<void(std::string_view)>& look) {
  const std::string name = path.string();
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    fail(Code::InvalidArgument, "{} '{}' is a directory; give a file", kind, name);
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "rb"), std::fclose);
  if (file == nullptr) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) fail(Code::NotFound, "{} '{}' does not exist; check the path", kind, name);
    fail(Code::Io, "{} '{}' can't be opened: {}", kind, name, std::generic_category().message(error));
  }
  std::string bytes;
  char chunk[1 << 14];
  while (const std::size_t got = std::fread(chunk, 1, sizeof chunk, file.get())) {
    if (bytes.empty() && look) look({chunk, got});
    bytes.append(chunk, got);
    if (bytes.size() > max_bytes) {
      fail(Code::InvalidArgument, "{} '{}' has more than '{}' bytes; give a smaller file", kind, name, max_bytes);
    }
  }
  if (std::ferror(file.get()) != 0) {
    fail(Code::Io, "{} '{}' can't be read after '{}' bytes: {}", kind, name, bytes.size(),
         std::generic_category().message(errno));
  }
  return bytes;
}

nlohmann::json parse_json(std::string_view text, std::string_view what, std::string_view hint) {
  using nlohmann::json;
  const auto check_depth = [&](int depth, json::parse_event_t, json&) {
    if (depth <= kMaxDepth) return true;
    fail(Code::InvalidArgument, "{} is JSON nested deeper than '{}'; {}", what, kMaxDepth, hint);
  };
  try {
    return json::parse(text, check_depth);
  } catch (const json::parse_error& error) {
    fail(Code::InvalidArgument, "{} is not valid JSON, at byte '{}'; {}", what, error.byte, hint);
  } catch (const json::out_of_range&) {  // a number beyond the range of double
    fail(Code::InvalidArgument, "{} holds a number that is too large; {}", what, hint);
  }
}

std::string excerpt(std::string_view text) {
  std::string start(text.substr(0, kMaxExcerpt));
  for (char& c : start) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return fmt::format("'{}{}'", start, text.size() > kMaxExcerpt ? "..." : "");
}

}  // namespace hf::image

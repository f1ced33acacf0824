// From a classifier's scores to words: label files, probabilities, the best k.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hf::image {

/// The labels by class index. Forms:
/// - text: one a line, UTF-8, LF or CRLF, byte order mark allowed; blanks at a line's end and blank lines
///   at the file's end are dropped, other blank lines keep their place as empty labels;
/// - JSON, if the suffix is .json or the text starts with [" or {" (spaces allowed between): ["cat", "dog"] or
///   {"0": "cat", "1": "dog"}; missing numbers become empty labels. A label may itself be a list, of which the last
///   string counts (Keras: {"0": ["n01440764", "tench"]}).
/// Throws NotFound, Io, InvalidArgument (directory, empty, not UTF-8, malformed JSON, over a million labels or 64 MiB).
std::vector<std::string> load_labels(const std::filesystem::path& path);

/// The same for a text in memory. `name` is used in messages, and its suffix as above.
std::vector<std::string> parse_labels(std::string_view text, std::string_view name);

/// True if all values are in [0, 1] and their sum is within 1e-3 of 1.
bool is_distribution(std::span<const float> values);

/// The values themselves if is_distribution(), else their softmax, computed in double against overflow. A NaN or +inf
/// among the scores makes NaN.
std::vector<float> to_probabilities(std::span<const float> scores);

struct Ranked {
  int index;
  float value;
};

/// The k largest (all if there are fewer), best first; of equal ones the lower index first; NaN last.
std::vector<Ranked> top_k(std::span<const float> values, int k);

}  // namespace hf::image

// Label files and ranking.
#include "image/labels.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <system_error>

#include "base/error.h"
#include "image/text.h"

namespace hf::image {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxLabels = 1'000'000;
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kBlanks = " \t\r\n";

// Length of the UTF-8 sequence at the start of `text`, 0 if it is not one (RFC 3629: no overlong forms, no surrogates).
std::size_t utf8_length(std::string_view text) {
  struct Lead {
    unsigned low, high, least, most;  // lead byte, then the range of the second byte
    std::size_t length;
  };
  static constexpr Lead kLeads[] = {
      {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
      {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
      {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
  };
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  for (const Lead& lead : kLeads) {
    if (byte(0) < lead.low || byte(0) > lead.high) continue;
    if (text.size() < lead.length) return 0;
    if (lead.length > 1 && (byte(1) < lead.least || byte(1) > lead.most)) return 0;
    for (std::size_t i = 2; i < lead.length; ++i) {
      if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    return lead.length;
  }
  return 0;
}

void check_utf8(std::string_view text, std::string_view name) {
  std::size_t line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) {
      fail(Code::InvalidArgument, "label file '{}' is not UTF-8 text: line '{}' has byte '{:02x}'; save it as UTF-8",
           name, line, static_cast<unsigned char>(text[i]));
    }
    if (text[i] == '\n') ++line;
    i += length;
  }
}

void check_count(std::size_t count, std::string_view name) {
  if (count == 0) fail(Code::InvalidArgument, "label file '{}' holds no label; want one a line", name);
  if (count <= kMaxLabels) return;
  fail(Code::InvalidArgument, "label file '{}' goes beyond number '{}'; give one label a line", name, kMaxLabels);
}

std::vector<std::string> from_lines(std::string_view text, std::string_view name) {
  std::vector<std::string> labels;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    while (!line.empty() && kBlanks.find(line.back()) != std::string_view::npos) line.remove_suffix(1);
    labels.emplace_back(line);
    if (labels.size() > kMaxLabels) break;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  check_count(labels.size(), name);
  return labels;
}

std::string json_label(const json& value, std::string_view name, std::string_view key) {
  const json& last = value.is_array() && !value.empty() ? value.back() : value;
  if (last.is_string()) return last.get<std::string>();
  fail(Code::InvalidArgument, "label file '{}': entry {} is a {}; want a string", name, excerpt(key), last.type_name());
}

std::vector<std::string> from_json(std::string_view text, std::string_view name) {
  const json root = parse_json(text, fmt::format("label file '{}'", name), "want one label a line, or a JSON array");
  if (!root.is_array() && !root.is_object()) {
    fail(Code::InvalidArgument,
         "label file '{}' is a JSON {}; want an array of strings or an object such as {{\"0\": \"cat\"}}", name,
         root.type_name());
  }
  std::vector<std::string> labels(root.is_array() ? root.size() : 0);
  for (const auto& [key, value] : root.items()) {  // an array's keys are its indices
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (error == std::errc::invalid_argument || end != key.data() + key.size()) {
      fail(Code::InvalidArgument, "label file '{}': key {} is not a class number", name, excerpt(key));
    }
    if (error != std::errc() || index >= kMaxLabels) check_count(kMaxLabels + 1, name);
    if (index >= labels.size()) labels.resize(index + 1);
    labels[index] = json_label(value, name, key);
  }
  check_count(labels.size(), name);
  return labels;
}

// An opening bracket followed by a quote; a plain list may well start with a label such as "[UNK]".
bool looks_like_json(std::string_view text, std::string_view name) {
  if (name.ends_with(".json")) return true;
  const std::size_t open = text.find_first_not_of(kBlanks);
  if (open == std::string_view::npos || (text[open] != '[' && text[open] != '{')) return false;
  const std::size_t next = text.find_first_not_of(kBlanks, open + 1);
  return next != std::string_view::npos && text[next] == '"';
}

}  // namespace

std::vector<std::string> load_labels(const std::filesystem::path& path) {
  return parse_labels(read_file(path, "label file", kMaxBytes), path.string());
}

std::vector<std::string> parse_labels(std::string_view text, std::string_view name) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  check_utf8(text, name);
  return looks_like_json(text, name) ? from_json(text, name) : from_lines(text, name);
}

bool is_distribution(std::span<const float> values) {
  double sum = 0;
  for (float value : values) {
    if (!(value >= 0 && value <= 1)) return false;
    sum += value;
  }
  return std::abs(sum - 1) <= 1e-3;
}

std::vector<float> to_probabilities(std::span<const float> scores) {
  std::vector<float> out(scores.begin(), scores.end());
  if (out.empty() || is_distribution(scores)) return out;
  const double most = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (float score : scores) sum += std::exp(score - most);
  for (float& value : out) value = static_cast<float>(std::exp(value - most) / sum);
  return out;
}

std::vector<Ranked> top_k(std::span<const float> values, int k) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto better = [&](int a, int b) {
    const float x = values[static_cast<std::size_t>(a)], y = values[static_cast<std::size_t>(b)];
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y) ? a < b : std::isnan(y);
    return x != y ? x > y : a < b;
  };
  const std::size_t count = std::min(static_cast<std::size_t>(std::max(k, 0)), order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), better);
  order.resize(count);
  std::vector<Ranked> out;
  for (int index : order) out.push_back({index, values[static_cast<std::size_t>(index)]});
  return out;
}

}  // namespace hf::image

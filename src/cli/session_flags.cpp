// The options that every command with a session shares.
#include "cli/session_flags.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/settings.h"

namespace hf::cli {
namespace {

constexpr int kMostThreads = 4096;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t end = text.find(separator); end != text.npos; end = text.find(separator)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

int64_t parse_number(std::string_view option, const std::string& part, const std::string& whole, int64_t least) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc() || end != part.data() + part.size() || value < least)
    fail(Code::InvalidArgument, "{} '{}': '{}' should be a whole number of at least {}", option, whole, part, least);
  return value;
}

constexpr std::pair<std::string_view, DType> kPrecisions[] = {
    {"auto", DType::Undefined}, {"fp32", DType::F32}, {"fp16", DType::F16}, {"bf16", DType::BF16}};

DType parse_precision(const std::string& text) {
  for (const auto& [name, dtype] : kPrecisions)
    if (text == name) return dtype;
  fail(Code::InvalidArgument, "--precision '{}' is none of auto, fp32, fp16, bf16", text);
}

int64_t parse_bytes(std::string_view option, const std::string& text) {
  size_t unit = std::string_view("KMG").find(text.back());
  int shift = unit == std::string_view::npos ? 0 : 10 * (static_cast<int>(unit) + 1);
  std::string digits = shift ? text.substr(0, text.size() - 1) : text;
  int64_t number = parse_number(option, digits, text, 1);
  if (number > INT64_MAX >> shift) fail(Code::InvalidArgument, "{} '{}' is too large", option, text);
  return number << shift;
}

}  // namespace

void add_model_options(std::vector<Option>& options, SessionFlags& flags, bool shapes) {
  options.push_back({"--precision", "P", &flags.precision,
                     "what a GPU stores float32 values as: fp32, fp16, bf16; auto: an .hfp file's own, else fp32"});
  options.push_back({"--fallback",
                     "error|warn|allow",
                     &flags.fallback,
                     "when a GPU leaves nodes to the cpu",
                     0,
                     {"error", "warn", "allow"}});
  options.push_back({"--optimize", "all|none", &flags.optimize, "none: only what running needs", 0, {"all", "none"}});
  options.push_back({"--disable", "PASS,...", &flags.disable, "optimisation passes to skip"});
  if (!shapes) return;
  options.push_back({"--shape", "NAME=SHAPE", &flags.shapes,
                     "an input's shape (x=1x3x224x224) or a symbolic extent (batch=8); may be repeated"});
  options.push_back(
      {"--dump", "passes|plan DIR", &flags.dumps, "write the graph after each pass, or each plan, to DIR"});
}

void add_session_options(std::vector<Option>& options, SessionFlags& flags, bool shapes) {
  options.push_back(
      {"--device", "DEVICE", &flags.device,
       "auto (the first GPU, else the cpu), cpu, hip[:N], cuda[:N], emu[:ARCH], target:ARCH (inspect only)"});
  options.push_back({"--tune", "", &flags.tune, "measure which of a GPU's kernels are the fastest, and keep that"});
  options.push_back({"--graph", "on|off", &flags.graphs, "record a GPU's work once and replay it", 0, {"on", "off"}});
  options.push_back({"--memory-limit", "BYTES", &flags.memory_limit,
                     "device memory that the session may hold (with K, M or G); default: all there is"});
  options.push_back(
      {"--threads", "N", &flags.threads, "threads of a run on the cpu; 0: HIPFORGE_THREADS, else one a physical core"});
  add_model_options(options, flags, shapes);
}

SessionOptions SessionFlags::options() const {
  SessionOptions o;
  o.device = device;
  o.threads = threads ? threads : static_cast<int>(std::min<int64_t>(setting_number("threads"), kMostThreads));
  if (threads > kMostThreads)
    fail(Code::InvalidArgument, "--threads '{}': at most {} are handled", threads, kMostThreads);
  o.precision = parse_precision(precision);
  o.fallback = fallback == "error" ? Fallback::Error : fallback == "allow" ? Fallback::Allow : Fallback::Warn;
  o.graphs = graphs == "on";
  o.tune = tune;
  if (!memory_limit.empty()) o.memory_limit = parse_bytes("--memory-limit", memory_limit);
  o.optimize = optimize == "all";
  if (!disable.empty())
    for (const std::string& name : split(disable, ',')) o.disable_passes.insert(name);
  for (const auto& [what, folder] : dumps) {
    if (what != "passes" && what != "plan") fail(Code::InvalidArgument, "--dump '{}' is neither passes nor plan", what);
    (what == "plan" ? o.dump_plan : o.dump_passes) = folder;
  }
  return o;
}

std::string precision_text(DType precision) {
  for (const auto& [name, dtype] : kPrecisions)
    if (precision == dtype) return std::string(name);
  return std::string(name(precision));
}

ShapeOverrides SessionFlags::overrides() const {
  ShapeOverrides overrides;
  for (const std::string& text : shapes) {
    auto [name, shape] = split_pair("--shape", text);
    Dims dims;
    for (const std::string& part : split(shape, 'x')) {
      if (dims.rank() == kMaxRank) fail(Code::InvalidArgument, "--shape '{}' has more than {} extents", text, kMaxRank);
      dims.push_back(parse_number("--shape", part, text, 0));
    }
    if (!overrides.emplace(name, dims).second) fail(Code::InvalidArgument, "--shape gives '{}' twice", name);
  }
  return overrides;
}

std::pair<std::string, std::string> split_pair(std::string_view option, const std::string& text) {
  size_t at = text.find('=');
  if (at == text.npos || at == 0 || at + 1 == text.size())
    fail(Code::InvalidArgument, "{} '{}' is not of the form NAME=VALUE", option, text);
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<std::string> parse_words(const std::string& text) { return split(text, ','); }

std::vector<int64_t> parse_counts(std::string_view option, const std::string& text) {
  std::vector<int64_t> counts;
  for (const std::string& part : split(text, ',')) counts.push_back(parse_number(option, part, text, 1));
  return counts;
}

}  // namespace hf::cli

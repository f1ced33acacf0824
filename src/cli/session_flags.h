// The options that every command with a session shares: device, threads, passes, shapes.
#pragma once
#include "cli/options.h"
#include "session/random_inputs.h"

namespace hf::cli {

struct SessionFlags {
  std::string device = "auto", precision = "auto", fallback = "warn", graphs = "on", memory_limit;
  bool tune = false;
  int threads = 0;
  std::string optimize = "all";
  std::string disable;  // names with commas between
  std::vector<std::string> shapes;
  Pairs dumps;

  SessionOptions options() const;    // throws InvalidArgument
  ShapeOverrides overrides() const;  // throws InvalidArgument
};

/// Adds --precision, --fallback, --optimize, --disable, and where `shapes` is true --shape and --dump: what a plan
/// depends on besides the device.
void add_model_options(std::vector<Option>& options, SessionFlags& flags, bool shapes = true);
/// Adds these, and --device, --graph, --memory-limit and --threads.
void add_session_options(std::vector<Option>& options, SessionFlags& flags, bool shapes = true);

/// "fp16".
std::string precision_text(DType precision);

/// "NAME=VALUE" split at its first '='; `option` is for messages. Throws InvalidArgument if either side is empty.
std::pair<std::string, std::string> split_pair(std::string_view option, const std::string& text);

/// "fp32,fp16" as words.
std::vector<std::string> parse_words(const std::string& text);

/// "1,8" as numbers of at least 1. Throws InvalidArgument.
std::vector<int64_t> parse_counts(std::string_view option, const std::string& text);

}  // namespace hf::cli

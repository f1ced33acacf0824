// One ONNX backend-test folder: a model, its inputs, and what must come out.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "session/session.h"

namespace hf::cli {

/// The case folders (those that hold model.onnx) at and under `root`, sorted. Links are not followed. Throws NotFound
/// if `root` does not exist, Io if it cannot be read.
std::vector<std::filesystem::path> find_cases(const std::filesystem::path& root);

/// Runs one case. Empty if it passed, else why it failed, in one line. Never throws Error.
///   test_data_set_*/input_N.pb, output_N.pb   inputs and wanted outputs by position; at least one set, unless:
///                  (of a model with random operators only dtypes and shapes)
///   expect_error   loading or running must fail, and not by a bug of ours (an internal error)
///   expect_any     it may fail so, or give any result
///   tolerance      a number: the relative and the absolute tolerance for floats, instead of compare.h's
std::string run_case(const std::filesystem::path& folder, const SessionOptions& options);

}  // namespace hf::cli

// Reductions over the middle axis of [outer, reduced, inner], and over several axes by one after the other.
#pragma once
#include "kernel/expression.h"

namespace hf::kernel {

enum class ReduceOp { Sum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp, SumSquare };

/// Axes that are kept and reduced by turns.
struct ReduceAxis {
  int64_t extent = 1;
  bool reduced = false;
};

struct ReduceProblem {
  ReduceOp op = ReduceOp::Sum;
  std::vector<ReduceAxis> axes;  // row-major; extents > 0
  int64_t pitch = 0;             // where not 0, the elements that the last axis takes in memory: its own come first
  Element in = Element::F32, out = Element::F32;
  int integer_bits = 0;  // 32, 64: integers, in and out, that wrap; Sum, Max, Min, Prod, L1 and SumSquare only
  int64_t last = 1;      // for the epilogue: the result is seen as [rows, last]
  Epilogue epilogue;     // of floats
};

/// One launch for each run of reduced axes, and one more where that alone would not fill the device; they share a
/// workspace. Floats are folded in float, always in the same order. Input 0: x, then the epilogue's operands; output 0:
/// the kept axes, dense. All aligned to 16 bytes.
std::vector<Candidates> reduce(const ReduceProblem& problem, const Target& target);

}  // namespace hf::kernel

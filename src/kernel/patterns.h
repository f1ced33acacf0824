// Elements that are kept, moved or made by where they are: Trilu, ReverseSequence, OneHot; and running sums.
#pragma once
#include "base/dtype.h"
#include "kernel/kernel_spec.h"

namespace hf::kernel {

/// Of each matrix the part on and above (upper) or on and below its k-th diagonal; zeros elsewhere.
struct TriluProblem {
  int64_t matrices = 1, rows = 1, columns = 1, k = 0;
  bool upper = true;
  DType type = DType::F32;  // of 1, 2, 4 or 8 bytes
};
/// Arguments: input 0, output 0 (may be one).
Candidates trilu(const TriluProblem& problem, const Target& target);

/// y[o, d, i] = values[indices[o, i] == d ? 1 : 0]; indices count from the end where negative.
struct OneHotProblem {
  int64_t outer = 1, depth = 1, inner = 1;
  DType index = DType::I64, values = DType::F32, out = DType::F32;  // all has_cell()
};
/// Arguments: input 0 indices, input 2 the two values, output 0.
Candidates one_hot(const OneHotProblem& problem, const Target& target);

/// Running sums or products along the middle axis of [outer, steps, inner], in float or 64-bit integers.
struct ScanProblem {
  int64_t outer = 1, steps = 1, inner = 1;
  DType in = DType::F32, out = DType::F32;
  bool product = false, exclusive = false, reverse = false;
};
/// Arguments: input 0, output 0. Each element is summed over at most steps / 256 + 16 rounded additions.
Candidates scan(const ScanProblem& problem, const Target& target);

}  // namespace hf::kernel

// Elements and runs of elements by index.
#pragma once
#include <vector>

#include "base/dtype.h"
#include "kernel/kernel_spec.h"

namespace hf::kernel {

/// y[b, j, r] = x[b, i_0, i_1, ..., r] where (i_0, i_1, ...) is the j-th tuple of indices: Gather with tuples of one
/// that all batches share, GatherND with each batch's own. Negative indices count from the end; what is outside is
/// limited to the nearest: nothing outside x is read.
struct GatherProblem {
  int64_t batches = 1, tuples = 1;  // tuples of a batch
  std::vector<int64_t> extents;     // of the indexed axes
  int64_t run = 1;                  // contiguous elements that each tuple takes
  bool shared = false;
  DType type = DType::F32, index = DType::I64;  // any of 1, 2, 4, 8 bytes; I32 or I64
};
/// Arguments: input 0 x, input 1 indices, output 0; aligned to 16 bytes.
Candidates gather(const GatherProblem& problem, const Target& target);

/// y[p] = x[p with its position on `axis` replaced by indices[p]].
struct GatherElementsProblem {
  std::vector<int64_t> extents;  // of the indices and y
  std::vector<int64_t> strides;  // of x along these axes
  int axis = 0;
  int64_t limit = 1;  // the extent of x on that axis
  DType type = DType::F32, index = DType::I64;
};
Candidates gather_elements(const GatherElementsProblem& problem, const Target& target);

}  // namespace hf::kernel

// Elements and runs of elements brought to places that indices say, into data that is there already.
#pragma once
#include <vector>

#include "base/dtype.h"
#include "kernel/kernel_spec.h"

namespace hf::kernel {

enum class ScatterReduction : uint8_t { None, Add, Mul, Min, Max };

/// y[i_0, i_1, ..., r] = reduction(that, updates[j, r]) where (i_0, i_1, ...) is the j-th tuple of indices. Negative
/// indices count from the end; tuples that are outside change nothing. With a reduction the tuples come in their order;
/// without, equal tuples leave one of theirs.
struct ScatterProblem {
  int64_t tuples = 1;
  std::vector<int64_t> extents;  // of the indexed axes
  int64_t run = 1;
  DType data = DType::F32, updates = DType::F32, index = DType::I64;  // has_cell() both, or one type of 1 ... 8 bytes
  ScatterReduction reduction = ScatterReduction::None;
};
/// Arguments: input 1 indices, input 2 updates, output 0 y (read and written). Throws Unsupported for a reduction that
/// would take too long in order.
Candidates scatter(const ScatterProblem& problem, const Target& target);

/// y[p with its position on `axis` replaced by indices[p]] = reduction(that, updates[p]); as scatter().
struct ScatterElementsProblem {
  std::vector<int64_t> extents;  // of the indices and updates
  std::vector<int64_t> strides;  // of y along these axes
  int axis = 0;
  int64_t limit = 1;  // the extent of y on that axis
  DType data = DType::F32, updates = DType::F32, index = DType::I64;
  ScatterReduction reduction = ScatterReduction::None;
};
Candidates scatter_elements(const ScatterElementsProblem& problem, const Target& target);

/// The most updates that one thread brings in one after the other.
inline constexpr int64_t kMostInOrder = 1 << 14;

}  // namespace hf::kernel

// Elementwise work: an expression of inputs that are broadcast to the result, one kernel.
#pragma once
#include <vector>

#include "base/dtype.h"
#include "kernel/expression.h"
#include "kernel/kernel_spec.h"

namespace hf::kernel {

struct PointwiseInput {
  DType type = DType::F32;
  std::vector<int64_t> strides;  // an axis of the result each, in elements; 0 where it is repeated
  bool padded = false;           // what lies beyond `valid` is there to be read
};

/// The result is dense. Types are those that has_cell(); reals in the registers of an expression of integers, or the
/// other way, are converted as they are read.
struct PointwiseProblem {
  std::vector<int64_t> extents;  // of the result, outermost first, padding included; all > 0
  int64_t valid = -1;            // positions of the innermost axis that are values; zeros are written beyond. -1: all
  DType out = DType::F32;
  std::vector<PointwiseInput> inputs;  // of registers 0, 1, ...
  Expression expression;
};

/// Arguments: inputs as registers, output 0; buffers aligned to 16 bytes. Output 0 may be an input that lies as it
/// does. The outermost extent is in the arguments only: one code object serves every batch.
Candidates pointwise(const PointwiseProblem& problem, const Target& target);

}  // namespace hf::kernel

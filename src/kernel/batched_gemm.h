// Matrix products of two operands that are both known at run time only: MatMul, Gemm, Einsum without constant weights.
#pragma once
#include "kernel/expression.h"

namespace hf::kernel {

/// One axis of matrices: how many, and the elements from one to the next (0: the operand repeats).
struct BatchAxis {
  int64_t extent = 1, a = 0, b = 0;
};

/// out[batch, i, j] = epilogue(alpha * sum over l of a[batch, i, l] b[batch, l, j] + beta * bias[batch, i, j]). All
/// extents > 0 but k, which may be 0. Strides are in elements; out is dense, [batch..., m, n].
struct BatchedGemmProblem {
  int64_t m = 0, n = 0, k = 0;
  std::vector<BatchAxis> batch;  // outermost first; none: one product
  int64_t a_row = 0, a_col = 1;  // from a[i, l] to a[i + 1, l], to a[i, l + 1]
  int64_t b_row = 0, b_col = 1;  // from b[l, j] to b[l + 1, j], to b[l, j + 1]
  Element a = Element::F32, b = Element::F32, out = Element::F32;
  float alpha = 1, beta = 1;
  std::vector<Operand> bias;  // one or none; rows and columns as of the epilogue
  Epilogue epilogue;          // over [batch * m, n]

  int64_t batches() const;
  /// a_row 1 apart: a is stored transposed. Likewise b.
  bool a_by_rows() const { return a_col == 1; }
  bool b_by_rows() const { return b_col == 1; }
};

/// Arguments: input 0 a, input 1 b, input 2 the bias if there is one, then the epilogue's operands; output 0. Sums in
/// float32; a and b of one 16-bit type are multiplied by matrix instructions. m and the number of products are run-time
/// arguments: the text is the same for all of them as long as the strides are.
Candidates batched_gemm(const BatchedGemmProblem& problem, const Target& target);

}  // namespace hf::kernel

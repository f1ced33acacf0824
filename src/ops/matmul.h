// Matrix products over batches, by numpy's rules: what MatMul and its fused and integer forms share.
#pragma once
#include "ops/matrix.h"
#include "ops/op.h"

namespace hf::ops {

/// The shape of a * b: batches broadcast; a vector on the left is a row, on the right a column, and leaves no axis.
/// Throws InvalidModel if they do not fit.
Shape matmul_shape(const Infer& in, const Shape& a, const Shape& b);

/// y = a * b for tensors of these extents, which matmul_shape has accepted. In parallel.
template <class T>
void matmul(const Dims& a_dims, const T* a, const Dims& b_dims, const T* b, T* y);

}  // namespace hf::ops

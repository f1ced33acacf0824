// Elementwise operators as rows of pointwise.def, and programs of them.
#pragma once
#include <span>

#include "ir/program.h"
#include "ops/op.h"

namespace hf::ops {

/// Which element types a row takes.
enum class Elements : uint8_t { Number, Float, Integer, Signed, Bool, Any };

/// A row of pointwise.def.
struct PointwiseOp {
  std::string_view name;
  int since;
  int arity;  // 1, 2 or 3
  Elements elements;
  bool to_bool;                     // the result is bool (comparisons)
  std::string_view expression;      // C++ and HIP text in x, y, z and the attributes a, b
  /// The operator on n contiguous floats; an argument with stride 0 is one value for all.
  void (*f32)(int64_t n, const float* const* args, const int64_t* strides, const float* attrs, float* out);
};

/// The row of that name, or null.
const PointwiseOp* find_pointwise(std::string_view name);
std::span<const PointwiseOp> pointwise_rows();

/// Runs a program on float tensors: inputs broadcast to out's shape. All of one float dtype. Computes in float (double for
/// float64) and rounds only the result. Throws Internal if the program and the inputs do not fit.
void run_program(const ir::Program& program, std::span<const Tensor* const> inputs, Tensor& out);

/// Writes `from` broadcast to out's shape (same dtype).
void broadcast_copy(const Tensor& from, Tensor& out);

}  // namespace hf::ops

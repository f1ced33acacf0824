// Elementwise operators as rows of pointwise.def, and programs of them.
#pragma once
#include <span>

#include "ir/program.h"
#include "ops/op.h"

namespace hf::ops {

/// Which element types a row takes. Number: floats and integers. Signed: floats and signed integers. Any: bool too.
enum class Elements : uint8_t { Number, Float, Integer, Signed, Bool, Any };

/// A row of pointwise.def.
struct PointwiseOp {
  std::string_view name;
  int since;
  int arity;  // 1, 2 or 3; the variadic operators' rows have 2
  Elements elements;
  bool to_bool;                    // the result is bool (comparisons)
  std::span<const AttrDef> attrs;  // at most two: a and b of the expression
  std::string_view expression;     // C++ and HIP text in x, y, z and the attributes a, b
  /// The operator on n contiguous floats; an argument with stride 0 is one value for all. `out` may be an argument with
  /// stride 1. Null if the row takes no floats.
  void (*f32)(int64_t n, const float* const* args, const int64_t* strides, const float* attrs, float* out);
};

/// The row of that name, or null.
const PointwiseOp* find_pointwise(std::string_view name);
/// All rows, by name but for DivideBy, the last, which only programs use.
std::span<const PointwiseOp> pointwise_rows();

/// The node's attributes as its row wants them: one number each. Gelu's "tanh" and BitShift's "LEFT" are 1.
std::vector<float> row_attrs(const PointwiseOp& row, const Node& n);

/// Appends a node of ONNX's domain to a program as one step or more: `args` are the registers of its inputs, -1 for one
/// left out. Returns the register of the result (an argument when nothing is to be done), or -1 if the operator is no
/// row. Covers the variadic operators and Clip with missing bounds; asks nothing about dtypes.
int add_steps(ir::Program& program, const Node& n, std::span<const int> args);

/// Runs a program: inputs broadcast to out's shape; those that are not out's dtype are converted. Computes in float
/// (double for float64 results) and rounds only the result. Throws Internal if the program and the inputs do not fit.
void run_program(const ir::Program& program, std::span<const Tensor* const> inputs, Tensor& out);

/// Writes `from` broadcast to out's shape (same dtype, any). Throws InvalidArgument if it does not broadcast.
void broadcast_copy(const Tensor& from, Tensor& out);

}  // namespace hf::ops

// Elementwise work that is printed into a kernel: what a convolution, product or reduction does with each value before
// it stores it.
#pragma once
#include <string>
#include <vector>

#include "kernel/kernel_spec.h"

namespace hf::kernel {

/// A function of floats, or of 64-bit integers. Register 0 is the kernel's own value, the others are operands.
struct Expression {
  int inputs = 1;
  std::string body;  // statements over r0 .. r<inputs-1>, the last a return; empty: the identity of r0

  bool whole = false;  // registers are i64: integers and truth values

  bool identity() const { return body.empty(); }
};

/// Where an operand lies for element [row, column] of a kernel's two-dimensional result (pixels x channels, rows x
/// columns): at (row / row_divisor) * row_stride + column * column_stride, in elements.
struct Operand {
  Element type = Element::F32;
  int64_t row_divisor = 1;
  int64_t row_stride = 0;
  int column_stride = 0;  // 0 or 1
};

/// An expression with its operands: registers 1, 2, ...; they are the kernel's inputs after its own.
struct Epilogue {
  Expression expression;
  std::vector<Operand> operands;

  bool identity() const { return expression.identity(); }
};

/// Text of "DEV float NAME(float r0, ...)", i64 where the expression is whole, to go after the device header. The
/// functions that bodies call are in the header's namespace pw.
std::string function_text(const Expression& expression, const std::string& name);

}  // namespace hf::kernel

// Program: a chain of elementwise operators as data. A fused Pointwise node is one; so is the epilogue of a convolution
// or matrix product. The CPU interprets it block by block; a GPU backend prints it into its kernel.
#pragma once
#include <string>
#include <vector>

namespace hf::ir {

/// One elementwise operator. Arguments are registers: 0 .. inputs-1 are the program's inputs, then one a step.
struct Step {
  std::string op;            // ONNX name of a row of ops/pointwise.def: "Add", "Relu", "Clip", ...
  std::vector<int> args;     // registers; their number is the row's arity
  std::vector<float> attrs;  // the row's attributes in its order (LeakyRelu: alpha)
};

/// All registers have one float dtype and broadcast to the shape of the result, which is the last step's register. A
/// program without steps is the identity of its input 0.
struct Program {
  int inputs = 0;
  std::vector<Step> steps;

  int result() const { return steps.empty() ? 0 : inputs + static_cast<int>(steps.size()) - 1; }
  /// "Add(0, 1); Relu(2)"
  std::string text() const;
};

}  // namespace hf::ir

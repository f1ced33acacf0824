// Elementwise chains: v = input 0; each step changes v; output 0 = v.
#pragma once
#include <string>

#include "kernel/kernel_spec.h"

namespace hf::kernel {

/// One step. `op` is a name of the table in pointwise.cpp: unary ones use v, a and b; binary ones v and the operand w.
struct PointwiseStep {
  enum class Operand { None, Same, Channel };  // Same: as many elements as input 0. Channel: element i % channels
  std::string op;
  Operand operand = Operand::None;  // of a binary op; the operands are inputs 1, 2, ... in the order of the steps
  float a = 0, b = 0;
};

struct PointwiseProblem {
  int64_t count = 0;                              // elements, > 0
  int64_t channels = 1;                           // innermost extent, for Operand::Channel
  Element in = Element::F32, out = Element::F32;  // operands have the type of input 0
  std::vector<PointwiseStep> steps;               // none: a copy or conversion
};

/// Buffers aligned to 16 bytes. The count is an argument of the kernel: one code object serves every batch. Throws
/// Internal for an op that is not in the table.
Candidates pointwise(const PointwiseProblem& problem, const Target& target);
/// The names of the table.
std::vector<std::string_view> pointwise_ops();

}  // namespace hf::kernel

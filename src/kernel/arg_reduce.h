// Where along an axis the greatest or least element is.
#pragma once
#include "kernel/kernel_spec.h"

namespace hf::kernel {

struct ArgReduceProblem {
  int64_t outer = 1, axis = 1, inner = 1;  // > 0
  int64_t pitch = 0;                       // inner = 1: elements from one row to the next. 0: axis
  bool greatest = true;
  bool last = false;                              // of equals the last one, else the first. NaN is beyond everything
  bool one_hot = false;                           // Hardmax: output 0 has the input's extents, 1 there and 0 elsewhere
  Element in = Element::F32, out = Element::F32;  // out: of one_hot
  int integer_bits = 0;                           // 32, 64: of integers
};

/// Input 0: [outer, axis, inner]; output 0: [outer, inner] int64, or one_hot. `outer` is an argument of the kernel.
Candidates arg_reduce(const ArgReduceProblem& problem, const Target& target);

}  // namespace hf::kernel

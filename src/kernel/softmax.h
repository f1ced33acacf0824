// Softmax and LogSoftmax over the last axis.
#pragma once
#include "kernel/kernel_spec.h"

namespace hf::kernel {

struct SoftmaxProblem {
  int64_t rows = 0, cols = 0;  // both > 0
  Element in = Element::F32, out = Element::F32;
  bool log = false;
};

/// Arguments: input 0 [rows, cols], output 0 [rows, cols], both aligned to 16 bytes. Computes in float; each row is
/// read once where it fits the registers of a wave or block. A row of only -inf or with NaN gives NaN.
Candidates softmax(const SoftmaxProblem& problem, const Target& target);

}  // namespace hf::kernel

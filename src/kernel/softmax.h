// Softmax and LogSoftmax.
#pragma once
#include "kernel/kernel_spec.h"

namespace hf::kernel {

struct SoftmaxProblem {
  int64_t rows = 0, cols = 0;  // both > 0
  int64_t inner = 1;           // > 1: the data is [rows, cols, inner]
  int64_t pitch = 0;           // inner = 1: elements from one row to the next; those beyond the row become 0. 0: cols
  Element in = Element::F32, out = Element::F32;
  bool log = false;
};

/// Over `cols`. Arguments: input 0 and output 0, both aligned to 16 bytes. Computes in float; each row is read once
/// where it fits the registers of a wave or block. A row of only -inf or with NaN gives NaN. The number of rows is an
/// argument of the kernel.
Candidates softmax(const SoftmaxProblem& problem, const Target& target);

}  // namespace hf::kernel

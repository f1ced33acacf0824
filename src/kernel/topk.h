// The k greatest or least elements of rows, in order.
#pragma once
#include "kernel/kernel_spec.h"

namespace hf::kernel {

struct TopKProblem {
  int64_t rows = 1, axis = 1;  // > 0
  int64_t inner = 1;           // row r begins at r / inner * axis * inner + r % inner, its elements are `inner` apart
  int64_t k = 1;               // 0 < k <= axis
  bool greatest = true;
  Element in = Element::F32, out = Element::F32;
  bool int32 = false;                  // in and out: 32-bit integers
  bool values = true, indices = true;  // which outputs there are
};

/// Input 0: x; outputs: values, then int64 indices, with k in the place of the axis; of equals the earlier first, NaN
/// greater than all else. The launches share a workspace: rows of up to 4096 elements take one, k of up to 2048 one
/// for each factor of 4096 / k, others those of a sort.
std::vector<Candidates> topk(const TopKProblem& problem, const Target& target);

}  // namespace hf::kernel

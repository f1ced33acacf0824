// Local response normalisation: each element by the squares of the channels near it.
#pragma once
#include "kernel/kernel_spec.h"

namespace hf::kernel {

struct LrnProblem {
  int64_t images = 0, channels = 0, positions = 0;  // all > 0
  int64_t pitch = 0;  // channels last: elements from one position to the next. 0: [images, channels, positions]
  int64_t size = 1;   // channels that count: (size - 1) / 2 before and size / 2 behind
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
  Element in = Element::F32, out = Element::F32;
};

/// y = x / (bias + alpha / size * sum of squares)^beta, in float. Padding becomes 0. Input 0: x; output 0: y.
Candidates lrn(const LrnProblem& problem, const Target& target);

}  // namespace hf::kernel

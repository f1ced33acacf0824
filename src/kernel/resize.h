// Resizing along spatial axes by tables: each output is a weighted sum of inputs, axis by axis.
#pragma once
#include <vector>

#include "kernel/expression.h"

namespace hf::kernel {

/// One axis. Output o is the sum of weight[o * taps + t] * input[index[o * taps + t]]; an index of -1 at tap 0: the
/// output takes `filler` instead.
struct ResizeTable {
  int64_t input = 1, output = 1, taps = 1;
  std::vector<int32_t> index = {0};
  std::vector<float> weight = {1};
};

struct ResizeProblem {
  int64_t batch = 1, channels = 0;
  ResizeTable axes[3];  // depth, height, width
  float filler = 0;
  bool channels_last = true;  // else row-major: [batch, channels, depth, height, width]
  Element in = Element::F32, out = Element::F32;
  Epilogue epilogue;  // channels last: over [positions, channels]; row-major: over [all but the width, width]
};

/// The tables as the kernel's packed 0 and packed 1: the axes' one after the other.
std::vector<int32_t> resize_indices(const ResizeProblem& problem);
std::vector<float> resize_weights(const ResizeProblem& problem);

/// Arguments: input 0, output 0, packed 0, packed 1; channels last both have a pitch of `channels` rounded up to 8, and
/// zeros are written behind the channels. Computes in float; the batch is an argument. Throws Unsupported for sizes
/// beyond 32 bits.
Candidates resize(const ResizeProblem& problem, const Target& target);

}  // namespace hf::kernel

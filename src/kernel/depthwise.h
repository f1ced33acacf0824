// Depthwise convolution, channels last: each filter sees one channel.
#pragma once
#include "kernel/expression.h"
#include "kernel/spatial.h"

namespace hf::kernel {

struct DepthwiseProblem {
  int64_t batch = 1, channels = 0;      // of the input
  int64_t multiplier = 1;               // filters of each channel: filter f reads channel f / multiplier
  SpatialAxis axes[2];                  // height, width
  int64_t in_pitch = 0, out_pitch = 0;  // elements from one position to the next, multiples of 8
  Element in = Element::F32, out = Element::F32;
  int inputs = 1;     // the epilogue's operands are inputs from here on
  Epilogue epilogue;  // over [positions, filters]

  int64_t filters() const { return channels * multiplier; }
};

/// Arguments: input 0 [batch, height, width, in_pitch], output 0 [batch, ..., out_pitch], packed 0: float32 [kernel
/// height * kernel width + 1, out_pitch], the weights of each tap and then the bias, zero from `filters` on. Writes
/// zeros there too. Computes in float; the batch is an argument, so that one code object serves all.
/// Throws Unsupported for more than 2^32 threads or an image of 2^31 elements.
Candidates depthwise(const DepthwiseProblem& problem, const Target& target);

}  // namespace hf::kernel

// Maximum, average and Lp pools.
#pragma once
#include "kernel/expression.h"
#include "kernel/spatial.h"

namespace hf::kernel {

struct PoolProblem {
  enum class Kind { Max, Average, Lp };
  Kind kind = Kind::Max;
  int64_t p = 2;                // Lp: the power
  bool counts_padding = false;  // Average: padding counts as zeros
  int64_t batch = 1, channels = 0;
  SpatialAxis axes[3];        // depth, height, width
  bool channels_last = true;  // else row-major: [batch, channels, depth, height, width]
  Element in = Element::F32, out = Element::F32;
  Epilogue epilogue;  // channels last: over [positions, channels]; row-major: over [all but the width, width]
};

/// Arguments: input 0, output 0; channels last both have a pitch of `channels` rounded up to 8, and zeros are written
/// behind the channels. A window that sees padding only gives -inf as a maximum and 0 otherwise; a maximum with NaN is
/// NaN. Computes in float; the batch is an argument. Throws Unsupported for sizes beyond 32 bits.
Candidates pool(const PoolProblem& problem, const Target& target);

}  // namespace hf::kernel

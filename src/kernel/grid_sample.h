// GridSample: an image read at the places that a grid names.
#pragma once
#include "kernel/expression.h"

namespace hf::kernel {

struct GridSampleProblem {
  enum class Mode { Nearest, Linear, Cubic };
  enum class Padding { Zeros, Border, Reflection };
  Mode mode = Mode::Linear;
  Padding padding = Padding::Zeros;
  bool align_corners = false;
  int64_t batch = 1, channels = 0;
  int rank = 2;                  // spatial axes: 1 to 3
  int64_t input[3] = {1, 1, 1};  // depth, height, width
  int64_t output[3] = {1, 1, 1};
  Element in = Element::F32, grid = Element::F32, out = Element::F32;
};

/// Arguments, channels last with a pitch of `channels` rounded up to 8: input 0, input 1 the grid [batch, outputs...,
/// rank] with coordinates innermost axis first, output 0, behind whose channels zeros are written. Computes in float;
/// the batch is an argument. Throws Unsupported for sizes beyond 32 bits.
Candidates grid_sample(const GridSampleProblem& problem, const Target& target);

}  // namespace hf::kernel

// The loops of a convolution, shared by Conv and its integer forms.
#pragma once
#include "ops/matrix.h"
#include "ops/op.h"
#include "ops/window.h"

namespace hf::ops {

/// The sizes of one convolution. x is [batch, groups * channels, inputs], w [groups * filters, channels, taps], y
/// [batch, groups * filters, outputs].
struct Convolution {
  int64_t batch = 0, groups = 1, channels = 0, filters = 0;  // channels and filters: of one group
  Window window;
};

/// Reads the sizes off the node, x and w, which infer_convolution has accepted.
Convolution convolution_of(const Node& n, const Tensor& x, const Tensor& w);

/// Checks x (input `x`) against the weights (input `w`), and the bias if there is one, and tells the output's shape.
Shape infer_convolution(const Infer& in, int x, int w, int bias);

/// y = x * w; padding counts as zero. In parallel.
template <class T>
void convolve(const Convolution& c, const T* x, const T* w, T* y);

}  // namespace hf::ops

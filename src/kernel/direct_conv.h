// Convolution and transposed convolution of any kind, channels last: what no faster family takes.
#pragma once
#include "kernel/expression.h"
#include "kernel/spatial.h"

namespace hf::kernel {

/// Where the weight of filter f (of its group g), channel c and tap t lies: at g * group + f * filter + c * channel +
/// t * tap, in elements.
struct WeightStrides {
  int64_t group = 0, filter = 0, channel = 0, tap = 0;
};

struct DirectConvProblem {
  int64_t batch = 1, groups = 1;
  int64_t channels = 0, filters = 0;  // of one group
  SpatialAxis axes[3];      // depth, height, width; of a transposed convolution input and output change places
  bool transposed = false;  // in the sentence that explains them: output o is reached by input i and tap k if
                            // i * stride + k * dilation - begin == o
  int64_t in_pitch = 0, out_pitch = 0;  // elements from one position to the next, multiples of 8
  Element in = Element::F32, out = Element::F32, weight = Element::F32, bias = Element::F32;
  WeightStrides strides;
  bool has_bias = false;
  Argument weights, biases;  // where they come from: inputs or packed
  int inputs = 1;            // the epilogue's operands are inputs from here on
  Epilogue epilogue;         // over [positions, groups * filters]

  int64_t all_filters() const { return groups * filters; }
};

/// Arguments: input 0 [batch, depth, height, width, in_pitch], weights, output 0 [batch, ..., out_pitch], the bias if
/// there is one. Weights whose filters are neighbours (stride 1) are read as vectors: then the other strides are
/// multiples of 8 or of the filters of a group. Computes in float. Throws Unsupported for sizes beyond 32 bits.
Candidates direct_conv(const DirectConvProblem& problem, const Target& target);

}  // namespace hf::kernel

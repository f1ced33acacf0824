// Products of matrices of 8-bit integers, and convolutions of them: sums in int32, which may be quantised again.
#pragma once
#include "kernel/quantize.h"
#include "kernel/spatial.h"

namespace hf::kernel {

/// Where a parameter (scale or zero point) comes from, and whether there is one for each row or column (filter).
struct IntegerParameter {
  int input = -1;  // of the node; -1: none
  bool each = false;
};

/// (a - a_zero) (b - b_zero), as int32; or where y_scale is given saturate(round(sum * a_scale * b_scale / y_scale) +
/// y_zero) in `out`.
struct IntegerTypes {
  Integer a = Integer::U8, b = Integer::U8, out = Integer::I32;  // a, b: of 8 bits
  int a_input = 0, b_input = 1;
  IntegerParameter a_zero, b_zero, a_scale, b_scale, y_scale, y_zero, bias;  // scales are float32, the bias int32
  bool quantizes() const { return y_scale.input >= 0; }
};

struct IntegerGemmProblem {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t a_batch = 0, b_batch = 0;  // elements from one product's matrix to the next's
  IntegerTypes types;                // a's parameters are for rows, b's for columns
};
/// Inputs as `types` says, row-major; output 0 [batch, m, n].
Candidates integer_gemm(const IntegerGemmProblem& problem, const Target& target);

struct IntegerConvProblem {
  int64_t batch = 1, groups = 1, channels = 0, filters = 0;  // channels and filters of one group
  SpatialAxis axes[3];                                       // depth, height, width
  IntegerTypes types;                                        // b: the weights; its parameters and the bias for filters
};
/// Inputs as `types` says, row-major: a [batch, channels, depth, height, width], b [filters, channels, taps].
Candidates integer_conv(const IntegerConvProblem& problem, const Target& target);

}  // namespace hf::kernel

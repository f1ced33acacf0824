// Elementwise operators on blocks of floats, vectorised for the machine at hand.
#pragma once
#include <cstdint>
#include <string_view>

namespace hf::cpu {

/// As PointwiseOp::f32: n contiguous floats; an argument with stride 0 is one value for all. `out` may be an argument.
using RowFn = void (*)(int64_t n, const float* const* args, const int64_t* strides, const float* attrs, float* out);

struct Row {
  RowFn f = nullptr;   // null: no fast form
  double cost_ns = 0;  // of an element, roughly
};

/// The fast form of the row of this name. Errors against the exact value: a few units in the last place, and below 2e-6
/// relative for those made of several functions (Gelu: absolute, where it vanishes).
Row find_row(std::string_view name);

/// Sums and extremes over n contiguous floats, and the pieces of a softmax and a layer normalisation.
struct RowReductions {
  float (*sum)(int64_t n, const float* x);
  float (*max)(int64_t n, const float* x);
  /// out = exp(x - shift); returns the sum.
  float (*exp_sum)(int64_t n, const float* x, float shift, float* out);
  /// out = x * scale.
  void (*scale)(int64_t n, const float* x, float scale, float* out);
  /// out += x * scale.
  void (*add_scaled)(int64_t n, const float* x, float scale, float* out);
  /// Sum of (x - mean)^2.
  float (*square_sum)(int64_t n, const float* x, float mean);
  /// out = (x - mean) * scale * gamma + beta; beta may be null.
  void (*normalize)(int64_t n, const float* x, float mean, float scale, const float* gamma, const float* beta,
                    float* out);
};
const RowReductions& row_reductions();

}  // namespace hf::cpu

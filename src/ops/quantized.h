// What the integer operators share: zero points, ranges, and requantising.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/convert.h"

namespace hf::ops {

/// The values that a quantised type has: a small integer (at most 16 bits) or float8/float4 type. Throws Unsupported
/// for others.
struct QuantizedRange {
  float low, high;
  bool integer;
};
QuantizedRange quantized_range(DType dtype);

/// saturate(round(x) + zero_point): integers round half to even; floats are left to round when they are stored.
inline float quantize(double x, float zero_point, QuantizedRange range) {
  if (std::isnan(x)) return range.integer ? range.low : static_cast<float>(x);
  double v = (range.integer ? std::nearbyint(x) : x) + static_cast<double>(zero_point);
  return static_cast<float>(std::clamp(v, static_cast<double>(range.low), static_cast<double>(range.high)));
}

/// A scale or zero point: one value for all, or one a channel.
template <class T>
class PerChannel {
 public:
  /// `t` null: `otherwise` for all.
  PerChannel(const Tensor* t, T otherwise) : values_(1, otherwise) {
    if (!t || t->size() == 0) return;
    values_.resize(static_cast<size_t>(t->size()));
    read_elements(*t, values_.data());
  }
  T operator[](int64_t channel) const { return values_[values_.size() == 1 ? 0 : static_cast<size_t>(channel)]; }
  size_t size() const { return values_.size(); }

 private:
  std::vector<T> values_;
};

}  // namespace hf::ops

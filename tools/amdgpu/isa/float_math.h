// Minimum, maximum and median as the hardware has them: zeros are ordered, NaN is passed over.
#pragma once
#include <algorithm>
#include <cmath>

#include "isa/types.h"

namespace amdgpu {

template <class T>
inline T max_number(T a, T b) {
  if (a == b) return std::signbit(a) ? b : a;
  return a > b || b != b ? a : b;
}
template <class T>
inline T min_number(T a, T b) {
  if (a == b) return std::signbit(a) ? a : b;
  return a < b || b != b ? a : b;
}

inline bool is_signalling(f32 x) {
  const u32 u = bits<u32>(x);
  return (u & 0x7fc00000) == 0x7f800000 && (u & 0x3fffff);
}
inline bool is_signalling(f64 x) {
  const u64 u = bits<u64>(x);
  return (u >> 51 & 0xfff) == 0xffe && (u & 0x7ffffffffffff);
}

/// Before gfx12, with the IEEE bit that compute kernels set: a signalling NaN makes the result NaN.
template <class T>
inline T max_ieee(T a, T b) {
  return is_signalling(a) ? a + a : is_signalling(b) ? b + b : max_number(a, b);
}
template <class T>
inline T min_ieee(T a, T b) {
  return is_signalling(a) ? a + a : is_signalling(b) ? b + b : min_number(a, b);
}

/// v_maximum, v_minimum: any NaN makes the result NaN.
template <class T>
inline T max_propagating(T a, T b) {
  return a != a ? a : b != b ? b : max_number(a, b);
}
template <class T>
inline T min_propagating(T a, T b) {
  return a != a ? a : b != b ? b : min_number(a, b);
}

template <class T>
inline T median_number(T a, T b, T c) {
  if (a != a || b != b || c != c) return min_number(min_number(a, b), c);
  const T m = max_number(max_number(a, b), c);
  if (m == a) return max_number(b, c);
  if (m == b) return max_number(a, c);
  return max_number(a, b);
}
template <class T>
inline T median_integer(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

/// The argument is in turns; reduced before it is scaled, as the hardware does.
inline f64 sine_of_turns(f64 x) {
  if (std::isinf(x)) return NAN;
  return x != x ? x : std::sin(6.283185307179586 * (x - std::floor(x)));
}
inline f64 cosine_of_turns(f64 x) {
  if (std::isinf(x)) return NAN;
  return x != x ? x : std::cos(6.283185307179586 * (x - std::floor(x)));
}
inline i32 exponent_of(f64 x) {
  int e = 0;
  if (std::isfinite(x) && x != 0) std::frexp(x, &e);
  return e;
}
inline f64 mantissa_of(f64 x) {
  int e;
  return std::isfinite(x) && x != 0 ? std::frexp(x, &e) : x;
}

/// Truncates; saturates outside lo..hi, and NaN is 0. The limits are the integer's as floating point.
template <class I, class F>
inline I saturate(F f, F lo, F hi, I lowest, I highest) {
  return f != f ? 0 : f < lo ? lowest : f >= hi ? highest : static_cast<I>(f);
}
inline i32 to_i32(f64 f) { return saturate<i32, f64>(f, -2147483648.0, 2147483648.0, INT32_MIN, INT32_MAX); }
inline u32 to_u32(f64 f) { return saturate<u32, f64>(f, 0, 4294967296.0, 0, UINT32_MAX); }

inline i32 saturate32(i64 x) { return static_cast<i32>(std::clamp<i64>(x, INT32_MIN, INT32_MAX)); }

}  // namespace amdgpu

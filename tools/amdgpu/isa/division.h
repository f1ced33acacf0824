// The instructions of which division is made: scale, fused multiply-add with rescaling, fix-up.
#pragma once
#include <cmath>
#include <limits>

#include "isa/vector.h"

namespace amdgpu {

template <class T>
struct FloatLayout;
template <>
struct FloatLayout<f32> {
  using Bits = u32;
  static constexpr int kMantissaBits = 23, kExponentMask = 255;
  static constexpr int kNearOverflow = 96;  // difference of the exponents from which the quotient is scaled down
  static constexpr int kTiny = 23;          // exponent field up to which a numerator is scaled up
  static constexpr int kScale = 64;
  static constexpr int kUnderflow = -150;
};
template <>
struct FloatLayout<f64> {
  using Bits = u64;
  static constexpr int kMantissaBits = 52, kExponentMask = 2047;
  static constexpr int kNearOverflow = 768, kTiny = 53, kScale = 128, kUnderflow = -1075;
};

template <class T>
int exponent_field(T x) {
  return static_cast<int>(bits<typename FloatLayout<T>::Bits>(x) >> FloatLayout<T>::kMantissaBits &
                          FloatLayout<T>::kExponentMask);
}

/// v_div_fixup: the quotient q of n / d, with the special cases put right.
template <class T>
T fixup_division(T q, T d, T n) {
  const bool negative = std::signbit(d) != std::signbit(n);
  const T infinity = negative ? -INFINITY : INFINITY, zero = negative ? -T(0) : T(0);
  if (n != n) return n + n;
  if (d != d) return d + d;
  if ((n == 0 && d == 0) || (std::isinf(n) && std::isinf(d))) return -T(NAN);
  if (d == 0 || std::isinf(n)) return infinity;
  if (std::isinf(d) || n == 0) return zero;
  if (exponent_field(n) - exponent_field(d) < FloatLayout<T>::kUnderflow) return zero;
  if (q != q) return infinity;
  return negative ? -std::fabs(q) : std::fabs(q);
}

template <class T>
bool is_denormal(T x) {
  return x != 0 && std::fabs(x) < std::numeric_limits<T>::min();
}

/// v_div_scale: a, which is d or n, scaled so that the division n / d neither overflows nor loses bits on the way;
/// rescale tells v_div_fmas to undo it. The choices in ranges that underflow are our reading of the ISA manuals.
template <class T>
T scale_for_division(T a, T d, T n, bool& rescale) {
  using F = FloatLayout<T>;
  rescale = false;
  if (n == 0 || d == 0) return NAN;
  if (exponent_field(n) - exponent_field(d) >= F::kNearOverflow) {
    rescale = true;
    return a == d ? std::ldexp(a, F::kScale) : a;
  }
  if (is_denormal(d)) return std::ldexp(a, F::kScale);
  const bool reciprocal_denormal = is_denormal(T(1) / d), quotient_denormal = is_denormal(n / d);
  if (reciprocal_denormal && quotient_denormal) {  // the quotient grows into the normal range
    rescale = true;
    return a == d ? std::ldexp(a, -F::kScale) : a;
  }
  if (reciprocal_denormal) return std::ldexp(a, -F::kScale);
  if (quotient_denormal) {
    rescale = true;
    return a == n ? std::ldexp(a, F::kScale) : a;
  }
  return exponent_field(n) <= F::kTiny ? std::ldexp(a, F::kScale) : a;
}

/// op[0] = scaled op[2], op[1] = mask of the lanes to rescale; op[3] is the denominator, op[4] the numerator
template <class T>
void scale_division(Wave& w, const Inst& in) {
  Buffer<T> x, y, z;
  const T *a = fetch(w, in, 2, x), *d = fetch(w, in, 3, y), *n = fetch(w, in, 4, z);
  T r[kMaxLanes];
  u64 mask = 0;
  for (u32 l = 0; l < w.lanes; l++) {
    bool rescale;
    r[l] = scale_for_division<T>(a[l], d[l], n[l], rescale);
    mask |= u64{rescale} << l;
  }
  store<T>(w, in, in.op[0], r);
  w.write_mask(in.op[1].r, mask & w.exec());
}

/// op[0] = op[1] * op[2] + op[3], rescaled in the lanes of VCC with one rounding for both.
template <class T>
void fma_division(Wave& w, const Inst& in) {
  Buffer<T> x, y, z;
  const T *a = fetch(w, in, 1, x), *b = fetch(w, in, 2, y), *c = fetch(w, in, 3, z);
  T r[kMaxLanes];
  const u64 rescale = w.read_mask(reg::Vcc);
  const int bias = FloatLayout<T>::kExponentMask / 2;
  const __float128 scale = std::ldexp(1.0, FloatLayout<T>::kScale);
  for (u32 l = 0; l < w.lanes; l++) {
    r[l] = std::fma(a[l], b[l], c[l]);
    if (!(rescale >> l & 1) || !std::isfinite(r[l])) continue;
    const __float128 exact = static_cast<__float128>(a[l]) * b[l] + c[l];
    r[l] = static_cast<T>(exponent_field(c[l]) > bias ? exact * scale : exact / scale);
  }
  store<T>(w, in, in.op[0], r);
}

}  // namespace amdgpu

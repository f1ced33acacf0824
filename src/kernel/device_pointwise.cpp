// The device header: namespace pw, the other functions that pointwise.def's expressions call; their meaning is that of
// ops/pointwise_math.h. Real numbers are float, integers long long (template T).
#include "kernel/device_header.h"

namespace hf::kernel {

const std::string_view kDevicePointwise = R"hip(
namespace pw {
DEV float magnitude(float x) { return abs_f32(x); }
DEV float maximum(float x, float y) { return max_f32(x, y); }
DEV float minimum(float x, float y) { return min_f32(x, y); }
DEV float unit_clamp(float x) { return minimum(maximum(x, 0.f), 1.f); }
DEV float sigmoid(float x) { return sigmoid_f32(x); }                                         // 4e-7
DEV float softplus(float x) { return maximum(x, 0.f) + log1p(exp(-abs_f32(x))); }             // 6e-7
DEV float divide(float x, float y) { return x / y; }
// Error below 5e-7 |x|. Without approximation x / 2 * (1 + erf(z)), z = x / sqrt(2), by erfc(|z|) = 2^(-|z| Q(|z|)): one
// branch, as an epilogue wants it. Q is a least-squares fit on Chebyshev nodes to -log2(erfc(z)) / z up to 4; the error of
// erfc is 2.3e-7.
DEV float gelu(float x, float approximate) {
  if (approximate != 0.f) return 0.5f * x * (1.f + tanh(0x1.988454p-1f * (x + 0x1.6e4e26p-5f * x * x * x)));
  float z = abs_f32(x) * 0x1.6a09e6p-1f;  // beyond 4 the power vanishes
  float q = 1.3027695786149707e-05f;
  q = fma_f32(q, z, -0.00016196166689042002f);
  q = fma_f32(q, z, 0.0005253947456367314f);
  q = fma_f32(q, z, 0.002384305465966463f);
  q = fma_f32(q, z, -0.029641974717378616f);
  q = fma_f32(q, z, 0.14907948672771454f);
  q = fma_f32(q, z, 0.9183033108711243f);
  q = fma_f32(q, z, 1.6279151439666748f);
  float half = 0.5f * exp2_raw(-z * q);
  return x * (x > 0.f ? 1.f - half : half);
}

// |x| modulo |y|, exactly: long division of the mantissas, a bit a step.
DEV float remainder_of(float x, float y) {
  u32 a = as_u32(x) & 0x7fffffff, b = as_u32(y) & 0x7fffffff;
  if (a >= 0x7f800000u || b == 0 || b > 0x7f800000u) return nan_f32();
  if (a < b) return as_float(a);
  int ea = (int)(a >> 23), eb = (int)(b >> 23);
  u32 ma = (a & 0x7fffff) | (ea ? 0x800000u : 0u), mb = (b & 0x7fffff) | (eb ? 0x800000u : 0u);
  ea += ea == 0, eb += eb == 0;
  while (mb < 0x800000u) mb <<= 1, eb--;
  while (ma < 0x800000u) ma <<= 1, ea--;
  for (;; ea--) {
    if (ma >= mb) ma -= mb;
    if (ma == 0 || ea <= eb) break;
    ma <<= 1;
  }
  if (ma == 0) return 0.f;
  while (ma < 0x800000u) ma <<= 1, eb--;
  return as_float(eb > 0 ? (ma & 0x7fffff) | (u32)eb << 23 : ma >> (1 - eb));
}
DEV float modulo(float x, float y, float truncated) {
  float r = with_sign(remainder_of(x, y), x);
  if (truncated != 0.f) return r;
  if (r == 0.f) return with_sign(r, y);
  return (r < 0.f) != (y < 0.f) ? r + y : r;
}

// log2(x) for 0 < x < inf as the sum h + l, with a relative error of 3e-9: log(m) = 2 s + 2/3 s^3 + ..., the quotient s
// and the products with 1 / ln 2 in two floats each.
DEV float log2_parts(float x, float& l) {
  float e, m = split(x, e), f = m - 1.f, d = m + 1.f, lost = f - (d - 2.f);
  float s = f / d, rest = (fma_f32(-s, d, f) - s * lost) / d, z = s * s;
  float p = fma_f32(z, fma_f32(z, fma_f32(z, fma_f32(z, 0x1.745d18p-3f, 0x1.c71c72p-3f), 0x1.24924ap-2f), 0x1.99999ap-2f), 0x1.555556p-1f);
  float small = fma_f32(s * z, p, 2.f * rest), h = fma_f32(2.f, s, small);
  small = fma_f32(2.f, s, -h) + small;
  float t = h * 0x1.715476p+0f;
  small = fma_f32(h, 0x1.715476p+0f, -t) + fma_f32(h, 0x1.4ae0cp-26f, small * 0x1.715476p+0f);
  h = e + t;
  l = (t - (h - e)) + small;
  return h;
}
// C's pow. Relative error below 6e-7.
DEV float power(float x, float y) {
  if (y == 0.f || x == 1.f) return 1.f;
  if (x != x || y != y) return nan_f32();
  float a = abs_f32(x), r;
  bool whole = floor(y) == y, odd = whole && floor(0.5f * y) != 0.5f * y;
  if (a == 0.f || a == infinity()) {
    r = (a == 0.f) == (y < 0.f) ? infinity() : 0.f;
  } else if (isinf(y)) {
    r = a == 1.f ? 1.f : (a > 1.f) == (y > 0.f) ? infinity() : 0.f;
  } else {
    if (x < 0.f && !whole) return nan_f32();
    float l, h = log2_parts(a, l), t = y * h;
    if (abs_f32(t) > 160.f) r = t > 0.f ? infinity() : 0.f;
    else r = exp2_raw(t) * fma_f32(fma_f32(y, h, -t) + y * l, 0x1.62e43p-1f, 1.f);
  }
  return odd && (as_u32(x) >> 31) ? -r : r;
}

template <class T> DEV T magnitude(T x) { return x < T(0) ? T(0) - x : x; }
template <class T> DEV T maximum(T x, T y) { return x > y ? x : y; }
template <class T> DEV T minimum(T x, T y) { return x < y ? x : y; }
// By zero: 0. By -1 the lowest wraps; neither may trap.
template <class T> DEV T divide(T x, T y) { return y == T(0) ? T(0) : y == T(-1) ? T(0) - x : x / y; }
template <class T> DEV T modulo(T x, T y, T truncated) {
  if (y == T(0) || y == T(-1)) return T(0);
  T r = x % y;
  return truncated == T(0) && r != T(0) && (r < T(0)) != (y < T(0)) ? r + y : r;
}
template <class T> DEV T power(T x, T y) {
  if (y < T(0)) return x == T(1) ? x : x == T(-1) ? (y % T(2) ? x : T(0) - x) : T(0);
  T r = T(1);
  for (; y != T(0); y = T(y >> 1), x = x * x)
    if (y & T(1)) r = r * x;
  return r;
}
template <class T> DEV T shift(T x, T y, T left) {
  bool beyond = y < T(0) || y >= T(sizeof(T) * 8);
  if (left != T(0)) return beyond ? T(0) : T(x << y);
  return beyond ? (x < T(0) ? T(-1) : T(0)) : T(x >> y);
}
}  // namespace pw
)hip";

}  // namespace hf::kernel

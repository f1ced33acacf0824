// The device header: namespace pw, the functions of <cmath> that elementwise expressions call, on float.
#include "kernel/device_header.h"

namespace hf::kernel {

// Errors are relative, as tests/kernel measures them on the host against double; the hardware's exp2 and log2 add about
// one unit in the last place each. Results that are denormal may become 0. Where a formula is a series, the terms are
// Taylor's; atan and asin are least-squares fits on Chebyshev nodes, their own errors being 2.5e-9 and 1e-9.
const std::string_view kDeviceElementary = R"hip(
#if HF_CUDA
DEV float rint_f32(float x) { float y; asm("cvt.rni.f32.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEV float floor_f32(float x) { float y; asm("cvt.rmi.f32.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEV float ceil_f32(float x) { float y; asm("cvt.rpi.f32.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
#else
DEV float rint_f32(float x) { return __builtin_rintf(x); }
DEV float floor_f32(float x) { return __builtin_floorf(x); }
DEV float ceil_f32(float x) { return __builtin_ceilf(x); }
#endif
DEV float nan_f32() { return as_float(0x7fc00000u); }

namespace pw {
DEV float rint(float x) { return rint_f32(x); }
DEV float floor(float x) { return floor_f32(x); }
DEV float ceil(float x) { return ceil_f32(x); }
DEV float sqrt(float x) { return sqrt_f32(x); }
DEV bool isinf(float x) { return abs_f32(x) == infinity(); }
DEV float exp(float x) { return exp_f32(x); }      // 3e-7
DEV float tanh(float x) { return tanh_f32(x); }    // 6e-7
DEV float erf(float x) { return erf_f32(x); }      // 4e-7

// log((1 + s) / (1 - s)) for |s| < 0.172.
DEV float log_ratio(float s) {
  float z = s * s;
  return s * fma_f32(z, fma_f32(z, fma_f32(z, fma_f32(z, 0x1.c71c72p-3f, 0x1.24924ap-2f), 0x1.99999ap-2f), 0x1.555556p-1f), 2.f);
}
// x > 0 as m * 2^e, m in [0.707, 1.415). Denormals are numbers.
DEV float split(float x, float& e) {
  u32 bits = as_u32(x), extra = 0;
  if (bits < 0x00800000u) bits = as_u32(x * 0x1p24f), extra = 24;
  u32 up = (bits & 0x7fffff) > 0x3504f3 ? 1 : 0;
  e = (float)((int)(bits >> 23) + (int)up - 127 - (int)extra);
  return as_float((bits & 0x7fffff) | (127 - up) << 23);
}
// 3e-7
DEV float log(float x) {
  if (!(x > 0) || x == infinity()) return x == 0 ? -infinity() : x < 0 ? nan_f32() : x;
  float e, m = split(x, e);
  return fma_f32(e, 0x1.62e43p-1f, log_ratio((m - 1.f) / (m + 1.f)) - e * 0x1.05c61p-29f);
}
// 4e-7
DEV float log1p(float x) { return x > -0.29f && x < 0.41f ? log_ratio(x / (x + 2.f)) : log(1.f + x); }
// 8e-7
DEV float expm1(float x) {
  if (!(abs_f32(x) < 0.7f)) return exp(x) - 1.f;
  float p = fma_f32(x, fma_f32(x, 0x1.71de3ap-19f, 0x1.a01a02p-16f), 0x1.a01a02p-13f);
  p = fma_f32(x, fma_f32(x, fma_f32(x, fma_f32(x, p, 0x1.6c16c2p-10f), 0x1.111112p-7f), 0x1.555556p-5f), 0x1.555556p-3f);
  return fma_f32(x * x, fma_f32(x, p, 0.5f), x);
}
// 9e-7
DEV float sinh(float x) {
  float a = abs_f32(x), z = x * x;
  if (a < 1.f)
    return x * fma_f32(z, fma_f32(z, fma_f32(z, fma_f32(z, 0x1.71de3ap-19f, 0x1.a01a02p-13f), 0x1.111112p-7f), 0x1.555556p-3f), 1.f);
  float e = exp(0.5f * a), r = 1.f / e;
  return with_sign((0.5f * e) * e - (0.5f * r) * r, x);
}
// 9e-7
DEV float cosh(float x) {
  float e = exp(0.5f * abs_f32(x)), r = 1.f / e;
  return (0.5f * e) * e + (0.5f * r) * r;
}
// 6e-7
DEV float asinh(float x) {
  float a = abs_f32(x), z = a * a;
  return with_sign(a > 4096.f ? log(a) + 0x1.62e43p-1f : log1p(a + z / (1.f + sqrt(z + 1.f))), x);
}
// 6e-7
DEV float acosh(float x) {
  float t = x - 1.f;
  return !(x >= 1.f) ? nan_f32() : x > 4096.f ? log(x) + 0x1.62e43p-1f : log1p(t + sqrt(t * (x + 1.f)));
}
// 6e-7
DEV float atanh(float x) {
  float a = abs_f32(x);
  return with_sign(0.5f * log1p(2.f * a / (1.f - a)), x);
}
// 4e-7
DEV float atan(float x) {
  float a = abs_f32(x), base = 0, t = a;
  if (a > 2.41421356f) t = -1.f / a, base = 0x1.921fb6p+0f;
  else if (a > 0.414213562f) t = (a - 1.f) / (a + 1.f), base = 0x1.921fb6p-1f;
  float z = t * t, p = -0.0645904690027237f;
  p = fma_f32(p, z, 0.10746199637651443f);
  p = fma_f32(p, z, -0.14264222979545593f);
  p = fma_f32(p, z, 0.1999955028295517f);
  p = fma_f32(p, z, -0.3333333134651184f);
  return with_sign(base + fma_f32(t * z, p, t), x);
}
// asin for |x| <= 0.5.
DEV float asin_small(float x) {
  float z = x * x, p = 0.03380574658513069f;
  p = fma_f32(p, z, 0.017077859491109848f);
  p = fma_f32(p, z, 0.03111615590751171f);
  p = fma_f32(p, z, 0.04459803178906441f);
  p = fma_f32(p, z, 0.07500098645687103f);
  p = fma_f32(p, z, 0.1666666567325592f);
  return fma_f32(x * z, p, x);
}
// 4e-7
DEV float asin(float x) {
  float a = abs_f32(x);
  if (a <= 0.5f) return asin_small(x);
  return with_sign(0x1.921fb6p+0f - 2.f * asin_small(sqrt(0.5f * (1.f - a))), x);
}
// 4e-7
DEV float acos(float x) {
  float a = abs_f32(x);
  if (a <= 0.5f) return 0x1.921fb6p+0f - (asin_small(x) + 0x1.777a5cp-25f);
  float half = 2.f * asin_small(sqrt(0.5f * (1.f - a)));
  return x < 0 ? 0x1.921fb6p+1f - half : half;
}

// x - q * pi/2 in about [-pi/4, pi/4], and q modulo 4. Below 1e5 in three steps (Cody and Waite, 1980), beyond with as
// many bits of 2 / pi as matter (Payne and Hanek, 1983): those whose product with the mantissa is below 4.
DEV float quarter(float x, u32& q) {
  float a = abs_f32(x);
  if (a < 1e5f) {
    float k = rint(x * 0x1.45f306p-1f);
    q = (u32)(int)k;
    return fma_f32(k, 0x1.ee59dap-50f, fma_f32(k, 0x1.777a5cp-25f, fma_f32(k, -0x1.921fb6p+0f, x)));
  }
  if (!(a < infinity())) return nan_f32();
  const u32 bits[9] = {0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
  u32 u = as_u32(a), m = (u & 0x7fffff) | 0x800000, from = (u >> 23) - 120, shift = from & 31;
  u32 w[3];
  for (int i = 0; i < 3; i++) {
    u64 two = (u64)bits[(from >> 5) + i] << 32 | bits[(from >> 5) + i + 1];
    w[i] = (u32)(two << shift >> 32);
  }
  u64 low = (u64)m * w[2], middle = (u64)m * w[1] + (low >> 32);
  u64 r = (u64)(m * w[0] + (u32)(middle >> 32)) << 32 | (u32)middle;
  float part = (float)(i64)(r << 2) * 0x1.921fb6p-64f;
  q = (u32)((r >> 62) + (r >> 61 & 1));
  if (x < 0) q = 0u - q, part = -part;
  return part;
}
DEV float sin_quarter(float r) {
  float z = r * r;
  return r * fma_f32(z, fma_f32(z, fma_f32(z, fma_f32(z, 0x1.71de3ap-19f, -0x1.a01a02p-13f), 0x1.111112p-7f), -0x1.555556p-3f), 1.f);
}
DEV float cos_quarter(float r) {
  float z = r * r;
  return fma_f32(z, fma_f32(z, fma_f32(z, fma_f32(z, 0x1.a01a02p-16f, -0x1.6c16c2p-10f), 0x1.555556p-5f), -0.5f), 1.f);
}
// 4e-7 for every x
DEV float sin(float x) {
  u32 q = 0;
  float r = quarter(x, q), y = q & 1 ? cos_quarter(r) : sin_quarter(r);
  return q & 2 ? -y : y;
}
// 4e-7 for every x
DEV float cos(float x) {
  u32 q = 0;
  float r = quarter(x, q), y = q & 1 ? sin_quarter(r) : cos_quarter(r);
  return (q + 1) & 2 ? -y : y;
}
// 6e-7 for every x
DEV float tan(float x) {
  u32 q = 0;
  float r = quarter(x, q), s = sin_quarter(r), c = cos_quarter(r);
  return q & 1 ? -c / s : s / c;
}
}  // namespace pw
)hip";

}  // namespace hf::kernel

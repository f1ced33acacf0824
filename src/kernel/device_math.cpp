// The device header: small floats, mathematics with stated errors, reductions.
#include "kernel/device_header.h"

namespace hf::kernel {

const std::string_view kDeviceFloats = R"hip(
// f16 and bf16 are stored as u16 and computed as float. Conversions round to nearest even; NaN stays NaN.
#if HF_CUDA
DEV float f16_to_float(u16 h) { float f; asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h)); return f; }
DEV u16 float_to_f16(float f) { u16 h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f)); return h; }
#elif HF_AMD
DEV float f16_to_float(u16 h) { return (float)__builtin_bit_cast(_Float16, h); }
DEV u16 float_to_f16(float f) { return __builtin_bit_cast(u16, (_Float16)f); }
#else
DEV float f16_to_float(u16 h) {
  u32 sign = (u32)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3ff;
  if (exponent == 0) {
    float f = (float)mantissa * 0x1p-24f;
    return sign ? -f : f;
  }
  if (exponent == 31) return as_float(sign | 0x7f800000u | mantissa << 13);
  return as_float(sign | ((exponent + 112) << 23 | mantissa << 13));
}
DEV u16 float_to_f16(float f) {
  u32 bits = as_u32(f), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffff;
  if (a > 0x7f800000u) return (u16)(sign | 0x7e00);
  if (a >= 0x477ff000u) return (u16)(sign | 0x7c00);  // 65520 and beyond round to infinity
  if (a < 0x38800000u) return (u16)(sign | (as_u32(as_float(a) + 0.5f) - 0x3f000000u));  // 0.5's last bit is 2^-24
  return (u16)(sign | ((a + 0xfff + (a >> 13 & 1) - 0x38000000u) >> 13));
}
#endif
DEV float bf16_to_float(u16 b) { return as_float((u32)b << 16); }
DEV u16 float_to_bf16(float f) {
  u32 u = as_u32(f);
  return (u & 0x7fffffff) > 0x7f800000u ? (u16)(u >> 16 | 0x40) : (u16)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

// element<T> for T = HF_F32, HF_F16, HF_BF16: how one element is stored, loaded and made; VEC of them are 16 bytes.
enum { HF_F32 = 0, HF_F16 = 1, HF_BF16 = 2 };
template <int T> struct element;
template <> struct element<HF_F32> {
  typedef float type;
  enum { VEC = 4 };
  DEV float load(float v) { return v; }
  DEV float store(float v) { return v; }
};
template <> struct element<HF_F16> {
  typedef u16 type;
  enum { VEC = 8 };
  DEV float load(u16 v) { return f16_to_float(v); }
  DEV u16 store(float v) { return float_to_f16(v); }
};
template <> struct element<HF_BF16> {
  typedef u16 type;
  enum { VEC = 8 };
  DEV float load(u16 v) { return bf16_to_float(v); }
  DEV u16 store(float v) { return float_to_bf16(v); }
};

// Two small elements as they lie in a word.
#if HF_CUDA
DEV u32 pair_of(u16 low, u16 high) { u32 w; asm("mov.b32 %0, {%1, %2};" : "=r"(w) : "h"(low), "h"(high)); return w; }
#else
DEV u32 pair_of(u16 low, u16 high) { return low | (u32)high << 16; }
#endif

// 16 bytes of global memory in one access. NVIDIA's compiler would split them where it does not see that the address is
// a multiple of 16; other memory, LDS say, is not for this function.
#if HF_CUDA
DEV void store_global(void* to, u32x4 w) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w) : "memory");
}
#else
DEV void store_global(void* to, u32x4 w) { *(u32x4*)to = w; }
#endif

// N consecutive elements of global memory as floats, in 16-byte pieces: the address must be aligned to 16 bytes, or to
// all N if fewer.
template <int N, int T> struct pack {
  typedef typename element<T>::type type;
  enum { BYTES = N * sizeof(type), PIECES = BYTES / 16, PAIRS = sizeof(type) == 2 && N % 2 == 0 };
  DEV void load(const type* from, float (&v)[N]) {
    alignas(16) type raw[N];
    if constexpr (BYTES % 16 == 0) {
      for (int i = 0; i < PIECES; i++) ((u32x4*)raw)[i] = ((const u32x4*)from)[i];
    } else if constexpr (PAIRS) {
      for (int i = 0; i < N / 2; i++) {
        u32 w = ((const u32*)from)[i];
        raw[2 * i] = (u16)w;
        raw[2 * i + 1] = (u16)(w >> 16);
      }
    } else {
      for (int i = 0; i < N; i++) raw[i] = from[i];
    }
    for (int i = 0; i < N; i++) v[i] = element<T>::load(raw[i]);
  }
  DEV u32 word(const float (&v)[N], int i) {
    if constexpr (sizeof(type) == 4) return as_u32(v[i]);
    else return pair_of(element<T>::store(v[2 * i]), element<T>::store(v[2 * i + 1]));
  }
  DEV void store(type* to, const float (&v)[N]) {
    if constexpr (BYTES % 16 == 0) {
      for (int i = 0; i < PIECES; i++) {
        u32x4 w;
        w.x = word(v, 4 * i);
        w.y = word(v, 4 * i + 1);
        w.z = word(v, 4 * i + 2);
        w.w = word(v, 4 * i + 3);
        store_global((u32x4*)to + i, w);
      }
    } else if constexpr (PAIRS) {
      for (int i = 0; i < N / 2; i++) ((u32*)to)[i] = word(v, i);
    } else {
      for (int i = 0; i < N; i++) to[i] = element<T>::store(v[i]);
    }
  }
};
)hip";

// Errors are those of the formulas with correctly rounded arithmetic, as tests/kernel measures them on the host; the
// hardware's exp2, log2 and reciprocal add about one unit in the last place each. Results that are denormal may become
// 0. erf: x * P(x^2) for |x| < 1; 1 - 2^(-|x| * Q(|x|)) up to 4, where erf is 1 - 1.5e-8. P and Q are least-squares
// fits on Chebyshev nodes to erf(x) / x and -log2(erfc(x)) / x, their own errors being 1.3e-9 and 1.1e-7.
const std::string_view kDeviceMath = R"hip(
#if HF_CUDA
DEV float exp2_raw(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEV float log2_raw(float x) { float y; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEV float fma_f32(float a, float b, float c) { return __fmaf_rn(a, b, c); }
DEV float sqrt_f32(float x) { return __fsqrt_rn(x); }
DEV float reciprocal_raw(float x) { float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
#elif HF_AMD
#if __has_builtin(__builtin_amdgcn_exp2f)
DEV float exp2_raw(float x) { return __builtin_amdgcn_exp2f(x); }
#else
DEV float exp2_raw(float x) { return __builtin_exp2f(x); }
#endif
#if __has_builtin(__builtin_amdgcn_logf)
DEV float log2_raw(float x) { return __builtin_amdgcn_logf(x); }
#else
DEV float log2_raw(float x) { return __builtin_log2f(x); }
#endif
DEV float fma_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DEV float sqrt_f32(float x) { return __builtin_sqrtf(x); }
DEV float reciprocal_raw(float x) { return __builtin_amdgcn_rcpf(x); }
#else
DEV float exp2_raw(float x) { return __builtin_exp2f(x); }
DEV float log2_raw(float x) { return __builtin_log2f(x); }
DEV float fma_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DEV float sqrt_f32(float x) { return __builtin_sqrtf(x); }
DEV float reciprocal_raw(float x) { return 1.f / x; }
#endif

DEV float infinity() { return as_float(0x7f800000u); }
DEV float abs_f32(float x) { return as_float(as_u32(x) & 0x7fffffff); }
DEV float with_sign(float x, float of) { return as_float((as_u32(x) & 0x7fffffff) | (as_u32(of) & 0x80000000u)); }
// The larger and the smaller; NaN if one is NaN.
#if HF_CUDA && __CUDA_ARCH__ >= 800
DEV float max_f32(float a, float b) { float y; asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b)); return y; }
DEV float min_f32(float a, float b) { float y; asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b)); return y; }
#else
DEV float max_f32(float a, float b) { return a >= b || a != a ? a : b; }
DEV float min_f32(float a, float b) { return a <= b || a != a ? a : b; }
#endif

// e^x, relative error below 3e-7: the part of x * log2(e) that rounding loses is put back as a factor.
DEV float exp_f32(float x) {
  x = x > 89.f ? 89.f : x < -104.f ? -104.f : x;
  float t = x * 0x1.715476p+0f;
  float lost = fma_f32(x, 0x1.715476p+0f, -t) + x * 0x1.4ae0cp-26f;
  return exp2_raw(t) * fma_f32(lost, 0x1.62e43p-1f, 1.f);
}
// Natural logarithm, error below 2e-7 of max(1, |result|).
DEV float log_f32(float x) { return log2_raw(x) * 0x1.62e43p-1f; }
// Relative error below 4e-7.
DEV float sigmoid_f32(float x) { return reciprocal_raw(1.f + exp_f32(-x)); }
// Relative error below 6e-7.
DEV float tanh_f32(float x) {
  float a = abs_f32(x), z = a * a;
  if (a < 0.3f)
    return x * fma_f32(z, fma_f32(z, fma_f32(z, fma_f32(z, 0x1.664f48p-6f, -0x1.ba1ba2p-5f), 0x1.111112p-3f), -0x1.555556p-2f), 1.f);
  return with_sign(1.f - 2.f / (exp_f32(a + a) + 1.f), x);
}
// Relative error below 4e-7.
DEV float erf_f32(float x) {
  float a = abs_f32(x), z = a * a;
  if (a < 1.f) {
    float p = 7.882497448008507e-05f;
    p = fma_f32(p, z, -0.0008018855005502701f);
    p = fma_f32(p, z, 0.005189312156289816f);
    p = fma_f32(p, z, -0.02685432881116867f);
    p = fma_f32(p, z, 0.11283597350120544f);
    p = fma_f32(p, z, -0.3761262595653534f);
    return x * fma_f32(p, z, 1.1283791065216064f);
  }
  a = a > 4.f ? 4.f : a;
  float q = -1.5769179526614607e-06f;
  q = fma_f32(q, a, 5.0932572776218876e-05f);
  q = fma_f32(q, a, -0.000730398518498987f);
  q = fma_f32(q, a, 0.006256261840462685f);
  q = fma_f32(q, a, -0.03638918697834015f);
  q = fma_f32(q, a, 0.1557808220386505f);
  q = fma_f32(q, a, 0.9147419929504395f);
  q = fma_f32(q, a, 1.6287078857421875f);
  return with_sign(1.f - exp2_raw(-a * q), x);
}
)hip";

const std::string_view kDeviceGroups = R"hip(
struct add_f32_op { DEV float run(float a, float b) { return a + b; } };
struct max_f32_op { DEV float run(float a, float b) { return max_f32(a, b); } };
// Every lane gets the wave's result; the order of operations is the same in all of them.
template <class Op> DEV float wave_reduce(float v) {
  for (int mask = WAVE / 2; mask; mask >>= 1) v = Op::run(v, shuffle_xor(v, mask));
  return v;
}
// Every thread of a block of THREADS (a multiple of WAVE, one dimension) gets the block's result. `scratch` is
// THREADS / WAVE floats of LDS, free before and after.
template <class Op, int THREADS> DEV float block_reduce(float v, float* scratch) {
  v = wave_reduce<Op>(v);
  if (lane_id() == 0) scratch[thread_x() / WAVE] = v;
  barrier();
  float all = scratch[0];
  for (int i = 1; i < THREADS / WAVE; i++) all = Op::run(all, scratch[i]);
  barrier();
  return all;
}
)hip";

}  // namespace hf::kernel

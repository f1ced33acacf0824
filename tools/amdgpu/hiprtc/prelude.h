// What hipRTC predefines, as far as kernels need it. Compiled by clang for the device only, without device libraries.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __AMDEMU_LB1(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#define __AMDEMU_LB2(n, w) __attribute__((amdgpu_flat_work_group_size(1, n), amdgpu_waves_per_eu(w)))
#define __AMDEMU_LBX(a, b, c, ...) c
#define __launch_bounds__(...) __AMDEMU_LBX(__VA_ARGS__, __AMDEMU_LB2, __AMDEMU_LB1, 0)(__VA_ARGS__)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define HIP_DYNAMIC_SHARED(type, var) extern __shared__ type var[];
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define __HD_ static __device__ inline __attribute__((always_inline))
#ifndef HIP_VERSION
#define HIP_VERSION 60342131
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 3
#endif

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef unsigned long uintptr_t;
typedef long intptr_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#ifndef NULL
#define NULL nullptr
#endif
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX 0xffffffffu

struct dim3 {
  unsigned x, y, z;
  constexpr __host__ __device__ dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct __amdemu_tid {
  struct X {
    __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_x(); }
  };
  struct Y {
    __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_y(); }
  };
  struct Z {
    __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_z(); }
  };
  X x;
  Y y;
  Z z;
};
struct __amdemu_bid {
  struct X {
    __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_id_x(); }
  };
  struct Y {
    __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_id_y(); }
  };
  struct Z {
    __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_id_z(); }
  };
  X x;
  Y y;
  Z z;
};
struct __amdemu_bdim {
  struct X {
    __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_size_x(); }
  };
  struct Y {
    __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_size_y(); }
  };
  struct Z {
    __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_size_z(); }
  };
  X x;
  Y y;
  Z z;
};
struct __amdemu_gdim {  // grid size in work-items / workgroup size: exact, partial workgroups do not exist in HIP
  struct X {
    __device__ operator unsigned() const {
      return __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x();
    }
  };
  struct Y {
    __device__ operator unsigned() const {
      return __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y();
    }
  };
  struct Z {
    __device__ operator unsigned() const {
      return __builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z();
    }
  };
  X x;
  Y y;
  Z z;
};
static constexpr __device__ __amdemu_tid threadIdx{};
static constexpr __device__ __amdemu_bid blockIdx{};
static constexpr __device__ __amdemu_bdim blockDim{};
static constexpr __device__ __amdemu_gdim gridDim{};
static constexpr __device__ int warpSize = __AMDGCN_WAVEFRONT_SIZE;

// ---- vector types
#define __AMDEMU_VEC(T, N)                                         \
  typedef T N##2 __attribute__((ext_vector_type(2)));              \
  typedef T N##4 __attribute__((ext_vector_type(4)));              \
  struct N##3 {                                                    \
    T x, y, z;                                                     \
  };                                                               \
  typedef T N##1 __attribute__((ext_vector_type(1)));              \
  __HD_ N##2 make_##N##2(T a, T b) { return N##2 {a, b}; }         \
  __HD_ N##3 make_##N##3(T a, T b, T c) { return N##3 {a, b, c}; } \
  __HD_ N##4 make_##N##4(T a, T b, T c, T d) { return N##4 {a, b, c, d}; }
__AMDEMU_VEC(char, char)
__AMDEMU_VEC(unsigned char, uchar)
__AMDEMU_VEC(short, short)
__AMDEMU_VEC(unsigned short, ushort)
__AMDEMU_VEC(int, int)
__AMDEMU_VEC(unsigned, uint)
__AMDEMU_VEC(long, long)
__AMDEMU_VEC(unsigned long, ulong)
__AMDEMU_VEC(long long, longlong)
__AMDEMU_VEC(float, float)
__AMDEMU_VEC(double, double)

// ---- synchronisation
__HD_ void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__HD_ void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__HD_ void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
__HD_ void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
__HD_ void __syncwarp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

// ---- bits and conversions
template <class T, class F>
__HD_ T __amdemu_cast(F f) {
  return __builtin_bit_cast(T, f);
}
__HD_ int __float_as_int(float f) { return __amdemu_cast<int>(f); }
__HD_ unsigned __float_as_uint(float f) { return __amdemu_cast<unsigned>(f); }
__HD_ float __int_as_float(int i) { return __amdemu_cast<float>(i); }
__HD_ float __uint_as_float(unsigned i) { return __amdemu_cast<float>(i); }
__HD_ int __float2int_rn(float f) { return (int)__builtin_rintf(f); }
__HD_ int __float2int_rz(float f) { return (int)f; }
__HD_ int __float2int_rd(float f) { return (int)__builtin_floorf(f); }
__HD_ int __float2int_ru(float f) { return (int)__builtin_ceilf(f); }
__HD_ unsigned __float2uint_rn(float f) { return (unsigned)__builtin_rintf(f); }
__HD_ float __int2float_rn(int i) { return (float)i; }
__HD_ float __uint2float_rn(unsigned i) { return (float)i; }
__HD_ int __popc(unsigned v) { return __builtin_popcount(v); }
__HD_ int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
__HD_ int __clz(int v) { return v ? __builtin_clz(v) : 32; }
__HD_ int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
__HD_ int __ffs(int v) { return v ? __builtin_ctz(v) + 1 : 0; }
__HD_ int __ffsll(long long v) { return v ? __builtin_ctzll(v) + 1 : 0; }
__HD_ unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
__HD_ int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
__HD_ unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long)a * b) >> 32); }
__HD_ int __mulhi(int a, int b) { return (int)(((long)a * b) >> 32); }
template <class T>
__HD_ T __ldg(const T* p) {
  return *p;
}

// ---- lanes
__HD_ unsigned __lane_id() {
#if __AMDGCN_WAVEFRONT_SIZE == 64
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
#else
  return __builtin_amdgcn_mbcnt_lo(~0u, 0);
#endif
}
template <class T>
__HD_ T __amdemu_from(T v, int lane) {
  union {
    T t;
    int w[(sizeof(T) + 3) / 4];
  } u, r;
  for (auto& w : u.w) w = 0;
  u.t = v;
  for (unsigned i = 0; i < sizeof(u.w) / 4; i++) r.w[i] = __builtin_amdgcn_ds_bpermute(lane << 2, u.w[i]);
  return r.t;
}
template <class T>
__HD_ T __shfl(T v, int src, int width = warpSize) {
  int l = __lane_id();
  return __amdemu_from(v, (src & (width - 1)) + (l & ~(width - 1)));
}
template <class T>
__HD_ T __shfl_xor(T v, int m, int width = warpSize) {
  int l = __lane_id(), i = l ^ m;
  return __amdemu_from(v, i >= ((l + width) & ~(width - 1)) ? l : i);
}
template <class T>
__HD_ T __shfl_up(T v, unsigned d, int width = warpSize) {
  int l = __lane_id(), i = l - (int)d;
  return __amdemu_from(v, i < (l & ~(width - 1)) ? l : i);
}
template <class T>
__HD_ T __shfl_down(T v, unsigned d, int width = warpSize) {
  int l = __lane_id();
  return __amdemu_from(v, (int)((l & (width - 1)) + d) >= width ? l : l + (int)d);
}
__HD_ unsigned long long __ballot(int p) {
#if __AMDGCN_WAVEFRONT_SIZE == 64
  return __builtin_amdgcn_ballot_w64(p != 0);
#else
  return __builtin_amdgcn_ballot_w32(p != 0);
#endif
}
__HD_ unsigned long long __activemask() { return __ballot(1); }
__HD_ int __any(int p) { return __ballot(p) != 0; }
__HD_ int __all(int p) { return __ballot(p) == __activemask(); }

// ---- atomics
#define __AMDEMU_AT(T, C)                                                                      \
  __HD_ T atomicAdd(T* p, T v) {                                                               \
    return (T)__hip_atomic_fetch_add((C*)p, (C)v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); \
  }                                                                                            \
  __HD_ T atomicExch(T* p, T v) {                                                              \
    return (T)__hip_atomic_exchange((C*)p, (C)v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);  \
  }
#define __AMDEMU_ATI(T, C)                                                                           \
  __AMDEMU_AT(T, C) __HD_ T atomicSub(T* p, T v) {                                                   \
    return (T)__hip_atomic_fetch_add((C*)p, (C)(0 - v), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); \
  }                                                                                                  \
  __HD_ T atomicAnd(T* p, T v) {                                                                     \
    return (T)__hip_atomic_fetch_and((C*)p, (C)v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);       \
  }                                                                                                  \
  __HD_ T atomicOr(T* p, T v) {                                                                      \
    return (T)__hip_atomic_fetch_or((C*)p, (C)v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);        \
  }                                                                                                  \
  __HD_ T atomicXor(T* p, T v) {                                                                     \
    return (T)__hip_atomic_fetch_xor((C*)p, (C)v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);       \
  }                                                                                                  \
  __HD_ T atomicMin(T* p, T v) {                                                                     \
    return (T)__hip_atomic_fetch_min((C*)p, (C)v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);       \
  }                                                                                                  \
  __HD_ T atomicMax(T* p, T v) {                                                                     \
    return (T)__hip_atomic_fetch_max((C*)p, (C)v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);       \
  }                                                                                                  \
  __HD_ T atomicCAS(T* p, T e, T v) {                                                                \
    C x = (C)e;                                                                                      \
    __hip_atomic_compare_exchange_strong((C*)p, &x, (C)v, __ATOMIC_RELAXED, __ATOMIC_RELAXED,        \
                                         __HIP_MEMORY_SCOPE_AGENT);                                  \
    return (T)x;                                                                                     \
  }
__AMDEMU_ATI(int, int)
__AMDEMU_ATI(unsigned, unsigned)
__AMDEMU_ATI(unsigned long, unsigned long)
__AMDEMU_ATI(unsigned long long, unsigned long)
__AMDEMU_AT(float, float) __HD_ float __amdemu_fminmax(float* p, float v, bool mx) {
  unsigned e = __hip_atomic_load((unsigned*)p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  for (;;) {
    float o = __uint_as_float(e);
    if (mx ? !(v > o) : !(v < o)) return o;
    if (__hip_atomic_compare_exchange_strong((unsigned*)p, &e, __float_as_uint(v), __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                             __HIP_MEMORY_SCOPE_AGENT))
      return o;
  }
}
__HD_ float atomicMax(float* p, float v) { return __amdemu_fminmax(p, v, true); }
__HD_ float atomicMin(float* p, float v) { return __amdemu_fminmax(p, v, false); }

// ---- math (f32; the functions that the AMDGPU back end lowers without device libraries)
#define __AMDEMU_M1(n) \
  __HD_ float n##f(float x) { return __builtin_##n##f(x); }
#define __AMDEMU_M1D(n)                                                 \
  __AMDEMU_M1(n) __HD_ float n(float x) { return __builtin_##n##f(x); } \
  __HD_ double n(double x) { return __builtin_##n(x); }
__AMDEMU_M1D(sqrt)
__AMDEMU_M1D(fabs)
__AMDEMU_M1D(floor)
__AMDEMU_M1D(ceil)
__AMDEMU_M1D(trunc)
__AMDEMU_M1D(rint)
__AMDEMU_M1D(round)
__AMDEMU_M1(nearbyint)
__AMDEMU_M1(exp)
__AMDEMU_M1(exp2)
__AMDEMU_M1(log) __AMDEMU_M1(log2) __AMDEMU_M1(log10) __AMDEMU_M1(sin) __AMDEMU_M1(cos) __HD_ float exp(float x) {
  return expf(x);
}
__HD_ float log(float x) { return logf(x); }
__HD_ float exp2(float x) { return exp2f(x); }
__HD_ float log2(float x) { return log2f(x); }
__HD_ float sin(float x) { return sinf(x); }
__HD_ float cos(float x) { return cosf(x); }
__HD_ float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
__HD_ float fminf(float a, float b) { return __builtin_fminf(a, b); }
__HD_ float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__HD_ double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
__HD_ float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__HD_ double fmax(double a, double b) { return __builtin_fmax(a, b); }
__HD_ double fmin(double a, double b) { return __builtin_fmin(a, b); }
__HD_ float fmax(float a, float b) { return fmaxf(a, b); }
__HD_ float fmin(float a, float b) { return fminf(a, b); }
__HD_ float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
__HD_ float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
__HD_ float fmodf(float a, float b) { return a - b * truncf(a / b); }
template <class T>
__HD_ bool isnan(T x) {
  return __builtin_isnan(x);
}
template <class T>
__HD_ bool isinf(T x) {
  return __builtin_isinf(x);
}
template <class T>
__HD_ bool isfinite(T x) {
  return __builtin_isfinite(x);
}
template <class T>
__HD_ T max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
__HD_ T min(T a, T b) {
  return b < a ? b : a;
}
__HD_ float max(float a, float b) { return fmaxf(a, b); }
__HD_ float min(float a, float b) { return fminf(a, b); }
__HD_ int abs(int x) { return x < 0 ? -x : x; }
__HD_ float powf(float x, float y) {
  if (y == 0.0f || x == 1.0f) return 1.0f;
  float a = fabsf(x), r = exp2f(y * log2f(a));
  bool yi = truncf(y) == y, odd = yi && fabsf(y) < 16777216.0f && ((int)y & 1);
  if (a == 0.0f) r = y < 0 ? INFINITY : 0.0f;
  return x < 0.0f || (x == 0.0f && __builtin_signbit(x)) ? (yi ? (odd ? -r : r) : (a == 0.0f ? r : NAN)) : r;
}
__HD_ float tanhf(float x) {
  float a = fabsf(x);
  if (a < 0.04f) {
    float s = x * x;
    return x * (1.0f - s * (0.33333334f - s * 0.13333334f));
  }
  float e = expf(-2.0f * a), t = (1.0f - e) / (1.0f + e);
  return copysignf(t, x);
}
__HD_ float erff(float x) {  // series below 2, continued fraction above; about 1e-6
  float a = fabsf(x);
  if (a > 4.0f) return copysignf(1.0f, x);
  if (a < 2.0f) {
    float s = a, t = a, q = a * a;
    for (int n = 1; n < 24; n++) {
      t *= -q / n;
      s += t / (2 * n + 1);
    }
    return copysignf(1.12837917f * s, x);
  }
  float f = 0;
  for (int n = 24; n > 0; n--) f = n * 0.5f / (a + f);
  return copysignf(1.0f - expf(-a * a) * 0.56418958f / (a + f), x);
}
__HD_ float __expf(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504f); }
__HD_ float __logf(float x) { return __builtin_amdgcn_logf(x) * 0.69314718f; }
__HD_ float __log2f(float x) { return __builtin_amdgcn_logf(x); }
__HD_ float __powf(float a, float b) { return powf(a, b); }
__HD_ float __sinf(float x) { return sinf(x); }
__HD_ float __cosf(float x) { return cosf(x); }
__HD_ float __fdividef(float a, float b) { return a / b; }
__HD_ float __frcp_rn(float x) { return 1.0f / x; }
__HD_ float __fsqrt_rn(float x) { return sqrtf(x); }
__HD_ float __frsqrt_rn(float x) { return rsqrtf(x); }
__HD_ float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
__HD_ float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }

// ---- half precision (the common part of hip_fp16.h) and bfloat16
struct __half {
  union {
    _Float16 data;
    unsigned short __x;
  };
  __half() = default;
  __device__ __half(_Float16 v) : data(v) {}
  __device__ __half(float v) : data((_Float16)v) {}
  __device__ __half(double v) : data((_Float16)v) {}
  __device__ __half(int v) : data((_Float16)v) {}
  __device__ operator _Float16() const { return data; }
  __device__ operator float() const { return (float)data; }
  __device__ __half& operator+=(__half o) {
    data += o.data;
    return *this;
  }
  __device__ __half& operator-=(__half o) {
    data -= o.data;
    return *this;
  }
  __device__ __half& operator*=(__half o) {
    data *= o.data;
    return *this;
  }
  __device__ __half& operator/=(__half o) {
    data /= o.data;
    return *this;
  }
};
typedef __half half;
typedef _Float16 __amdemu_h2 __attribute__((ext_vector_type(2)));
#define __AMDEMU_HOP(o) \
  __HD_ __half operator o(__half a, __half b) { return __half((_Float16)(a.data o b.data)); }
__AMDEMU_HOP(+)
__AMDEMU_HOP(-)
__AMDEMU_HOP(*)
__AMDEMU_HOP(/)
#define __AMDEMU_HCMP(o) \
  __HD_ bool operator o(__half a, __half b) { return a.data o b.data; }
__AMDEMU_HCMP(<)
__AMDEMU_HCMP(>)
__AMDEMU_HCMP(<=) __AMDEMU_HCMP(>=) __AMDEMU_HCMP(==) __AMDEMU_HCMP(!=) __HD_ __half operator-(__half a) {
  return __half((_Float16)-a.data);
}
struct __half2 {
  __half x, y;
};
typedef __half2 half2;
__HD_ __amdemu_h2 __amdemu_v(__half2 a) { return __amdemu_cast<__amdemu_h2>(a); }
__HD_ __half2 __amdemu_s(__amdemu_h2 a) { return __amdemu_cast<__half2>(a); }
__HD_ __half __float2half(float f) { return __half(f); }
__HD_ __half __float2half_rn(float f) { return __half(f); }
__HD_ float __half2float(__half h) { return (float)h.data; }
__HD_ __half __int2half_rn(int i) { return __half((float)i); }
__HD_ int __half2int_rn(__half h) { return (int)__builtin_rintf((float)h.data); }
__HD_ __half __ushort_as_half(unsigned short u) { return __amdemu_cast<__half>(u); }
__HD_ unsigned short __half_as_ushort(__half h) { return h.__x; }
__HD_ __half __hadd(__half a, __half b) { return a + b; }
__HD_ __half __hsub(__half a, __half b) { return a - b; }
__HD_ __half __hmul(__half a, __half b) { return a * b; }
__HD_ __half __hdiv(__half a, __half b) { return a / b; }
__HD_ __half __hneg(__half a) { return -a; }
__HD_ __half __hfma(__half a, __half b, __half c) {
  return __half((_Float16)__builtin_elementwise_fma(a.data, b.data, c.data));
}
__HD_ __half __hmax(__half a, __half b) { return __half((_Float16)__builtin_elementwise_max(a.data, b.data)); }
__HD_ __half __hmin(__half a, __half b) { return __half((_Float16)__builtin_elementwise_min(a.data, b.data)); }
__HD_ bool __hlt(__half a, __half b) { return a < b; }
__HD_ bool __hgt(__half a, __half b) { return a > b; }
__HD_ bool __hle(__half a, __half b) { return a <= b; }
__HD_ bool __hge(__half a, __half b) { return a >= b; }
__HD_ bool __heq(__half a, __half b) { return a == b; }
__HD_ bool __hisnan(__half a) { return a != a; }
__HD_ __half hexp(__half a) { return __half(expf((float)a)); }
__HD_ __half hlog(__half a) { return __half(logf((float)a)); }
__HD_ __half hsqrt(__half a) { return __half(sqrtf((float)a)); }
__HD_ __half hrsqrt(__half a) { return __half(rsqrtf((float)a)); }
__HD_ __half hrcp(__half a) { return __half(1.0f / (float)a); }
__HD_ __half2 __floats2half2_rn(float a, float b) { return __half2{__half(a), __half(b)}; }
__HD_ __half2 __float2half2_rn(float a) { return __half2{__half(a), __half(a)}; }
__HD_ __half2 __half2half2(__half a) { return __half2{a, a}; }
__HD_ __half2 __halves2half2(__half a, __half b) { return __half2{a, b}; }
__HD_ __half2 make_half2(__half a, __half b) { return __half2{a, b}; }
__HD_ __half __low2half(__half2 a) { return a.x; }
__HD_ __half __high2half(__half2 a) { return a.y; }
__HD_ float __low2float(__half2 a) { return (float)a.x.data; }
__HD_ float __high2float(__half2 a) { return (float)a.y.data; }
__HD_ float2 __half22float2(__half2 a) { return float2{(float)a.x.data, (float)a.y.data}; }
__HD_ __half2 __hadd2(__half2 a, __half2 b) { return __amdemu_s(__amdemu_v(a) + __amdemu_v(b)); }
__HD_ __half2 __hsub2(__half2 a, __half2 b) { return __amdemu_s(__amdemu_v(a) - __amdemu_v(b)); }
__HD_ __half2 __hmul2(__half2 a, __half2 b) { return __amdemu_s(__amdemu_v(a) * __amdemu_v(b)); }
__HD_ __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __amdemu_s(__builtin_elementwise_fma(__amdemu_v(a), __amdemu_v(b), __amdemu_v(c)));
}
struct __hip_bfloat16 {
  unsigned short __x;
  __hip_bfloat16() = default;
  __device__ __hip_bfloat16(float f) {
    unsigned u = __float_as_uint(f);
    __x = f != f ? 0x7fc0 : (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
  }
  __device__ operator float() const { return __uint_as_float((unsigned)__x << 16); }
};
typedef __hip_bfloat16 hip_bfloat16;
__HD_ __hip_bfloat16 __float2bfloat16(float f) { return __hip_bfloat16(f); }
__HD_ float __bfloat162float(__hip_bfloat16 b) { return (float)b; }

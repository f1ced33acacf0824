// The functions that pointwise.def's expressions use besides those of <cmath>. Host C++ and HIP read this one file, so
// it includes nothing in a kernel and uses only overloads that both have.
#pragma once
#if defined(__HIPCC_RTC__) || defined(__CUDACC_RTC__) || defined(__HIP_DEVICE_COMPILE__)
#define HF_MATH __device__ inline
#else
#define HF_MATH inline
#include <cmath>
namespace hf::math {
using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atanh, std::ceil, std::copysign, std::cos,
    std::cosh, std::erf, std::exp, std::expm1, std::fabs, std::floor, std::fmod, std::isinf, std::log, std::log1p,
    std::pow, std::rint, std::sin, std::sinh, std::sqrt, std::tan, std::tanh;
}
#endif

namespace hf::math {

/// True for the floating point types, without <type_traits>.
template <class T>
constexpr bool is_real = T(0.5) != T(0);
template <class T>
constexpr bool is_signed = T(-1) < T(1);

template <class T>
HF_MATH T magnitude(T x) {
  if constexpr (is_real<T>)
    return fabs(x);
  else if constexpr (is_signed<T>)
    return x < T(0) ? -x : x;
  else
    return x;
}

/// The greater, the lesser; NaN if either is NaN.
template <class T>
HF_MATH T maximum(T x, T y) {
  return (x > y) | (x != x) ? x : y;
}
template <class T>
HF_MATH T minimum(T x, T y) {
  return (x < y) | (x != x) ? x : y;
}

/// x limited to [0, 1].
template <class T>
HF_MATH T unit_clamp(T x) {
  return minimum(maximum(x, T(0)), T(1));
}

template <class T>
HF_MATH T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}

/// log(1 + e^x) without overflow.
template <class T>
HF_MATH T softplus(T x) {
  return maximum(x, T(0)) + log1p(exp(-fabs(x)));
}

/// x * P(X <= x) of a normal X; with `approximate` by tanh (Hendrycks and Gimpel, 2016).
template <class T>
HF_MATH T gelu(T x, T approximate) {
  if (approximate != T(0)) return T(0.5) * x * (T(1) + tanh(T(0.7978845608028654) * (x + T(0.044715) * x * x * x)));
  return T(0.5) * x * (T(1) + erf(x * T(0.7071067811865476)));
}

/// Integers truncate toward zero; a division by zero is 0, and the lowest by -1 wraps, since neither may trap.
template <class T>
HF_MATH T divide(T x, T y) {
  if constexpr (is_real<T>)
    return x / y;
  else if constexpr (is_signed<T>)
    return y == T(0) ? T(0) : y == T(-1) ? -x : x / y;
  else
    return y == T(0) ? T(0) : x / y;
}

/// x - trunc(x / y) * y if `truncated`, else x - floor(x / y) * y, which has y's sign. Integers by zero are 0.
template <class T>
HF_MATH T modulo(T x, T y, T truncated) {
  if constexpr (is_real<T>) {
    T r = fmod(x, y);
    if (truncated != T(0)) return r;
    if (r == T(0)) return copysign(r, y);
    return (r < T(0)) != (y < T(0)) ? r + y : r;
  } else {
    if (y == T(0)) return T(0);
    if constexpr (!is_signed<T>)
      return x % y;
    else {
      T r = y == T(-1) ? T(0) : x % y;
      return truncated == T(0) && r != T(0) && (r < T(0)) != (y < T(0)) ? r + y : r;
    }
  }
}

/// x to the y. Integers wrap; to a negative power they are 0 unless x is 1 or -1.
template <class T>
HF_MATH T power(T x, T y) {
  if constexpr (is_real<T>)
    return pow(x, y);
  else {
    if constexpr (is_signed<T>)
      if (y < T(0)) return x == T(1) ? x : x == T(-1) ? (y % T(2) ? x : -x) : T(0);
    T r = T(1);
    for (; y != T(0); y = T(y >> 1), x = x * x)
      if (y & T(1)) r = r * x;
    return r;
  }
}

/// Bits moved by y, to the left if `left`. Beyond the width only sign bits are left (ONNX BitShift-28).
template <class T>
HF_MATH T shift(T x, T y, T left) {
  constexpr int kBits = sizeof(T) * 8;
  bool beyond = false;
  if constexpr (is_signed<T>) beyond = y < T(0);
  beyond |= y >= T(kBits);
  if (left != T(0)) return beyond ? T(0) : T(x << y);
  if constexpr (is_signed<T>)
    return beyond ? (x < T(0) ? T(-1) : T(0)) : T(x >> y);
  else
    return beyond ? T(0) : T(x >> y);
}

}  // namespace hf::math

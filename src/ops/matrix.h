// Matrix products for reference functions: plain loops, in an order that caches and vector units like.
#pragma once
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/convert.h"

namespace hf::ops {

/// c[i, j] += sum over p of a[i, p] * b[p, j], for i < m, j < n, p < k; rows `lda`, `ldb`, `ldc` elements apart. On the
/// calling thread. T is float, double, int32_t or int64_t; integers wrap around.
template <class T>
void multiply_add(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc);

/// c = a * b for dense row-major matrices, in parallel.
template <class T>
void multiply(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c);

/// a + b, where integers wrap around.
template <class T>
T add_wrapped(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  else
    return a + b;
}

/// The transpose of a dense [rows, columns] matrix.
template <class T>
std::vector<T> transposed(const T* x, int64_t rows, int64_t columns) {
  std::vector<T> y(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) y[static_cast<size_t>(j * rows + i)] = x[i * columns + j];
  return y;
}

/// Calls f with a value of the type that products of `dtype` are computed in: double, float, or an integer that wraps
/// as the dtype does.
template <class F>
decltype(auto) dispatch_product(DType dtype, F&& f) {
  if (dtype == DType::F64) return f(double{});
  if (is_float(dtype)) return f(float{});
  if (dtype == DType::I64 || dtype == DType::U64) return f(int64_t{});
  return f(int32_t{});
}

}  // namespace hf::ops

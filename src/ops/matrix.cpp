// Matrix products for reference functions.
#include "ops/matrix.h"

#include <algorithm>
#include <type_traits>

#include "ops/op.h"

namespace hf::ops {
namespace {

template <class T>
inline void add_product(T& c, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;  // signed overflow is undefined, unsigned wraps
    c = static_cast<T>(static_cast<U>(c) + static_cast<U>(a) * static_cast<U>(b));
  } else {
    c += a * b;
  }
}

// One strip of columns: four rows of c at a time share each row of b.
template <class T>
void strip(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* __restrict b, int64_t ldb, T* c,
           int64_t ldc) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) {
    T* __restrict c0 = c + i * ldc;
    T* __restrict c1 = c0 + ldc;
    T* __restrict c2 = c1 + ldc;
    T* __restrict c3 = c2 + ldc;
    for (int64_t p = 0; p < k; ++p) {
      const T* ap = a + i * lda + p;
      const T a0 = ap[0], a1 = ap[lda], a2 = ap[2 * lda], a3 = ap[3 * lda];
      const T* __restrict bp = b + p * ldb;
      for (int64_t j = 0; j < n; ++j) {
        add_product(c0[j], a0, bp[j]);
        add_product(c1[j], a1, bp[j]);
        add_product(c2[j], a2, bp[j]);
        add_product(c3[j], a3, bp[j]);
      }
    }
  }
  for (; i < m; ++i) {
    T* __restrict ci = c + i * ldc;
    for (int64_t p = 0; p < k; ++p) {
      const T ap = a[i * lda + p];
      const T* __restrict bp = b + p * ldb;
      for (int64_t j = 0; j < n; ++j) add_product(ci[j], ap, bp[j]);
    }
  }
}

}  // namespace

template <class T>
void multiply_add(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c,
                  int64_t ldc) {
  constexpr int64_t kStrip = 512;  // four rows of c and one of b stay in the first-level cache
  for (int64_t j = 0; j < n; j += kStrip) strip(m, std::min(kStrip, n - j), k, a, lda, b + j, ldb, c + j, ldc);
}

template <class T>
void multiply(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c) {
  if (m == 0 || n == 0) return;
  std::fill_n(c, m * n, T(0));
  // Tiles of rows and columns, so that a product of one row has parallel work too.
  const int64_t rows = std::min<int64_t>(m, 32), columns = std::min<int64_t>(n, 512);
  const int64_t across = (n + columns - 1) / columns, tiles = (m + rows - 1) / rows * across;
  const double cost = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(k) * 0.15;
  parallel_for(tiles, cost, [&](int64_t from, int64_t to) {
    for (int64_t t = from; t < to; ++t) {
      int64_t i = t / across * rows, j = t % across * columns;
      multiply_add(std::min(rows, m - i), std::min(columns, n - j), k, a + i * k, k, b + j, n, c + i * n + j, n);
    }
  });
}

#define HF_INSTANTIATE(T)                                                                                      \
  template void multiply_add<T>(int64_t, int64_t, int64_t, const T*, int64_t, const T*, int64_t, T*, int64_t); \
  template void multiply<T>(int64_t, int64_t, int64_t, const T*, const T*, T*);
HF_INSTANTIATE(float)
HF_INSTANTIATE(double)
HF_INSTANTIATE(int32_t)
HF_INSTANTIATE(int64_t)
#undef HF_INSTANTIATE

}  // namespace hf::ops

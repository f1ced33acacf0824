// Products of parts of matrices, and of vectors: what recurrent cells and attention need beyond multiply().
#pragma once
#include <algorithm>

#include "ops/matrix.h"
#include "ops/op.h"

namespace hf::ops {

/// A matrix of `rows` x `columns` somewhere in a row-major array whose rows are `stride` elements apart.
template <class T>
struct Matrix {
  T* data;
  int64_t rows, columns, stride;
  Matrix(T* d, int64_t r, int64_t c, int64_t s) : data(d), rows(r), columns(c), stride(s) {}
  Matrix(T* d, int64_t r, int64_t c) : Matrix(d, r, c, c) {}
  T* row(int64_t i) const { return data + i * stride; }
  Matrix columns_from(int64_t first, int64_t count) const { return {data + first, rows, count, stride}; }
};

/// c += a * b, in parallel over tiles of c. The caller has checked that the extents fit.
template <class T>
void add_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {
  if (c.rows == 0 || c.columns == 0) return;
  const int64_t rows = std::min<int64_t>(c.rows, 32), columns = std::min<int64_t>(c.columns, 256);
  const int64_t across = (c.columns + columns - 1) / columns, tiles = (c.rows + rows - 1) / rows * across;
  const double cost_ns = static_cast<double>(rows * columns) * static_cast<double>(a.columns) * 0.15;
  parallel_for(tiles, cost_ns, [&](int64_t from, int64_t to) {
    for (int64_t t = from; t < to; ++t) {
      int64_t i = t / across * rows, j = t % across * columns;
      multiply_add(std::min(rows, c.rows - i), std::min(columns, c.columns - j), a.columns, a.row(i), a.stride,
                   b.data + j, b.stride, c.row(i) + j, c.stride);
    }
  });
}

/// The sum of a[i] * b[i], as eight sums side by side: they need no reordering to become vector instructions.
template <class T>
T dot(const T* a, const T* b, int64_t n) {
  T sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int64_t l = 0; l < 8; ++l) sums[l] += a[i + l] * b[i + l];
  for (; i < n; ++i) sums[0] += a[i] * b[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace hf::ops

// Matrix products inside operators that are more than a product: recurrent cells, attention.
#pragma once
#include <algorithm>
#include <vector>

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

/// c += a * b on one thread. The caller has checked that the extents fit.
template <class T>
void add_product_serial(Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {
  for (int64_t i = 0; i < c.rows; ++i) {
    T* out = c.row(i);
    for (int64_t k = 0; k < a.columns; ++k) {
      T x = a.row(i)[k];
      const T* from = b.row(k);
      for (int64_t j = 0; j < c.columns; ++j) out[j] += x * from[j];
    }
  }
}

/// c += a * b, in parallel over blocks of c.
template <class T>
void add_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {
  constexpr int64_t kColumns = 256;  // 1 KiB of a row of c stays in the first cache level
  int64_t blocks = (c.columns + kColumns - 1) / kColumns;
  double cost_ns = static_cast<double>(a.columns) * static_cast<double>(std::min(kColumns, c.columns)) / 8;
  parallel_for(c.rows * blocks, cost_ns, [&](int64_t from, int64_t to) {
    for (int64_t at = from; at < to; ++at) {
      int64_t row = at % c.rows, first = at / c.rows * kColumns, n = std::min(kColumns, c.columns - first);
      add_product_serial<T>({a.row(row), 1, a.columns, a.stride}, b.columns_from(first, n),
                            {c.row(row) + first, 1, n, c.stride});
    }
  });
}

/// The transpose of a dense matrix, dense.
template <class T>
std::vector<T> transposed(const T* from, int64_t rows, int64_t columns) {
  std::vector<T> to(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[static_cast<size_t>(j * rows + i)] = from[i * columns + j];
  return to;
}

}  // namespace hf::ops

// Det: determinants of square matrices.
#include <cmath>
#include <utility>

#include "ops/op.h"

namespace hf::ops {
namespace {

void infer(Infer& in) {
  in.require(is_float(in.dtype(0)), "input is {}, wanted a float type", name(in.dtype(0)));
  in.set(0, in.dtype(0));
  int rank = in.rank(0);
  if (rank < 0) return;
  in.require(rank >= 2, "input has rank {}, wanted at least 2", rank);
  const Dim &rows = in.shape(0)[rank - 2], &columns = in.shape(0)[rank - 1];
  in.require(!rows.known() || !columns.known() || rows.value == columns.value, "matrices of {} by {} are not square",
             rows.text(), columns.text());
  Shape out = in.shape(0);
  out.dims().resize(static_cast<size_t>(rank) - 2);
  in.set(0, in.dtype(0), std::move(out));
}

// Gauss's elimination with partial pivoting; `m` is overwritten.
double determinant(double* m, int64_t n) {
  double det = 1;
  for (int64_t c = 0; c < n; ++c) {
    int64_t pivot = c;
    for (int64_t r = c + 1; r < n; ++r)
      if (std::fabs(m[r * n + c]) > std::fabs(m[pivot * n + c])) pivot = r;
    if (m[pivot * n + c] == 0) return 0;
    if (pivot != c) {
      det = -det;
      for (int64_t k = c; k < n; ++k) std::swap(m[c * n + k], m[pivot * n + k]);
    }
    det *= m[c * n + c];
    for (int64_t r = c + 1; r < n; ++r) {
      double factor = m[r * n + c] / m[c * n + c];
      for (int64_t k = c + 1; k < n; ++k) m[r * n + k] -= factor * m[c * n + k];
    }
  }
  return det;
}

void reference(Eval& e) {
  Tensor work(DType::F64, e.in(0).dims());
  read_elements(e.in(0), work.data<double>());
  int64_t n = e.in(0).dims().back();
  WriteAs<double> out(e.out());
  parallel_for(e.out().size(), static_cast<double>(n * n) * static_cast<double>(n), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) out[i] = determinant(work.data<double>() + i * n * n, n);
  });
  out.commit();
}

constexpr OpDef defs[] = {{.name = "Det", .since = 11, .infer = infer, .reference = reference}};

}  // namespace

std::span<const OpDef> det_ops() { return defs; }

}  // namespace hf::ops

// Comparing tensors.
#include "cli/compare.h"

#include <algorithm>
#include <cmath>

#include "base/convert.h"
#include "cli/tensor_text.h"

namespace hf::cli {
namespace {

struct Row {
  DType dtype;
  Tolerance tolerance;
};

// Relative and absolute for float32 and float64 as ONNX's own backend test runner has them. A sum whose terms cancel is
// no more exact than its terms: two roundings of the largest value are let pass. The shorter types by their precision
// (2^-11 and 2^-8 of a value) and by chains of operations that stored results have rounded after each. float8 and
// float4 come from casts only, which are exact.
constexpr Row kTolerances[] = {
    {DType::F32, {1e-3, 1e-7, 2.4e-7}}, {DType::C64, {1e-3, 1e-7, 2.4e-7}}, {DType::F64, {1e-3, 1e-7, 0}},
    {DType::C128, {1e-3, 1e-7, 0}},     {DType::F16, {5e-3, 1e-3, 0}},      {DType::BF16, {2e-2, 1e-2, 0}},
};

struct Differences {
  int64_t count = 0, first = -1;
  double largest = 0;

  void add(int64_t i, double size) {
    if (!count++) first = i;
    // A NaN is the largest difference of all.
    if (!(size <= largest)) largest = std::isnan(largest) ? largest : size;
  }
};

template <class T>
double largest_finite(const ReadAs<T>& values) {
  double largest = 0;
  for (T v : values)
    if (std::isfinite(static_cast<double>(v))) largest = std::max(largest, std::fabs(static_cast<double>(v)));
  return largest;
}

bool close(double got, double wanted, const Tolerance& t) {
  if (std::isnan(got) || std::isnan(wanted)) return std::isnan(got) && std::isnan(wanted);
  if (std::isinf(got) || std::isinf(wanted)) return got == wanted;
  return std::fabs(got - wanted) <= t.absolute + t.relative * std::fabs(wanted);
}

template <class T>
Differences compare_numbers(const Tensor& got, const Tensor& wanted, Tolerance t) {
  ReadAs<T> a(got), b(wanted);
  t.absolute += t.of_largest * largest_finite(b);
  Differences d;
  for (int64_t i = 0; i < a.size(); ++i) {
    bool same = std::is_integral_v<T> ? a[i] == b[i] : close(static_cast<double>(a[i]), static_cast<double>(b[i]), t);
    if (!same) d.add(i, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return d;
}

Differences compare_strings(const Tensor& got, const Tensor& wanted) {
  Differences d;
  for (size_t i = 0; i < got.strings().size(); ++i)
    if (got.strings()[i] != wanted.strings()[i]) d.add(static_cast<int64_t>(i), 0);
  return d;
}

Tensor parts(const Tensor& t) {
  return Tensor::view(t.dtype() == DType::C64 ? DType::F32 : DType::F64, {t.size(), 2}, t.raw());
}

Differences compare_all(const Tensor& got, const Tensor& wanted, const Tolerance& t) {
  if (got.dtype() == DType::String) return compare_strings(got, wanted);
  if (got.dtype() == DType::C64 || got.dtype() == DType::C128) {
    Differences d = compare_numbers<double>(parts(got), parts(wanted), t);
    d.first /= 2;
    return d;
  }
  if (got.dtype() == DType::U64) return compare_numbers<uint64_t>(got, wanted, t);
  if (is_float(got.dtype())) return compare_numbers<double>(got, wanted, t);
  return compare_numbers<int64_t>(got, wanted, t);
}

}  // namespace

Tolerance tolerance_of(DType dtype) {
  for (const Row& row : kTolerances)
    if (row.dtype == dtype) return row.tolerance;
  return {};
}

std::string difference(const Tensor& got, const Tensor& wanted, std::optional<double> given) {
  if (got.dtype() != wanted.dtype() || got.dims() != wanted.dims())
    return fmt::format("got {}, wanted {}", got.text(), wanted.text());
  Tolerance t = tolerance_of(got.dtype());
  if (given && (t.relative > 0 || is_float(got.dtype()))) t = {*given, *given, 0};
  Differences d = compare_all(got, wanted, t);
  if (!d.count) return {};
  std::string largest = got.dtype() == DType::String ? "" : fmt::format(", largest difference {:.3g}", d.largest);
  return fmt::format("{} of {} elements differ{}, first at {}: got {}, wanted {}", d.count, got.size(), largest,
                     index_text(got.dims(), d.first), element_text(got, d.first), element_text(wanted, d.first));
}

}  // namespace hf::cli

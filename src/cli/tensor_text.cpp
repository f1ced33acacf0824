// Summaries of tensors.
#include "cli/tensor_text.h"

#include <algorithm>
#include <cmath>

#include "base/convert.h"
#include "base/error.h"

namespace hf::cli {
namespace {

// A tensor of element i alone; the byte that holds it where elements are smaller.
Tensor element(const Tensor& t, int64_t i) {
  const auto* bytes = static_cast<const std::byte*>(t.raw());
  return Tensor::view(t.dtype(), {1}, bytes + i * (bits(t.dtype()) / 8));
}

std::string number_text(const Tensor& one) {
  return dispatch_number(one.dtype(), [&](auto zero) {
    using T = decltype(zero);
    ReadAs<T> value(one);
    if constexpr (std::is_floating_point_v<T>)
      return fmt::format("{:.6g}", value[0]);
    else
      return fmt::format("{}", value[0]);
  });
}

std::string complex_text(const Tensor& t, int64_t i) {
  DType part = t.dtype() == DType::C64 ? DType::F32 : DType::F64;
  Tensor parts = Tensor::view(part, {t.size(), 2}, t.raw());
  std::string imaginary = element_text(parts, 2 * i + 1);
  return fmt::format("{}{}{}i", element_text(parts, 2 * i), imaginary[0] == '-' ? "" : "+", imaginary);
}

template <class T>
void count(const Tensor& t, TensorSummary& s) {
  ReadAs<T> values(t);
  double sum = 0;
  int64_t finite = 0;
  for (T value : values) {
    auto v = static_cast<double>(value);
    s.nans += std::isnan(v);
    s.infinities += std::isinf(v);
    if (!std::isfinite(v)) continue;
    s.min = finite ? std::min(s.min, v) : v;
    s.max = finite ? std::max(s.max, v) : v;
    sum += v;
    ++finite;
  }
  s.numeric = finite > 0;
  if (finite) s.mean = sum / static_cast<double>(finite);
}

}  // namespace

std::string element_text(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::String) return "'" + t.strings()[static_cast<size_t>(i)] + "'";
  if (t.dtype() == DType::C64 || t.dtype() == DType::C128) return complex_text(t, i);
  if (t.dtype() == DType::Bool) return static_cast<const uint8_t*>(t.raw())[i] ? "true" : "false";
  if (!is_sub_byte(t.dtype())) return number_text(element(t, i));
  ReadAs<float> all(t);  // exact
  return fmt::format("{:g}", all[i]);
}

std::string index_text(const Dims& dims, int64_t i) {
  Dims index = Dims::filled(dims.rank(), 0);
  for (int d = dims.rank() - 1; d >= 0; --d) {
    index[d] = i % dims[d];
    i /= dims[d];
  }
  return index.text();
}

TensorSummary summarize(const std::string& name, const Tensor& t, int64_t first) {
  TensorSummary s{.name = name, .dtype = t.dtype(), .dims = t.dims()};
  bool numbers = t.dtype() != DType::String && t.dtype() != DType::C64 && t.dtype() != DType::C128;
  bool as_float = is_float(t.dtype()) && bits(t.dtype()) <= 32;
  if (numbers && as_float)
    count<float>(t, s);
  else if (numbers)
    count<double>(t, s);
  for (int64_t i = 0; i < std::min(first, t.size()); ++i) s.first.push_back(element_text(t, i));
  return s;
}

std::string to_text(const TensorSummary& s) {
  std::string text = fmt::format("{}  {} {}", printable(s.name), name(s.dtype), s.dims.text());
  if (s.numeric) text += fmt::format("  min {:.6g}  max {:.6g}  mean {:.6g}", s.min, s.max, s.mean);
  std::string values;
  for (const std::string& v : s.first) values += (values.empty() ? "" : ", ") + v;
  if (values.empty()) return text + "  empty";
  bool more = s.dims.count() > static_cast<int64_t>(s.first.size());
  return text + fmt::format("  values {}{}", values, more ? ", ..." : "");
}

}  // namespace hf::cli

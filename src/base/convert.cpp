// Element conversion between any two dtypes.
#include "base/convert.h"

#include <cmath>
#include <type_traits>

namespace hf {
namespace {

uint8_t get_bits(const uint8_t* p, int64_t i, int width) {
  int per_byte = 8 / width;
  return (p[i / per_byte] >> (i % per_byte * width)) & ((1 << width) - 1);
}

int sign_extend(uint8_t v, int width) { return v >= (1 << (width - 1)) ? v - (1 << width) : v; }

template <class To, class From>
To convert_one(From v) {
  if constexpr (std::is_same_v<To, bool>)
    return v != From(0);
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(v)) return 0;
    if constexpr (std::is_same_v<To, uint64_t>) {
      if (v >= From(9.2233720368547758e18)) return v >= From(1.8446744073709552e19) ? UINT64_MAX : static_cast<To>(v);
    }
    if (v >= From(9.2233720368547758e18)) return static_cast<To>(INT64_MAX);
    if (v <= From(-9.2233720368547758e18)) return static_cast<To>(INT64_MIN);
    return static_cast<To>(static_cast<int64_t>(v));
  } else
    return static_cast<To>(v);
}

template <class From, class T>
void read_plain(const Tensor& from, T* to) {
  const From* p = from.data<From>();
  for (int64_t i = 0, n = from.size(); i < n; ++i) to[i] = convert_one<T>(p[i]);
}

template <class To, class T>
void write_plain(const T* from, Tensor& to) {
  To* p = to.data<To>();
  for (int64_t i = 0, n = to.size(); i < n; ++i) p[i] = convert_one<To>(from[i]);
}

}  // namespace

template <class T>
void read_elements(const Tensor& from, T* to) {
  const DType d = from.dtype();
  const auto* bytes = static_cast<const uint8_t*>(from.raw());
  const int64_t n = from.size();
  switch (d) {
    case DType::F32: return read_plain<float>(from, to);
    case DType::F64: return read_plain<double>(from, to);
    case DType::U8: return read_plain<uint8_t>(from, to);
    case DType::I8: return read_plain<int8_t>(from, to);
    case DType::U16: return read_plain<uint16_t>(from, to);
    case DType::I16: return read_plain<int16_t>(from, to);
    case DType::U32: return read_plain<uint32_t>(from, to);
    case DType::I32: return read_plain<int32_t>(from, to);
    case DType::U64: return read_plain<uint64_t>(from, to);
    case DType::I64: return read_plain<int64_t>(from, to);
    case DType::Bool:
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(bytes[i] != 0);
      return;
    case DType::F16:
      for (int64_t i = 0; i < n; ++i) to[i] = convert_one<T>(to_float(from.data<Half>()[i]));
      return;
    case DType::BF16:
      for (int64_t i = 0; i < n; ++i) to[i] = convert_one<T>(to_float(from.data<BFloat16>()[i]));
      return;
    case DType::F8E4M3FN:
    case DType::F8E4M3FNUZ:
    case DType::F8E5M2:
    case DType::F8E5M2FNUZ:
    case DType::F8E8M0:
      for (int64_t i = 0; i < n; ++i) to[i] = convert_one<T>(small_float_to_float(d, bytes[i]));
      return;
    case DType::F4E2M1:
      for (int64_t i = 0; i < n; ++i) to[i] = convert_one<T>(small_float_to_float(d, get_bits(bytes, i, 4)));
      return;
    case DType::U4:
    case DType::U2:
      for (int64_t i = 0; i < n; ++i) to[i] = convert_one<T>(static_cast<int64_t>(get_bits(bytes, i, bits(d))));
      return;
    case DType::I4:
    case DType::I2:
      for (int64_t i = 0; i < n; ++i)
        to[i] = convert_one<T>(static_cast<int64_t>(sign_extend(get_bits(bytes, i, bits(d)), bits(d))));
      return;
    default: fail(Code::Unsupported, "elements of type {} as numbers", name(d));
  }
}

template <class T>
void write_elements(const T* from, Tensor& to) {
  const DType d = to.dtype();
  auto* bytes = static_cast<uint8_t*>(to.raw());
  const int64_t n = to.size();
  switch (d) {
    case DType::F32: return write_plain<float>(from, to);
    case DType::F64: return write_plain<double>(from, to);
    case DType::U8: return write_plain<uint8_t>(from, to);
    case DType::I8: return write_plain<int8_t>(from, to);
    case DType::U16: return write_plain<uint16_t>(from, to);
    case DType::I16: return write_plain<int16_t>(from, to);
    case DType::U32: return write_plain<uint32_t>(from, to);
    case DType::I32: return write_plain<int32_t>(from, to);
    case DType::U64: return write_plain<uint64_t>(from, to);
    case DType::I64: return write_plain<int64_t>(from, to);
    case DType::Bool:
      for (int64_t i = 0; i < n; ++i) bytes[i] = from[i] != T(0);
      return;
    case DType::F16:
      for (int64_t i = 0; i < n; ++i) to.data<Half>()[i] = to_half(static_cast<float>(from[i]));
      return;
    case DType::BF16:
      for (int64_t i = 0; i < n; ++i) to.data<BFloat16>()[i] = to_bfloat16(static_cast<float>(from[i]));
      return;
    case DType::F8E4M3FN:
    case DType::F8E4M3FNUZ:
    case DType::F8E5M2:
    case DType::F8E5M2FNUZ:
    case DType::F8E8M0:
      for (int64_t i = 0; i < n; ++i) bytes[i] = float_to_small_float(d, static_cast<float>(from[i]));
      return;
    case DType::F4E2M1:
    case DType::U4:
    case DType::I4:
    case DType::U2:
    case DType::I2: {
      const int width = bits(d), per_byte = 8 / width, mask = (1 << width) - 1;
      for (int64_t i = 0; i < storage_bytes(d, n); ++i) bytes[i] = 0;
      for (int64_t i = 0; i < n; ++i) {
        int v = d == DType::F4E2M1 ? float_to_small_float(d, static_cast<float>(from[i]))
                                   : static_cast<int>(convert_one<int64_t>(from[i]));
        bytes[i / per_byte] |= static_cast<uint8_t>((v & mask) << (i % per_byte * width));
      }
      return;
    }
    default: fail(Code::Unsupported, "numbers as elements of type {}", name(d));
  }
}

#define HF_INSTANTIATE(T)                            \
  template void read_elements<T>(const Tensor&, T*); \
  template void write_elements<T>(const T*, Tensor&);
HF_INSTANTIATE(float)
HF_INSTANTIATE(double)
HF_INSTANTIATE(int64_t)
HF_INSTANTIATE(uint64_t)
HF_INSTANTIATE(int32_t)
HF_INSTANTIATE(uint8_t)
HF_INSTANTIATE(bool)
#undef HF_INSTANTIATE

std::vector<int64_t> to_ints(const Tensor& t) {
  std::vector<int64_t> v(static_cast<size_t>(t.size()));
  read_elements(t, v.data());
  return v;
}

double to_number(const Tensor& t) {
  if (t.size() != 1) fail(Code::InvalidArgument, "one number is wanted, got {}", t.text());
  double v = 0;
  read_elements(t, &v);
  return v;
}

int64_t to_int(const Tensor& t) {
  if (t.size() != 1) fail(Code::InvalidArgument, "one number is wanted, got {}", t.text());
  int64_t v = 0;
  read_elements(t, &v);
  return v;
}

}  // namespace hf

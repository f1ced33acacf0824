// Element types: the table, and conversions of the small float formats.
#include "base/dtype.h"

#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace hf {
namespace {

enum class Kind : uint8_t { Other, Float, Signed, Unsigned };

struct Row {
  std::string_view name;
  std::string_view alias;
  int bits;
  Kind kind;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"undefined", "", 0, Kind::Other},      {"float32", "float", 32, Kind::Float},
    {"uint8", "", 8, Kind::Unsigned},       {"int8", "", 8, Kind::Signed},
    {"uint16", "", 16, Kind::Unsigned},     {"int16", "", 16, Kind::Signed},
    {"int32", "", 32, Kind::Signed},        {"int64", "", 64, Kind::Signed},
    {"string", "", 0, Kind::Other},         {"bool", "", 8, Kind::Other},
    {"float16", "half", 16, Kind::Float},   {"float64", "double", 64, Kind::Float},
    {"uint32", "", 32, Kind::Unsigned},     {"uint64", "", 64, Kind::Unsigned},
    {"complex64", "", 64, Kind::Other},     {"complex128", "", 128, Kind::Other},
    {"bfloat16", "", 16, Kind::Float},      {"float8e4m3fn", "", 8, Kind::Float},
    {"float8e4m3fnuz", "", 8, Kind::Float}, {"float8e5m2", "", 8, Kind::Float},
    {"float8e5m2fnuz", "", 8, Kind::Float}, {"uint4", "", 4, Kind::Unsigned},
    {"int4", "", 4, Kind::Signed},          {"float4e2m1", "", 4, Kind::Float},
    {"float8e8m0", "", 8, Kind::Float},     {"uint2", "", 2, Kind::Unsigned},
    {"int2", "", 2, Kind::Signed},
}};

// How a float of at most 8 bits is laid out. E8M0 has neither sign nor mantissa and is handled on its own.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_inf;  // exponent of all ones is infinity (mantissa 0) or NaN
  bool is_fnuz;  // 0x80 is the only NaN, no negative zero, no infinity
  bool has_nan;  // all ones is NaN (E4M3FN)
};

constexpr Format format_of(DType t) {
  switch (t) {
    case DType::F8E4M3FN: return {4, 3, 7, false, false, true};
    case DType::F8E4M3FNUZ: return {4, 3, 8, false, true, true};
    case DType::F8E5M2: return {5, 2, 15, true, false, true};
    case DType::F8E5M2FNUZ: return {5, 2, 16, false, true, true};
    default: return {2, 1, 1, false, false, false};  // F4E2M1
  }
}

}  // namespace

int bits(DType t) { return kRows[static_cast<size_t>(t)].bits; }
std::string_view name(DType t) { return kRows[static_cast<size_t>(t)].name; }
bool is_float(DType t) { return kRows[static_cast<size_t>(t)].kind == Kind::Float; }
bool is_signed_int(DType t) { return kRows[static_cast<size_t>(t)].kind == Kind::Signed; }
bool is_unsigned_int(DType t) { return kRows[static_cast<size_t>(t)].kind == Kind::Unsigned; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (int i = 1; i < kDTypeCount; ++i)
    if (kRows[i].name == name || (!kRows[i].alias.empty() && kRows[i].alias == name)) return static_cast<DType>(i);
  return std::nullopt;
}

float to_float(Half h) {
  uint32_t sign = static_cast<uint32_t>(h.raw & 0x8000) << 16, exponent = (h.raw >> 10) & 31, mantissa = h.raw & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24, exact in float
    float f = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -f : f;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

Half to_half(float f) {
  uint32_t u = std::bit_cast<uint32_t>(f), sign = (u >> 16) & 0x8000, magnitude = u & 0x7fffffff;
  if (magnitude > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};
  if (magnitude >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};  // rounds past 65504
  if (magnitude < 0x38800000) {                                                // below 2^-14: subnormal, unit 2^-24
    float scaled = std::bit_cast<float>(magnitude) * 0x1p24f;
    return {static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(scaled)))};
  }
  uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return {static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13))};
}

BFloat16 to_bfloat16(float f) {
  uint32_t u = std::bit_cast<uint32_t>(f);
  if ((u & 0x7fffffff) > 0x7f800000) return {static_cast<uint16_t>((u >> 16) | 0x40)};
  return {static_cast<uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16)};
}

float small_float_to_float(DType t, uint8_t raw) {
  if (t == DType::F8E8M0) return raw == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, raw - 127);
  Format f = format_of(t);
  int total = 1 + f.exponent_bits + f.mantissa_bits;
  int sign = (raw >> (total - 1)) & 1, exponent = (raw >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  int mantissa = raw & ((1 << f.mantissa_bits) - 1), top = (1 << f.exponent_bits) - 1;
  float nan = std::numeric_limits<float>::quiet_NaN(), s = sign ? -1.0f : 1.0f;
  if (f.is_fnuz && raw == 0x80) return nan;
  if (f.has_inf && exponent == top) return mantissa ? nan : s * std::numeric_limits<float>::infinity();
  if (!f.is_fnuz && !f.has_inf && f.has_nan && exponent == top && mantissa == (1 << f.mantissa_bits) - 1) return nan;
  if (exponent == 0) return s * std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits);
  return s * std::ldexp(1.0f + std::ldexp(static_cast<float>(mantissa), -f.mantissa_bits), exponent - f.bias);
}

uint8_t float_to_small_float(DType t, float v, bool saturate) {
  if (t == DType::F8E8M0) {  // the power of two, rounded to nearest
    if (std::isnan(v) || v < 0) return 255;
    if (std::isinf(v)) return saturate ? 254 : 255;
    if (v == 0) return 0;
    int exponent = 0;
    float fraction = std::frexp(v, &exponent);  // v = fraction * 2^exponent, fraction in [0.5, 1)
    int e = exponent - 1 + 127 + (fraction >= 0.75f ? 1 : 0);
    if (e > 254) return saturate ? 254 : 255;
    return static_cast<uint8_t>(e < 0 ? 0 : e);
  }
  Format f = format_of(t);
  int total = 1 + f.exponent_bits + f.mantissa_bits, top = (1 << f.exponent_bits) - 1;
  int full = (1 << f.mantissa_bits) - 1;
  uint8_t sign = std::signbit(v) ? static_cast<uint8_t>(1 << (total - 1)) : 0;
  uint8_t nan = f.is_fnuz ? 0x80 : static_cast<uint8_t>(sign | (top << f.mantissa_bits) | full);
  // The largest finite code: all ones, less what infinity and NaN take.
  uint8_t largest = static_cast<uint8_t>(f.has_inf                 ? ((top - 1) << f.mantissa_bits) | full
                                         : f.has_nan && !f.is_fnuz ? (top << f.mantissa_bits) | (full - 1)
                                                                   : (top << f.mantissa_bits) | full);
  uint8_t infinity = static_cast<uint8_t>(sign | (top << f.mantissa_bits));
  if (std::isnan(v)) return f.has_nan ? nan : static_cast<uint8_t>(sign | largest);
  float magnitude = std::fabs(v);
  uint8_t overflow = saturate || !f.has_nan ? static_cast<uint8_t>(sign | largest) : f.has_inf ? infinity : nan;
  if (std::isinf(v)) return overflow;
  if (magnitude == 0) return f.is_fnuz ? 0 : sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  int e = exponent - 1 < 1 - f.bias ? 1 - f.bias : exponent - 1;  // of the unit in the last place, subnormals clamped
  float units = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - e));
  if (units > static_cast<float>(2 * full + 1)) units /= 2, ++e;  // rounded up to the next power of two
  int code = units < static_cast<float>(full + 1)
                 ? static_cast<int>(units)  // subnormal
                 : ((e + f.bias) << f.mantissa_bits) | (static_cast<int>(units) - (full + 1));
  if (code > largest) return overflow;
  if (code == 0 && f.is_fnuz) return 0;
  return static_cast<uint8_t>(sign | code);
}

}  // namespace hf

// Arithmetic of the instruction tests, made without the operations under test: numbers are taken apart into their bits.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace amdgpu::tests {

/// A binary floating point format.
struct Format {
  int exponent_bits, mantissa_bits;
  constexpr uint64_t mantissa() const { return (uint64_t{1} << mantissa_bits) - 1; }
  constexpr uint64_t exponent_mask() const { return (uint64_t{1} << exponent_bits) - 1; }
  constexpr int bias() const { return static_cast<int>(exponent_mask() / 2); }
  constexpr uint64_t sign() const { return uint64_t{1} << (exponent_bits + mantissa_bits); }
  constexpr uint64_t all() const { return sign() - 1 + sign(); }
  constexpr uint64_t quiet() const { return uint64_t{1} << (mantissa_bits - 1); }
  constexpr uint64_t infinity() const { return exponent_mask() << mantissa_bits; }
  constexpr uint64_t nan() const { return infinity() | quiet(); }
};
constexpr Format kF16{5, 10}, kF32{8, 23}, kF64{11, 52};

inline uint64_t bits_of(uint64_t x, Format f) { return x & f.all(); }
inline bool is_nan(uint64_t x, Format f) { return (bits_of(x, f) & ~f.sign()) > f.infinity(); }
inline bool is_signalling(uint64_t x, Format f) { return is_nan(x, f) && !(x & f.quiet()); }

/// Numbers in the order of these keys; -0 is below +0.
inline int64_t key(uint64_t x, Format f) {
  x = bits_of(x, f);
  const auto magnitude = static_cast<int64_t>(x & ~f.sign());
  return x & f.sign() ? -magnitude - 1 : magnitude;
}

enum class Order { Less, Equal, Greater, None };
inline Order order(uint64_t a, uint64_t b, Format f) {
  if (is_nan(a, f) || is_nan(b, f)) return Order::None;
  const bool both_zero = !(bits_of(a, f) & ~f.sign()) && !(bits_of(b, f) & ~f.sign());
  if (both_zero || bits_of(a, f) == bits_of(b, f)) return Order::Equal;
  return key(a, f) < key(b, f) ? Order::Less : Order::Greater;
}

/// A number wins over NaN.
inline uint64_t larger(uint64_t a, uint64_t b, Format f) {
  if (is_nan(a, f)) return bits_of(b, f);
  if (is_nan(b, f)) return bits_of(a, f);
  return bits_of(key(a, f) > key(b, f) ? a : b, f);
}
inline uint64_t smaller(uint64_t a, uint64_t b, Format f) {
  if (is_nan(a, f)) return bits_of(b, f);
  if (is_nan(b, f)) return bits_of(a, f);
  return bits_of(key(a, f) < key(b, f) ? a : b, f);
}
/// But a signalling NaN wins over all.
inline uint64_t larger_ieee(uint64_t a, uint64_t b, Format f) {
  return is_signalling(a, f) || is_signalling(b, f) ? f.nan() : larger(a, b, f);
}
inline uint64_t smaller_ieee(uint64_t a, uint64_t b, Format f) {
  return is_signalling(a, f) || is_signalling(b, f) ? f.nan() : smaller(a, b, f);
}
/// The median; with a NaN, the smallest number.
inline uint64_t middle(uint64_t a, uint64_t b, uint64_t c, Format f) {
  if (is_nan(a, f) || is_nan(b, f) || is_nan(c, f)) return smaller(smaller(a, b, f), c, f);
  uint64_t v[3] = {bits_of(a, f), bits_of(b, f), bits_of(c, f)};
  std::sort(v, v + 3, [&](uint64_t x, uint64_t y) { return key(x, f) < key(y, f); });
  return v[1];
}

enum class Towards { Down, Up, Zero, Even };
/// To an integer of the same format, by cutting bits of the mantissa off.
inline uint64_t rounded(uint64_t x, Format f, Towards towards) {
  x = bits_of(x, f);
  const uint64_t sign = x & f.sign(), magnitude = x & ~f.sign();
  const int exponent = static_cast<int>(magnitude >> f.mantissa_bits) - f.bias();
  if (is_nan(x, f)) return x | f.quiet();
  if (exponent >= f.mantissa_bits) return x;
  const uint64_t one = static_cast<uint64_t>(f.bias()) << f.mantissa_bits;
  const bool away = (towards == Towards::Down && sign) || (towards == Towards::Up && !sign);
  if (exponent < 0) {  // below one
    const bool up =
        magnitude && (away || (towards == Towards::Even && magnitude > one - (uint64_t{1} << f.mantissa_bits)));
    return sign | (up ? one : 0);
  }
  const uint64_t unit = uint64_t{1} << (f.mantissa_bits - exponent), rest = magnitude & (unit - 1),
                 whole = magnitude - rest;
  // Above one the last bit that is kept is the exponent's, which is then odd or even as the integer is.
  const bool odd = exponent == 0 || (whole & unit);
  const bool up = rest && (away || (towards == Towards::Even && (rest > unit / 2 || (rest == unit / 2 && odd))));
  return sign | (up ? whole + unit : whole);
}

/// The number of the class in the mask of v_cmp_class.
inline int class_of(uint64_t x, Format f) {
  x = bits_of(x, f);
  const uint64_t magnitude = x & ~f.sign();
  if (is_nan(x, f)) return is_signalling(x, f) ? 0 : 1;
  const int rank = magnitude == f.infinity() ? 0 : magnitude > f.mantissa() ? 1 : magnitude ? 2 : 3;
  return x & f.sign() ? 2 + rank : 9 - rank;
}

inline double value_of_f16(uint16_t x) {
  const int exponent = x >> 10 & 31, mantissa = x & 1023;
  double v = exponent == 31 ? (mantissa ? NAN : INFINITY)
             : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                            : std::ldexp(mantissa, -24);
  return x & 0x8000 ? -v : v;
}

/// To nearest even, of a double that is exact.
inline uint16_t f16_of(double x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double a = std::fabs(x);
  if (x != x) return 0x7e00;
  if (a >= 65520) return sign | 0x7c00;
  const int exponent = a < std::ldexp(1, -14) ? -14 : std::ilogb(a);
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(a, 10 - exponent)));  // 1024 and above if normal
  // A carry out of the mantissa goes to the exponent by itself.
  return static_cast<uint16_t>(sign | (((exponent + 14) << 10) + units));
}

/// Truncated; outside the limits the nearest of them, and 0 for NaN.
inline int64_t limited(double x, int64_t lowest, int64_t highest) {
  if (x != x) return 0;
  return static_cast<int64_t>(std::trunc(std::clamp(x, static_cast<double>(lowest), static_cast<double>(highest))));
}

inline int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// Bits of x from `offset` on, bit by bit; bits above 63 are zeros.
inline int64_t field(uint64_t x, int offset, int width, bool is_signed) {
  uint64_t r = 0;
  for (int i = 0; i < width && i < 64; i++)
    if (offset + i < 64) r |= (x >> (offset + i) & 1) << i;
  if (is_signed && width > 0 && width < 64 && (r >> (width - 1) & 1)) r |= ~uint64_t{0} << width;
  return static_cast<int64_t>(r);
}

/// A truth table for each bit of 32: bit a + 2 b + 4 c of it is the result.
inline uint64_t bitwise(uint64_t a, uint64_t b, uint64_t c, unsigned table) {
  uint64_t r = 0;
  for (int i = 0; i < 32; i++) r |= uint64_t{table >> ((a >> i & 1) + 2 * (b >> i & 1) + 4 * (c >> i & 1)) & 1} << i;
  return r;
}

}  // namespace amdgpu::tests

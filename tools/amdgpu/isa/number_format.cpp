// Narrow floating point formats.
#include "isa/number_format.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>

namespace amdgpu {

namespace {

constexpr u32 kHostDefault = 0x1f80;  // all exceptions masked, to nearest, denormals kept
constexpr u32 kDenormalsAreZero = 0x40, kFlushToZero = 0x8000;

}  // namespace

f32 f16_to_f32(u16 h) { return _cvtsh_ss(h); }
f32 f16_to_f32_signalling(u16 h) {
  const bool signalling = (h & 0x7e00) == 0x7c00 && (h & 0x1ff);
  return signalling ? bits<f32>((h & 0x8000u) << 16 | 0x7f800000 | (h & 0x1ffu) << 13) : f16_to_f32(h);
}
u16 f32_to_f16(f32 f) { return _cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT); }
u16 f32_to_f16_rtz(f32 f) { return _cvtss_sh(f, _MM_FROUND_TO_ZERO); }

u16 f64_to_f16(f64 d) {
  f32 f = static_cast<f32>(d);
  if (f != f || std::isinf(f)) return f32_to_f16(f);
  if (static_cast<f64>(f) != d) {
    // Round to odd: towards zero with the last bit set, so that the second rounding sees that the value was inexact.
    u32 u = bits<u32>(f);
    if (std::fabs(static_cast<f64>(f)) > std::fabs(d)) u--;
    f = bits<f32>(u | 1);
  }
  return f32_to_f16(f);
}

u16 f32_to_bf16(f32 f) {
  const u32 u = bits<u32>(f);
  if (f != f) return static_cast<u16>(u >> 16 | 0x40);
  return static_cast<u16>((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

f32 f8_to_f32(u8 v, Float8 format) {
  const int mantissa_bits = format.e5m2 ? 2 : 3, exponent_bits = 7 - mantissa_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1 + format.fnuz;
  const int exponent = v >> mantissa_bits & ((1 << exponent_bits) - 1), mantissa = v & ((1 << mantissa_bits) - 1);
  const bool negative = v >> 7;
  if (format.fnuz) {
    if (v == 0x80) return NAN;
  } else if (format.e5m2) {
    if (exponent == 31) return mantissa ? NAN : negative ? -INFINITY : INFINITY;
  } else if ((v & 127) == 127) {
    return NAN;
  }
  const f32 r = exponent ? ldexpf(static_cast<f32>(mantissa + (1 << mantissa_bits)), exponent - bias - mantissa_bits)
                         : ldexpf(static_cast<f32>(mantissa), 1 - bias - mantissa_bits);
  return negative ? -r : r;
}

u8 f32_to_f8(f32 f, Float8 format) {
  const int mantissa_bits = format.e5m2 ? 2 : 3, exponent_bits = 7 - mantissa_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1 + format.fnuz;
  const u8 sign = static_cast<u8>(bits<u32>(f) >> 31 << 7);
  const u8 overflow = format.fnuz ? 0x80 : static_cast<u8>((format.e5m2 ? 0x7c : 0x7f) | sign);
  const f32 largest = f8_to_f32(format.fnuz ? 0x7f : format.e5m2 ? 0x7b : 0x7e, format);
  if (f != f) return format.fnuz ? 0x80 : static_cast<u8>(0x7f | sign);
  const f32 magnitude = std::fabs(f);
  if (std::isinf(magnitude)) return overflow;
  int exponent;
  frexpf(magnitude, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);
  const f32 quantum = magnitude == 0 ? 0 : nearbyintf(ldexpf(magnitude, mantissa_bits - exponent));
  const f32 rounded = ldexpf(quantum, exponent - mantissa_bits);
  if (rounded > largest) return overflow;
  if (rounded == 0) return format.fnuz ? 0 : sign;
  frexpf(rounded, &exponent);
  exponent--;
  if (exponent < 1 - bias) return sign | static_cast<u8>(ldexpf(rounded, bias - 1 + mantissa_bits));
  const int mantissa = static_cast<int>(ldexpf(rounded, mantissa_bits - exponent)) & ((1 << mantissa_bits) - 1);
  return sign | static_cast<u8>((exponent + bias) << mantissa_bits | mantissa);
}

void apply_mode(u32 mode) {
  static constexpr u32 kRounding[4] = {0, 0x4000, 0x2000, 0x6000};  // nearest, up, down, to zero
  const u32 denormals = mode >> 4 & 3;                              // bit 0: inputs kept, bit 1: results kept
  _mm_setcsr(kHostDefault | kRounding[mode & 3] | (denormals & 1 ? 0 : kDenormalsAreZero) |
             (denormals & 2 ? 0 : kFlushToZero));
}

void apply_default_mode() { _mm_setcsr(kHostDefault); }

}  // namespace amdgpu

// Short names of the fixed-size types, and reinterpretation of bits: what every instruction handler uses.
#pragma once
#include <cstdint>
#include <cstring>

namespace amdgpu {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;
using f32 = float;
using f64 = double;

/// The object representation of x as a T of the same size.
template <class T>
inline T bits(auto x) {
  static_assert(sizeof(T) == sizeof x);
  T result;
  memcpy(&result, &x, sizeof result);
  return result;
}

/// x with its 32 bits in reverse order.
inline u32 reverse_bits(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}

}  // namespace amdgpu

// Operands of vector instructions: reading them with their modifiers, writing results under the execution mask.
//
// Handlers work on whole waves. A reader takes a buffer of kMaxLanes and returns either it or the register itself, so
// that plain registers are not copied.
#pragma once
#include <immintrin.h>

#include <type_traits>

#include "isa/inst.h"
#include "isa/number_format.h"

namespace amdgpu {

/// An f16 operand or result that is computed in f32, or in f64.
struct F16 {
  f32 value;
};
struct F16As64 {
  f64 value;
};
/// An f16 operand as it is, with its sign modifiers: conversion would make a signalling NaN quiet.
struct F16Bits {
  u16 value;
};

template <class T>
constexpr bool is_f16 = std::is_same_v<T, F16> || std::is_same_v<T, F16As64>;

/// Permutes a source by the instruction's DPP control and sets w.dpp_mask to the lanes that may be written.
const u32* apply_dpp(Wave& w, const Inst& in, const u32* source, u32* buffer);
/// Selects bytes or halves of a source (SDWA).
const u32* apply_sdwa(Wave& w, const Operand& o, const u32* source, u32* buffer);
/// Writes a result to the lanes of the mask, or its first lane to a scalar register.
void put32(Wave& w, const Inst& in, const Operand& d, const u32* result);
/// The same for 16-bit values, which are zero-extended.
void put16(Wave& w, const Inst& in, const Operand& d, const u32* result);

/// The lanes that the instruction writes, one word a lane.
inline const u32* write_mask(Wave& w, const Inst& in) { return in.dpp != Dpp::None ? w.dpp_mask : w.mask(); }

/// The register or constant as it is; part 1 is the second register.
inline const u32* read_raw(Wave& w, const Operand& o, u32* buffer, int part = 0) {
  if (o.kind == OperandKind::Vector) return w.row(o.r + part);
  const u32 x = o.kind == OperandKind::Scalar ? (o.r == reg::Null ? 0 : w.read(o.r + part)) : part ? o.hi32 : o.lo;
  for (u32 l = 0; l < w.lanes; l++) buffer[l] = x;
  return buffer;
}

/// With DPP and SDWA.
inline const u32* read32(Wave& w, const Inst& in, int i, u32* buffer, int part = 0) {
  const Operand& o = in.op[i];
  const u32* p = read_raw(w, o, buffer, part);
  if (in.dpp != Dpp::None && in.dpp_operand == i) p = apply_dpp(w, in, p, buffer);
  if (in.sdwa && (o.select != kSelectAll || o.sext)) p = apply_sdwa(w, o, p, buffer);
  return p;
}

/// The value is in the low half.
inline const u32* read16(Wave& w, const Inst& in, int i, u32* buffer) {
  const u32* p = read32(w, in, i, buffer);
  if (!in.op[i].high) return p;
  for (u32 l = 0; l < w.lanes; l++) buffer[l] = p[l] >> 16;
  return buffer;
}

/// A scalar operand, or the first lane of a vector register.
inline u32 read_scalar(Wave& w, const Operand& o) {
  if (o.kind == OperandKind::Constant) return o.lo;
  if (o.kind == OperandKind::Vector) return w.row(o.r)[0];
  return o.r == reg::Null ? 0 : w.read(o.r);
}

/// n values, a multiple of 8.
inline void widen_f16(const u16* from, f32* to, u32 n) {
  for (u32 l = 0; l < n; l += 8)
    _mm256_storeu_ps(to + l, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + l))));
}
inline void narrow_f16(const f32* from, u16* to, u32 n) {
  for (u32 l = 0; l < n; l += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + l), _mm256_cvtps_ph(_mm256_loadu_ps(from + l), 0));
}

template <class T>
struct Buffer {
  alignas(64) T values[kMaxLanes];
  alignas(64) u32 words[kMaxLanes];
};

template <class T>
inline const T* fetch_f16(Wave& w, const Inst& in, int i, Buffer<T>& b) {
  const Operand& o = in.op[i];
  const u32* p = read16(w, in, i, b.words);
  const u16 keep = o.abs ? 0x7fff : 0xffff, flip = o.neg ? 0x8000 : 0;
  alignas(64) u16 h[kMaxLanes];
  alignas(64) f32 f[kMaxLanes];
  for (u32 l = 0; l < w.lanes; l++) h[l] = static_cast<u16>((p[l] & keep) ^ flip);
  widen_f16(h, f, w.lanes);
  for (u32 l = 0; l < w.lanes; l++) b.values[l].value = f[l];
  return b.values;
}

template <class T>
inline const T* fetch64(Wave& w, const Inst& in, int i, Buffer<T>& b) {
  const Operand& o = in.op[i];
  alignas(64) u32 second[kMaxLanes];
  const u32 *low = read32(w, in, i, b.words, 0), *high = read32(w, in, i, second, 1);
  constexpr bool kSigned = std::is_same_v<T, f64>;
  const u64 keep = kSigned && o.abs ? ~(1ull << 63) : ~0ull, flip = kSigned && o.neg ? 1ull << 63 : 0;
  for (u32 l = 0; l < w.lanes; l++) b.values[l] = bits<T>(((low[l] | u64{high[l]} << 32) & keep) ^ flip);
  return b.values;
}

/// Operand i as values of type T, with its sign modifiers.
template <class T>
inline const T* fetch(Wave& w, const Inst& in, int i, Buffer<T>& b) {
  const Operand& o = in.op[i];
  if constexpr (is_f16<T>) {
    return fetch_f16(w, in, i, b);
  } else if constexpr (std::is_same_v<T, F16Bits>) {
    const u32* p = read16(w, in, i, b.words);
    const u16 keep = o.abs ? 0x7fff : 0xffff, flip = o.neg ? 0x8000 : 0;
    for (u32 l = 0; l < w.lanes; l++) b.values[l].value = static_cast<u16>((p[l] & keep) ^ flip);
    return b.values;
  } else if constexpr (sizeof(T) == 2) {
    const u32* p = read16(w, in, i, b.words);
    for (u32 l = 0; l < w.lanes; l++) b.values[l] = static_cast<T>(p[l]);
    return b.values;
  } else if constexpr (sizeof(T) == 8) {
    return fetch64(w, in, i, b);
  } else {
    const u32* p = read32(w, in, i, b.words);
    if (!o.neg && !o.abs) return reinterpret_cast<const T*>(p);
    const u32 keep = o.abs ? 0x7fffffff : ~0u, flip = o.neg ? 0x80000000 : 0;
    for (u32 l = 0; l < w.lanes; l++) b.values[l] = bits<T>((p[l] & keep) ^ flip);
    return b.values;
  }
}

/// Output modifiers: scaling, then clamping to 0..1, where NaN becomes 0.
template <class F>
inline F modify_output(bool clamp, u32 omod, F x) {
  if (omod == 1) x *= 2;
  if (omod == 2) x *= 4;
  if (omod == 3) x *= F(0.5);
  if (clamp) x = x > 0 ? x < 1 ? x : F(1) : F(0);
  return x;
}

template <class F>
inline F clamp_output(bool clamp, F x) {
  return modify_output(clamp, 0, x);
}

/// The output modifier that holds: none while denormal results are enabled.
template <class T>
inline u32 output_modifier(const Wave& w, const Inst& in) {
  const u32 shift = std::is_same_v<T, f32> ? 4 : 6;
  return w.mode >> shift & 2 ? 0 : in.omod;
}

/// Writes values of type T to the destination, with output modifiers.
template <class T>
inline void store(Wave& w, const Inst& in, const Operand& d, T* r) {
  [[maybe_unused]] const u32 omod = output_modifier<T>(w, in);
  [[maybe_unused]] const bool modified = in.clamp || in.omod;
  if constexpr (std::is_same_v<T, F16>) {
    alignas(64) f32 f[kMaxLanes];
    alignas(64) u16 h[kMaxLanes];
    alignas(64) u32 x[kMaxLanes];
    for (u32 l = 0; l < w.lanes; l++) f[l] = r[l].value;
    if (modified)
      for (u32 l = 0; l < w.lanes; l++) f[l] = modify_output(in.clamp, omod, f[l]);
    narrow_f16(f, h, w.lanes);
    for (u32 l = 0; l < w.lanes; l++) x[l] = h[l];
    put16(w, in, d, x);
  } else if constexpr (std::is_same_v<T, F16As64>) {
    alignas(64) u32 x[kMaxLanes];
    for (u32 l = 0; l < w.lanes; l++)
      x[l] = f64_to_f16(modified ? modify_output(in.clamp, omod, r[l].value) : r[l].value);
    put16(w, in, d, x);
  } else if constexpr (sizeof(T) == 2) {
    alignas(64) u32 x[kMaxLanes];
    for (u32 l = 0; l < w.lanes; l++) x[l] = static_cast<u16>(r[l]);
    put16(w, in, d, x);
  } else if constexpr (sizeof(T) == 8) {
    if constexpr (std::is_same_v<T, f64>)
      if (modified)
        for (u32 l = 0; l < w.lanes; l++) r[l] = modify_output(in.clamp, omod, r[l]);
    const u32* m = write_mask(w, in);
    u32 *low = w.row(d.r), *high = w.row(d.r + 1);
    for (u32 l = 0; l < w.lanes; l++) {
      const u64 x = bits<u64>(r[l]);
      low[l] = (static_cast<u32>(x) & m[l]) | (low[l] & ~m[l]);
      high[l] = (static_cast<u32>(x >> 32) & m[l]) | (high[l] & ~m[l]);
    }
  } else {
    if constexpr (std::is_same_v<T, f32>)
      if (modified)
        for (u32 l = 0; l < w.lanes; l++) r[l] = modify_output(in.clamp, omod, r[l]);
    put32(w, in, d, reinterpret_cast<const u32*>(r));
  }
}

}  // namespace amdgpu

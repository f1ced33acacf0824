// Matrix instructions: MFMA of CDNA, WMMA of RDNA3 and RDNA4. Products are accumulated in order of k with one rounding
// for each; hardware may differ in the last bits.
#pragma once
#include "isa/operands.h"

namespace amdgpu {

/// Bits of an element.
inline u32 element_bits(Element e) {
  switch (e) {
    case Element::F64: return 64;
    case Element::F32: return 32;
    case Element::F16:
    case Element::Bf16: return 16;
    case Element::I4:
    case Element::U4: return 4;
    default: return 8;
  }
}

/// Element number `index` of a lane, whose registers are p[0], p[stride], ...
__attribute__((always_inline)) inline f32 read_element(Element type, const u32* p, u32 stride, u32 index, bool fnuz) {
  const u32 width = element_bits(type), per_word = 32 / width;
  const u32 v = p[size_t{index / per_word} * stride] >> (index % per_word * width);
  switch (type) {
    case Element::F16: return f16_to_f32(static_cast<u16>(v));
    case Element::Bf16: return bf16_to_f32(static_cast<u16>(v));
    case Element::I8: return static_cast<i8>(v);
    case Element::U8: return static_cast<u8>(v);
    case Element::I4: return static_cast<f32>(static_cast<i32>(v << 28) >> 28);
    case Element::U4: return static_cast<f32>(v & 15);
    case Element::Fp8: return f8_to_f32(static_cast<u8>(v), {.e5m2 = false, .fnuz = fnuz});
    case Element::Bf8: return f8_to_f32(static_cast<u8>(v), {.e5m2 = true, .fnuz = fnuz});
    case Element::F32:
    case Element::F64: break;
  }
  return bits<f32>(v);
}

void run_mfma(Wave& w, const Inst& in);
void run_mfma_f64(Wave& w, const Inst& in);
void run_wmma(Wave& w, const Inst& in);

}  // namespace amdgpu

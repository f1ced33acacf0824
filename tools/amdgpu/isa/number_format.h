// Conversions between f32 or f64 and the narrow floating point formats, and the host's rounding mode.
#pragma once
#include "isa/types.h"

namespace amdgpu {

f32 f16_to_f32(u16 h);
/// The same, but a signalling NaN stays one.
f32 f16_to_f32_signalling(u16 h);
/// To nearest even; f32_to_f16_rtz truncates.
u16 f32_to_f16(f32 f);
u16 f32_to_f16_rtz(f32 f);
/// One rounding, not two by way of f32.
u16 f64_to_f16(f64 d);

inline f32 bf16_to_f32(u16 b) { return bits<f32>(u32{b} << 16); }
/// To nearest even; a NaN stays one.
u16 f32_to_bf16(f32 f);

/// The two 8-bit formats: e4m3 or e5m2, in the OCP form (gfx12) or the form without infinities and negative zero
/// (gfx94x).
struct Float8 {
  bool e5m2;
  bool fnuz;
};
f32 f8_to_f32(u8 v, Float8 format);
/// To nearest even; out of range is NaN in the fnuz form, infinity or NaN in the OCP form.
u8 f32_to_f8(f32 f, Float8 format);

/// Sets the host's rounding and denormal handling to the f32 fields of a wave's MODE register. The host has one setting
/// for f32 and f64, so the f32 fields hold for both.
void apply_mode(u32 mode);
/// The host's own setting: to nearest, denormals kept, no exceptions.
void apply_default_mode();

}  // namespace amdgpu

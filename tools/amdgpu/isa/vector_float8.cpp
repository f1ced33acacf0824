// Conversions of 8-bit floating point: the fnuz form on gfx94x, the OCP form on gfx12.
#include "isa/vector.h"

namespace amdgpu {

namespace {

template <bool E5m2>
Float8 format_of(const Wave& w) {
  return {.e5m2 = E5m2, .fnuz = w.is_cdna()};
}

template <bool E5m2>
void to_f32(Wave& w, const Inst& in) {
  alignas(64) u32 x[kMaxLanes];
  const u32* p = read32(w, in, 1, x);
  f32 r[kMaxLanes];
  // gfx12 names the byte, by byte_sel or by the bits of op_sel; gfx94x by SDWA, which read32() has applied.
  const u32 by_op_sel = (in.op_sel & 1) << 1 | (in.op_sel >> 1 & 1);
  const u32 byte = w.isa != Isa::Rdna4 ? 0 : in.byte_select ? in.byte_select : by_op_sel;
  for (u32 l = 0; l < w.lanes; l++) r[l] = f8_to_f32(static_cast<u8>(p[l] >> (8 * byte)), format_of<E5m2>(w));
  store<f32>(w, in, in.op[0], r);
}

template <bool E5m2>
void to_two_f32(Wave& w, const Inst& in) {
  alignas(64) u32 x[kMaxLanes];
  const u32* p = read32(w, in, 1, x);
  u64 r[kMaxLanes];
  const u32 shift = in.op_sel & 1 ? 16 : 0;
  auto part = [&](u32 v) { return u64{bits<u32>(f8_to_f32(static_cast<u8>(v), format_of<E5m2>(w)))}; };
  for (u32 l = 0; l < w.lanes; l++) r[l] = part(p[l] >> shift) | part(p[l] >> (shift + 8)) << 32;
  store<u64>(w, in, in.op[0], r);
}

// Two results in one half of the destination, which op_sel selects.
template <bool E5m2>
void from_two_f32(Wave& w, const Inst& in) {
  Buffer<f32> x, y;
  const f32 *a = fetch(w, in, 1, x), *b = fetch(w, in, 2, y);
  const u32* m = w.mask();
  u32* d = w.row(in.op[0].r);
  const bool high = in.op_sel & 12;
  for (u32 l = 0; l < w.lanes; l++) {
    if (!m[l]) continue;
    const u32 v = f32_to_f8(a[l], format_of<E5m2>(w)) | u32{f32_to_f8(b[l], format_of<E5m2>(w))} << 8;
    d[l] = high ? (d[l] & 0xffff) | v << 16 : (d[l] & 0xffff0000) | v;
  }
}

}  // namespace

void add_vector_float8() {
  add("v_cvt_f32_fp8", to_f32<false>, "ww");
  add("v_cvt_f32_bf8", to_f32<true>, "ww");
  add("v_cvt_pk_f32_fp8", to_two_f32<false>, "ww");
  add("v_cvt_pk_f32_bf8", to_two_f32<true>, "ww");
  add("v_cvt_pk_fp8_f32", from_two_f32<false>, "wff");
  add("v_cvt_pk_bf8_f32", from_two_f32<true>, "wff");
}

}  // namespace amdgpu

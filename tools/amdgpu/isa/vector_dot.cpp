// Dot products of the parts of a register.
#include "isa/float_math.h"
#include "isa/vector.h"

namespace amdgpu {

namespace {

using Dot = u32 (*)(const Inst&, u32 a, u32 b, u32 c);

// Accumulating: the destination is the third source.
template <Dot D, bool Accumulating>
void run_dot(Wave& w, const Inst& in) {
  alignas(64) u32 x[kMaxLanes], y[kMaxLanes], z[kMaxLanes];
  u32 r[kMaxLanes];
  const u32 *a = read32(w, in, 1, x), *b = read32(w, in, 2, y);
  const u32* c = Accumulating ? w.row(in.op[0].r) : read32(w, in, 3, z);
  for (u32 l = 0; l < w.lanes; l++) r[l] = D(in, a[l], b[l], c[l]);
  put32(w, in, in.op[0], r);
}
template <Dot D>
void dot(const char* name, const char* types = "wppw") {
  add(name, run_dot<D, false>, types);
}
template <Dot D>
void dot_accumulate(const char* name, const char* types = "wppw") {
  add(name, run_dot<D, true>, types);
}

// The half of source i that op_sel selects, with its sign.
u16 half_of(const Inst& in, int i, int part, u32 v) {
  const bool high = (part ? in.op_sel_hi : in.op_sel) >> i & 1, negated = (part ? in.neg_hi : in.neg_lo) >> i & 1;
  return static_cast<u16>((v >> (high ? 16 : 0)) ^ (negated ? 0x8000 : 0));
}

// Products and sum in f64, one rounding.
template <f32 (*Widen)(u16)>
f64 sum_of_products(const Inst& in, u32 a, u32 b) {
  return f64{Widen(half_of(in, 0, 0, a))} * Widen(half_of(in, 1, 0, b)) +
         f64{Widen(half_of(in, 0, 1, a))} * Widen(half_of(in, 1, 1, b));
}

u32 dot2_f16(const Inst& in, u32 a, u32 b, u32 c) {
  f32 s = bits<f32>(c);
  if (in.neg_hi & 4) s = std::fabs(s);
  if (in.neg_lo & 4) s = -s;
  return bits<u32>(clamp_output(in.clamp, f32(sum_of_products<f16_to_f32>(in, a, b) + s)));
}

u32 dot2_bf16(const Inst& in, u32 a, u32 b, u32 c) {
  return bits<u32>(f32(sum_of_products<bf16_to_f32>(in, a, b) + bits<f32>(c)));
}

template <int Bits>
i64 element(u32 v, int at, bool is_signed) {
  const u32 top = v << (32 - Bits - at);
  return is_signed ? i64{static_cast<i32>(top) >> (32 - Bits)} : i64{top >> (32 - Bits)};
}
template <int Bits>
i64 integer_dot(u32 a, u32 b, bool a_signed, bool b_signed) {
  i64 sum = 0;
  for (int i = 0; i < 32; i += Bits) sum += element<Bits>(a, i, a_signed) * element<Bits>(b, i, b_signed);
  return sum;
}

// neg_lo marks the signed sources
template <int Bits>
u32 dot_mixed_sign(const Inst& in, u32 a, u32 b, u32 c) {
  const i64 sum = integer_dot<Bits>(a, b, in.neg_lo & 1, in.neg_lo & 2) + static_cast<i32>(c);
  return static_cast<u32>(in.clamp ? saturate32(sum) : sum);
}

template <int Bits, bool Signed>
u32 dot_integers(const Inst& in, u32 a, u32 b, u32 c) {
  const i64 sum = integer_dot<Bits>(a, b, Signed, Signed) + (Signed ? i64{static_cast<i32>(c)} : i64{c});
  if (!in.clamp) return static_cast<u32>(sum);
  return static_cast<u32>(Signed ? saturate32(sum) : std::min<i64>(sum, UINT32_MAX));
}

}  // namespace

void add_vector_dot() {
  dot<dot2_f16>("v_dot2_f32_f16", "wppf");
  for (const char* name : {"v_dot2c_f32_f16", "v_dot2acc_f32_f16"}) dot_accumulate<dot2_f16>(name, "wpp");
  dot<dot2_bf16>("v_dot2_f32_bf16", "wbbf");
  dot_accumulate<dot2_bf16>("v_dot2c_f32_bf16", "wbb");
  dot<dot_mixed_sign<8>>("v_dot4_i32_iu8");
  dot<dot_mixed_sign<4>>("v_dot8_i32_iu4");
  dot<dot_integers<8, true>>("v_dot4_i32_i8");
  dot<dot_integers<8, false>>("v_dot4_u32_u8");
  dot<dot_integers<4, true>>("v_dot8_i32_i4");
  dot<dot_integers<4, false>>("v_dot8_u32_u4");
  dot<dot_integers<16, true>>("v_dot2_i32_i16");
  dot<dot_integers<16, false>>("v_dot2_u32_u16");
  dot_accumulate<dot_integers<8, true>>("v_dot4c_i32_i8");
  dot_accumulate<dot_integers<4, true>>("v_dot8c_i32_i4");
  dot_accumulate<dot_integers<16, true>>("v_dot2c_i32_i16");
}

}  // namespace amdgpu

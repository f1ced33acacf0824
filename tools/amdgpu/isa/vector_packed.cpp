// Packed vector arithmetic: two 16-bit values in a register, two f32 in a pair; mixed precision.
#include "isa/float_math.h"
#include "isa/vector.h"

namespace amdgpu {

namespace {

// The half of operand i that op_sel (part 0) or op_sel_hi (part 1) selects, with the sign of neg_lo or neg_hi.
bool selects_high(const Inst& in, int i, int part) { return (part ? in.op_sel_hi : in.op_sel) >> (i - 1) & 1; }
bool negates(const Inst& in, int i, int part) { return (part ? in.neg_hi : in.neg_lo) >> (i - 1) & 1; }

void read_half(Wave& w, const Inst& in, int i, int part, bool floating, u16* h) {
  alignas(64) u32 x[kMaxLanes];
  const u32* p = read_raw(w, in.op[i], x);
  const u32 shift = selects_high(in, i, part) ? 16 : 0;
  const u16 flip = floating && negates(in, i, part) ? 0x8000 : 0;
  for (u32 l = 0; l < w.lanes; l++) h[l] = static_cast<u16>((p[l] >> shift) ^ flip);
}

inline f32 signalling(F16Bits a) { return f16_to_f32_signalling(a.value); }

// L for one half of every lane. T: f32 or f64 for f16 that is computed so, F16Bits for f16 as it is, or the integer
// type.
template <auto L, class T, size_t... I>
void packed_half(Wave& w, const Inst& in, int part, u16* result, std::index_sequence<I...>) {
  constexpr bool kFloat = std::is_floating_point_v<T>;
  alignas(64) u16 h[sizeof...(I)][kMaxLanes];
  constexpr bool kSigned = kFloat || std::is_same_v<T, F16Bits>;
  (read_half(w, in, static_cast<int>(I) + 1, part, kSigned, h[I]), ...);
  if constexpr (kFloat) {
    alignas(64) f32 f[sizeof...(I)][kMaxLanes];
    (widen_f16(h[I], f[I], w.lanes), ...);
    alignas(64) T r[kMaxLanes];
    for (u32 l = 0; l < w.lanes; l++) r[l] = clamp_output(in.clamp, static_cast<T>(L(static_cast<T>(f[I][l])...)));
    if constexpr (std::is_same_v<T, f32>)
      narrow_f16(r, result, w.lanes);
    else
      for (u32 l = 0; l < w.lanes; l++) result[l] = f64_to_f16(r[l]);
  } else if constexpr (kSigned) {
    for (u32 l = 0; l < w.lanes; l++) result[l] = f32_to_f16(clamp_output(in.clamp, L(F16Bits{h[I][l]}...)));
  } else {
    for (u32 l = 0; l < w.lanes; l++) result[l] = static_cast<u16>(L(static_cast<T>(h[I][l])...));
  }
}

template <auto L, class T>
void run_packed16(Wave& w, const Inst& in) {
  alignas(64) u16 low[kMaxLanes], high[kMaxLanes];
  alignas(64) u32 r[kMaxLanes];
  constexpr auto kSources = std::make_index_sequence<SignatureOf<L>::kCount>();
  packed_half<L, T>(w, in, 0, low, kSources);
  packed_half<L, T>(w, in, 1, high, kSources);
  for (u32 l = 0; l < w.lanes; l++) r[l] = low[l] | u32{high[l]} << 16;
  put32(w, in, in.op[0], r);
}

// Integer instructions take floating point constants as their f32 bits.
template <auto L, class T, class... Names>
void packed16(const Names&... names) {
  constexpr std::string_view kTypes = std::is_integral_v<T> ? "wP" : "wp";
  (add(names, run_packed16<L, T>, kTypes), ...);
}

void packed_fmac16(Wave& w, const Inst& in) {
  alignas(64) u32 x[kMaxLanes], y[kMaxLanes];
  u32 r[kMaxLanes] = {};
  const u32 *a = read32(w, in, 1, x), *b = read32(w, in, 2, y), *c = w.row(in.op[0].r);
  auto half = [](u32 v, int shift) { return f64{f16_to_f32(static_cast<u16>(v >> shift))}; };
  for (u32 l = 0; l < w.lanes; l++)
    for (int s = 0; s < 32; s += 16) r[l] |= u32{f64_to_f16(half(a[l], s) * half(b[l], s) + half(c[l], s))} << s;
  put32(w, in, in.op[0], r);
}

void write_active(Wave& w, u32 row, const u32* values) {
  const u32* m = w.mask();
  u32* to = w.row(row);
  for (u32 l = 0; l < w.lanes; l++)
    if (m[l]) to[l] = values[l];
}

template <auto L, size_t... I>
void packed32_part(Wave& w, const Inst& in, int part, u32* result, std::index_sequence<I...>) {
  alignas(64) u32 x[sizeof...(I)][kMaxLanes];
  alignas(64) f32 f[sizeof...(I)][kMaxLanes];
  auto read = [&](int i, u32* buffer, f32* to) {
    const Operand& o = in.op[i];
    const bool pair = o.kind == OperandKind::Constant || o.registers > 1;
    const u32* p = read_raw(w, o, buffer, pair && selects_high(in, i, part));
    const u32 flip = negates(in, i, part) ? 0x80000000 : 0;
    for (u32 l = 0; l < w.lanes; l++) to[l] = bits<f32>(p[l] ^ flip);
  };
  (read(static_cast<int>(I) + 1, x[I], f[I]), ...);
  for (u32 l = 0; l < w.lanes; l++) result[l] = bits<u32>(clamp_output(in.clamp, L(f[I][l]...)));
}

template <auto L>
void packed32(const char* name) {
  constexpr Handler kHandler = [](Wave& w, const Inst& in) {
    u32 r[2][kMaxLanes];
    for (int part = 0; part < 2; part++)
      packed32_part<L>(w, in, part, r[part], std::make_index_sequence<SignatureOf<L>::kCount>());
    for (u32 part = 0; part < 2; part++) write_active(w, in.op[0].r + part, r[part]);
  };
  add(name, kHandler, "wPPP");
}

// The low result is from the first source, the high one from the second.
void packed_move(Wave& w, const Inst& in) {
  alignas(64) u32 x[kMaxLanes];
  u32 r[2][kMaxLanes];
  for (int i = 0; i < 2; i++) {
    const Operand& o = in.op[i + 1];
    memcpy(r[i], read_raw(w, o, x, o.registers > 1 ? in.op_sel >> i & 1 : 0), w.lanes * sizeof(u32));
  }
  for (u32 i = 0; i < 2; i++) write_active(w, in.op[0].r + i, r[i]);
}

// ---- mixed precision: op_sel_hi says that a source is f16, op_sel which half; neg_hi is |x|

void read_mixed(Wave& w, const Inst& in, int i, f32* to) {
  alignas(64) u32 x[kMaxLanes];
  const Operand& o = in.op[i + 1];
  const u32* p = read_raw(w, o, x);
  const u8 halves = in.op_sel_hi == 0xff ? 0 : in.op_sel_hi;
  const bool half = halves >> i & 1, fraction = o.text != Operand::Text::Integer;
  const u32 shift = in.op_sel >> i & 1 ? 16 : 0;
  for (u32 l = 0; l < w.lanes; l++) {
    f32 v = bits<f32>(p[l]);
    if (half) v = f16_to_f32(fraction ? f32_to_f16(f32(o.fraction)) : static_cast<u16>(p[l] >> shift));
    if (o.abs || (in.neg_hi >> i & 1)) v = std::fabs(v);
    if (o.neg || (in.neg_lo >> i & 1)) v = -v;
    to[l] = v;
  }
}

enum class MixResult { F32, LowF16, HighF16 };

template <MixResult Result>
void fma_mix(Wave& w, const Inst& in) {
  f32 f[3][kMaxLanes];
  for (int i = 0; i < 3; i++) read_mixed(w, in, i, f[i]);
  const u32* m = w.mask();
  u32* d = w.row(in.op[0].r);
  for (u32 l = 0; l < w.lanes; l++) {
    if (!m[l]) continue;
    if (Result == MixResult::F32) {
      d[l] = bits<u32>(clamp_output(in.clamp, __builtin_fmaf(f[0][l], f[1][l], f[2][l])));
      continue;
    }
    const u32 half = f64_to_f16(clamp_output(in.clamp, f64{f[0][l]} * f[1][l] + f[2][l]));
    d[l] = Result == MixResult::LowF16 ? (d[l] & 0xffff0000) | half : (d[l] & 0xffff) | half << 16;
  }
}

}  // namespace

void add_vector_packed() {
  packed16<([](f32 a, f32 b) { return a + b; }), f32>("v_pk_add_f16");
  packed16<([](f32 a, f32 b) { return a * b; }), f32>("v_pk_mul_f16");
  packed16<([](f64 a, f64 b, f64 c) { return a * b + c; }), f64>("v_pk_fma_f16");
  add("v_pk_fmac_f16", packed_fmac16, "wpp");
  packed16<([](F16Bits a, F16Bits b) { return max_ieee(signalling(a), signalling(b)); }), F16Bits>("v_pk_max_f16");
  packed16<([](f32 a, f32 b) { return max_number(a, b); }), f32>("v_pk_max_num_f16");
  packed16<([](F16Bits a, F16Bits b) { return min_ieee(signalling(a), signalling(b)); }), F16Bits>("v_pk_min_f16");
  packed16<([](f32 a, f32 b) { return min_number(a, b); }), f32>("v_pk_min_num_f16");
  packed16<([](u16 a, u16 b) { return a + b; }), u16>("v_pk_add_u16", "v_pk_add_i16");
  packed16<([](u16 a, u16 b) { return a - b; }), u16>("v_pk_sub_u16", "v_pk_sub_i16");
  packed16<([](u16 a, u16 b) { return u32(a) * b; }), u16>("v_pk_mul_lo_u16");
  packed16<([](u16 a, u16 b, u16 c) { return u32(a) * b + c; }), u16>("v_pk_mad_u16", "v_pk_mad_i16");
  packed16<([](i16 a, i16 b) { return std::max(a, b); }), i16>("v_pk_max_i16");
  packed16<([](i16 a, i16 b) { return std::min(a, b); }), i16>("v_pk_min_i16");
  packed16<([](u16 a, u16 b) { return std::max(a, b); }), u16>("v_pk_max_u16");
  packed16<([](u16 a, u16 b) { return std::min(a, b); }), u16>("v_pk_min_u16");
  packed16<([](u16 a, u16 b) { return b << (a & 15); }), u16>("v_pk_lshlrev_b16");
  packed16<([](u16 a, u16 b) { return b >> (a & 15); }), u16>("v_pk_lshrrev_b16");
  packed16<([](i16 a, i16 b) { return b >> (a & 15); }), i16>("v_pk_ashrrev_i16");
  packed32<([](f32 a, f32 b) { return a + b; })>("v_pk_add_f32");
  packed32<([](f32 a, f32 b) { return a * b; })>("v_pk_mul_f32");
  packed32<([](f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); })>("v_pk_fma_f32");
  add("v_pk_mov_b32", packed_move, "wPP");
  for (const char* name : {"v_fma_mix_f32", "v_mad_mix_f32"}) add(name, fma_mix<MixResult::F32>, "wmmm");
  for (const char* name : {"v_fma_mixlo_f16", "v_mad_mixlo_f16"}) add(name, fma_mix<MixResult::LowF16>, "wmmm");
  for (const char* name : {"v_fma_mixhi_f16", "v_mad_mixhi_f16"}) add(name, fma_mix<MixResult::HighF16>, "wmmm");
}

}  // namespace amdgpu

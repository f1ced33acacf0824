// Scalar arithmetic of integers, moves, comparisons.
#include "isa/scalar.h"

#include <algorithm>

namespace amdgpu {

namespace {

// A bitwise operation of both widths.
template <auto L, class... Names>
void bitwise(const Names&... names) {
  auto both = [](const std::string& name) {
    scalar<([](u32 a, u32 b) { return u32(L(u64(a), u64(b))); }), Scc::NonZero>("s_" + name + "_b32");
    scalar<([](u64 a, u64 b) { return L(a, b); }), Scc::NonZero>("s_" + name + "_b64");
  };
  (both(names), ...);
}

// exec = L(source, exec). The destination is the old mask, or the new one where New is true.
template <auto L, class T, bool New>
void run_save_exec(Wave& w, const Inst& in) {
  Operand exec;
  exec.kind = OperandKind::Scalar;
  exec.r = reg::Exec;
  const T before = read<T>(w, exec), source = read<T>(w, in.op[1]), after = static_cast<T>(L(u64{source}, u64{before}));
  write(w, in.op[0], New ? after : before);
  write(w, exec, after);
  w.s[reg::Scc] = after != 0;
}
template <auto L, class... Names>
void save_exec(const Names&... names) {
  auto all = [](const std::string& name) {
    add("s_" + name + "_saveexec_b32", run_save_exec<L, u32, false>, "ww");
    add("s_" + name + "_saveexec_b64", run_save_exec<L, u64, false>, "qq");
    add("s_" + name + "_wrexec_b32", run_save_exec<L, u32, true>, "ww");
    add("s_" + name + "_wrexec_b64", run_save_exec<L, u64, true>, "qq");
  };
  (all(names), ...);
}

// ---- instructions with a 16-bit constant in the encoding

i32 encoded_constant(const Inst& in) { return static_cast<i16>(in.raw); }

void move_constant(Wave& w, const Inst& in) { w.write(in.op[0].r, static_cast<u32>(encoded_constant(in))); }
void conditional_move_constant(Wave& w, const Inst& in) {
  if (w.s[reg::Scc]) move_constant(w, in);
}
void add_constant(Wave& w, const Inst& in) {
  i32 r;
  w.s[reg::Scc] = __builtin_add_overflow(static_cast<i32>(w.read(in.op[0].r)), encoded_constant(in), &r);
  w.write(in.op[0].r, static_cast<u32>(r));
}
void multiply_constant(Wave& w, const Inst& in) {
  w.write(in.op[0].r, w.read(in.op[0].r) * static_cast<u32>(encoded_constant(in)));
}
template <auto L>
void compare_signed_constant(Wave& w, const Inst& in) {
  w.s[reg::Scc] = L(i64{static_cast<i32>(w.read(in.op[0].r))}, i64{encoded_constant(in)});
}
template <auto L>
void compare_unsigned_constant(Wave& w, const Inst& in) {
  w.s[reg::Scc] = L(i64{w.read(in.op[0].r)}, i64{static_cast<u16>(in.raw)});
}
template <auto L>
void compare_integers(const std::string& name) {
  scalar_compare<([](i32 a, i32 b) { return L(i64(a), i64(b)); })>("s_cmp_" + name + "_i32");
  scalar_compare<([](u32 a, u32 b) { return L(i64(a), i64(b)); })>("s_cmp_" + name + "_u32");
  add("s_cmpk_" + name + "_i32", compare_signed_constant<L>, "w");
  add("s_cmpk_" + name + "_u32", compare_unsigned_constant<L>, "w");
}

// ---- bits

template <class T, bool One>
void set_bit(Wave& w, const Inst& in) {
  const T bit = T{1} << (read<u32>(w, in.op[1]) & (8 * sizeof(T) - 1)), before = read<T>(w, in.op[0]);
  write(w, in.op[0], static_cast<T>(One ? before | bit : before & ~bit));
}
template <class T>
void conditional_move(Wave& w, const Inst& in) {
  if (w.s[reg::Scc]) write(w, in.op[0], read<T>(w, in.op[1]));
}

// Offset in the low bits of the control, width in bits 16 to 22. A field stops at the top of the operand.
u64 bit_field(u64 v, u32 control, u32 width, bool is_signed) {
  const u32 offset = control & (width - 1), n = std::min(control >> 16 & 127, width - offset);
  if (!n) return 0;
  v >>= offset;
  if (n == 64) return v;
  v &= (1ull << n) - 1;
  return is_signed && v >> (n - 1) & 1 ? v | ~0ull << n : v;
}

template <int Shift>
u32 shift_and_add(u32 a, u32 b, u32& carry) {
  const u64 sum = (u64{a} << Shift) + b;
  carry = sum >> 32 != 0;
  return static_cast<u32>(sum);
}

u64 replicate_bits(u32 a) {
  u64 r = 0;
  for (int i = 0; i < 32; i++) r |= u64{a >> i & 1} * 3 << (2 * i);
  return r;
}

// All bits of every group of four in which one is set.
u64 whole_quads(u64 a) {
  u64 r = 0;
  for (int i = 0; i < 64; i += 4)
    if (a >> i & 15) r |= 15ull << i;
  return r;
}

// Zeros above the highest bit that differs from the sign; -1 if all are the same.
i32 leading_sign_bits(u32 a) {
  const u32 x = a ^ -(a >> 31);
  return x ? __builtin_clz(x) : -1;
}

}  // namespace

void add_scalar() {
  scalar<([](u32 a) { return a; })>("s_mov_b32");
  scalar<([](u64 a) { return a; })>("s_mov_b64");
  add("s_movk_i32", move_constant, "ww");
  add("s_cmov_b32", conditional_move<u32>, "ww");
  add("s_cmov_b64", conditional_move<u64>, "qq");
  add("s_cmovk_i32", conditional_move_constant, "ww");
  for (const char* name : {"s_addk_i32", "s_addk_co_i32"}) add(name, add_constant, "ww");
  add("s_mulk_i32", multiply_constant, "ww");
  scalar<([](u32 a) { return ~a; }), Scc::NonZero>("s_not_b32");
  scalar<([](u64 a) { return ~a; }), Scc::NonZero>("s_not_b64");
  scalar<([](u32 a, u32 b, u32& scc) {
           u64 r = u64(a) + b;
           scc = r >> 32;
           return u32(r);
         }),
         Scc::Own>("s_add_u32", "s_add_co_u32");
  scalar<([](u32 a, u32 b, u32& scc) {
           scc = b > a;
           return a - b;
         }),
         Scc::Own>("s_sub_u32", "s_sub_co_u32");
  scalar<([](u32 a, u32 b, u32& scc) {
           u64 r = u64(a) + b + scc;
           scc = r >> 32;
           return u32(r);
         }),
         Scc::Own>("s_addc_u32", "s_add_co_ci_u32");
  scalar<([](u32 a, u32 b, u32& scc) {
           u64 s = u64(b) + scc;
           u32 r = a - u32(s);
           scc = s > a;
           return r;
         }),
         Scc::Own>("s_subb_u32", "s_sub_co_ci_u32");
  scalar<([](i32 a, i32 b, u32& scc) {
           i32 r;
           scc = __builtin_add_overflow(a, b, &r);
           return r;
         }),
         Scc::Own>("s_add_i32", "s_add_co_i32");
  scalar<([](i32 a, i32 b, u32& scc) {
           i32 r;
           scc = __builtin_sub_overflow(a, b, &r);
           return r;
         }),
         Scc::Own>("s_sub_i32", "s_sub_co_i32");
  scalar<([](u64 a, u64 b) { return a + b; })>("s_add_nc_u64");
  scalar<([](u64 a, u64 b) { return a - b; })>("s_sub_nc_u64");
  scalar<([](u64 a, u64 b) { return a * b; })>("s_mul_u64");
  scalar<([](u32 a, u32 b) { return a * b; })>("s_mul_i32");
  scalar<([](u32 a, u32 b) { return u32(u64(a) * b >> 32); })>("s_mul_hi_u32");
  scalar<([](i32 a, i32 b) { return i32(i64(a) * b >> 32); })>("s_mul_hi_i32");
  scalar<([](i32 a, i32 b, u32& scc) {
           scc = a < b;
           return scc ? a : b;
         }),
         Scc::Own>("s_min_i32");
  scalar<([](u32 a, u32 b, u32& scc) {
           scc = a < b;
           return scc ? a : b;
         }),
         Scc::Own>("s_min_u32");
  scalar<([](i32 a, i32 b, u32& scc) {
           scc = a > b;
           return scc ? a : b;
         }),
         Scc::Own>("s_max_i32");
  scalar<([](u32 a, u32 b, u32& scc) {
           scc = a > b;
           return scc ? a : b;
         }),
         Scc::Own>("s_max_u32");
  scalar<([](i32 a, u32& scc) {
           i32 r = a < 0 ? i32(0u - u32(a)) : a;
           scc = r != 0;
           return r;
         }),
         Scc::Own>("s_abs_i32");
  scalar<([](i32 a, i32 b) {
           i32 d = i32(u32(a) - u32(b));
           return d < 0 ? i32(0u - u32(d)) : d;
         }),
         Scc::NonZero>("s_absdiff_i32");
  scalar<([](u32 a, u32 b, u32& scc) { return scc ? a : b; }), Scc::Own>("s_cselect_b32");
  scalar<([](u64 a, u64 b, u32& scc) { return scc ? a : b; }), Scc::Own>("s_cselect_b64");
  bitwise<([](u64 a, u64 b) { return a & b; })>("and");
  bitwise<([](u64 a, u64 b) { return a | b; })>("or");
  bitwise<([](u64 a, u64 b) { return a ^ b; })>("xor");
  bitwise<([](u64 a, u64 b) { return ~(a & b); })>("nand");
  bitwise<([](u64 a, u64 b) { return ~(a | b); })>("nor");
  bitwise<([](u64 a, u64 b) { return ~(a ^ b); })>("xnor");
  bitwise<([](u64 a, u64 b) { return a & ~b; })>("andn2", "and_not1");
  bitwise<([](u64 a, u64 b) { return a | ~b; })>("orn2", "or_not1");
  scalar<([](u32 a, u32 b) { return a << (b & 31); }), Scc::NonZero>("s_lshl_b32");
  scalar<([](u64 a, u32 b) { return a << (b & 63); }), Scc::NonZero>("s_lshl_b64");
  scalar<([](u32 a, u32 b) { return a >> (b & 31); }), Scc::NonZero>("s_lshr_b32");
  scalar<([](u64 a, u32 b) { return a >> (b & 63); }), Scc::NonZero>("s_lshr_b64");
  scalar<([](i32 a, u32 b) { return a >> (b & 31); }), Scc::NonZero>("s_ashr_i32");
  scalar<([](i64 a, u32 b) { return a >> (b & 63); }), Scc::NonZero>("s_ashr_i64");
  scalar<([](u32 a, u32 b) { return u32(bit_field(a, b, 32, false)); }), Scc::NonZero>("s_bfe_u32");
  scalar<([](i32 a, u32 b) { return i32(bit_field(u64(i64(a)), b, 32, true)); }), Scc::NonZero>("s_bfe_i32");
  scalar<([](u64 a, u32 b) { return bit_field(a, b, 64, false); }), Scc::NonZero>("s_bfe_u64");
  scalar<([](i64 a, u32 b) { return i64(bit_field(u64(a), b, 64, true)); }), Scc::NonZero>("s_bfe_i64");
  scalar<([](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); })>("s_bfm_b32");
  scalar<([](u32 a, u32 b) { return ((1ull << (a & 63)) - 1) << (b & 63); })>("s_bfm_b64");
  scalar<([](u32 a, u32 b, u32& carry) { return shift_and_add<1>(a, b, carry); }), Scc::Own>("s_lshl1_add_u32");
  scalar<([](u32 a, u32 b, u32& carry) { return shift_and_add<2>(a, b, carry); }), Scc::Own>("s_lshl2_add_u32");
  scalar<([](u32 a, u32 b, u32& carry) { return shift_and_add<3>(a, b, carry); }), Scc::Own>("s_lshl3_add_u32");
  scalar<([](u32 a, u32 b, u32& carry) { return shift_and_add<4>(a, b, carry); }), Scc::Own>("s_lshl4_add_u32");
  scalar<([](u32 a) { return reverse_bits(a); })>("s_brev_b32");
  scalar<([](u64 a) { return u64(reverse_bits(u32(a))) << 32 | reverse_bits(u32(a >> 32)); })>("s_brev_b64");
  scalar<([](u32 a) { return u32(__builtin_popcount(a)); }), Scc::NonZero>("s_bcnt1_i32_b32");
  scalar<([](u64 a) { return u32(__builtin_popcountll(a)); }), Scc::NonZero>("s_bcnt1_i32_b64");
  scalar<([](u32 a) { return 32u - __builtin_popcount(a); }), Scc::NonZero>("s_bcnt0_i32_b32");
  scalar<([](u64 a) { return 64u - __builtin_popcountll(a); }), Scc::NonZero>("s_bcnt0_i32_b64");
  scalar<([](u32 a) { return a ? __builtin_ctz(a) : -1; })>("s_ff1_i32_b32", "s_ctz_i32_b32");
  scalar<([](u64 a) { return a ? __builtin_ctzll(a) : -1; })>("s_ff1_i32_b64", "s_ctz_i32_b64");
  scalar<([](u32 a) { return a ? __builtin_clz(a) : -1; })>("s_flbit_i32_b32", "s_clz_i32_u32");
  scalar<([](u64 a) { return a ? __builtin_clzll(a) : -1; })>("s_flbit_i32_b64", "s_clz_i32_u64");
  scalar<([](u32 a) { return leading_sign_bits(a); })>("s_flbit_i32", "s_cls_i32");
  scalar<([](u32 a) { return u32(i32(i8(a))); })>("s_sext_i32_i8");
  scalar<([](u32 a) { return u32(i32(i16(a))); })>("s_sext_i32_i16");
  scalar<([](u32 a, u32 b) { return (a & 0xffff) | b << 16; })>("s_pack_ll_b32_b16");
  scalar<([](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); })>("s_pack_lh_b32_b16");
  scalar<([](u32 a, u32 b) { return a >> 16 | (b & 0xffff0000); })>("s_pack_hh_b32_b16");
  scalar<([](u32 a, u32 b) { return a >> 16 | b << 16; })>("s_pack_hl_b32_b16");
  scalar<([](u32 a) { return replicate_bits(a); })>("s_bitreplicate_b64_b32");
  scalar<([](u32 a) { return u32(whole_quads(a)); }), Scc::NonZero>("s_wqm_b32");
  scalar<([](u64 a) { return whole_quads(a); }), Scc::NonZero>("s_wqm_b64");
  add("s_bitset0_b32", set_bit<u32, false>, "ww");
  add("s_bitset1_b32", set_bit<u32, true>, "ww");
  add("s_bitset0_b64", set_bit<u64, false>, "qw");
  add("s_bitset1_b64", set_bit<u64, true>, "qw");
  scalar_compare<([](u32 a, u32 b) { return !(a >> (b & 31) & 1); })>("s_bitcmp0_b32");
  scalar_compare<([](u32 a, u32 b) { return (a >> (b & 31) & 1) != 0; })>("s_bitcmp1_b32");
  scalar_compare<([](u64 a, u32 b) { return !(a >> (b & 63) & 1); })>("s_bitcmp0_b64");
  scalar_compare<([](u64 a, u32 b) { return (a >> (b & 63) & 1) != 0; })>("s_bitcmp1_b64");
  compare_integers<([](i64 a, i64 b) { return a == b; })>("eq");
  compare_integers<([](i64 a, i64 b) { return a != b; })>("lg");
  compare_integers<([](i64 a, i64 b) { return a > b; })>("gt");
  compare_integers<([](i64 a, i64 b) { return a >= b; })>("ge");
  compare_integers<([](i64 a, i64 b) { return a < b; })>("lt");
  compare_integers<([](i64 a, i64 b) { return a <= b; })>("le");
  scalar_compare<([](u64 a, u64 b) { return a == b; })>("s_cmp_eq_u64");
  scalar_compare<([](u64 a, u64 b) { return a != b; })>("s_cmp_lg_u64");
  save_exec<([](u64 s, u64 e) { return s & e; })>("and");
  save_exec<([](u64 s, u64 e) { return s | e; })>("or");
  save_exec<([](u64 s, u64 e) { return s ^ e; })>("xor");
  save_exec<([](u64 s, u64 e) { return s & ~e; })>("andn2", "and_not1");
  save_exec<([](u64 s, u64 e) { return s | ~e; })>("orn2", "or_not1");
  save_exec<([](u64 s, u64 e) { return ~s & e; })>("andn1", "and_not0");
  save_exec<([](u64 s, u64 e) { return ~s | e; })>("orn1", "or_not0");
  save_exec<([](u64 s, u64 e) { return ~(s & e); })>("nand");
  save_exec<([](u64 s, u64 e) { return ~(s | e); })>("nor");
  save_exec<([](u64 s, u64 e) { return ~(s ^ e); })>("xnor");
}

}  // namespace amdgpu

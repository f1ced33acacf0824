// Vector arithmetic of integers.
#include <algorithm>
#include <limits>

#include "isa/float_math.h"
#include "isa/vector.h"

namespace amdgpu {

namespace {

inline i32 sign_extend24(u32 x) { return static_cast<i32>(x << 8) >> 8; }

void copy_register(Wave& w, const Inst& in) {
  alignas(64) u32 x[kMaxLanes];
  put32(w, in, in.op[0], read_raw(w, in.op[1], x));
}

enum class Saturating { Add, Sub, ReverseSub };

// Additions and subtractions with the clamp modifier.
template <Saturating Op, class T>
void saturating(Wave& w, const Inst& in) {
  Buffer<T> x, y;
  const T *a = fetch(w, in, 1, x), *b = fetch(w, in, 2, y);
  T r[kMaxLanes];
  for (u32 l = 0; l < w.lanes; l++) {
    const i64 p = Op == Saturating::ReverseSub ? b[l] : a[l], q = Op == Saturating::ReverseSub ? a[l] : b[l];
    const i64 sum = Op == Saturating::Add ? p + q : p - q;
    r[l] = static_cast<T>(std::clamp<i64>(sum, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
  put32(w, in, in.op[0], reinterpret_cast<const u32*>(r));
}

template <Saturating Op, class T, class... Names>
void clamped(const Names&... names) {
  (add(names + std::string(".clamp"), saturating<Op, T>, "www"), ...);
}

template <int Bits>
u32 sum_of_differences(u32 a, u32 b) {
  constexpr u32 kMask = (1u << Bits) - 1;
  u32 sum = 0;
  for (int i = 0; i < 32; i += Bits) {
    const u32 x = a >> i & kMask, y = b >> i & kMask;
    sum += x > y ? x - y : y - x;
  }
  return sum;
}

// Halves of the sums of bytes, rounded up where the byte of c is odd.
u32 average_bytes(u32 a, u32 b, u32 c) {
  u32 r = 0;
  for (int i = 0; i < 32; i += 8) r |= (((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) >> 1) << i;
  return r;
}

// v_perm: a selector byte each: 0-7 a byte, 8-11 the sign of a half, 12 zeros, above ones.
u32 select_bytes(u64 value, u32 selectors) {
  u32 r = 0;
  for (int i = 0; i < 4; i++) {
    const u32 s = selectors >> (8 * i) & 255;
    u32 byte = s == 12 ? 0 : 255;
    if (s < 8) byte = value >> (8 * s) & 255;
    if (s >= 8 && s < 12) byte = value >> (16 * (s - 8) + 15) & 1 ? 255 : 0;
    r |= byte << (8 * i);
  }
  return r;
}

// A sign-extended bit field, which stops at the top of the operand.
i32 signed_field(u32 a, u32 offset, u32 width) {
  if (!width) return 0;
  width = std::min(width, 32 - offset);
  return static_cast<i32>(a << (32 - offset - width)) >> (32 - width);
}

// Zeros above the highest bit that differs from the sign; -1 if all are the same.
i32 leading_sign_bits(u32 a) {
  const u32 x = a ^ -(a >> 31);
  return x ? __builtin_clz(x) : -1;
}

}  // namespace

void add_vector_integer() {
  // moves
  vector<([](u32 a) { return a; })>("v_mov_b32", "v_accvgpr_mov_b32");
  add("v_accvgpr_read_b32", copy_register, "ww");
  add("v_accvgpr_write_b32", copy_register, "wf");
  vector<([](u16 a) { return a; })>("v_mov_b16");
  vector<([](u64 a) { return a; })>("v_mov_b64");
  // arithmetic
  vector<([](u32 a, u32 b) { return a + b; })>("v_add_u32", "v_add_nc_u32", "v_add_i32", "v_add_nc_i32");
  clamped<Saturating::Add, u32>("v_add_u32", "v_add_nc_u32");
  clamped<Saturating::Add, i32>("v_add_i32", "v_add_nc_i32");
  vector<([](u32 a, u32 b) { return a - b; })>("v_sub_u32", "v_sub_nc_u32", "v_sub_i32", "v_sub_nc_i32");
  clamped<Saturating::Sub, u32>("v_sub_u32", "v_sub_nc_u32");
  clamped<Saturating::Sub, i32>("v_sub_i32", "v_sub_nc_i32");
  vector<([](u32 a, u32 b) { return b - a; })>("v_subrev_u32", "v_subrev_nc_u32");
  clamped<Saturating::ReverseSub, u32>("v_subrev_u32", "v_subrev_nc_u32");
  vector<([](u32 a, u32 b) { return a * b; })>("v_mul_lo_u32");
  vector<([](u32 a, u32 b) { return u32(u64(a) * b >> 32); })>("v_mul_hi_u32");
  vector<([](i32 a, i32 b) { return i32(i64(a) * b >> 32); })>("v_mul_hi_i32");
  vector<([](u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); })>("v_mul_u32_u24");
  vector<([](u32 a, u32 b) { return u32(sign_extend24(a)) * u32(sign_extend24(b)); })>("v_mul_i32_i24");
  vector<([](u32 a, u32 b) { return u32(u64(a & 0xffffff) * (b & 0xffffff) >> 32); })>("v_mul_hi_u32_u24");
  vector<([](u32 a, u32 b) { return u32(i64(sign_extend24(a)) * sign_extend24(b) >> 32); })>("v_mul_hi_i32_i24");
  vector<([](u32 a, u32 b, u32 c) { return (a & 0xffffff) * (b & 0xffffff) + c; })>("v_mad_u32_u24");
  vector<([](u32 a, u32 b, u32 c) { return u32(sign_extend24(a)) * u32(sign_extend24(b)) + c; })>("v_mad_i32_i24");
  // order
  vector<([](i32 a, i32 b) { return std::min(a, b); })>("v_min_i32");
  vector<([](i32 a, i32 b) { return std::max(a, b); })>("v_max_i32");
  vector<([](u32 a, u32 b) { return std::min(a, b); })>("v_min_u32");
  vector<([](u32 a, u32 b) { return std::max(a, b); })>("v_max_u32");
  vector<([](i32 a, i32 b, i32 c) { return std::min(std::min(a, b), c); })>("v_min3_i32");
  vector<([](i32 a, i32 b, i32 c) { return std::max(std::max(a, b), c); })>("v_max3_i32");
  vector<([](i32 a, i32 b, i32 c) { return median_integer(a, b, c); })>("v_med3_i32");
  vector<([](u32 a, u32 b, u32 c) { return std::min(std::min(a, b), c); })>("v_min3_u32");
  vector<([](u32 a, u32 b, u32 c) { return std::max(std::max(a, b), c); })>("v_max3_u32");
  vector<([](u32 a, u32 b, u32 c) { return median_integer(a, b, c); })>("v_med3_u32");
  vector<([](i32 a, i32 b, i32 c) { return std::min(std::max(a, b), c); })>("v_maxmin_i32");
  vector<([](i32 a, i32 b, i32 c) { return std::max(std::min(a, b), c); })>("v_minmax_i32");
  vector<([](u32 a, u32 b, u32 c) { return std::min(std::max(a, b), c); })>("v_maxmin_u32");
  vector<([](u32 a, u32 b, u32 c) { return std::max(std::min(a, b), c); })>("v_minmax_u32");
  // bits
  vector<([](u32 a, u32 b) { return a & b; })>("v_and_b32");
  vector<([](u32 a, u32 b) { return a | b; })>("v_or_b32");
  vector<([](u32 a, u32 b) { return a ^ b; })>("v_xor_b32");
  vector<([](u32 a, u32 b) { return ~(a ^ b); })>("v_xnor_b32");
  vector<([](u32 a) { return ~a; })>("v_not_b32");
  vector<([](u16 a, u16 b) { return u16(a & b); })>("v_and_b16");
  vector<([](u16 a, u16 b) { return u16(a | b); })>("v_or_b16");
  vector<([](u16 a, u16 b) { return u16(a ^ b); })>("v_xor_b16");
  vector<([](u16 a) { return u16(~a); })>("v_not_b16");
  vector<([](u32 a, u32 b) { return b << (a & 31); })>("v_lshlrev_b32");
  vector<([](u32 a, u32 b) { return b >> (a & 31); })>("v_lshrrev_b32");
  vector<([](u32 a, i32 b) { return b >> (a & 31); })>("v_ashrrev_i32");
  vector<([](u32 a, u64 b) { return b << (a & 63); })>("v_lshlrev_b64");
  vector<([](u32 a, u64 b) { return b >> (a & 63); })>("v_lshrrev_b64");
  vector<([](u32 a, i64 b) { return b >> (a & 63); })>("v_ashrrev_i64");
  vector<([](u16 a, u16 b) { return u16(b << (a & 15)); })>("v_lshlrev_b16");
  vector<([](u16 a, u16 b) { return u16(b >> (a & 15)); })>("v_lshrrev_b16");
  vector<([](u16 a, i16 b) { return i16(b >> (a & 15)); })>("v_ashrrev_i16");
  // 16 bits
  vector<([](u16 a, u16 b) { return u16(a + b); })>("v_add_u16", "v_add_nc_u16", "v_add_i16", "v_add_nc_i16");
  vector<([](u16 a, u16 b) { return u16(a - b); })>("v_sub_u16", "v_sub_nc_u16", "v_sub_i16", "v_sub_nc_i16");
  vector<([](u16 a, u16 b) { return u16(b - a); })>("v_subrev_u16");
  vector<([](u16 a, u16 b) { return u16(a * b); })>("v_mul_lo_u16");
  vector<([](u16 a, u16 b, u16 c) { return u16(a * b + c); })>("v_mad_u16", "v_mad_legacy_u16", "v_mad_i16",
                                                               "v_mad_legacy_i16");
  vector<([](i16 a, i16 b) { return std::min(a, b); })>("v_min_i16");
  vector<([](i16 a, i16 b) { return std::max(a, b); })>("v_max_i16");
  vector<([](u16 a, u16 b) { return std::min(a, b); })>("v_min_u16");
  vector<([](u16 a, u16 b) { return std::max(a, b); })>("v_max_u16");
  vector<([](u16 a, u16 b, u16 c) { return median_integer(a, b, c); })>("v_med3_u16");
  vector<([](i16 a, i16 b, i16 c) { return median_integer(a, b, c); })>("v_med3_i16");
  vector<([](i16 a, i16 b, i16 c) { return std::min(std::min(a, b), c); })>("v_min3_i16");
  vector<([](i16 a, i16 b, i16 c) { return std::max(std::max(a, b), c); })>("v_max3_i16");
  vector<([](u16 a, u16 b, u16 c) { return std::min(std::min(a, b), c); })>("v_min3_u16");
  vector<([](u16 a, u16 b, u16 c) { return std::max(std::max(a, b), c); })>("v_max3_u16");
  vector<([](u16 a, u16 b, u32 c) { return u32(a) * b + c; })>("v_mad_u32_u16");
  vector<([](i16 a, i16 b, i32 c) { return i32(u32(i32(a) * b) + u32(c)); })>("v_mad_i32_i16");
  // three operands
  vector<([](u32 a, u32 b, u32 c) { return a + b + c; })>("v_add3_u32");
  vector<([](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; })>("v_lshl_add_u32");
  vector<([](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); })>("v_add_lshl_u32");
  vector<([](u32 a, u32 b, u32 c) { return a << (b & 31) | c; })>("v_lshl_or_b32");
  vector<([](u32 a, u32 b, u32 c) { return (a & b) | c; })>("v_and_or_b32");
  vector<([](u32 a, u32 b, u32 c) { return a | b | c; })>("v_or3_b32");
  vector<([](u32 a, u32 b, u32 c) { return (a ^ b) + c; })>("v_xad_u32");
  vector<([](u32 a, u32 b, u32 c) { return a ^ b ^ c; })>("v_xor3_b32");
  vector<([](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; })>("v_lshl_add_u64");
  vector<([](u32 a, u32 b, u32 c) { return a >> (b & 31) & ((1u << (c & 31)) - 1); })>("v_bfe_u32");
  vector<([](u32 a, u32 b, u32 c) { return signed_field(a, b & 31, c & 31); })>("v_bfe_i32");
  vector<([](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); })>("v_bfi_b32");
  vector<([](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); })>("v_bfm_b32");
  vector<([](u32 a) { return reverse_bits(a); })>("v_bfrev_b32");
  vector<([](u32 a, u32 b) { return u32(__builtin_popcount(a)) + b; })>("v_bcnt_u32_b32");
  vector<([](u32 a, u32 b, u32 c) { return u32((u64(a) << 32 | b) >> (c & 31)); })>("v_alignbit_b32");
  vector<([](u32 a, u32 b, u32 c) { return u32((u64(a) << 32 | b) >> (8 * (c & 3))); })>("v_alignbyte_b32");
  vector<([](u32 a) { return a ? __builtin_ctz(a) : -1; })>("v_ffbl_b32", "v_ctz_i32_b32");
  vector<([](u32 a) { return a ? __builtin_clz(a) : -1; })>("v_ffbh_u32", "v_clz_i32_u32");
  vector<([](u32 a) { return leading_sign_bits(a); })>("v_ffbh_i32", "v_cls_i32");
  vector<([](u32 a, u32 b, u32 c) { return select_bytes(u64{a} << 32 | b, c); })>("v_perm_b32");
  vector<([](u32 a, u32 b, u32 c) { return sum_of_differences<8>(a, b) + c; })>("v_sad_u8");
  vector<([](u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; })>("v_sad_u32");
  vector<([](u32 a, u32 b, u32 c) { return sum_of_differences<16>(a, b) + c; })>("v_sad_u16");
  vector<([](u32 a, u32 b, u32 c) { return (sum_of_differences<8>(a, b) << 16) + c; })>("v_sad_hi_u8");
  vector<([](u32 a, u32 b, u32 c) { return average_bytes(a, b, c); })>("v_lerp_u8");
}

}  // namespace amdgpu

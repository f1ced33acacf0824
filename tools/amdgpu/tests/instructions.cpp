// Single instructions against values computed another way: floating point in a wider format with a rounding of our own,
// order by the integer order of the bits, integers in 128 bits or bit by bit. One row an instruction; a row runs on
// every architecture whose assembler knows it.
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>

#include "tests/forms/forms.h"
#include "tests/hip.h"
#include "tests/reference.h"

namespace amdgpu::tests {
namespace {

class EachInstruction : public OnEachArch {};
INSTANTIATE_TEST_SUITE_P(, EachInstruction, kArchs, arch_name);

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;
using Expected = u64 (*)(u64 a, u64 b, u64 c);

// How the operands are written: the destination, then the sources. w: 32 bits in a vector register, q: 64 bits in two;
// W, Q: scalar registers; m: a lane mask, of which the lane's bit is the result; +: the destination is also the last
// source.
struct Row {
  const char* names;  // separated by spaces; all compute the same
  const char* operands;
  char result;  // of which type: f, d, h (f16), p (two f16) may be any NaN; x is exact
  Expected expected;
  bool until_gfx11 = false;  // a name that gfx12's assembler takes for another instruction
};

template <class T>
T as(u64 x) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<u32>(x));
  else
    return std::bit_cast<T>(x);
}
u64 of(float f) { return std::bit_cast<u32>(f); }
u64 of(double d) { return std::bit_cast<u64>(d); }
float f(u64 x) { return as<float>(x); }
double d(u64 x) { return as<double>(x); }
double h(u64 x) { return value_of_f16(static_cast<uint16_t>(x)); }
i64 s(u64 x) { return static_cast<i32>(x); }  // a signed 32-bit operand
u64 low(i64 x) { return static_cast<u32>(x); }

constexpr bool kUntilGfx11 = true;

// clang-format off
const Row kFloat[] = {
  {"v_add_f32 v_add_f32_e64", "www", 'f', [](u64 a, u64 b, u64) { return of(static_cast<float>(double{f(a)} + f(b))); }},
  {"v_sub_f32", "www", 'f', [](u64 a, u64 b, u64) { return of(static_cast<float>(double{f(a)} - f(b))); }},
  {"v_subrev_f32", "www", 'f', [](u64 a, u64 b, u64) { return of(static_cast<float>(double{f(b)} - f(a))); }},
  {"v_mul_f32", "www", 'f', [](u64 a, u64 b, u64) { return of(static_cast<float>(double{f(a)} * f(b))); }},
  {"v_fma_f32", "wwww", 'f', [](u64 a, u64 b, u64 c) { return of(static_cast<float>(static_cast<__float128>(f(a)) * f(b) + f(c))); }},
  {"v_fmac_f32", "ww+", 'f', [](u64 a, u64 b, u64 c) { return of(static_cast<float>(static_cast<__float128>(f(a)) * f(b) + f(c))); }},
  {"v_max_num_f32", "www", 'f', [](u64 a, u64 b, u64) { return larger(a, b, kF32); }},
  {"v_min_num_f32", "www", 'f', [](u64 a, u64 b, u64) { return smaller(a, b, kF32); }},
  {"v_max_f32", "www", 'f', [](u64 a, u64 b, u64) { return larger_ieee(a, b, kF32); }, kUntilGfx11},
  {"v_min_f32", "www", 'f', [](u64 a, u64 b, u64) { return smaller_ieee(a, b, kF32); }, kUntilGfx11},
  {"v_max3_f32 v_max3_num_f32", "wwww", 'f', [](u64 a, u64 b, u64 c) { return larger(larger(a, b, kF32), c, kF32); }},
  {"v_min3_f32 v_min3_num_f32", "wwww", 'f', [](u64 a, u64 b, u64 c) { return smaller(smaller(a, b, kF32), c, kF32); }},
  {"v_med3_f32 v_med3_num_f32", "wwww", 'f', [](u64 a, u64 b, u64 c) { return middle(a, b, c, kF32); }},
  {"v_floor_f32", "ww", 'f', [](u64 a, u64, u64) { return rounded(a, kF32, Towards::Down); }},
  {"v_ceil_f32", "ww", 'f', [](u64 a, u64, u64) { return rounded(a, kF32, Towards::Up); }},
  {"v_trunc_f32", "ww", 'f', [](u64 a, u64, u64) { return rounded(a, kF32, Towards::Zero); }},
  {"v_rndne_f32", "ww", 'f', [](u64 a, u64, u64) { return rounded(a, kF32, Towards::Even); }},
  {"v_add_f64", "qqq", 'd', [](u64 a, u64 b, u64) { return of(static_cast<double>(static_cast<__float128>(d(a)) + d(b))); }},
  {"v_mul_f64", "qqq", 'd', [](u64 a, u64 b, u64) { return of(static_cast<double>(static_cast<__float128>(d(a)) * d(b))); }},
  {"v_fma_f64", "qqqq", 'd', [](u64 a, u64 b, u64 c) { return of(static_cast<double>(static_cast<__float128>(d(a)) * d(b) + d(c))); }},
  {"v_max_num_f64", "qqq", 'd', [](u64 a, u64 b, u64) { return larger(a, b, kF64); }},
  {"v_max_f64", "qqq", 'd', [](u64 a, u64 b, u64) { return larger_ieee(a, b, kF64); }, kUntilGfx11},
  {"v_min_f64", "qqq", 'd', [](u64 a, u64 b, u64) { return smaller_ieee(a, b, kF64); }, kUntilGfx11},
  {"v_floor_f64", "qq", 'd', [](u64 a, u64, u64) { return rounded(a, kF64, Towards::Down); }},
  {"v_ceil_f64", "qq", 'd', [](u64 a, u64, u64) { return rounded(a, kF64, Towards::Up); }},
  {"v_trunc_f64", "qq", 'd', [](u64 a, u64, u64) { return rounded(a, kF64, Towards::Zero); }},
  {"v_rndne_f64", "qq", 'd', [](u64 a, u64, u64) { return rounded(a, kF64, Towards::Even); }},
  {"v_add_f16", "www", 'h', [](u64 a, u64 b, u64) -> u64 { return f16_of(h(a) + h(b)); }},
  {"v_sub_f16", "www", 'h', [](u64 a, u64 b, u64) -> u64 { return f16_of(h(a) - h(b)); }},
  {"v_mul_f16", "www", 'h', [](u64 a, u64 b, u64) -> u64 { return f16_of(h(a) * h(b)); }},
  {"v_fma_f16", "wwww", 'h', [](u64 a, u64 b, u64 c) -> u64 { return f16_of(h(a) * h(b) + h(c)); }},
  {"v_fmac_f16", "ww+", 'h', [](u64 a, u64 b, u64 c) -> u64 { return f16_of(h(a) * h(b) + h(c)); }},
  {"v_max_num_f16", "www", 'h', [](u64 a, u64 b, u64) { return larger(a & 0xffff, b & 0xffff, kF16); }},
  {"v_max_f16", "www", 'h', [](u64 a, u64 b, u64) { return larger_ieee(a & 0xffff, b & 0xffff, kF16); }, kUntilGfx11},
  {"v_min_f16", "www", 'h', [](u64 a, u64 b, u64) { return smaller_ieee(a & 0xffff, b & 0xffff, kF16); }, kUntilGfx11},
  {"v_floor_f16", "ww", 'h', [](u64 a, u64, u64) { return rounded(a & 0xffff, kF16, Towards::Down); }},
  {"v_rndne_f16", "ww", 'h', [](u64 a, u64, u64) { return rounded(a & 0xffff, kF16, Towards::Even); }},
  {"v_pk_add_f16", "www", 'p', [](u64 a, u64 b, u64) -> u64 { return f16_of(h(a) + h(b)) | u64{f16_of(h(a >> 16) + h(b >> 16))} << 16; }},
  {"v_pk_mul_f16", "www", 'p', [](u64 a, u64 b, u64) -> u64 { return f16_of(h(a) * h(b)) | u64{f16_of(h(a >> 16) * h(b >> 16))} << 16; }},
  {"v_pk_fma_f16", "wwww", 'p', [](u64 a, u64 b, u64 c) -> u64 { return f16_of(h(a) * h(b) + h(c)) | u64{f16_of(h(a >> 16) * h(b >> 16) + h(c >> 16))} << 16; }},
  {"v_pk_max_f16", "www", 'p', [](u64 a, u64 b, u64) { return larger_ieee(a & 0xffff, b & 0xffff, kF16) | larger_ieee(a >> 16 & 0xffff, b >> 16 & 0xffff, kF16) << 16; }, kUntilGfx11},
  {"v_pk_min_f16", "www", 'p', [](u64 a, u64 b, u64) { return smaller_ieee(a & 0xffff, b & 0xffff, kF16) | smaller_ieee(a >> 16 & 0xffff, b >> 16 & 0xffff, kF16) << 16; }, kUntilGfx11},
  {"v_dot2_f32_f16", "wwww", 'f', [](u64 a, u64 b, u64 c) { return of(static_cast<float>(h(a) * h(b) + h(a >> 16) * h(b >> 16) + f(c))); }},
};

const Row kConversions[] = {
  {"v_cvt_f16_f32", "ww", 'h', [](u64 a, u64, u64) -> u64 { return f16_of(f(a)); }},
  {"v_cvt_f32_f16", "ww", 'f', [](u64 a, u64, u64) { return of(static_cast<float>(h(a))); }},
  {"v_cvt_f64_f32", "qw", 'd', [](u64 a, u64, u64) { return of(static_cast<double>(f(a))); }},
  {"v_cvt_f32_f64", "wq", 'f', [](u64 a, u64, u64) { return of(static_cast<float>(d(a))); }},
  {"v_cvt_f32_i32", "ww", 'x', [](u64 a, u64, u64) { return of(static_cast<float>(s(a))); }},
  {"v_cvt_f32_u32", "ww", 'x', [](u64 a, u64, u64) { return of(static_cast<float>(static_cast<u32>(a))); }},
  {"v_cvt_f64_i32", "qw", 'x', [](u64 a, u64, u64) { return of(static_cast<double>(s(a))); }},
  {"v_cvt_f64_u32", "qw", 'x', [](u64 a, u64, u64) { return of(static_cast<double>(static_cast<u32>(a))); }},
  {"v_cvt_i32_f32", "ww", 'x', [](u64 a, u64, u64) { return low(limited(f(a), INT32_MIN, INT32_MAX)); }},
  {"v_cvt_u32_f32", "ww", 'x', [](u64 a, u64, u64) { return low(limited(f(a), 0, UINT32_MAX)); }},
  {"v_cvt_i32_f64", "wq", 'x', [](u64 a, u64, u64) { return low(limited(d(a), INT32_MIN, INT32_MAX)); }},
  {"v_cvt_u32_f64", "wq", 'x', [](u64 a, u64, u64) { return low(limited(d(a), 0, UINT32_MAX)); }},
  {"v_cvt_pk_u16_u32", "www", 'x', [](u64 a, u64 b, u64) { return u64(std::min<u32>(static_cast<u32>(a), 65535) | std::min<u32>(static_cast<u32>(b), 65535) << 16); }},
  {"v_cvt_pk_i16_i32", "www", 'x', [](u64 a, u64 b, u64) { return u64{static_cast<uint16_t>(std::clamp<i64>(s(a), -32768, 32767))} | u64{static_cast<uint16_t>(std::clamp<i64>(s(b), -32768, 32767))} << 16; }},
  {"v_cvt_f32_ubyte2", "ww", 'x', [](u64 a, u64, u64) { return of(static_cast<float>(a >> 16 & 255)); }},
  {"v_frexp_exp_i32_f32", "ww", 'x', [](u64 a, u64, u64) { return low(std::isfinite(f(a)) && f(a) != 0 ? std::ilogb(f(a)) + 1 : 0); }},
  {"v_ldexp_f32", "www", 'f', [](u64 a, u64 b, u64) { return of(static_cast<float>(std::scalbn(static_cast<long double>(f(a)), static_cast<int>(std::clamp<i64>(s(b), -8000, 8000))))); }},
};

const Row kIntegers[] = {
  {"v_add_u32 v_add_nc_u32", "www", 'x', [](u64 a, u64 b, u64) { return low(s(a) + s(b)); }},
  {"v_sub_u32 v_sub_nc_u32", "www", 'x', [](u64 a, u64 b, u64) { return low(s(a) - s(b)); }},
  {"v_subrev_u32 v_subrev_nc_u32", "www", 'x', [](u64 a, u64 b, u64) { return low(s(b) - s(a)); }},
  {"v_mul_lo_u32", "www", 'x', [](u64 a, u64 b, u64) { return low(static_cast<i64>(static_cast<__int128>(a) * b)); }},
  {"v_mul_hi_u32", "www", 'x', [](u64 a, u64 b, u64) { return static_cast<u64>(static_cast<unsigned __int128>(static_cast<u32>(a)) * static_cast<u32>(b) >> 32); }},
  {"v_mul_hi_i32", "www", 'x', [](u64 a, u64 b, u64) { return low(static_cast<i64>(static_cast<__int128>(s(a)) * s(b) >> 32)); }},
  {"v_mul_u32_u24", "www", 'x', [](u64 a, u64 b, u64) { return low(static_cast<i64>(field(a, 0, 24, false) * field(b, 0, 24, false))); }},
  {"v_mul_i32_i24", "www", 'x', [](u64 a, u64 b, u64) { return low(field(a, 0, 24, true) * field(b, 0, 24, true)); }},
  {"v_mad_u32_u24", "wwww", 'x', [](u64 a, u64 b, u64 c) { return low(field(a, 0, 24, false) * field(b, 0, 24, false) + s(c)); }},
  {"v_mad_i32_i24", "wwww", 'x', [](u64 a, u64 b, u64 c) { return low(field(a, 0, 24, true) * field(b, 0, 24, true) + s(c)); }},
  {"v_min_i32", "www", 'x', [](u64 a, u64 b, u64) { return low(s(a) < s(b) ? s(a) : s(b)); }},
  {"v_max_u32", "www", 'x', [](u64 a, u64 b, u64) { return u64{static_cast<u32>(a) > static_cast<u32>(b) ? static_cast<u32>(a) : static_cast<u32>(b)}; }},
  {"v_med3_i32", "wwww", 'x', [](u64 a, u64 b, u64 c) { i64 v[3] = {s(a), s(b), s(c)}; std::sort(v, v + 3); return low(v[1]); }},
  {"v_max3_u32", "wwww", 'x', [](u64 a, u64 b, u64 c) { u32 v[3] = {static_cast<u32>(a), static_cast<u32>(b), static_cast<u32>(c)}; std::sort(v, v + 3); return u64{v[2]}; }},
  {"v_and_b32", "www", 'x', [](u64 a, u64 b, u64) { return bitwise(a, b, 0, 0x88); }},
  {"v_or_b32", "www", 'x', [](u64 a, u64 b, u64) { return bitwise(a, b, 0, 0xee); }},
  {"v_xor_b32", "www", 'x', [](u64 a, u64 b, u64) { return bitwise(a, b, 0, 0x66); }},
  {"v_xnor_b32", "www", 'x', [](u64 a, u64 b, u64) { return bitwise(a, b, 0, 0x99); }},
  {"v_bfi_b32", "wwww", 'x', [](u64 a, u64 b, u64 c) { return bitwise(a, b, c, 0xd8); }},
  {"v_and_or_b32", "wwww", 'x', [](u64 a, u64 b, u64 c) { return bitwise(a, b, c, 0xf8); }},
  {"v_or3_b32", "wwww", 'x', [](u64 a, u64 b, u64 c) { return bitwise(a, b, c, 0xfe); }},
  {"v_xor3_b32", "wwww", 'x', [](u64 a, u64 b, u64 c) { return bitwise(a, b, c, 0x96); }},
  {"v_lshlrev_b32", "www", 'x', [](u64 a, u64 b, u64) { return low(static_cast<i64>(b * (u64{1} << (a & 31)))); }},
  {"v_lshrrev_b32", "www", 'x', [](u64 a, u64 b, u64) { return static_cast<u32>(b) / (u64{1} << (a & 31)); }},
  {"v_ashrrev_i32", "www", 'x', [](u64 a, u64 b, u64) { return low(floor_divide(s(b), i64{1} << (a & 31))); }},
  {"v_lshlrev_b64", "qwq", 'x', [](u64 a, u64 b, u64) { return static_cast<u64>(static_cast<unsigned __int128>(b) * (u64{1} << (a & 63))); }},
  {"v_lshrrev_b64", "qwq", 'x', [](u64 a, u64 b, u64) { return b / (u64{1} << (a & 63)); }},
  {"v_lshl_add_u32", "wwww", 'x', [](u64 a, u64 b, u64 c) { return low(static_cast<i64>(a * (u64{1} << (b & 31)) + c)); }},
  {"v_add_lshl_u32", "wwww", 'x', [](u64 a, u64 b, u64 c) { return low(static_cast<i64>((a + b) * (u64{1} << (c & 31)))); }},
  {"v_add3_u32", "wwww", 'x', [](u64 a, u64 b, u64 c) { return low(s(a) + s(b) + s(c)); }},
  {"v_lshl_or_b32", "wwww", 'x', [](u64 a, u64 b, u64 c) { return bitwise(a * (u64{1} << (b & 31)), c, 0, 0xee); }},
  {"v_bfe_u32", "wwww", 'x', [](u64 a, u64 b, u64 c) { return low(field(a & 0xffffffff, static_cast<int>(b & 31), static_cast<int>(c & 31), false)); }},
  {"v_bfm_b32", "www", 'x', [](u64 a, u64 b, u64) { return low(static_cast<i64>(((u64{1} << (a & 31)) - 1) << (b & 31))); }},
  {"v_bfrev_b32", "ww", 'x', [](u64 a, u64, u64) { u64 r = 0; for (int i = 0; i < 32; i++) r |= (a >> i & 1) << (31 - i); return r; }},
  {"v_bcnt_u32_b32", "www", 'x', [](u64 a, u64 b, u64) { u64 n = 0; for (int i = 0; i < 32; i++) n += a >> i & 1; return low(static_cast<i64>(n + b)); }},
  {"v_ffbl_b32 v_ctz_i32_b32", "ww", 'x', [](u64 a, u64, u64) { for (int i = 0; i < 32; i++) if (a >> i & 1) return u64(i); return u64{0xffffffff}; }},
  {"v_ffbh_u32 v_clz_i32_u32", "ww", 'x', [](u64 a, u64, u64) { for (int i = 0; i < 32; i++) if (a >> (31 - i) & 1) return u64(i); return u64{0xffffffff}; }},
  {"v_ffbh_i32 v_cls_i32", "ww", 'x', [](u64 a, u64, u64) { for (int i = 1; i < 32; i++) if ((a >> (31 - i) & 1) != (a >> 31 & 1)) return u64(i); return u64{0xffffffff}; }},
  {"v_alignbit_b32", "wwww", 'x', [](u64 a, u64 b, u64 c) { u64 r = 0; for (u64 i = 0; i < 32; i++) { u64 at = i + (c & 31); r |= ((at < 32 ? b >> at : a >> (at - 32)) & 1) << i; } return r; }},
  {"v_sad_u32", "wwww", 'x', [](u64 a, u64 b, u64 c) { return low(std::abs(static_cast<i64>(a & 0xffffffff) - static_cast<i64>(b & 0xffffffff)) + s(c)); }},
  {"v_sad_u8", "wwww", 'x', [](u64 a, u64 b, u64 c) { i64 r = s(c); for (int i = 0; i < 32; i += 8) r += std::abs(field(a, i, 8, false) - field(b, i, 8, false)); return low(r); }},
  {"v_mad_u64_u32", "q=wwq", 'x', [](u64 a, u64 b, u64 c) { return static_cast<u64>(static_cast<unsigned __int128>(static_cast<u32>(a)) * static_cast<u32>(b) + c); }},
  {"v_mad_i64_i32", "q=wwq", 'x', [](u64 a, u64 b, u64 c) { return static_cast<u64>(static_cast<__int128>(s(a)) * s(b) + static_cast<i64>(c)); }},
  {"v_pk_add_u16", "www", 'x', [](u64 a, u64 b, u64) { return ((a + b) & 0xffff) | (((a >> 16) + (b >> 16)) & 0xffff) << 16; }},
  {"v_pk_mul_lo_u16", "www", 'x', [](u64 a, u64 b, u64) { return ((a & 0xffff) * (b & 0xffff) & 0xffff) | ((a >> 16 & 0xffff) * (b >> 16 & 0xffff) & 0xffff) << 16; }},
  {"v_dot4_i32_i8", "wwww", 'x', [](u64 a, u64 b, u64 c) { i64 r = s(c); for (int i = 0; i < 32; i += 8) r += field(a, i, 8, true) * field(b, i, 8, true); return low(r); }},
  {"v_dot4_u32_u8", "wwww", 'x', [](u64 a, u64 b, u64 c) { i64 r = s(c); for (int i = 0; i < 32; i += 8) r += field(a, i, 8, false) * field(b, i, 8, false); return low(r); }},
};

const Row kComparisons[] = {
  {"v_cmp_lt_f32", "mww", 'x', [](u64 a, u64 b, u64) { return u64{order(a, b, kF32) == Order::Less}; }},
  {"v_cmp_ge_f32", "mww", 'x', [](u64 a, u64 b, u64) { return u64{order(a, b, kF32) == Order::Greater || order(a, b, kF32) == Order::Equal}; }},
  {"v_cmp_lg_f32", "mww", 'x', [](u64 a, u64 b, u64) { return u64{order(a, b, kF32) == Order::Less || order(a, b, kF32) == Order::Greater}; }},
  {"v_cmp_neq_f32", "mww", 'x', [](u64 a, u64 b, u64) { return u64{order(a, b, kF32) != Order::Equal}; }},
  {"v_cmp_u_f32", "mww", 'x', [](u64 a, u64 b, u64) { return u64{order(a, b, kF32) == Order::None}; }},
  {"v_cmp_nlt_f32", "mww", 'x', [](u64 a, u64 b, u64) { return u64{order(a, b, kF32) != Order::Less}; }},
  {"v_cmp_le_f64", "mqq", 'x', [](u64 a, u64 b, u64) { return u64{order(a, b, kF64) == Order::Less || order(a, b, kF64) == Order::Equal}; }},
  {"v_cmp_o_f64", "mqq", 'x', [](u64 a, u64 b, u64) { return u64{order(a, b, kF64) != Order::None}; }},
  {"v_cmp_gt_f16", "mww", 'x', [](u64 a, u64 b, u64) { return u64{order(a & 0xffff, b & 0xffff, kF16) == Order::Greater}; }},
  {"v_cmp_lt_i32", "mww", 'x', [](u64 a, u64 b, u64) { return u64{s(a) < s(b)}; }},
  {"v_cmp_lt_u32", "mww", 'x', [](u64 a, u64 b, u64) { return u64{static_cast<u32>(a) < static_cast<u32>(b)}; }},
  {"v_cmp_eq_u64", "mqq", 'x', [](u64 a, u64 b, u64) { return u64{a == b}; }},
  {"v_cmp_gt_i64", "mqq", 'x', [](u64 a, u64 b, u64) { return u64{static_cast<i64>(a) > static_cast<i64>(b)}; }},
  {"v_cmp_class_f32", "mww", 'x', [](u64 a, u64 b, u64) { return b >> class_of(a, kF32) & 1; }},
  {"v_cmp_class_f64", "mqw", 'x', [](u64 a, u64 b, u64) { return b >> class_of(a, kF64) & 1; }},
  {"v_cmp_class_f16", "mww", 'x', [](u64 a, u64 b, u64) { return b >> class_of(a & 0xffff, kF16) & 1; }},
};

const Row kScalar[] = {
  {"s_add_u32 s_add_co_u32", "WWW", 'x', [](u64 a, u64 b, u64) { return low(s(a) + s(b)); }},
  {"s_sub_u32 s_sub_co_u32", "WWW", 'x', [](u64 a, u64 b, u64) { return low(s(a) - s(b)); }},
  {"s_mul_i32", "WWW", 'x', [](u64 a, u64 b, u64) { return low(static_cast<i64>(static_cast<__int128>(a) * b)); }},
  {"s_mul_hi_u32", "WWW", 'x', [](u64 a, u64 b, u64) { return static_cast<u64>(static_cast<unsigned __int128>(static_cast<u32>(a)) * static_cast<u32>(b) >> 32); }},
  {"s_and_b64", "QQQ", 'x', [](u64 a, u64 b, u64) { return ~(~a | ~b); }},
  {"s_andn2_b64 s_and_not1_b64", "QQQ", 'x', [](u64 a, u64 b, u64) { return ~(~a | b); }},
  {"s_xor_b32", "WWW", 'x', [](u64 a, u64 b, u64) { return bitwise(a, b, 0, 0x66); }},
  {"s_lshl_b64", "QQW", 'x', [](u64 a, u64 b, u64) { return static_cast<u64>(static_cast<unsigned __int128>(a) * (u64{1} << (b & 63))); }},
  {"s_ashr_i32", "WWW", 'x', [](u64 a, u64 b, u64) { return low(floor_divide(s(a), i64{1} << (b & 31))); }},
  {"s_min_i32", "WWW", 'x', [](u64 a, u64 b, u64) { return low(s(a) < s(b) ? s(a) : s(b)); }},
  {"s_bfe_u32", "WWW", 'x', [](u64 a, u64 b, u64) { return low(field(a & 0xffffffff, static_cast<int>(b & 31), static_cast<int>(b >> 16 & 127), false)); }},
  {"s_bfe_i64", "QQW", 'x', [](u64 a, u64 b, u64) { return static_cast<u64>(field(a, static_cast<int>(b & 63), std::min(static_cast<int>(b >> 16 & 127), 64 - static_cast<int>(b & 63)), true)); }},
  {"s_brev_b32", "WW", 'x', [](u64 a, u64, u64) { u64 r = 0; for (int i = 0; i < 32; i++) r |= (a >> i & 1) << (31 - i); return r; }},
  {"s_bcnt1_i32_b64", "WQ", 'x', [](u64 a, u64, u64) { u64 n = 0; for (int i = 0; i < 64; i++) n += a >> i & 1; return n; }},
  {"s_ff1_i32_b64 s_ctz_i32_b64", "WQ", 'x', [](u64 a, u64, u64) { for (int i = 0; i < 64; i++) if (a >> i & 1) return u64(i); return u64{0xffffffff}; }},
  {"s_sext_i32_i8", "WW", 'x', [](u64 a, u64, u64) { return low(field(a, 0, 8, true)); }},
  {"s_absdiff_i32", "WWW", 'x', [](u64 a, u64 b, u64) { const i64 x = static_cast<i32>(s(a) - s(b)); return low(x < 0 ? -x : x); }},
  {"s_pack_lh_b32_b16", "WWW", 'x', [](u64 a, u64 b, u64) { return a % 65536 + (b & 0xffffffff) / 65536 * 65536; }},
  {"s_add_f32", "WWW", 'f', [](u64 a, u64 b, u64) { return of(static_cast<float>(double{f(a)} + f(b))); }},
  {"s_cvt_i32_f32", "WW", 'x', [](u64 a, u64, u64) { return low(limited(f(a), INT32_MIN, INT32_MAX)); }},
};
// clang-format on

// ---- kernels

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string w; stream >> w;) all.push_back(w);
  return all;
}

struct Instruction {
  std::string name;
  const Row* row;
};

bool is_wide(char operand) { return operand == 'q' || operand == 'Q'; }
bool is_scalar(char operand) { return operand == 'W' || operand == 'Q'; }
std::string mask_register() { return wave() == 64 ? "vcc" : "vcc_lo"; }

// The instruction as text; operand i is numbers[i].
std::string spelled(const Instruction& in, const std::vector<std::string>& registers) {
  std::string s = in.name;
  size_t next = 0;
  for (const char* o = in.row->operands; *o; o++) {
    if (*o == '+') continue;
    s += next || o != in.row->operands ? ", " : " ";
    s += *o == 'm' || *o == '=' ? mask_register() : registers[next++];
  }
  return s;
}

// With registers of the right kind, for the assembler.
std::string sample(const Instruction& in) {
  std::vector<std::string> registers;
  int i = 4;
  for (const char* o = in.row->operands; *o; o++, i += 4) {
    const std::string kind = is_scalar(*o) ? "s" : "v";
    registers.push_back(is_wide(*o) ? kind + "[" + std::to_string(i) + ":" + std::to_string(i + 1) + "]"
                                    : kind + std::to_string(i));
    if (*o == 'm' || *o == '=') registers.pop_back();
  }
  return spelled(in, registers);
}

std::string kernel(const Instruction& in, size_t number) {
  const std::string shape = in.row->operands;
  const bool mask = shape[0] == 'm', accumulates = shape.back() == '+';
  std::string inputs, constraints, declarations;
  std::vector<std::string> registers;
  if (!mask) registers.push_back("%0");
  int source = 0;
  for (char o : shape.substr(1)) {
    if (o == '=') continue;
    const std::string variable(1, static_cast<char>('x' + source));
    const std::string array(1, static_cast<char>('a' + source++));
    if (o == '+') {
      declarations += "  r = (u32)" + array + "[id];\n";
      continue;
    }
    declarations += std::string("  ") + (is_wide(o) ? "u64 " : "u32 ") + variable + " = " + array + "[" +
                    (is_scalar(o) ? "g * 64" : "id") + "];\n";
    constraints +=
        (constraints.empty() ? "\"" : ", \"") + std::string(is_scalar(o) ? "s" : "v") + "\"(" + variable + ")";
    registers.push_back("%" + std::to_string(source));
  }
  std::string text = spelled(in, registers);
  if (mask) text += "\\n v_cndmask_b32_e64 %0, 0, 1, " + mask_register();
  const std::string result =
      std::string("\"") + (accumulates ? "+" : "=") + (is_scalar(shape[0]) ? "s" : "v") + "\"(r)";
  return "KERNEL(t_" + std::to_string(number) + ") {\n  LANE\n  " + (is_wide(shape[0]) ? "u64" : "u32") + " r = 0;\n" +
         declarations + "  asm volatile(\"" + text + "\" : " + result + " : " + constraints +
         " : \"vcc\", \"scc\");\n  o[id] = r;\n}\n";
}

constexpr char kPrologue[] = R"(
typedef unsigned int u32;
typedef unsigned long u64;
#define KERNEL(name) \
  extern "C" __attribute__((global)) void name(const u64* a, const u64* b, const u64* c, u64* o)
#define LANE \
  u32 g = __builtin_amdgcn_workgroup_id_x(), id = g * 64 + __builtin_amdgcn_workitem_id_x();
)";

// ---- data: blocks of random bits, of numbers of each format, and of special values of all formats

constexpr size_t kLanes = 64, kBlocks = 24, kCount = kLanes * kBlocks;

u64 special(std::mt19937_64& random) {
  static constexpr u64 kValues[] = {0,
                                    1,
                                    2,
                                    31,
                                    32,
                                    63,
                                    0x7fff,
                                    0x8000,
                                    0xffff,
                                    0x7c00,
                                    0xfc00,
                                    0x7e00,
                                    0x7d01,
                                    0x3c00,
                                    0xbc00,
                                    0x0001,
                                    0x8001,
                                    0x7bff,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x3f800000,
                                    0xbf800000,
                                    0x7f800000,
                                    0xff800000,
                                    0x7fc00000,
                                    0x7f800001,
                                    0xffa00000,
                                    0x00000001,
                                    0x80000001,
                                    0x007fffff,
                                    0x7f7fffff,
                                    0x4f000000,
                                    0xcf000000,
                                    0x4f800000,
                                    0x3effffff,
                                    0x3f000000,
                                    0x40200000,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0xffffffffffffffff,
                                    0x3ff0000000000000,
                                    0xbff0000000000000,
                                    0x7ff0000000000000,
                                    0xfff0000000000000,
                                    0x7ff8000000000000,
                                    0x7ff0000000000001,
                                    0x000fffffffffffff,
                                    0x41dfffffffc00000,
                                    0xc1e0000000000000,
                                    0x3fe0000000000000,
                                    0x4004000000000000};
  return kValues[random() % std::size(kValues)];
}

std::vector<u64> operands(unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-8, 8);
  std::vector<u64> v(kCount);
  for (size_t i = 0; i < kCount; i++) {
    const double x = uniform(random) * std::exp2(static_cast<int>(random() % 40) - 20);
    switch (i / kLanes % 6) {
      case 0: v[i] = random(); break;
      case 1: v[i] = std::bit_cast<u32>(static_cast<float>(x)); break;
      case 2: v[i] = std::bit_cast<u64>(x); break;
      case 3: v[i] = f16_of(uniform(random)) | u64{f16_of(uniform(random))} << 16; break;
      case 4: v[i] = special(random) | (random() % 4 ? 0 : special(random) << 16); break;
      default: v[i] = random() % 70 | (random() % 70) << 16;
    }
  }
  return v;
}

bool is_nan16(u64 x) { return (x & 0x7fff) > 0x7c00; }

bool same(u64 got, u64 wanted, char type) {
  if (type == 'h') return (got & 0xffff) == wanted || (is_nan16(got) && is_nan16(wanted));
  if (type == 'p') return same(got, wanted & 0xffff, 'h') && same(got >> 16, wanted >> 16 & 0xffff, 'h');
  if (type == 'f' && std::isnan(f(got)) && std::isnan(f(wanted))) return true;
  if (type == 'd' && std::isnan(d(got)) && std::isnan(d(wanted))) return true;
  return got == wanted;
}

std::vector<Instruction> known(const std::vector<Instruction>& all) {
  std::vector<std::string> samples;
  for (const Instruction& in : all) samples.push_back(sample(in));
  char folder[] = "/tmp/amdgpu-instructions-XXXXXX";
  if (!mkdtemp(folder)) return {};
  const std::vector<std::string> accepted = forms::accepted(samples, arch(), folder);
  for (const char* file : {"/forms.s", "/forms.err"}) remove((std::string(folder) + file).c_str());
  rmdir(folder);
  std::vector<Instruction> taken;
  for (size_t i = 0; i < all.size(); i++)
    if (std::find(accepted.begin(), accepted.end(), samples[i]) != accepted.end()) taken.push_back(all[i]);
  return taken;
}

void check(const Instruction& in, Function kernel_function, const std::vector<u64> (&v)[3], u64* const (&arrays)[3]) {
  u64* o = device_array<u64>(kCount);
  ASSERT_EQ(run(kernel_function, kBlocks, kLanes, 0, nullptr, arrays[0], arrays[1], arrays[2], o), 0) << in.name;
  const auto r = read_array(o, kCount);
  const bool scalar = is_scalar(in.row->operands[0]);
  for (size_t i = 0; i < kCount; i++) {
    const size_t from = scalar ? i / kLanes * kLanes : i;
    const u64 wanted = in.row->expected(v[0][from], v[1][from], v[2][from]);
    ASSERT_TRUE(same(r[i], wanted, in.row->result)) << in.name << std::hex << " of " << v[0][from] << ", " << v[1][from]
                                                    << ", " << v[2][from] << ": " << r[i] << ", expected " << wanted;
  }
  EXPECT_OK(hipFree(o));
}

TEST_P(EachInstruction, ComputesWhatItShould) {
  on_arch([] {
    std::vector<Instruction> all;
    auto collect = [&](const auto& rows) {
      for (const Row& row : rows)
        for (const std::string& name : words(row.names))
          if (!row.until_gfx11 || arch().compare(0, 5, "gfx12") != 0) all.push_back({name, &row});
    };
    collect(kFloat);
    collect(kConversions);
    collect(kIntegers);
    collect(kComparisons);
    collect(kScalar);
    const std::vector<Instruction> here = known(all);
    EXPECT_GE(here.size(), 120u);
    std::string source = kPrologue;
    for (size_t i = 0; i < here.size(); i++) source += kernel(here[i], i);
    const std::string code = compile_offline(source, "-O1");
    ModuleHandle m;
    ASSERT_EQ(hipModuleLoadData(&m, code.data()), 0);
    const std::vector<u64> v[3] = {operands(1), operands(2), operands(3)};
    u64* const arrays[3] = {device_copy(v[0]), device_copy(v[1]), device_copy(v[2])};
    for (size_t i = 0; i < here.size(); i++) check(here[i], function(m, ("t_" + std::to_string(i)).c_str()), v, arrays);
  });
}

}  // namespace
}  // namespace amdgpu::tests

// Vector arithmetic of f16: computed in f32 or f64, rounded once.
#include "isa/division.h"
#include "isa/float_math.h"
#include "isa/vector.h"

namespace amdgpu {

namespace {

inline f32 signalling(F16Bits a) { return f16_to_f32_signalling(a.value); }

}  // namespace

void add_vector_f16() {
  vector<([](F16 a, F16 b) { return F16{a.value + b.value}; })>("v_add_f16");
  vector<([](F16 a, F16 b) { return F16{a.value - b.value}; })>("v_sub_f16");
  vector<([](F16 a, F16 b) { return F16{b.value - a.value}; })>("v_subrev_f16");
  vector<([](F16 a, F16 b) { return F16{a.value * b.value}; })>("v_mul_f16");
  vector<([](F16Bits a, F16Bits b) { return F16{max_ieee(signalling(a), signalling(b))}; })>("v_max_f16");
  vector<([](F16 a, F16 b) { return F16{max_number(a.value, b.value)}; })>("v_max_num_f16");
  vector<([](F16Bits a, F16Bits b) { return F16{min_ieee(signalling(a), signalling(b))}; })>("v_min_f16");
  vector<([](F16 a, F16 b) { return F16{min_number(a.value, b.value)}; })>("v_min_num_f16");
  vector<([](F16 a, F16 b, F16 c) { return F16{max_number(max_number(a.value, b.value), c.value)}; })>(
      "v_max3_f16", "v_max3_num_f16");
  vector<([](F16 a, F16 b, F16 c) { return F16{min_number(min_number(a.value, b.value), c.value)}; })>(
      "v_min3_f16", "v_min3_num_f16");
  vector<([](F16 a, F16 b, F16 c) { return F16{median_number(a.value, b.value, c.value)}; })>("v_med3_f16",
                                                                                              "v_med3_num_f16");
  vector<([](F16As64 a, F16As64 b, F16As64 c) { return F16As64{a.value * b.value + c.value}; })>(
      "v_fma_f16", "v_fmamk_f16", "v_fmaak_f16");
  accumulate<([](F16As64 a, F16As64 b, F16As64 c) { return F16As64{a.value * b.value + c.value}; })>("v_fmac_f16");
  vector<([](F16As64 q, F16As64 d, F16As64 n) {
    return F16As64{f64(fixup_division<f32>(f32(q.value), f32(d.value), f32(n.value)))};
  })>("v_div_fixup_f16");
  vector<([](F16 a) { return F16{__builtin_floorf(a.value)}; })>("v_floor_f16");
  vector<([](F16 a) { return F16{__builtin_ceilf(a.value)}; })>("v_ceil_f16");
  vector<([](F16 a) { return F16{__builtin_truncf(a.value)}; })>("v_trunc_f16");
  vector<([](F16 a) { return F16{__builtin_rintf(a.value)}; })>("v_rndne_f16");
  vector<([](F16 a) {
    f32 r = a.value - __builtin_floorf(a.value);
    return F16{r > 0.99951171875f ? 0.99951171875f : r};
  })>("v_fract_f16");
  vector<([](F16As64 a) { return F16As64{1.0 / a.value}; })>("v_rcp_f16");
  vector<([](F16As64 a) { return F16As64{a.value < 0 ? f64(NAN) : 1.0 / std::sqrt(a.value)}; })>("v_rsq_f16");
  vector<([](F16As64 a) { return F16As64{a.value < 0 ? f64(NAN) : std::sqrt(a.value)}; })>("v_sqrt_f16");
  vector<([](F16As64 a) { return F16As64{std::exp2(a.value)}; })>("v_exp_f16");
  vector<([](F16As64 a) { return F16As64{a.value < 0 ? f64(NAN) : std::log2(a.value)}; })>("v_log_f16");
  vector<([](F16As64 a) { return F16As64{sine_of_turns(a.value)}; })>("v_sin_f16");
  vector<([](F16As64 a) { return F16As64{cosine_of_turns(a.value)}; })>("v_cos_f16");
  vector<([](F16As64 a, i16 b) { return F16As64{std::ldexp(a.value, b)}; })>("v_ldexp_f16");
  vector<([](F16 a) { return i16(exponent_of(a.value)); })>("v_frexp_exp_i16_f16");
  vector<([](F16 a) { return F16{f32(mantissa_of(a.value))}; })>("v_frexp_mant_f16");
}

}  // namespace amdgpu

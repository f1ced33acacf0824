// Vector arithmetic of f32. Transcendental functions come from the host and are more exact than the hardware.
#include "isa/division.h"
#include "isa/float_math.h"
#include "isa/vector.h"

namespace amdgpu {

namespace {

// v_mad and v_mac flush denormals at every step.
inline f32 flush(f32 x) {
  const u32 u = bits<u32>(x);
  return u & 0x7f800000 ? x : bits<f32>(u & 0x80000000);
}
inline f32 flushing_mad(f32 a, f32 b, f32 c) { return flush(flush(flush(a) * flush(b)) + flush(c)); }

// gfx12: a transcendental function of a scalar
template <auto L>
void scalar_function(const char* name) {
  add(
      name,
      [](Wave& w, const Inst& in) {
        const Operand& o = in.op[1];
        u32 x = o.kind == OperandKind::Constant ? o.lo : w.read(o.r);
        if (o.abs) x &= 0x7fffffff;
        if (o.neg) x ^= 0x80000000;
        const f32 result = f32(L(f64(bits<f32>(x))));
        w.write(in.op[0].r, bits<u32>(clamp_output(in.clamp, result)));
      },
      "ff");
}

}  // namespace

void add_vector_f32() {
  vector<([](f32 a, f32 b) { return a + b; })>("v_add_f32");
  vector<([](f32 a, f32 b) { return a - b; })>("v_sub_f32");
  vector<([](f32 a, f32 b) { return b - a; })>("v_subrev_f32");
  vector<([](f32 a, f32 b) { return a * b; })>("v_mul_f32");
  vector<([](f32 a, f32 b) { return a == 0 || b == 0 ? 0.f : a * b; })>("v_mul_legacy_f32", "v_mul_dx9_zero_f32");
  vector<([](f32 a, f32 b) { return max_ieee(a, b); })>("v_max_f32");
  vector<([](f32 a, f32 b) { return max_number(a, b); })>("v_max_num_f32");
  vector<([](f32 a, f32 b) { return min_ieee(a, b); })>("v_min_f32");
  vector<([](f32 a, f32 b) { return min_number(a, b); })>("v_min_num_f32");
  vector<([](f32 a, f32 b) { return max_propagating(a, b); })>("v_maximum_f32");
  vector<([](f32 a, f32 b) { return min_propagating(a, b); })>("v_minimum_f32");
  vector<([](f32 a, f32 b, f32 c) { return max_number(max_number(a, b), c); })>("v_max3_f32", "v_max3_num_f32");
  vector<([](f32 a, f32 b, f32 c) { return min_number(min_number(a, b), c); })>("v_min3_f32", "v_min3_num_f32");
  vector<([](f32 a, f32 b, f32 c) { return median_number(a, b, c); })>("v_med3_f32", "v_med3_num_f32");
  vector<([](f32 a, f32 b, f32 c) { return min_number(max_number(a, b), c); })>("v_maxmin_f32", "v_maxmin_num_f32");
  vector<([](f32 a, f32 b, f32 c) { return max_number(min_number(a, b), c); })>("v_minmax_f32", "v_minmax_num_f32");
  vector<([](f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); })>("v_fma_f32", "v_fmamk_f32", "v_fmaak_f32");
  accumulate<([](f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); })>("v_fmac_f32");
  vector<([](f32 a, f32 b, f32 c) { return flushing_mad(a, b, c); })>("v_mad_f32", "v_madmk_f32", "v_madak_f32");
  accumulate<([](f32 a, f32 b, f32 c) { return flushing_mad(a, b, c); })>("v_mac_f32");
  vector<([](f32 a) { return __builtin_floorf(a); })>("v_floor_f32");
  vector<([](f32 a) { return __builtin_ceilf(a); })>("v_ceil_f32");
  vector<([](f32 a) { return __builtin_truncf(a); })>("v_trunc_f32");
  vector<([](f32 a) { return __builtin_rintf(a); })>("v_rndne_f32");
  vector<([](f32 a) {
    f32 r = a - __builtin_floorf(a);
    return r >= 1.f ? bits<f32>(0x3f7fffffu) : r;
  })>("v_fract_f32");
  vector<([](f32 a) { return f32(1.0 / f64(a)); })>("v_rcp_f32");
  vector<([](f32 a) { return f32(1.0 / f64(a)); })>("v_rcp_iflag_f32");
  vector<([](f32 a) { return a < 0 ? f32(NAN) : f32(1.0 / std::sqrt(f64(a))); })>("v_rsq_f32");
  vector<([](f32 a) { return a < 0 ? f32(NAN) : std::sqrt(a); })>("v_sqrt_f32");
  vector<([](f32 a) { return f32(std::exp2(f64(a))); })>("v_exp_f32");
  vector<([](f32 a) { return a < 0 ? f32(NAN) : f32(std::log2(f64(a))); })>("v_log_f32");
  vector<([](f32 a) { return f32(sine_of_turns(a)); })>("v_sin_f32");
  vector<([](f32 a) { return f32(cosine_of_turns(a)); })>("v_cos_f32");
  vector<([](f32 a, i32 b) { return std::ldexp(a, b); })>("v_ldexp_f32");
  vector<([](f32 a) { return i32(exponent_of(a)); })>("v_frexp_exp_i32_f32");
  vector<([](f32 a) { return f32(mantissa_of(a)); })>("v_frexp_mant_f32");
  add("v_div_scale_f32", scale_division<f32>, "wwfff");
  add("v_div_fmas_f32", fma_division<f32>, "wfff");
  vector<([](f32 q, f32 d, f32 n) { return fixup_division<f32>(q, d, n); })>("v_div_fixup_f32");
  // gfx12: transcendental functions of a scalar
  scalar_function<[](f64 x) { return 1.0 / x; }>("v_s_rcp_f32");
  scalar_function<[](f64 x) { return 1.0 / std::sqrt(x); }>("v_s_rsq_f32");
  scalar_function<[](f64 x) { return std::sqrt(x); }>("v_s_sqrt_f32");
  scalar_function<[](f64 x) { return std::exp2(x); }>("v_s_exp_f32");
  scalar_function<[](f64 x) { return std::log2(x); }>("v_s_log_f32");
}

}  // namespace amdgpu

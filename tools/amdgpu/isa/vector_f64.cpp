// Vector arithmetic of f64.
#include "isa/division.h"
#include "isa/float_math.h"
#include "isa/vector.h"

namespace amdgpu {

void add_vector_f64() {
  vector<([](f64 a, f64 b) { return a + b; })>("v_add_f64");
  vector<([](f64 a, f64 b) { return a * b; })>("v_mul_f64");
  vector<([](f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); })>("v_fma_f64");
  accumulate<([](f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); })>("v_fmac_f64");
  vector<([](f64 a, f64 b) { return max_ieee(a, b); })>("v_max_f64");
  vector<([](f64 a, f64 b) { return max_number(a, b); })>("v_max_num_f64");
  vector<([](f64 a, f64 b) { return min_ieee(a, b); })>("v_min_f64");
  vector<([](f64 a, f64 b) { return min_number(a, b); })>("v_min_num_f64");
  vector<([](f64 a) { return std::floor(a); })>("v_floor_f64");
  vector<([](f64 a) { return std::ceil(a); })>("v_ceil_f64");
  vector<([](f64 a) { return std::trunc(a); })>("v_trunc_f64");
  vector<([](f64 a) { return std::rint(a); })>("v_rndne_f64");
  vector<([](f64 a) {
    f64 r = a - std::floor(a);
    return r >= 1 ? bits<f64>(0x3fefffffffffffffull) : r;
  })>("v_fract_f64");
  vector<([](f64 a) { return 1.0 / a; })>("v_rcp_f64");
  vector<([](f64 a) { return a < 0 ? f64(NAN) : 1.0 / std::sqrt(a); })>("v_rsq_f64");
  vector<([](f64 a) { return a < 0 ? f64(NAN) : std::sqrt(a); })>("v_sqrt_f64");
  vector<([](f64 a, i32 b) { return std::ldexp(a, b); })>("v_ldexp_f64");
  vector<([](f64 a) { return i32(exponent_of(a)); })>("v_frexp_exp_i32_f64");
  vector<([](f64 a) { return mantissa_of(a); })>("v_frexp_mant_f64");
  add("v_div_scale_f64", scale_division<f64>, "wwddd");
  add("v_div_fmas_f64", fma_division<f64>, "wddd");
  vector<([](f64 q, f64 d, f64 n) { return fixup_division<f64>(q, d, n); })>("v_div_fixup_f64");
}

}  // namespace amdgpu

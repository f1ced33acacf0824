// Scalar arithmetic of floating point (gfx11.5 and gfx12).
#include "isa/float_math.h"
#include "isa/scalar.h"

namespace amdgpu {

namespace {

template <auto L>
void compare_floats(const std::string& name) {
  scalar_compare<([](f32 a, f32 b) { return L(a, b); })>("s_cmp_" + name + "_f32");
  scalar_compare<([](u32 a, u32 b) { return L(f16_to_f32(u16(a)), f16_to_f32(u16(b))); })>("s_cmp_" + name + "_f16");
}

void multiply_accumulate(Wave& w, const Inst& in) {
  const f32 c = bits<f32>(w.read(in.op[0].r));
  write(w, in.op[0], __builtin_fmaf(read<f32>(w, in.op[1]), read<f32>(w, in.op[2]), c));
}

}  // namespace

void add_scalar_float() {
  scalar<([](f32 a, f32 b) { return a + b; })>("s_add_f32");
  scalar<([](f32 a, f32 b) { return a - b; })>("s_sub_f32");
  scalar<([](f32 a, f32 b) { return a * b; })>("s_mul_f32");
  scalar<([](f32 a, f32 b) { return __builtin_fminf(a, b); })>("s_min_f32", "s_min_num_f32");
  scalar<([](f32 a, f32 b) { return __builtin_fmaxf(a, b); })>("s_max_f32", "s_max_num_f32");
  scalar<([](f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); })>("s_fmamk_f32");
  scalar<([](f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); })>("s_fmaak_f32");
  add("s_fmac_f32", multiply_accumulate, "fff");
  scalar<([](f32 a) { return __builtin_ceilf(a); })>("s_ceil_f32");
  scalar<([](f32 a) { return __builtin_floorf(a); })>("s_floor_f32");
  scalar<([](f32 a) { return __builtin_truncf(a); })>("s_trunc_f32");
  scalar<([](f32 a) { return __builtin_rintf(a); })>("s_rndne_f32");
  scalar<([](i32 a) { return f32(a); })>("s_cvt_f32_i32");
  scalar<([](u32 a) { return f32(a); })>("s_cvt_f32_u32");
  scalar<([](f32 a) { return a != a              ? 0
                             : a >= 2147483648.f ? INT32_MAX
                             : a < -2147483648.f ? INT32_MIN
                                                 : i32(a); })>(
      "s_cvt_i32_f32");
  scalar<([](f32 a) { return !(a > 0) ? 0u : a >= 4294967296.f ? ~0u : u32(a); })>("s_cvt_u32_f32");
  scalar<([](f32 a) { return u32(f32_to_f16(a)); })>("s_cvt_f16_f32");
  scalar<([](u32 a) { return f16_to_f32(u16(a)); })>("s_cvt_f32_f16");
  scalar<([](u32 a) { return f16_to_f32(u16(a >> 16)); })>("s_cvt_hi_f32_f16");
  scalar<([](f32 a, f32 b) { return u32(f32_to_f16_rtz(a)) | u32(f32_to_f16_rtz(b)) << 16; })>("s_cvt_pk_rtz_f16_f32");
  compare_floats<([](f32 a, f32 b) { return a < b; })>("lt");
  compare_floats<([](f32 a, f32 b) { return a == b; })>("eq");
  compare_floats<([](f32 a, f32 b) { return a <= b; })>("le");
  compare_floats<([](f32 a, f32 b) { return a > b; })>("gt");
  compare_floats<([](f32 a, f32 b) { return a < b || a > b; })>("lg");
  compare_floats<([](f32 a, f32 b) { return a >= b; })>("ge");
  compare_floats<([](f32 a, f32 b) { return a == a && b == b; })>("o");
  compare_floats<([](f32 a, f32 b) { return a != a || b != b; })>("u");
  compare_floats<([](f32 a, f32 b) { return !(a < b); })>("nlt");
  compare_floats<([](f32 a, f32 b) { return !(a == b); })>("neq");
  compare_floats<([](f32 a, f32 b) { return !(a <= b); })>("nle");
  compare_floats<([](f32 a, f32 b) { return !(a > b); })>("ngt");
  compare_floats<([](f32 a, f32 b) { return !(a < b || a > b); })>("nlg");
  compare_floats<([](f32 a, f32 b) { return !(a >= b); })>("nge");
}

}  // namespace amdgpu

// Conversions between the types of vector registers.
#include "isa/float_math.h"
#include "isa/vector.h"

namespace amdgpu {

namespace {

inline i16 saturate16(i32 x) { return static_cast<i16>(std::clamp(x, -32768, 32767)); }
inline u32 pack(u32 low, u32 high) { return low | high << 16; }

// -1..1 or 0..1 as integers; NaN is 0.
inline u32 signed_norm(f32 x) {
  const f32 limited = x != x ? 0 : std::max(-1.f, std::min(1.f, x));
  return static_cast<u16>(static_cast<i16>(std::rint(limited * 32767.f)));
}
inline u32 unsigned_norm(f32 x) { return u32(std::rint((x > 0 ? std::min(1.f, x) : 0.f) * 65535.f)); }

// Puts a, rounded to a byte, into byte b of c.
u32 insert_byte(f32 a, u32 b, u32 c) {
  const u32 byte = !(a > 0) ? 0 : a >= 255 ? 255 : u32(std::rint(a)), shift = 8 * (b & 3);
  return (c & ~(255u << shift)) | byte << shift;
}

}  // namespace

void add_vector_convert() {
  vector<([](F16 a) { return a.value; })>("v_cvt_f32_f16");
  vector<([](f32 a) { return F16{a}; })>("v_cvt_f16_f32");
  vector<([](f32 a) { return f64(a); })>("v_cvt_f64_f32");
  vector<([](f64 a) { return f32(a); })>("v_cvt_f32_f64");
  vector<([](i32 a) { return f32(a); })>("v_cvt_f32_i32");
  vector<([](u32 a) { return f32(a); })>("v_cvt_f32_u32");
  vector<([](i32 a) { return f64(a); })>("v_cvt_f64_i32");
  vector<([](u32 a) { return f64(a); })>("v_cvt_f64_u32");
  vector<([](f32 a) { return to_i32(a); })>("v_cvt_i32_f32");
  vector<([](f32 a) { return to_u32(a); })>("v_cvt_u32_f32");
  vector<([](f64 a) { return to_i32(a); })>("v_cvt_i32_f64");
  vector<([](f64 a) { return to_u32(a); })>("v_cvt_u32_f64");
  vector<([](f32 a) { return to_i32(std::floor(a + 0.5f)); })>("v_cvt_rpi_i32_f32", "v_cvt_nearest_i32_f32");
  vector<([](f32 a) { return to_i32(std::floor(a)); })>("v_cvt_flr_i32_f32", "v_cvt_floor_i32_f32");
  vector<([](i16 a) { return F16{f32(a)}; })>("v_cvt_f16_i16");
  vector<([](u16 a) { return F16{f32(a)}; })>("v_cvt_f16_u16");
  vector<([](F16 a) { return saturate<i16, f32>(a.value, -32768, 32768, -32768, 32767); })>("v_cvt_i16_f16");
  vector<([](F16 a) { return saturate<u16, f32>(a.value, 0, 65536, 0, 65535); })>("v_cvt_u16_f16");
  vector<([](u32 a) { return f32(a & 255); })>("v_cvt_f32_ubyte0");
  vector<([](u32 a) { return f32(a >> 8 & 255); })>("v_cvt_f32_ubyte1");
  vector<([](u32 a) { return f32(a >> 16 & 255); })>("v_cvt_f32_ubyte2");
  vector<([](u32 a) { return f32(a >> 24); })>("v_cvt_f32_ubyte3");
  // two values in a register
  vector<([](F16 a, F16 b) { return pack(f32_to_f16(a.value), f32_to_f16(b.value)); })>("v_pack_b32_f16");
  vector<([](f32 a, f32 b) { return pack(f32_to_f16_rtz(a), f32_to_f16_rtz(b)); })>("v_cvt_pkrtz_f16_f32",
                                                                                    "v_cvt_pk_rtz_f16_f32");
  vector<([](i32 a, i32 b) { return pack(u16(saturate16(a)), u16(saturate16(b))); })>("v_cvt_pk_i16_i32");
  vector<([](u32 a, u32 b) { return pack(std::min(a, 65535u), std::min(b, 65535u)); })>("v_cvt_pk_u16_u32");
  vector<([](f32 a, f32 b) { return pack(signed_norm(a), signed_norm(b)); })>("v_cvt_pknorm_i16_f32",
                                                                              "v_cvt_pk_norm_i16_f32");
  vector<([](f32 a, f32 b) { return pack(unsigned_norm(a), unsigned_norm(b)); })>("v_cvt_pknorm_u16_f32",
                                                                                  "v_cvt_pk_norm_u16_f32");
  vector<([](f32 a, u32 b, u32 c) { return insert_byte(a, b, c); })>("v_cvt_pk_u8_f32");
}

}  // namespace amdgpu

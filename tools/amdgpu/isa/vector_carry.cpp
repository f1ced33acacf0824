// Vector additions with carries, selections by a mask, 64-bit results.
#include "isa/vector.h"

namespace amdgpu {

namespace {

enum class CarryOp { Add, Sub, ReverseSub };

// 33 bits: the result and the carry or borrow above it.
template <CarryOp Op>
u64 with_carry(u64 a, u64 b, u64 carry) {
  if (Op == CarryOp::Add) return a + b + carry;
  return Op == CarryOp::Sub ? a - b - carry : b - a - carry;
}

// op[0] = result, op[1] = carries; with CarryIn they come from op[4] or VCC
template <CarryOp Op, bool CarryIn>
void carry(Wave& w, const Inst& in) {
  Buffer<u32> x, y;
  const u32 *a = fetch(w, in, 2, x), *b = fetch(w, in, 3, y);
  const u64 carry_in = CarryIn ? w.read_mask(in.op_count > 4 ? in.op[4].r : reg::Vcc) : 0;
  const u32* m = write_mask(w, in);
  u32 r[kMaxLanes];
  u64 carry_out = 0;
  for (u32 l = 0; l < w.lanes; l++) {
    const u64 t = with_carry<Op>(a[l], b[l], carry_in >> l & 1);
    const bool over = t >> 32 & 1;
    r[l] = in.clamp && over ? (Op == CarryOp::Add ? ~0u : 0) : static_cast<u32>(t);
    carry_out |= u64{over && m[l]} << l;
  }
  put32(w, in, in.op[0], r);
  w.write_mask(in.op[1].r, carry_out);
}

template <CarryOp Op>
void add_carry(const char* name, std::initializer_list<const char*> with_carry_in) {
  add(name, carry<Op, false>, "wwww");
  add(std::string(name) + ".clamp", carry<Op, false>, "wwww");
  for (const char* n : with_carry_in) add(n, carry<Op, true>, "wwwww");
}

u64 selection(Wave& w, const Inst& in) { return w.read_mask(in.op_count > 3 ? in.op[3].r : reg::Vcc); }

// Read as f32, so that sign modifiers act.
void select32(Wave& w, const Inst& in) {
  Buffer<f32> x, y;
  const f32 *a = fetch(w, in, 1, x), *b = fetch(w, in, 2, y);
  const u64 second = selection(w, in);
  u32 r[kMaxLanes];
  for (u32 l = 0; l < w.lanes; l++) r[l] = bits<u32>(second >> l & 1 ? b[l] : a[l]);
  put32(w, in, in.op[0], r);
}

void select16(Wave& w, const Inst& in) {
  Buffer<u16> x, y;
  const u16 *a = fetch(w, in, 1, x), *b = fetch(w, in, 2, y);
  const u64 second = selection(w, in);
  u32 r[kMaxLanes];
  for (u32 l = 0; l < w.lanes; l++) r[l] = second >> l & 1 ? b[l] : a[l];
  put16(w, in, in.op[0], r);
}

// op[0] = op[2] * op[3] + op[4] in 64 bits; op[1] = lanes that overflow
template <class T>
void multiply_add64(Wave& w, const Inst& in) {
  using Wide = std::conditional_t<std::is_signed_v<T>, i64, u64>;
  using Wider = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  Buffer<T> x, y;
  Buffer<Wide> z;
  const T *a = fetch(w, in, 2, x), *b = fetch(w, in, 3, y);
  const Wide* c = fetch(w, in, 4, z);
  u64 r[kMaxLanes], overflow = 0;
  for (u32 l = 0; l < w.lanes; l++) {
    const Wider t = static_cast<Wider>(a[l]) * b[l] + c[l];
    r[l] = static_cast<u64>(t);
    overflow |= u64{t != static_cast<Wide>(t)} << l;
  }
  store<u64>(w, in, in.op[0], r);
  w.write_mask(in.op[1].r, overflow & w.exec());
}

}  // namespace

void add_vector_carry() {
  add_carry<CarryOp::Add>("v_add_co_u32", {"v_addc_co_u32", "v_add_co_ci_u32"});
  add_carry<CarryOp::Sub>("v_sub_co_u32", {"v_subb_co_u32", "v_sub_co_ci_u32"});
  add_carry<CarryOp::ReverseSub>("v_subrev_co_u32", {"v_subbrev_co_u32", "v_subrev_co_ci_u32"});
  add("v_cndmask_b32", select32, "wffw");
  add("v_cndmask_b16", select16, "whhw");
  for (const char* name : {"v_mad_u64_u32", "v_mad_co_u64_u32"}) add(name, multiply_add64<u32>, "wwwwq");
  for (const char* name : {"v_mad_i64_i32", "v_mad_co_i64_i32"}) add(name, multiply_add64<i32>, "wwwwi");
}

}  // namespace amdgpu

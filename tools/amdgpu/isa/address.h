// The host addresses of the lanes of a memory instruction.
#pragma once
#include "isa/inst.h"
#include "isa/operands.h"

namespace amdgpu {

struct Addresses {
  u64 at[kMaxLanes];
  u64 lanes;  // those that access memory
};

/// flat_, global_ and scratch_ instructions: the address operand and, from index `scalar` on if it is not 0, the base.
void flat_addresses(Wave& w, const Inst& in, int address, int scalar, Addresses& r);
/// buffer_ instructions: operands from `address` on are the address, the descriptor and the scalar offset. Lanes that
/// fail the range check are left out.
void buffer_addresses(Wave& w, const Inst& in, int address, u32 bytes, Addresses& r);
/// ds_ instructions.
void lds_addresses(Wave& w, const Operand& address, u32 offset, Addresses& r);

inline u64 active_lanes(const Wave& w) { return w.exec() & (w.lanes == 64 ? ~0ull : 0xffffffffull); }

/// Calls f(lane) for every set bit.
template <class F>
inline void each_lane(u64 lanes, F f) {
  for (; lanes; lanes &= lanes - 1) f(static_cast<u32>(__builtin_ctzll(lanes)));
}

template <class T>
inline T read_memory(u64 at) {
  T v;
  memcpy(&v, reinterpret_cast<const void*>(at), sizeof v);
  return v;
}
template <class T>
inline void write_memory(u64 at, T v) {
  memcpy(reinterpret_cast<void*>(at), &v, sizeof v);
}

/// One value of a width below four bytes, extended to a register.
inline u32 read_narrow(u64 at, Width width) {
  if (width.bytes == 1) return width.sign ? static_cast<u32>(read_memory<i8>(at)) : read_memory<u8>(at);
  return width.sign ? static_cast<u32>(read_memory<i16>(at)) : read_memory<u16>(at);
}

void run_atomic(Wave& w, const Inst& in);
void run_buffer_atomic(Wave& w, const Inst& in);
void run_lds_atomic(Wave& w, const Inst& in);
/// Recognises what follows "atomic_", or "ds_" for LDS.
bool bind_atomic(Inst& in, std::string name);

}  // namespace amdgpu

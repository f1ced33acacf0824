// Address arithmetic of flat, buffer and LDS instructions.
#include "isa/address.h"

namespace amdgpu {

namespace {

u64 scalar_value(Wave& w, const Operand& o) {
  if (o.kind == OperandKind::Constant) return static_cast<u64>(o.integer);
  return o.kind == OperandKind::Scalar && o.r != reg::Null ? w.read(o.r) : 0;
}

// A flat address reaches LDS and scratch through their apertures.
u64 host_of_flat(const Wave& w, u64 address, u32 lane) {
  const u64 window = address >> 32, offset = address & 0xffffffff;
  if (window == w.shared_aperture >> 32) return reinterpret_cast<u64>(w.lds) + offset;
  if (window == w.private_aperture >> 32) return w.scratch + u64{lane} * w.scratch_stride + offset;
  return address + w.to_host;
}

// A signed 32-bit offset in a lane's scratch.
u64 host_of_scratch(const Wave& w, u32 lane, u32 offset) {
  return w.scratch + u64{lane} * w.scratch_stride + static_cast<u64>(static_cast<i64>(static_cast<i32>(offset)));
}

void scratch_addresses(Wave& w, const Inst& in, const Operand& address, int scalar, Addresses& r) {
  const bool has_base = scalar && in.op[scalar].kind == OperandKind::Scalar;
  const u32 base = (has_base ? static_cast<u32>(scalar_value(w, in.op[scalar])) : 0) + static_cast<u32>(in.offset);
  const u32* p = address.kind == OperandKind::Vector ? w.row(address.r) : nullptr;
  for (u32 l = 0; l < w.lanes; l++) r.at[l] = host_of_scratch(w, l, (p ? p[l] : 0) + base);
}

// A buffer descriptor: base, stride, number of records.
struct Descriptor {
  u64 base;
  u32 stride, records;
  bool wave_scratch;  // what start_wave() puts into the first scalar registers

  Descriptor(const Wave& w, u16 r)
      : base(w.s[r] | u64{w.s[r + 1] & 0xffff} << 32),
        stride(w.s[r + 1] >> 16 & 0x3fff),
        records(w.s[r + 2]),
        wave_scratch((w.s[r + 3] >> 23 & 1) && records == ~0u) {}
};

}  // namespace

void flat_addresses(Wave& w, const Inst& in, int address, int scalar, Addresses& r) {
  const Operand& o = in.op[address];
  r.lanes = active_lanes(w);
  if (in.segment == Segment::Scratch) return scratch_addresses(w, in, o, scalar, r);
  const i64 offset = in.offset;
  const u32* low = w.row(o.r);
  if (scalar && in.op[scalar].kind == OperandKind::Scalar && in.op[scalar].r != reg::Null) {
    const u64 base = w.read64(in.op[scalar].r) + static_cast<u64>(offset) + w.to_host;
    for (u32 l = 0; l < w.lanes; l++) r.at[l] = base + low[l];
    return;
  }
  const u32* high = w.row(o.r + 1);
  for (u32 l = 0; l < w.lanes; l++) {
    const u64 a = (low[l] | u64{high[l]} << 32) + static_cast<u64>(offset);
    r.at[l] = in.segment == Segment::Flat ? host_of_flat(w, a, l) : a + w.to_host;
  }
}

void buffer_addresses(Wave& w, const Inst& in, int address, u32 bytes, Addresses& r) {
  const Operand& o = in.op[address];
  const Descriptor d(w, in.op[address + 1].r);
  const u32 soffset = static_cast<u32>(scalar_value(w, in.op[address + 2]));
  const u32* first = o.kind == OperandKind::Vector ? w.row(o.r) : nullptr;
  const bool both = in.index_in_register && in.offset_in_register;
  const u32* offsets = both ? w.row(o.r + 1) : first;
  auto offset_of = [&](u32 l) { return (in.offset_in_register ? offsets[l] : 0) + static_cast<u32>(in.offset); };
  const u64 active = active_lanes(w);
  if (d.wave_scratch) {  // swizzled, so the scalar offset counts all lanes
    for (u32 l = 0; l < w.lanes; l++) r.at[l] = host_of_scratch(w, l, offset_of(l) + soffset / w.lanes);
    r.lanes = active;
    return;
  }
  r.lanes = 0;
  each_lane(active, [&](u32 l) {
    const u32 index = in.index_in_register ? first[l] : 0, offset = offset_of(l);
    // The range check includes the scalar offset on CDNA only.
    const bool by_index = d.stride && in.index_in_register;
    const bool inside = by_index ? index < d.records : u64{offset} + (w.is_cdna() ? soffset : 0) + bytes <= d.records;
    u64 a = d.base + soffset + u64{index} * d.stride + offset;
    if (bytes >= 4) a &= ~u64{3};
    r.at[l] = a + w.to_host;
    r.lanes |= u64{inside} << l;
  });
}

void lds_addresses(Wave& w, const Operand& address, u32 offset, Addresses& r) {
  const u32* p = w.row(address.r);
  r.lanes = active_lanes(w);
  for (u32 l = 0; l < w.lanes; l++) r.at[l] = reinterpret_cast<u64>(w.lds) + static_cast<u32>(p[l] + offset);
}

}  // namespace amdgpu

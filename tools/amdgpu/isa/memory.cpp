// Loads and stores: scalar, flat, global, scratch, buffer, LDS.
#include <algorithm>

#include "device/support.h"
#include "isa/address.h"
#include "isa/registry.h"

namespace amdgpu {

namespace {

// ---- scalar loads: op[0] from op[1] + op[2] + offset

i64 scalar_offset(Wave& w, const Inst& in) {
  if (in.op_count <= 2) return in.offset;
  const Operand& o = in.op[2];
  return in.offset + (o.kind == OperandKind::Scalar ? i64{o.r == reg::Null ? 0 : w.read(o.r)} : o.integer);
}

void read_scalar_buffer(Wave& w, const Inst& in, u32* to) {
  const u16 r = in.op[1].r;
  const u64 base = w.read64(r) & 0xffffffffffff, offset = static_cast<u64>(scalar_offset(w, in));
  const u32 stride = w.s[r + 1] >> 16 & 0x3fff, records = w.s[r + 2];
  const u64 limit = stride ? u64{records} * stride : records;
  const u32 bytes = in.width.bytes, step = std::min<u32>(bytes, 4);
  for (u32 i = 0; i < (bytes + 3) / 4; i++)
    if (offset + 4 * i + step <= limit)
      memcpy(&to[i], reinterpret_cast<const void*>(base + offset + 4 * i + w.to_host), step);
}

void load_scalar(Wave& w, const Inst& in) {
  const u32 bytes = in.width.bytes, words = (bytes + 3) / 4;
  u32 t[16] = {};
  if (in.buffer) {
    read_scalar_buffer(w, in, t);
  } else {
    u64 at = w.read64(in.op[1].r) + static_cast<u64>(scalar_offset(w, in));
    if (bytes >= 4) at &= ~u64{3};
    memcpy(t, reinterpret_cast<const void*>(at + w.to_host), bytes);
  }
  if (in.width.sign) t[0] = static_cast<u32>(bytes == 1 ? static_cast<i8>(t[0]) : static_cast<i16>(t[0]));
  if (in.op[0].r == reg::Null) return;
  for (u32 i = 0; i < words; i++) w.write(in.op[0].r + i, t[i]);
}

// ---- vector loads and stores

// A narrow value put into its register.
u32 merge(u32 old, u32 value, Width width) {
  if (width.high_half) return value << 16 | (old & 0xffff);
  return width.low_half ? (value & 0xffff) | (old & 0xffff0000) : value;
}

// Lanes of `zeroed` that do not access memory receive zeros.
void load(Wave& w, const Inst& in, const Addresses& r, u32 row, u64 zeroed) {
  const u32 words = in.width.bytes / 4;
  each_lane(r.lanes, [&](u32 l) {
    u32* to = w.row(row) + l;
    if (!words) *to = merge(*to, read_narrow(r.at[l], in.width), in.width);
    for (u32 i = 0; i < words; i++) to[size_t{i} * w.lanes] = read_memory<u32>(r.at[l] + 4 * i);
  });
  each_lane(zeroed & ~r.lanes, [&](u32 l) {
    u32* to = w.row(row) + l;
    if (!words) *to = merge(*to, 0, in.width);
    for (u32 i = 0; i < words; i++) to[size_t{i} * w.lanes] = 0;
  });
}

void store_lanes(Wave& w, const Inst& in, const Addresses& r, u32 row) {
  const u32 words = in.width.bytes / 4, shift = in.width.high_half ? 16 : 0;
  each_lane(r.lanes, [&](u32 l) {
    const u32* from = w.row(row) + l;
    for (u32 i = 0; i < words; i++) write_memory(r.at[l] + 4 * i, from[size_t{i} * w.lanes]);
    if (words) return;
    const u32 x = *from >> shift;
    memcpy(reinterpret_cast<void*>(r.at[l]), &x, in.width.bytes);
  });
}

void load_flat(Wave& w, const Inst& in) {
  Addresses r;
  flat_addresses(w, in, 1, in.op_count > 2 ? 2 : 0, r);
  load(w, in, r, in.op[0].r, 0);
}
void store_flat(Wave& w, const Inst& in) {
  Addresses r;
  flat_addresses(w, in, 0, in.op_count > 2 ? 2 : 0, r);
  store_lanes(w, in, r, in.op[1].r);
}
void load_buffer(Wave& w, const Inst& in) {
  Addresses r;
  buffer_addresses(w, in, 1, in.width.bytes, r);
  load(w, in, r, in.op[0].r, active_lanes(w));
}
void store_buffer(Wave& w, const Inst& in) {
  Addresses r;
  buffer_addresses(w, in, 1, in.width.bytes, r);
  store_lanes(w, in, r, in.op[0].r);
}

// Loads to LDS: at m0 + offset, a word or more a lane. Lanes that fail the range check store zeros.
void copy_to_lds(Wave& w, const Inst& in, const Addresses& r, u64 lanes) {
  const u32 base = (w.s[reg::M0] & 0xffff) + static_cast<u32>(in.offset), step = std::max<u32>(in.width.bytes, 4);
  each_lane(lanes, [&](u32 l) {
    u32 x[4] = {};
    if (r.lanes >> l & 1) {
      if (in.width.bytes >= 4)
        memcpy(x, reinterpret_cast<const void*>(r.at[l]), in.width.bytes);
      else
        x[0] = read_narrow(r.at[l], in.width);
    }
    memcpy(w.lds + base + l * step, x, step);
  });
}
void load_flat_to_lds(Wave& w, const Inst& in) {
  Addresses r;
  flat_addresses(w, in, 0, in.op_count > 1 ? 1 : 0, r);
  copy_to_lds(w, in, r, r.lanes);
}
void load_buffer_to_lds(Wave& w, const Inst& in) {
  Addresses r;
  buffer_addresses(w, in, 0, in.width.bytes, r);
  copy_to_lds(w, in, r, active_lanes(w));
}

// ---- LDS

void load_lds(Wave& w, const Inst& in) {
  Addresses r;
  lds_addresses(w, in.op[1], static_cast<u32>(in.offset), r);
  load(w, in, r, in.op[0].r, 0);
}
void store_lds(Wave& w, const Inst& in) {
  Addresses r;
  lds_addresses(w, in.op[0], static_cast<u32>(in.offset), r);
  store_lanes(w, in, r, in.op[1].r);
}

// Two accesses, whose offsets count elements or 64 of them.
u32 scaled(const Inst& in, i32 offset) { return static_cast<u32>(offset) * in.width.bytes * in.address_scale; }

void load_lds_two(Wave& w, const Inst& in) {
  Addresses first, second;  // both before the destination, which may hold the address, changes
  lds_addresses(w, in.op[1], scaled(in, in.offset), first);
  lds_addresses(w, in.op[1], scaled(in, in.offset1), second);
  load(w, in, first, in.op[0].r, 0);
  load(w, in, second, in.op[0].r + in.width.bytes / 4u, 0);
}
void store_lds_two(Wave& w, const Inst& in) {
  Addresses r;
  lds_addresses(w, in.op[0], scaled(in, in.offset), r);
  store_lanes(w, in, r, in.op[1].r);
  lds_addresses(w, in.op[0], scaled(in, in.offset1), r);
  store_lanes(w, in, r, in.op[2].r);
}

// ---- mnemonics

struct NamedWidth {
  const char* name;
  Width width;
};

constexpr Width unsigned_width(u8 bytes) { return {.bytes = bytes}; }
constexpr Width signed_width(u8 bytes) { return {.bytes = bytes, .sign = true}; }
constexpr Width low(u8 bytes, bool sign = false) { return {.bytes = bytes, .sign = sign, .low_half = true}; }
constexpr Width high(u8 bytes, bool sign = false) { return {.bytes = bytes, .sign = sign, .high_half = true}; }

constexpr NamedWidth kWidths[] = {
    {"dword", unsigned_width(4)},
    {"dwordx2", unsigned_width(8)},
    {"dwordx3", unsigned_width(12)},
    {"dwordx4", unsigned_width(16)},
    {"dwordx8", unsigned_width(32)},
    {"dwordx16", unsigned_width(64)},
    {"b32", unsigned_width(4)},
    {"b64", unsigned_width(8)},
    {"b96", unsigned_width(12)},
    {"b128", unsigned_width(16)},
    {"b256", unsigned_width(32)},
    {"b512", unsigned_width(64)},
    {"ubyte", unsigned_width(1)},
    {"u8", unsigned_width(1)},
    {"byte", unsigned_width(1)},
    {"b8", unsigned_width(1)},
    {"sbyte", signed_width(1)},
    {"i8", signed_width(1)},
    {"ushort", unsigned_width(2)},
    {"u16", unsigned_width(2)},
    {"short", unsigned_width(2)},
    {"b16", unsigned_width(2)},
    {"sshort", signed_width(2)},
    {"i16", signed_width(2)},
    {"short_d16", low(2)},
    {"d16_b16", low(2)},
    {"u16_d16", low(2)},
    {"ubyte_d16", low(1)},
    {"d16_u8", low(1)},
    {"u8_d16", low(1)},
    {"sbyte_d16", low(1, true)},
    {"d16_i8", low(1, true)},
    {"i8_d16", low(1, true)},
    {"short_d16_hi", high(2)},
    {"d16_hi_b16", high(2)},
    {"u16_d16_hi", high(2)},
    {"b16_d16_hi", high(2)},
    {"ubyte_d16_hi", high(1)},
    {"d16_hi_u8", high(1)},
    {"u8_d16_hi", high(1)},
    {"byte_d16_hi", high(1)},
    {"d16_hi_b8", high(1)},
    {"b8_d16_hi", high(1)},
    {"sbyte_d16_hi", high(1, true)},
    {"d16_hi_i8", high(1, true)},
    {"i8_d16_hi", high(1, true)},
};

bool bind_width(Inst& in, const std::string& name) {
  for (const NamedWidth& n : kWidths)
    if (name == n.name) {
      in.width = n.width;
      return true;
    }
  return false;
}

// Takes a prefix off.
bool take(std::string& s, const char* prefix) {
  if (!starts_with(s, prefix)) return false;
  s.erase(0, strlen(prefix));
  return true;
}

bool bind_scalar(Inst& in, std::string rest) {
  in.buffer = take(rest, "s_buffer_load_");
  if (!in.buffer && !take(rest, "s_load_")) return false;
  in.handler = load_scalar;
  return bind_width(in, rest);
}

struct SegmentName {
  const char* prefix;
  Segment segment;
};
constexpr SegmentName kSegments[] = {
    {"flat_", Segment::Flat}, {"global_", Segment::Global}, {"scratch_", Segment::Scratch}};

bool bind_flat(Inst& in, std::string rest) {
  for (const SegmentName& s : kSegments)
    if (take(rest, s.prefix)) in.segment = s.segment;
  if (in.segment == Segment::None) return false;
  if (take(rest, "atomic_")) {  // one that returns has an operand more
    in.handler = run_atomic;
    in.returns = in.op_count == (in.segment == Segment::Flat ? 3 : 4);
    return bind_atomic(in, rest);
  }
  if (take(rest, "load_lds_"))
    in.handler = load_flat_to_lds;
  else if (take(rest, "load_"))
    in.handler = in.to_lds ? load_flat_to_lds : load_flat;
  else if (take(rest, "store_"))
    in.handler = store_flat;
  else
    return false;
  return bind_width(in, rest);
}

bool bind_buffer(Inst& in, std::string rest) {
  if (!take(rest, "buffer_")) return false;
  if (take(rest, "atomic_")) {
    in.handler = run_buffer_atomic;
    return bind_atomic(in, rest);
  }
  if (take(rest, "load_"))
    in.handler = in.to_lds ? load_buffer_to_lds : load_buffer;
  else if (take(rest, "store_"))
    in.handler = store_buffer;
  else
    return false;
  return bind_width(in, rest);
}

struct LdsName {
  const char* prefix;
  Handler handler;
  u8 scale;
};
constexpr LdsName kLds[] = {
    {"read2st64_", load_lds_two, 64},
    {"load_2addr_stride64_", load_lds_two, 64},
    {"read2_", load_lds_two, 1},
    {"load_2addr_", load_lds_two, 1},
    {"write2st64_", store_lds_two, 64},
    {"store_2addr_stride64_", store_lds_two, 64},
    {"write2_", store_lds_two, 1},
    {"store_2addr_", store_lds_two, 1},
    {"read_", load_lds, 0},
    {"load_", load_lds, 0},
    {"write_", store_lds, 0},
    {"store_", store_lds, 0},
};

bool bind_lds(Inst& in, std::string rest) {
  if (!take(rest, "ds_") || in.gds) return false;
  for (const LdsName& n : kLds) {
    std::string width = rest;
    if (!take(width, n.prefix) || !bind_width(in, width)) continue;
    in.handler = n.handler;
    in.address_scale = n.scale;
    return true;
  }
  const size_t rtn = rest.find("_rtn");
  in.returns = rtn != std::string::npos;
  if (in.returns) rest.erase(rtn, 4);
  in.handler = run_lds_atomic;
  in.compare_first = starts_with(rest, "cmpst_");
  return bind_atomic(in, rest);
}

}  // namespace

bool bind_memory(Inst& in, const std::string& name) {
  return bind_scalar(in, name) || bind_flat(in, name) || bind_buffer(in, name) || bind_lds(in, name);
}

}  // namespace amdgpu

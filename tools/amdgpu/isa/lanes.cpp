// Lane permutations, reads and writes of single lanes.
#include "isa/vector.h"

namespace amdgpu {

namespace {

void read_first_lane(Wave& w, const Inst& in) {
  const u64 e = w.exec();
  const u32 lane = e ? static_cast<u32>(__builtin_ctzll(e)) : 0;
  const Operand& o = in.op[1];
  w.write(in.op[0].r, o.kind == OperandKind::Vector ? w.row(o.r)[lane] : read_scalar(w, o));
}

void read_lane(Wave& w, const Inst& in) {
  w.write(in.op[0].r, w.row(in.op[1].r)[read_scalar(w, in.op[2]) & (w.lanes - 1)]);
}

void write_lane(Wave& w, const Inst& in) {
  w.row(in.op[0].r)[read_scalar(w, in.op[2]) & (w.lanes - 1)] = read_scalar(w, in.op[1]);
}

// The first lane of the row that permlane16 reads, or of the other row of the pair.
template <bool OtherRow>
u32 first_of_row(u32 lane) {
  return OtherRow ? (lane & ~15u) ^ 16 : lane & ~15u;
}

// op_sel: fetch inactive lanes, bound control
u32 permuted(const Wave& w, const Inst& in, const u32* mask, const u32* source, u32 from, u32 lane) {
  const bool fetch_inactive = in.op_sel & 1, bound_control = in.op_sel & 2;
  if (fetch_inactive || mask[from]) return source[from];
  return bound_control ? 0 : w.row(in.op[0].r)[lane];
}

// A selection nibble a lane, in two scalars.
template <bool OtherRow>
void permlane16(Wave& w, const Inst& in) {
  const u64 select = read_scalar(w, in.op[2]) | u64{read_scalar(w, in.op[3])} << 32;
  const u32* m = w.mask();
  u32 x[kMaxLanes], r[kMaxLanes];
  const u32* p = read_raw(w, in.op[1], x);
  for (u32 l = 0; l < w.lanes; l++) {
    const u32 from = first_of_row<OtherRow>(l) | static_cast<u32>(select >> (4 * (l & 15)) & 15);
    r[l] = permuted(w, in, m, p, from, l);
  }
  put32(w, in, in.op[0], r);
}

template <bool OtherRow>
void permlane16_var(Wave& w, const Inst& in) {
  const u32* m = w.mask();
  u32 x[kMaxLanes], y[kMaxLanes], r[kMaxLanes];
  const u32 *p = read_raw(w, in.op[1], x), *select = read_raw(w, in.op[2], y);
  for (u32 l = 0; l < w.lanes; l++) r[l] = permuted(w, in, m, p, first_of_row<OtherRow>(l) | (select[l] & 15), l);
  put32(w, in, in.op[0], r);
}

// No effect in wave32.
void permlane64(Wave& w, const Inst& in) {
  if (w.lanes != 64) return;
  u32 x[kMaxLanes], r[kMaxLanes];
  const u32* p = read_raw(w, in.op[1], x);
  for (u32 l = 0; l < 64; l++) r[l] = p[l ^ 32];
  put32(w, in, in.op[0], r);
}

void swap_registers(Wave& w, const Inst& in) {
  const u32* m = w.mask();
  u32 *a = w.row(in.op[0].r), *b = w.row(in.op[1].r);
  for (u32 l = 0; l < w.lanes; l++)
    if (m[l]) std::swap(a[l], b[l]);
}

// Bits of the mask that are set below the lane, in the lower or upper 32 lanes.
template <bool Upper>
void count_below(Wave& w, const Inst& in) {
  Buffer<u32> x, y;
  const u32 *a = fetch(w, in, 1, x), *b = fetch(w, in, 2, y);
  u32 r[kMaxLanes];
  for (u32 l = 0; l < w.lanes; l++) {
    const u64 below = (1ull << l) - 1;
    r[l] = b[l] + static_cast<u32>(__builtin_popcount(a[l] & static_cast<u32>(Upper ? below >> 32 : below)));
  }
  put32(w, in, in.op[0], r);
}

// ---- permutations by the LDS crossbar

u32 lane_of_address(const Wave& w, const Inst& in, u32 address) {
  return (address + static_cast<u32>(in.offset)) / 4 & (w.lanes - 1);
}

void bpermute(Wave& w, const Inst& in) {
  const u32 *m = w.mask(), *address = w.row(in.op[1].r), *data = w.row(in.op[2].r);
  u32 r[kMaxLanes];
  for (u32 l = 0; l < w.lanes; l++) {
    const u32 from = lane_of_address(w, in, address[l]);
    r[l] = m[from] ? data[from] : 0;
  }
  put32(w, in, in.op[0], r);
}

void permute(Wave& w, const Inst& in) {
  const u32 *m = w.mask(), *address = w.row(in.op[1].r), *data = w.row(in.op[2].r);
  u32 r[kMaxLanes] = {};
  for (u32 l = 0; l < w.lanes; l++)
    if (m[l]) r[lane_of_address(w, in, address[l])] = data[l];
  put32(w, in, in.op[0], r);
}

constexpr u32 kSwizzleFft = 0xe000, kSwizzleRotate = 0xc000, kSwizzleQuad = 0x8000;

// The lane that a lane reads under a ds_swizzle pattern, within its 32 lanes.
u32 swizzled(u32 pattern, u32 lane) {
  const u32 half = lane & 32, i = lane & 31;
  if (pattern >= kSwizzleRotate) {
    const u32 distance = pattern >> 5 & 31, kept = pattern & 31;
    const u32 rotated = pattern & 0x400 ? i - distance : i + distance;
    return half | (i & kept) | (rotated & ~kept & 31);
  }
  if (pattern & kSwizzleQuad) return (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);
  const u32 and_mask = pattern & 31, or_mask = pattern >> 5 & 31, xor_mask = pattern >> 10 & 31;
  return half | (((i & and_mask) | or_mask) ^ xor_mask);
}

void swizzle(Wave& w, const Inst& in) {
  const u32 pattern = in.raw & 0xffff;
  if (pattern >= kSwizzleFft) return w.refuse("ds_swizzle FFT mode is not emulated");
  const u32 *m = w.mask(), *data = w.row(in.op[1].r);
  u32 r[kMaxLanes];
  for (u32 l = 0; l < w.lanes; l++) {
    const u32 from = swizzled(pattern, l);
    r[l] = m[from] ? data[from] : 0;
  }
  put32(w, in, in.op[0], r);
}

}  // namespace

void add_lanes() {
  add("v_readfirstlane_b32", read_first_lane, "ww");
  add("v_readlane_b32", read_lane, "www");
  add("v_writelane_b32", write_lane, "www");
  add("v_permlane16_b32", permlane16<false>, "wwww");
  add("v_permlanex16_b32", permlane16<true>, "wwww");
  add("v_permlane16_var_b32", permlane16_var<false>, "www");
  add("v_permlanex16_var_b32", permlane16_var<true>, "www");
  add("v_permlane64_b32", permlane64, "ww");
  add("v_swap_b32", swap_registers, "ww");
  add("v_mbcnt_lo_u32_b32", count_below<false>, "www");
  add("v_mbcnt_hi_u32_b32", count_below<true>, "www");
  add("ds_bpermute_b32", bpermute, "www");
  add("ds_permute_b32", permute, "www");
  add("ds_swizzle_b32", swizzle, "ww");
}

}  // namespace amdgpu

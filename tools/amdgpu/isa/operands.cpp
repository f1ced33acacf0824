// DPP, SDWA and the writing of results.
#include "isa/operands.h"

namespace amdgpu {

namespace {

// The lane that a lane reads from under a DPP control, -1 if there is none.
int source_lane(const Inst& in, int lane, int lanes) {
  const int row = lane & ~15, i = lane & 15, control = in.dpp_control;
  switch (in.dpp) {
    case Dpp::None: return lane;
    case Dpp::QuadPerm: return (lane & ~3) | (control >> (2 * (lane & 3)) & 3);
    case Dpp::RowShl: return i + control < 16 ? lane + control : -1;
    case Dpp::RowShr: return i - control >= 0 ? lane - control : -1;
    case Dpp::RowRor: return row | ((i - control) & 15);
    case Dpp::RowMirror: return row | (15 - i);
    case Dpp::RowHalfMirror: return (lane & ~7) | (7 - (lane & 7));
    case Dpp::RowBcast15: return row ? row - 1 : -1;
    case Dpp::RowBcast31: return lane >= 32 ? 31 : -1;
    case Dpp::RowShare: return row | control;
    case Dpp::RowXmask: return lane ^ control;
    case Dpp::Dpp8: return (lane & ~7) | static_cast<int>(in.dpp8_lanes >> (4 * (lane & 7)) & 7);
    case Dpp::WaveShl: return lane + 1 < lanes ? lane + 1 : -1;
    case Dpp::WaveShr: return lane - 1;
    case Dpp::WaveRol: return (lane + 1) % lanes;
    case Dpp::WaveRor: return (lane + lanes - 1) % lanes;
  }
  return lane;
}

// SDWA: the result goes to a byte or half of the register.
void put_selected(Wave& w, const Inst& in, const Operand& d, const u32* r) {
  const u32* m = write_mask(w, in);
  u32* row = w.row(d.r);
  const bool byte = in.dst_select < 4;
  const u32 shift = byte ? 8 * in.dst_select : 16 * (in.dst_select - 4), field = byte ? 0xff : 0xffff;
  for (u32 l = 0; l < w.lanes; l++) {
    u32 x = (r[l] & field) << shift;
    if (in.dst_unused == Inst::Unused::Preserve) x |= row[l] & ~(field << shift);
    if (in.dst_unused == Inst::Unused::SignExtend && (r[l] & (field + 1) >> 1)) x |= ~0u << shift & ~(field << shift);
    row[l] = (x & m[l]) | (row[l] & ~m[l]);
  }
}

}  // namespace

const u32* apply_dpp(Wave& w, const Inst& in, const u32* source, u32* buffer) {
  const u32* m = w.mask();
  u32 r[kMaxLanes];
  for (u32 l = 0; l < w.lanes; l++) {
    const int from = source_lane(in, static_cast<int>(l), static_cast<int>(w.lanes));
    const bool valid = from >= 0 && (in.fetch_inactive || m[from]);
    const bool enabled = in.dpp == Dpp::Dpp8 || ((in.row_mask >> (l >> 4) & 1) && (in.bank_mask >> (l >> 2 & 3) & 1));
    r[l] = valid ? source[from] : 0;
    w.dpp_mask[l] = enabled && (valid || in.bound_control) ? m[l] : 0;
  }
  memcpy(buffer, r, w.lanes * sizeof(u32));
  return buffer;
}

const u32* apply_sdwa(Wave& w, const Operand& o, const u32* source, u32* buffer) {
  for (u32 l = 0; l < w.lanes; l++) {
    u32 x = source[l];
    if (o.select < 4) {
      x = x >> (8 * o.select) & 255;
      if (o.sext) x = static_cast<u32>(static_cast<i8>(x));
    } else if (o.select < kSelectAll) {
      x = x >> (16 * (o.select - 4)) & 0xffff;
      if (o.sext) x = static_cast<u32>(static_cast<i16>(x));
    }
    buffer[l] = x;
  }
  return buffer;
}

void put32(Wave& w, const Inst& in, const Operand& d, const u32* r) {
  if (in.sdwa && in.dst_select != kSelectAll) return put_selected(w, in, d, r);
  if (d.kind != OperandKind::Vector) return w.write(d.r, r[0]);
  const u32* m = write_mask(w, in);
  u32* row = w.row(d.r);
  // Two loops of known length, which the compiler vectorises.
  if (w.lanes == 32)
    for (u32 l = 0; l < 32; l++) row[l] = (r[l] & m[l]) | (row[l] & ~m[l]);
  else
    for (u32 l = 0; l < 64; l++) row[l] = (r[l] & m[l]) | (row[l] & ~m[l]);
}

void put16(Wave& w, const Inst& in, const Operand& d, const u32* r) {
  if (in.sdwa && in.dst_select != kSelectAll) return put_selected(w, in, d, r);
  if (d.kind != OperandKind::Vector) return w.write(d.r, r[0]);
  const u32* m = write_mask(w, in);
  u32* row = w.row(d.r);
  const u32 kept = d.high ? 0xffff : in.keep_high && !in.sdwa ? 0xffff0000 : 0, shift = d.high ? 16 : 0;
  for (u32 l = 0; l < w.lanes; l++) {
    const u32 x = r[l] << shift | (row[l] & kept);
    row[l] = (x & m[l]) | (row[l] & ~m[l]);
  }
}

}  // namespace amdgpu

// WMMA: a 16 x 16 result, wave32. On RDNA3, lanes 16-31 must repeat the sources of lanes 0-15; where they do not, the
// result is NaN (undefined on hardware).
#include <cmath>

#include "isa/float_math.h"
#include "isa/matrix.h"

namespace amdgpu {

namespace {

constexpr u32 kSize = 16, kMaxDepth = 32, kMaxRows = 8;
constexpr f32 kMismatch = 0x7ffe;  // of integers

bool is_integer(const Inst& in) { return in.result_type == Element::I8; }

struct Sources {
  f32 a[kSize][kMaxDepth];
  f32 b[kMaxDepth][kSize];
};

// Where element k of a row is: on RDNA4 each half of the lanes holds half of k.
struct Place {
  u32 lane, element;
};
Place place(const Wave& w, u32 depth, u32 i, u32 k) {
  if (w.isa != Isa::Rdna4) return {i, k};
  return {i + 16 * (k / (depth / 2)), k % (depth / 2)};
}

// f16 without sign changes: a row of lanes at a time.
void read_f16(const Wave& w, u32 depth, const u32* pa, const u32* pb, Sources& to) {
  for (u32 k = 0; k < depth; k++) {
    const Place at = place(w, depth, 0, k);
    const u32 shift = 16 * (at.element & 1);
    const size_t row = size_t{at.element / 2} * w.lanes + at.lane;
    auto read = [&](const u32* p, f32* values) {
      u16 h[kSize];
      for (u32 i = 0; i < kSize; i++) {
        h[i] = static_cast<u16>(p[row + i] >> shift);
        if (w.isa != Isa::Rdna4 && h[i] != static_cast<u16>(p[row + i + 16] >> shift)) h[i] = 0x7e00;
      }
      widen_f16(h, values, kSize);
    };
    f32 column[kSize];
    read(pa, column);
    read(pb, to.b[k]);
    for (u32 i = 0; i < kSize; i++) to.a[i][k] = column[i];
  }
}

f32 read_source(const Wave& w, const Inst& in, Element type, const u32* p, u32 i, u32 k) {
  const Place at = place(w, in.depth, i, k);
  const f32 v = read_element(type, p + at.lane, w.lanes, at.element, false);
  if (w.isa == Isa::Rdna4) return v;
  const f32 repeated = read_element(type, p + at.lane + 16, w.lanes, at.element, false);
  if (bits<u32>(v) == bits<u32>(repeated)) return v;
  return is_integer(in) ? kMismatch : NAN;
}

// neg_lo marks the signed integer sources.
Element signed_if(Element type, bool is_signed) {
  if (!is_signed) return type;
  return type == Element::U8 ? Element::I8 : type == Element::U4 ? Element::I4 : type;
}

void read_sources(const Wave& w, const Inst& in, Sources& to) {
  const u32 *pa = w.row(in.op[1].r), *pb = w.row(in.op[2].r);
  const bool integer = is_integer(in);
  const bool signs = (in.neg_lo | in.neg_hi) & 3;
  if (in.a_type == Element::F16 && in.b_type == Element::F16 && !signs) return read_f16(w, in.depth, pa, pb, to);
  const Element a_type = signed_if(in.a_type, integer && in.neg_lo & 1);
  const Element b_type = signed_if(in.b_type, integer && in.neg_lo & 2);
  for (u32 i = 0; i < kSize; i++)
    for (u32 k = 0; k < in.depth; k++) {
      const u8 negated = integer ? 0 : k & 1 ? in.neg_hi : in.neg_lo;
      const f32 a = read_source(w, in, a_type, pa, i, k), b = read_source(w, in, b_type, pb, i, k);
      to.a[i][k] = negated & 1 ? -a : a;
      to.b[k][i] = negated & 2 ? -b : b;
    }
}

// Where row i of the result is: a register, the first of 16 lanes, and the half of the register for 16-bit results.
struct ResultPlace {
  u32 row, lane, shift;
};
ResultPlace result_place(const Wave& w, const Inst& in, u32 i) {
  if (w.isa == Isa::Rdna4) {
    const bool packed = in.result_type == Element::F16 || in.result_type == Element::Bf16;
    const u32 row = i % 8;
    return packed ? ResultPlace{row / 2, 16 * (i / 8), 16 * (row & 1)} : ResultPlace{row, 16 * (i / 8), 0};
  }
  return {i / 2, 16 * (i & 1), in.op_sel & 4 ? 16u : 0u};
}

f32 start_value(const Inst& in, u32 c, u32 shift) {
  const auto half = static_cast<u16>(c >> (in.op[3].kind == OperandKind::Constant ? 0 : shift));
  f32 s = bits<f32>(c);
  if (in.result_type == Element::F16) s = f16_to_f32(half);
  if (in.result_type == Element::Bf16) s = bf16_to_f32(half);
  if (in.neg_hi & 4) s = std::fabs(s);
  return in.neg_lo & 4 ? -s : s;
}

void store_result(const Inst& in, f32 value, u32 shift, u32& to) {
  if (in.result_type == Element::F32) {
    to = bits<u32>(value);
    return;
  }
  const u32 half = in.result_type == Element::F16 ? f32_to_f16(value) : f32_to_bf16(value);
  to = (to & ~(0xffffu << shift)) | half << shift;
}

void multiply_floats(const Inst& in, const Sources& from, u32 i, const u32* c, u32 shift, u32* to) {
  f32 sum[kSize];
  for (u32 j = 0; j < kSize; j++) sum[j] = start_value(in, c[j], shift);
  for (u32 k = 0; k < in.depth; k++)
    for (u32 j = 0; j < kSize; j++) sum[j] = __builtin_fmaf(from.a[i][k], from.b[k][j], sum[j]);
  for (u32 j = 0; j < kSize; j++) store_result(in, sum[j], shift, to[j]);
}

void multiply_integers(const Inst& in, const Sources& from, u32 i, const u32* c, u32* to) {
  for (u32 j = 0; j < kSize; j++) {
    i64 sum = static_cast<i32>(c[j]);
    for (u32 k = 0; k < in.depth; k++) sum += static_cast<i64>(from.a[i][k]) * static_cast<i64>(from.b[k][j]);
    to[j] = static_cast<u32>(in.clamp ? saturate32(sum) : sum);
  }
}

}  // namespace

void run_wmma(Wave& w, const Inst& in) {
  Sources from;
  read_sources(w, in, from);
  const Operand& c = in.op[3];
  const u32 rows = in.op[0].registers;
  u32 out[kMaxRows][kMaxLanes];
  alignas(64) u32 constant[kMaxLanes];
  for (u32 r = 0; r < rows; r++) memcpy(out[r], w.row(in.op[0].r + r), w.lanes * sizeof(u32));  // the other halves stay
  for (u32 i = 0; i < kSize; i++) {
    const ResultPlace at = result_place(w, in, i);
    const u32* start = read_raw(w, c, constant, c.kind == OperandKind::Constant ? 0 : static_cast<int>(at.row));
    if (is_integer(in))
      multiply_integers(in, from, i, start + at.lane, out[at.row] + at.lane);
    else
      multiply_floats(in, from, i, start + at.lane, at.shift, out[at.row] + at.lane);
  }
  for (u32 r = 0; r < rows; r++) memcpy(w.row(in.op[0].r + r), out[r], w.lanes * sizeof(u32));
}

}  // namespace amdgpu

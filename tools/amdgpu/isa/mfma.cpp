// MFMA: D = A * B + C by a wave of 64 lanes, in one block or several. The execution mask is ignored.
#include "isa/matrix.h"

namespace amdgpu {

namespace {

constexpr u32 kLanes = 64;

// The shape that follows from the name and the registers of the result.
struct Shape {
  u32 m, k;  // a block is m x m, k deep
  u32 blocks;
  u32 k_of_lane;    // elements of k that a lane holds
  u32 result_rows;  // registers

  explicit Shape(const Inst& in)
      : m(in.rows),
        k(in.depth),
        blocks(in.op[0].registers * kLanes / (m * m)),
        k_of_lane(k * m * blocks / kLanes),
        result_rows(in.op[0].registers) {}

  // Where element (i, j) of a block's result is.
  u32 row(u32 i, u32 block) const {
    if (m == 32) return i % 4 + 4 * (i / 8) + 16 * block;
    return m == 16 ? i % 4 + 4 * block : i;
  }
  u32 lane(u32 i, u32 j, u32 block) const {
    if (m == 32) return j + 32 * (i / 4 % 2);
    return m == 16 ? j + 16 * (i / 4) : j + 4 * block;
  }
};

// The sources as matrices: a by row of all blocks, b by k.
struct Sources {
  f32 a[kLanes][32];
  f32 b[32][kLanes];
};

// f16 without broadcasts: all lanes at a time.
void read_f16(const Shape& s, const u32* a, const u32* b, Sources& to) {
  for (u32 e = 0; e < s.k_of_lane; e++) {
    u16 ha[kLanes], hb[kLanes];
    f32 fa[kLanes], fb[kLanes];
    const u32 *ra = a + (e / 2) * kLanes, *rb = b + (e / 2) * kLanes, shift = 16 * (e & 1);
    for (u32 l = 0; l < kLanes; l++) {
      ha[l] = static_cast<u16>(ra[l] >> shift);
      hb[l] = static_cast<u16>(rb[l] >> shift);
    }
    widen_f16(ha, fa, kLanes);
    widen_f16(hb, fb, kLanes);
    for (u32 l = 0; l < kLanes; l++) {
      const u32 i = l % (s.m * s.blocks), k = l / (s.m * s.blocks) * s.k_of_lane + e;
      to.a[i][k] = fa[l];
      to.b[k][i] = fb[l];
    }
  }
}

// The lane of A that a lane takes its row from: CBSZ and ABID broadcast one block to several.
u32 lane_of_a(const Inst& in, const Shape& s, u32 i, u32 block, u32 group) {
  if (!in.cbsz || s.blocks <= 1) return i + s.m * (block + s.blocks * group);
  const u32 mask = (1u << in.cbsz) - 1, from = (block & ~mask) | (in.abid & mask);
  return i + s.m * (from + s.blocks * group);
}

// BLGP permutes the lanes of B.
u32 lane_of_b(const Inst& in, u32 lane) {
  switch (in.blgp) {
    case 0: return lane;
    case 1: return lane & 31;
    case 2: return 32 | (lane & 31);
    case 3: return (lane & 48) == 48 ? lane & 15 : lane + 16;
    default: return (in.blgp - 4u) * 16 + (lane & 15);
  }
}

void read_sources(const Inst& in, const Shape& s, const u32* a, const u32* b, Sources& to) {
  const bool plain = !in.cbsz && !in.blgp;
  if (plain && in.a_type == Element::F16 && in.b_type == Element::F16) return read_f16(s, a, b, to);
  for (u32 l = 0; l < kLanes; l++) {
    const u32 i = l % s.m, block = l / s.m % s.blocks, group = l / (s.m * s.blocks);
    const u32 *pa = a + lane_of_a(in, s, i, block, group), *pb = b + lane_of_b(in, l);
    for (u32 e = 0; e < s.k_of_lane; e++) {
      const u32 k = group * s.k_of_lane + e;
      to.a[i + s.m * block][k] = read_element(in.a_type, pa, kLanes, e, true);
      to.b[k][i + s.m * block] = read_element(in.b_type, pb, kLanes, e, true);
    }
  }
}

void multiply_floats(const f32* a, const f32 (*b)[kLanes], u32 column, const Shape& s, u32* sum) {
  f32 acc[32];
  for (u32 j = 0; j < s.m; j++) acc[j] = bits<f32>(sum[j]);
  for (u32 k = 0; k < s.k; k++)
    for (u32 j = 0; j < s.m; j++) acc[j] = __builtin_fmaf(a[k], b[k][column + j], acc[j]);
  for (u32 j = 0; j < s.m; j++) sum[j] = bits<u32>(acc[j]);
}

void multiply_integers(const f32* a, const f32 (*b)[kLanes], u32 column, const Shape& s, u32* sum) {
  for (u32 k = 0; k < s.k; k++)
    for (u32 j = 0; j < s.m; j++)
      sum[j] += static_cast<u32>(static_cast<i32>(a[k]) * static_cast<i32>(b[k][column + j]));
}

}  // namespace

void run_mfma(Wave& w, const Inst& in) {
  const Shape s(in);
  Sources from;
  read_sources(in, s, w.row(in.op[1].r), w.row(in.op[2].r), from);
  const Operand& c = in.op[3];
  u32 out[32 * kLanes];
  alignas(64) u32 constant[kMaxLanes];
  const auto multiply = in.a_type == Element::I8 ? multiply_integers : multiply_floats;
  for (u32 block = 0; block < s.blocks; block++)
    for (u32 i = 0; i < s.m; i++) {
      const u32 row = s.row(i, block);
      const u32* start = read_raw(w, c, constant, c.kind == OperandKind::Constant ? 0 : static_cast<int>(row));
      u32 sum[32];
      for (u32 j = 0; j < s.m; j++) sum[j] = start[s.lane(i, j, block)];
      multiply(from.a[i + s.m * block], from.b, s.m * block, s, sum);
      for (u32 j = 0; j < s.m; j++) out[row * kLanes + s.lane(i, j, block)] = sum[j];
    }
  memcpy(w.row(in.op[0].r), out, s.result_rows * kLanes * sizeof(u32));
}

// 16x16x4 in one block, 4x4x4 in four. The bits of BLGP negate A, B and C.
void run_mfma_f64(Wave& w, const Inst& in) {
  const u32 m = in.rows, blocks = m == 16 ? 1 : 4;
  auto read = [&](u32 row, u32 lane) { return bits<f64>(w.row(row)[lane] | u64{w.row(row + 1)[lane]} << 32); };
  auto signed_by = [&](int bit, f64 x) { return in.blgp >> bit & 1 ? -x : x; };
  const Operand& c = in.op[3];
  u32 out[8][kLanes];
  for (u32 block = 0; block < blocks; block++)
    for (u32 i = 0; i < m; i++)
      for (u32 j = 0; j < m; j++) {
        const u32 row = m == 16 ? i / 4 : 0, lane = m == 16 ? j + 16 * (i % 4) : j + 4 * block + 16 * i;
        const bool constant = c.kind == OperandKind::Constant;
        f64 sum = signed_by(2, constant ? bits<f64>(c.lo | u64{c.hi32} << 32) : read(c.r + 2 * row, lane));
        for (u32 k = 0; k < 4; k++) {
          const u32 first = m == 16 ? 16 * k : 4 * block + 16 * k;
          sum =
              __builtin_fma(signed_by(0, read(in.op[1].r, i + first)), signed_by(1, read(in.op[2].r, j + first)), sum);
        }
        out[2 * row][lane] = static_cast<u32>(bits<u64>(sum));
        out[2 * row + 1][lane] = static_cast<u32>(bits<u64>(sum) >> 32);
      }
  memcpy(w.row(in.op[0].r), out, in.op[0].registers * kLanes * sizeof(u32));
}

}  // namespace amdgpu

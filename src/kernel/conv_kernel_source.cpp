// The convolution's text: matrix work, output, the kernel; and the packing of weights.
#include "kernel/conv_source.h"

namespace hf::kernel {

const std::string_view kConvMultiply = R"hip(
struct wave_position { int lane, pix, ch; };  // this lane's wave within the tile
DEV wave_position wave_place() {
  int t = thread_x(), g = t / GROUP;
  wave_position p;
  p.lane = lane_id();
  p.pix = g % WM * PIXW + (WGMMA ? t / 32 % 4 * 16 : 0);
  p.ch = g / WM * CHW;
  return p;
}
typedef matrix::acc accumulators[MI][NI];

DEV void clear(accumulators& acc, const problem& a, const place& t, const wave_position& at) {
#pragma unroll
  for (int j = 0; j < NI; j++)
#pragma unroll
    for (int v = 0; v < matrix::VEC; v++) {
      float b[8] = {};
      if constexpr (HF_BIAS)
        load8<HF_F32>(a.bias + t.group * KROWS + t.n + at.ch + j * matrix::CH + matrix::ch_of(at.lane, v), b);
#pragma unroll
      for (int i = 0; i < MI; i++)
#pragma unroll
        for (int e = 0; e < 8; e++) matrix::set(acc[i][j], v, e, SPLITK && t.k ? 0.f : b[e]);
    }
}

DEV void multiply(accumulators& acc, const u8* stage, const wave_position& at) {
#if HF_USE_WGMMA
  int g = thread_x() / GROUP;
  u64 pix = wgmma_tile<CHUNKS>(stage + g % WM * PIXW * ROW_BYTES);
  u64 ch = wgmma_tile<CHUNKS>(stage + PIX_BYTES + g / WM * CHW * ROW_BYTES);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < CHUNKS / 2; k++)
#pragma unroll
    for (int i = 0; i < MI; i++) wgmma<HF_T, CHW>::run((float*)acc[i], pix + i * (64 * ROW_BYTES >> 4) + 2 * k, ch + 2 * k);
  wgmma_commit();
#else
  // Two sets of fragments: the next step's LDS reads are in flight while this step's matrix instructions issue. One set
  // where registers are scarcer than waves.
  constexpr int STEPS = CHUNKS / matrix::KC, SETS = matrix::FRAGMENT_SETS;
  matrix::pix_frag p[SETS][MI];
  matrix::ch_frag c[SETS][NI];
#pragma unroll
  for (int k = 1 - SETS; k < STEPS; k++) {
    const int next = k + SETS - 1;
    if (next < STEPS) {
#pragma unroll
      for (int i = 0; i < MI; i++)
        matrix::load_pix<CHUNKS>(p[next % SETS][i], stage, at.pix + i * matrix::PIX, next * matrix::KC, at.lane);
#pragma unroll
      for (int j = 0; j < NI; j++)
        matrix::load_ch<CHUNKS>(c[next % SETS][j], stage + PIX_BYTES, at.ch + j * matrix::CH, next * matrix::KC, at.lane);
    }
    if (k >= 0) {
#pragma unroll
      for (int i = 0; i < MI; i++)
#pragma unroll
        for (int j = 0; j < NI; j++) matrix::run(acc[i][j], p[(k + SETS) % SETS][i], c[(k + SETS) % SETS][j]);
      schedule_fence();
    }
  }
#endif
}
)hip";

// Partial sums of one tile meet in the workspace; the last block to arrive adds them up in order and stores. The
// accumulators are not written to after the loop: that would make wgmma wait and cost registers.
const std::string_view kConvKernel = R"hip(
struct spot { bool ok; int row, col; };
DEV spot output_of(const problem& a, const place& t, const wave_position& at, int i, int j, int v) {
  spot s;
  int c = t.n + at.ch + j * matrix::CH + matrix::ch_of(at.lane, v);
  s.row = t.m + at.pix + i * PIX_STRIDE + matrix::pix_of(at.lane, v);
  s.col = t.group * K + c;
  s.ok = s.row < a.pixels && (K % BN == 0 || c < K);
  return s;
}
// Whether the lane's vectors of the first wide operand are read before the matrix work, so that they are there after it.
constexpr bool HELD = HF_HELD && !SPLITK && MI * NI * matrix::VEC <= HF_HELD_VECTORS;
struct held_vectors { u32x4 r[HELD ? MI : 1][HELD ? NI : 1][HELD ? matrix::VEC : 1]; };
DEV void hold_all(held_vectors& h, const problem& a, const place& t, const wave_position& at) {
  if constexpr (HELD) {
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
      for (int j = 0; j < NI; j++)
#pragma unroll
        for (int v = 0; v < matrix::VEC; v++) {
          spot s = output_of(a, t, at, i, j, v);
          h.r[i][j][v] = s.ok ? hold(a.o, s.row, s.col) : zero_u32x4();
        }
  }
}
DEV void put(const problem& a, const spot& s, const u32x4* held, float (&x)[8]) {
  finish(a.o, s.row, s.col, held, x);
  out::type* to = a.y + ((i64)s.row * YP + s.col);
  if constexpr (YP % 8 == 0) {
    if constexpr (K % 8 != 0) {
#pragma unroll
      for (int e = 0; e < 8; e++) x[e] = s.col + e < K ? x[e] : 0.f;
    }
    store8<HF_OUT>(to, x);
  } else {
#pragma unroll
    for (int e = 0; e < 8; e++)
      if (s.col + e < YP) to[e] = out::store(x[e]);
  }
}
// Where they are too many to wait in registers, some are read together while those before them are used: one by one,
// each would wait for memory alone.
constexpr int VECTORS = MI * NI * matrix::VEC, CHUNK = HF_HELD && !SPLITK && !HELD ? HF_HELD_CHUNK : 0;
struct held_chunk { u32x4 r[CHUNK ? CHUNK : 1]; };
DEV spot output_of(const problem& a, const place& t, const wave_position& at, int q) {
  return output_of(a, t, at, q / matrix::VEC / NI, q / matrix::VEC % NI, q % matrix::VEC);
}
DEV void hold_chunk(held_chunk& h, const problem& a, const place& t, const wave_position& at, int first) {
#pragma unroll
  for (int c = 0; c < CHUNK; c++) {
    if (first + c >= VECTORS) continue;
    spot s = output_of(a, t, at, first + c);
    h.r[c] = s.ok ? hold(a.o, s.row, s.col) : zero_u32x4();
  }
}
DEV void store_chunks(accumulators& acc, const problem& a, const place& t, const wave_position& at) {
  held_chunk next;
  hold_chunk(next, a, t, at, 0);
#pragma unroll
  for (int first = 0; first < VECTORS; first += CHUNK ? CHUNK : VECTORS) {
    held_chunk now = next;
    if (first + CHUNK < VECTORS) hold_chunk(next, a, t, at, first + CHUNK);
#pragma unroll
    for (int c = 0; c < CHUNK; c++) {
      const int q = first + c;
      if (q >= VECTORS) continue;
      float x[8];
#pragma unroll
      for (int e = 0; e < 8; e++) x[e] = matrix::get(acc[q / matrix::VEC / NI][q / matrix::VEC % NI], q % matrix::VEC, e);
      spot s = output_of(a, t, at, q);
      if (s.ok) put(a, s, &now.r[c], x);
    }
  }
}
DEV void store_all(accumulators& acc, const held_vectors& h, const problem& a, const place& t, const wave_position& at) {
  if constexpr (CHUNK > 0) {
    store_chunks(acc, a, t, at);
  } else {
#pragma unroll
  for (int i = 0; i < MI; i++)
#pragma unroll
    for (int j = 0; j < NI; j++)
#pragma unroll
      for (int v = 0; v < matrix::VEC; v++) {
        float x[8];
#pragma unroll
        for (int e = 0; e < 8; e++) x[e] = matrix::get(acc[i][j], v, e);
        spot s = output_of(a, t, at, i, j, v);
        if (s.ok) put(a, s, HELD ? &h.r[HELD ? i : 0][HELD ? j : 0][HELD ? v : 0] : nullptr, x);
      }
  }
}
DEV void join_splits(accumulators& acc, const problem& a, const place& t, const wave_position& pos, int at, u32* word) {
  constexpr int PART = VECTORS * 2 * THREADS;  // f32x4 of a partial tile, thread by thread
  f32x4* ws = a.ws + (i64)t.tile * a.splits * PART + thread_x();
  const int mine = at % a.splits;
#pragma unroll
  for (int q = 0; q < VECTORS; q++) {
    const matrix::acc& d = acc[q / matrix::VEC / NI][q / matrix::VEC % NI];
#pragma unroll
    for (int h = 0; h < 2; h++)
      ws[mine * PART + (q * 2 + h) * THREADS] =
          make_f32x4(matrix::get(d, q % matrix::VEC, h * 4), matrix::get(d, q % matrix::VEC, h * 4 + 1),
                     matrix::get(d, q % matrix::VEC, h * 4 + 2), matrix::get(d, q % matrix::VEC, h * 4 + 3));
  }
  fence_device();
  barrier();
  if (thread_x() == 0) *word = atomic_add(a.arrived + t.tile, 1);
  barrier();
  const bool last = *word + 1 == (u32)a.splits;
  barrier();
  if (!last) return;
  fence_device();
  if (thread_x() == 0) a.arrived[t.tile] = 0;
#pragma unroll 1
  for (int i = 0; i < MI; i++)
#pragma unroll 1
    for (int j = 0; j < NI; j++)
#pragma unroll
      for (int v = 0; v < matrix::VEC; v++) {
        const int q = (i * NI + j) * matrix::VEC + v;
        float x[8] = {};
        for (int s = 0; s < a.splits; s++) {
          f32x4 lo = ws[s * PART + q * 2 * THREADS], hi = ws[s * PART + (q * 2 + 1) * THREADS];
          x[0] += lo.x; x[1] += lo.y; x[2] += lo.z; x[3] += lo.w; x[4] += hi.x; x[5] += hi.y; x[6] += hi.z; x[7] += hi.w;
        }
        spot o = output_of(a, t, pos, i, j, v);
        if (o.ok) put(a, o, nullptr, x);
      }
}

KERNEL(THREADS, HF_BLOCKS) conv(HF_PARAMETERS) {
  LDS(lds, STAGES * STAGE_BYTES + 16);
  problem a;
  HF_ARGUMENTS;
  feeder f;
  f.begin(a);
  grid_wait();
  grid_release();
#pragma unroll
  for (int i = 0; i < AHEAD; i++) {
    if (f.more(a)) {
      f.fetch_pix(a, lds + i * STAGE_BYTES);
      f.fetch_ch(a, lds + i * STAGE_BYTES);
      f.advance(a);
      f.land(lds + i * STAGE_BYTES);
    }
    copies_commit();
  }
  wave_position at = wave_place();
  int read = 0, write = AHEAD;
  work todo;
  for (todo.begin(a); todo.more(a); todo.next(a)) {
    const place t = todo.t;
    accumulators acc;
    clear(acc, a, t, at);
    held_vectors held;
    hold_all(held, a, t, at);
    int steps = t.kend - t.k;
#pragma unroll 1
    do {  // at least one step: a path without any would make ptxas serialise wgmma
      copies_wait<AHEAD - 1>();
#if HF_USE_WGMMA
      fence_async_proxy();
#endif
      barrier();
#if HF_USE_WGMMA
      multiply(acc, lds + read * STAGE_BYTES, at);
#endif
      if (f.more(a)) {
        f.fetch_pix(a, lds + write * STAGE_BYTES);
        f.fetch_ch(a, lds + write * STAGE_BYTES);
        f.advance(a);
      }
      copies_commit();
#if HF_USE_WGMMA
      wgmma_wait<1>();
#else
      multiply(acc, lds + read * STAGE_BYTES, at);
#endif
      f.land(lds + write * STAGE_BYTES);  // without a branch: one lets the compiler sink the matrix work below it
      read = read + 1 == STAGES ? 0 : read + 1;
      write = write + 1 == STAGES ? 0 : write + 1;
    } while (--steps);
#if HF_USE_WGMMA
    wgmma_wait<0>();
#endif
    if constexpr (SPLITK) join_splits(acc, a, t, at, todo.at, (u32*)(lds + STAGES * STAGE_BYTES));
    else store_all(acc, held, a, t, at);
  }
}
)hip";

// A thread makes one chunk. Weights of several groups joined lie block-diagonally. The shape is known at run time, so
// that all of a model's layers share the code.
const std::string_view kConvPack = R"hip(
typedef element<HF_T> to;
typedef element<HF_FROM> from;
typedef element<HF_FROM2> from2;
typedef mma<HF_T> matrix;
constexpr int CHUNKS = HF_CHUNKS, VEC = to::VEC, BK = CHUNKS * VEC;
struct shape {
  int C, K, R, S, C2, KROWS;  // as the convolution has them
  int joined, group_c;        // groups in one of the convolution's, channels of one of them
  int pair_shift, taps_w;     // where two pixels are one
  int real_c2;
  i64 k_stride, c_stride, r_stride, s_stride, k_stride2, c_stride2;
};
// Element k of a row of the first input's weights.
DEV float first(const from::type* w, const shape& p, int group, int channel, int k) {
  int tap = k / p.C, c = k % p.C, r = tap / p.S, s = tap % p.S;
#if HF_PAIRS
  s = 2 * s + c / 4 - p.pair_shift;
  c %= 4;
  if (s < 0 || s >= p.taps_w) return 0.f;
#endif
  if (tap >= p.R * p.S || c >= p.group_c * p.joined || c / p.group_c != channel / (p.K / p.joined)) return 0.f;
  return from::load(w[(i64)(group * p.K + channel) * p.k_stride + (i64)(c % p.group_c) * p.c_stride + r * p.r_stride + s * p.s_stride]);
}
DEV float second(const from2::type* w, const shape& p, int channel, int c) {
  return c < p.real_c2 ? from2::load(w[(i64)channel * p.k_stride2 + (i64)c * p.c_stride2]) : 0.f;
}
KERNEL(256, 2) pack_weights(const from::type* w, const from2::type* w2, u8* y, i64 count, float factor, int C, int K, int R,
                            int S, int C2, int KROWS, int joined, int group_c, int pair_shift, int taps_w, int real_c2,
                            i64 k_stride, i64 c_stride, i64 r_stride, i64 s_stride, i64 k_stride2, i64 c_stride2) {
  i64 i = (i64)block_x() * 256 + thread_x();
  if (i >= count) return;
  const shape p = {C, K, R, S, C2, KROWS, joined, group_c, pair_shift, taps_w, real_c2, k_stride, c_stride, r_stride, s_stride, k_stride2, c_stride2};
  const int KT1 = (R * S * C + BK - 1) / BK, KT = KT1 + (C2 + BK - 1) / BK;
  const int chunk = (int)(i % CHUNKS), row = (int)(i / CHUNKS % KROWS), all = (int)(i / CHUNKS / KROWS);
  const int step = all % KT, group = all / KT;
  const int channel = row / matrix::CH * matrix::CH + matrix::channel_of_row(row % matrix::CH);
  float v[VEC];
#pragma unroll
  for (int e = 0; e < VEC; e++) {
    const int k = step * BK + chunk * VEC + e;
    v[e] = channel >= K ? 0.f : step < KT1 ? first(w, p, group, channel, k) : second(w2, p, channel, k - KT1 * BK);
    v[e] *= factor;
  }
  pack<VEC, HF_T>::store((to::type*)(y + (i64)all * KROWS * (CHUNKS * 16) + lds_offset<CHUNKS>(row, chunk)), v);
}
)hip";

}  // namespace hf::kernel

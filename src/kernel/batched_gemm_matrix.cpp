// Batched products of two operands of one 16-bit type by matrix instructions: a flat pipeline through LDS.
#include <fmt/core.h>

#include <algorithm>

#include "kernel/batched_gemm_parts.h"

namespace hf::kernel::gemm {
namespace {

struct Tile {
  int rows, columns, chunks, threads;  // chunks of 8 elements a step
  const char* variant;
};
constexpr Tile kTiles[] = {{128, 128, 4, 256, "matrix128"}, {64, 64, 8, 128, "matrix64"}};
// Where copies are asynchronous two steps can be in flight; else one.
int stages_of(const Target& target) { return target.arch.starts_with("sm_") ? 3 : 2; }

// HF_BM, HF_BN    rows and columns of a block's result
// HF_CHUNKS       chunks of a step, 4 or 8
// HF_A_WHOLE      a's rows are contiguous and aligned: copied 16 bytes at a time; else element by element
const char* const kSource = R"hip(
typedef mma<HF_A> unit;
constexpr int WAVES = HF_THREADS / WAVE, MOST_M = HF_BM / unit::PIX;
constexpr int WAVES_M = WAVES >= 2 && MOST_M >= 2 ? 2 : 1, WAVES_N = WAVES / WAVES_M;
constexpr int MI = HF_BM / WAVES_M / unit::PIX, NI = HF_BN / WAVES_N / unit::CH;
static_assert(MI * unit::PIX * WAVES_M == HF_BM && NI * unit::CH * WAVES_N == HF_BN, "the waves cover the tile");
constexpr int A_BYTES = HF_BM * HF_CHUNKS * 16, STAGE = A_BYTES + HF_BN * HF_CHUNKS * 16, AHEAD = HF_STAGES - 1;

// Brings ROWS rows of HF_CHUNKS chunks of one operand. WHOLE: by 16-byte copies. ALONG: the elements of a row are
// contiguous, so consecutive threads take the chunks of a row; else consecutive rows.
template <int ROWS, bool WHOLE, bool ALONG> struct feeder {
  enum { COUNT = ROWS * HF_CHUNKS / HF_THREADS };
  copier<COUNT, false> copies;  // where WHOLE
  u32x4 value[WHOLE ? 1 : COUNT];
  const u16* from[COUNT];       // the first element of copy i's row; null: beyond the last row

  DEV int at(int i) { return i * HF_THREADS + thread_x(); }
  DEV int row(int i) { return ALONG ? at(i) / HF_CHUNKS : at(i) % ROWS; }
  DEV int chunk(int i) { return ALONG ? at(i) % HF_CHUNKS : at(i) / ROWS; }
  DEV u8* place(u8* tile, int i) { return tile + lds_offset<HF_CHUNKS>(row(i), chunk(i)); }
  MEMBER void aim(int i, const u16* base, i64 step, int line, int lines) {
    from[i] = line < lines ? base + line * step : nullptr;
  }
  MEMBER void fetch(u8* tile, int k, i64 step) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      int first = k + chunk(i) * 8;
      if constexpr (WHOLE) {
        bool ok = from[i] && first < HF_K;
        copies.fetch(i, place(tile, i), ok ? from[i] + first : from[0], ok);
      } else {
        u32 v[8];
#pragma unroll
        for (int e = 0; e < 8; e++) v[e] = from[i] && first + e < HF_K ? from[i][(first + e) * step] : 0;
        value[i].x = v[0] | v[1] << 16; value[i].y = v[2] | v[3] << 16;
        value[i].z = v[4] | v[5] << 16; value[i].w = v[6] | v[7] << 16;
      }
    }
  }
  MEMBER void land(u8* tile) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      if constexpr (WHOLE) copies.land(i, place(tile, i));
      else *(u32x4*)place(tile, i) = value[i];
    }
  }
};
typedef feeder<HF_BM, HF_A_WHOLE, HF_A_COL == 1> feed_a;
typedef feeder<HF_BN, HF_B_WHOLE, HF_B_ROW == 1> feed_b;

DEV void multiply(unit::acc (&acc)[MI][NI], const u8* stage, int m, int n) {
  int lane = lane_id();
#pragma unroll
  for (int c = 0; c < HF_CHUNKS; c += unit::KC) {
    unit::pix_frag p[MI];
    unit::ch_frag q[NI];
#pragma unroll
    for (int i = 0; i < MI; i++) unit::load_pix<HF_CHUNKS>(p[i], stage, m + i * unit::PIX, c, lane);
#pragma unroll
    for (int j = 0; j < NI; j++) unit::load_ch<HF_CHUNKS>(q[j], stage + A_BYTES, n + j * unit::CH, c, lane);
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
      for (int j = 0; j < NI; j++) unit::run(acc[i][j], p[i], q[j]);
    schedule_fence();
  }
}

KERNEL(HF_THREADS, 1) batched_gemm(const ta::type* a, const tb::type* b, tout::type* out, int m$(parameters)) {
  LDS(lds, HF_STAGES * STAGE);
  operands with = {$(operands)};
  const int tiles_n = (HF_N + HF_BN - 1) / HF_BN, tiles_m = (m + HF_BM - 1) / HF_BM;
  const int tile = block_x() / tiles_n, first_n = block_x() % tiles_n * HF_BN, first_m = tile % tiles_m * HF_BM;
  const i64 batch = tile / tiles_m;
  i64 a_offset, b_offset;
  batch_offsets(batch, a_offset, b_offset);
  feed_a from_a;
  feed_b from_b;
#pragma unroll
  for (int i = 0; i < feed_a::COUNT; i++) from_a.aim(i, a + a_offset, HF_A_ROW, first_m + feed_a::row(i), m);
#pragma unroll
  for (int i = 0; i < feed_b::COUNT; i++) {
    int row = feed_b::row(i), column = row / unit::CH * unit::CH + unit::channel_of_row(row % unit::CH);
    from_b.aim(i, b + b_offset, HF_B_COL, first_n + column, HF_N);
  }
  const int wave = thread_x() / WAVE, wave_m = wave % WAVES_M * (MI * unit::PIX), wave_n = wave / WAVES_M * (NI * unit::CH);
  unit::acc acc[MI][NI];
#pragma unroll
  for (int i = 0; i < MI * NI * unit::VEC * 8; i++)
    unit::set(acc[i / 8 / unit::VEC / NI][i / 8 / unit::VEC % NI], i / 8 % unit::VEC, i % 8, 0.f);
  constexpr int STEPS = (HF_K + HF_CHUNKS * 8 - 1) / (HF_CHUNKS * 8);
#pragma unroll
  for (int s = 0; s < AHEAD; s++) {
    if (s < STEPS) {
      from_a.fetch(lds + s * STAGE, s * HF_CHUNKS * 8, HF_A_COL);
      from_b.fetch(lds + s * STAGE + A_BYTES, s * HF_CHUNKS * 8, HF_B_ROW);
      from_a.land(lds + s * STAGE);
      from_b.land(lds + s * STAGE + A_BYTES);
    }
    copies_commit();
  }
  int read = 0, write = AHEAD;
#pragma unroll 1
  for (int s = 0; s < STEPS; s++) {
    copies_wait<AHEAD - 1>();
    barrier();
    int k = (s + AHEAD) * HF_CHUNKS * 8;  // beyond the last step: zeros, which nobody reads
    from_a.fetch(lds + write * STAGE, k, HF_A_COL);
    from_b.fetch(lds + write * STAGE + A_BYTES, k, HF_B_ROW);
    copies_commit();
    multiply(acc, lds + read * STAGE, wave_m, wave_n);
    from_a.land(lds + write * STAGE);
    from_b.land(lds + write * STAGE + A_BYTES);
    read = read + 1 == HF_STAGES ? 0 : read + 1;
    write = write + 1 == HF_STAGES ? 0 : write + 1;
  }
#pragma unroll
  for (int i = 0; i < MI; i++)
#pragma unroll
    for (int j = 0; j < NI; j++)
#pragma unroll
      for (int v = 0; v < unit::VEC; v++) {
        int r = first_m + wave_m + i * unit::PIX + unit::pix_of(lane_id(), v);
        int c = first_n + wave_n + j * unit::CH + unit::ch_of(lane_id(), v);
        if (r >= m || c >= HF_N) continue;
        i64 row = batch * m + r;
        float x[8];
#pragma unroll
        for (int e = 0; e < 8; e++) x[e] = c + e < HF_N ? finish(with, unit::get(acc[i][j], v, e), row, c + e) : 0.f;
        if constexpr (HF_N % 8 == 0) store8<HF_OUT>(out + row * HF_N + c, x);
        else
#pragma unroll
          for (int e = 0; e < 8; e++) if (c + e < HF_N) out[row * HF_N + c + e] = tout::store(x[e]);
      }
}
)hip";

// Every row of the operand, of products these strides apart, is k contiguous and aligned elements.
bool is_whole(const BatchedGemmProblem& p, int64_t along, int64_t row, int64_t BatchAxis::*batch) {
  return along == 1 && vector_along(p.k, {row}, 8) == 8 &&
         std::all_of(p.batch.begin(), p.batch.end(), [&](const BatchAxis& axis) { return axis.*batch % 8 == 0; });
}

}  // namespace

bool takes_matrix(const BatchedGemmProblem& p) { return p.a == p.b && p.a != Element::F32 && p.k > 0; }

KernelSpec matrix(const BatchedGemmProblem& p, bool large, const Target& target) {
  const int stages = stages_of(target);
  const Tile& tile = kTiles[large ? 0 : 1];
  KernelSpec spec = begin_spec(p, tile.variant, kSource);
  bool a_whole = is_whole(p, p.a_col, p.a_row, &BatchAxis::a), b_whole = is_whole(p, p.b_row, p.b_col, &BatchAxis::b);
  for (const std::string& define :
       {fmt::format("HF_BM={}", tile.rows), fmt::format("HF_BN={}", tile.columns),
        fmt::format("HF_CHUNKS={}", tile.chunks), fmt::format("HF_THREADS={}", tile.threads),
        fmt::format("HF_STAGES={}", stages), fmt::format("HF_A_WHOLE={}", int{a_whole}),
        fmt::format("HF_B_WHOLE={}", int{b_whole})})
    spec.defines.push_back(define);
  int64_t tiles = (p.m + tile.rows - 1) / tile.rows * ((p.n + tile.columns - 1) / tile.columns);
  spec.grid[0] = blocks_for(tiles * p.batches(), 1);
  spec.block[0] = static_cast<uint32_t>(tile.threads);
  spec.lds_bytes = static_cast<uint32_t>(stages * (tile.rows + tile.columns) * tile.chunks * 16);
  return spec;
}

}  // namespace hf::kernel::gemm

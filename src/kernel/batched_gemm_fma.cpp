// Batched products in float32: tiles in LDS, each thread a square of results by fused multiply-add.
#include <fmt/core.h>

#include "kernel/batched_gemm_parts.h"

namespace hf::kernel::gemm {
namespace {

constexpr int kThreads = 256, kDepth = 16;

// HF_TILE    rows and columns of a block's result, 64 or 128
// HF_A_VEC   elements of one access to a, along its contiguous axis; HF_B_VEC likewise
const char* const kSource = R"hip(
constexpr int TILE = HF_TILE, DEPTH = HF_DEPTH, PITCH = TILE + 4, EACH = TILE / 16, HALVES = EACH / 4;

// What a thread brings of one operand: TILE rows (of a) or columns (of b) by DEPTH. ROWS_FIRST: consecutive threads
// along the depth, which is contiguous; else along the rows.
template <int T, int VEC, bool ALONG_DEPTH> struct feeder {
  enum { LINE = (ALONG_DEPTH ? DEPTH : TILE) / VEC, COUNT = TILE * DEPTH / VEC / HF_THREADS };
  typedef float values[COUNT][VEC];
  static_assert(COUNT * VEC * HF_THREADS == TILE * DEPTH, "all threads bring as much");

  DEV int at(int i) { return i * HF_THREADS + thread_x(); }
  DEV int row(int i) { return ALONG_DEPTH ? at(i) / LINE : at(i) % LINE * VEC; }
  DEV int depth(int i) { return ALONG_DEPTH ? at(i) % LINE * VEC : at(i) / LINE; }
  DEV void fetch(values& v, const typename element<T>::type* from, i64 row_step, i64 depth_step, int first, int rows,
                 int k) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      int r = first + row(i), d = k + depth(i);
      if (r < rows && d < HF_K) pack<VEC, T>::load(from + r * row_step + d * depth_step, v[i]);
      else for (int e = 0; e < VEC; e++) v[i][e] = 0;
    }
  }
  DEV void land(const values& v, float* tile) {
#pragma unroll
    for (int i = 0; i < COUNT; i++)
      for (int e = 0; e < VEC; e++)
        tile[(depth(i) + (ALONG_DEPTH ? e : 0)) * PITCH + row(i) + (ALONG_DEPTH ? 0 : e)] = v[i][e];
  }
};

// Four of the thread's rows or columns: they come in groups of four, TILE / HALVES apart.
DEV void read4(const float* from, float* v) {
  u32x4 x = *(const u32x4*)from;
  v[0] = as_float(x.x); v[1] = as_float(x.y); v[2] = as_float(x.z); v[3] = as_float(x.w);
}

KERNEL(HF_THREADS, HF_TILE == 128 ? 1 : 2) batched_gemm(const ta::type* a, const tb::type* b, tout::type* out, int m$(parameters)) {
  LDS(lds, 2 * 2 * DEPTH * PITCH * 4);
  operands with = {$(operands)};
  const int tiles_n = (HF_N + TILE - 1) / TILE, tiles_m = (m + TILE - 1) / TILE;
  const int tile = block_x() / tiles_n, first_n = block_x() % tiles_n * TILE, first_m = tile % tiles_m * TILE;
  const i64 batch = tile / tiles_m;
  i64 a_offset, b_offset;
  batch_offsets(batch, a_offset, b_offset);
  a += a_offset;
  b += b_offset;
  const int x = thread_x() % 16 * 4, y = thread_x() / 16 * 4;
  float sum[EACH][EACH] = {};
  typedef feeder<HF_A, HF_A_VEC, HF_A_COL == 1> feed_a;
  typedef feeder<HF_B, HF_B_VEC, HF_B_ROW == 1 && HF_B_COL != 1> feed_b;
  typename feed_a::values from_a;
  typename feed_b::values from_b;
  feed_a::fetch(from_a, a, HF_A_ROW, HF_A_COL, first_m, m, 0);
  feed_b::fetch(from_b, b, HF_B_COL, HF_B_ROW, first_n, HF_N, 0);
  int stage = 0;
  for (int k = 0; k < HF_K; k += DEPTH) {
    float* tile_a = (float*)lds + stage * 2 * DEPTH * PITCH;
    float* tile_b = tile_a + DEPTH * PITCH;
    feed_a::land(from_a, tile_a);
    feed_b::land(from_b, tile_b);
    barrier();  // one a step: who lands in a stage has passed the barrier after its last reading
    feed_a::fetch(from_a, a, HF_A_ROW, HF_A_COL, first_m, m, k + DEPTH);
    feed_b::fetch(from_b, b, HF_B_COL, HF_B_ROW, first_n, HF_N, k + DEPTH);
#pragma unroll 4
    for (int d = 0; d < DEPTH; d++) {
      float va[EACH], vb[EACH];
#pragma unroll
      for (int h = 0; h < HALVES; h++) {
        read4(tile_a + d * PITCH + h * (TILE / HALVES) + y, va + h * 4);
        read4(tile_b + d * PITCH + h * (TILE / HALVES) + x, vb + h * 4);
      }
#pragma unroll
      for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) sum[i][j] = fma_f32(va[i], vb[j], sum[i][j]);
    }
    stage ^= 1;
  }
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    int r = first_m + i / 4 * (TILE / HALVES) + y + i % 4;
    if (r >= m) continue;
    i64 row = batch * m + r;
#pragma unroll
    for (int h = 0; h < HALVES; h++) {
      int c = first_n + h * (TILE / HALVES) + x;
      float v[4];
#pragma unroll
      for (int e = 0; e < 4; e++) v[e] = c + e < HF_N ? finish(with, sum[i][h * 4 + e], row, c + e) : 0.f;
      if (HF_N % 4 == 0 && c < HF_N) pack<4, HF_OUT>::store(out + row * HF_N + c, v);
      if (HF_N % 4)
        for (int e = 0; e < 4; e++) if (c + e < HF_N) out[row * HF_N + c + e] = tout::store(v[e]);
    }
  }
}
)hip";

}  // namespace

KernelSpec fma(const BatchedGemmProblem& p, int tile) {
  auto batch_fits = [&](int64_t BatchAxis::*stride, int vec) {
    for (const BatchAxis& axis : p.batch)
      if (axis.*stride % vec) return false;
    return true;
  };
  int a_vec = p.a_col == 1 ? vector_along(p.k, {p.a_row}, 4) : p.a_row == 1 ? vector_along(p.m, {p.a_col}, 4) : 1;
  int b_vec = p.b_col == 1 ? vector_along(p.n, {p.b_row}, 4) : p.b_row == 1 ? vector_along(p.k, {p.b_col}, 4) : 1;
  while (!batch_fits(&BatchAxis::a, a_vec)) a_vec /= 2;
  while (!batch_fits(&BatchAxis::b, b_vec)) b_vec /= 2;
  KernelSpec spec = begin_spec(p, tile == 128 ? "fma128" : "fma64", kSource);
  for (const std::string& define :
       {fmt::format("HF_TILE={}", tile), fmt::format("HF_THREADS={}", kThreads), fmt::format("HF_DEPTH={}", kDepth),
        fmt::format("HF_A_VEC={}", a_vec), fmt::format("HF_B_VEC={}", b_vec)})
    spec.defines.push_back(define);
  int64_t tiles = (p.m + tile - 1) / tile * ((p.n + tile - 1) / tile);
  spec.grid[0] = blocks_for(tiles * p.batches(), 1);
  spec.block[0] = kThreads;
  spec.lds_bytes = static_cast<uint32_t>(2 * 2 * kDepth * (tile + 4) * 4);
  return spec;
}

}  // namespace hf::kernel::gemm

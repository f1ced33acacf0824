// Batched products of at most 16 rows: limited by reading b once, so no tiles.
#include <fmt/core.h>

#include <algorithm>

#include "kernel/batched_gemm_parts.h"

namespace hf::kernel::gemm {
namespace {

constexpr int kThreads = 256;

// b stored by columns: a wave has HF_COLS columns, its lanes go along the depth.
// HF_VEC  elements of one access to b along the depth; HF_A_VEC the same, or 1 where a is not contiguous
const char* const kAlongDepth = R"hip(
constexpr int WAVES = HF_THREADS / WAVE;

KERNEL(HF_THREADS, 2) batched_gemm(const ta::type* a, const tb::type* b, tout::type* out, int m$(parameters)) {
  operands with = {$(operands)};
  constexpr int BLOCKS = (HF_N + WAVES * HF_COLS - 1) / (WAVES * HF_COLS);
  const i64 batch = block_x() / BLOCKS;
  const int first = (block_x() % BLOCKS * WAVES + thread_x() / WAVE) * HF_COLS;
  i64 a_offset, b_offset;
  batch_offsets(batch, a_offset, b_offset);
  a += a_offset;
  b += b_offset;
  float sum[HF_M][HF_COLS] = {};
  for (int k = lane_id() * HF_VEC; k < HF_K; k += WAVE * HF_VEC) {
    float vb[HF_COLS][HF_VEC];
#pragma unroll
    for (int c = 0; c < HF_COLS; c++)  // columns beyond the last repeat it
      pack<HF_VEC, HF_B>::load(b + (first + c < HF_N ? first + c : HF_N - 1) * HF_B_COL + k, vb[c]);
#pragma unroll
    for (int r = 0; r < HF_M; r++) {
      float va[HF_VEC];
      const ta::type* from = a + (r < m ? r : m - 1) * HF_A_ROW + k * HF_A_COL;
      if constexpr (HF_A_VEC == HF_VEC) pack<HF_VEC, HF_A>::load(from, va);
      else for (int e = 0; e < HF_VEC; e++) va[e] = ta::load(from[e * HF_A_COL]);
#pragma unroll
      for (int c = 0; c < HF_COLS; c++)
        for (int e = 0; e < HF_VEC; e++) sum[r][c] = fma_f32(va[e], vb[c][e], sum[r][c]);
    }
  }
#pragma unroll
  for (int r = 0; r < HF_M; r++)
#pragma unroll
    for (int c = 0; c < HF_COLS; c++) {
      float v = wave_reduce<add_f32_op>(sum[r][c]);
      i64 row = batch * m + r;
      if (lane_id() == 0 && r < m && first + c < HF_N)
        out[row * HF_N + first + c] = tout::store(finish(with, v, row, first + c));
    }
}
)hip";

// b stored by rows: threads go along the columns, HF_VEC each; the HF_GROUPS groups of a block share the depth.
const char* const kAlongColumns = R"hip(
constexpr int LINE = HF_THREADS / HF_GROUPS;

KERNEL(HF_THREADS, 2) batched_gemm(const ta::type* a, const tb::type* b, tout::type* out, int m$(parameters)) {
  LDS(lds, HF_GROUPS * LINE * HF_VEC * 4);
  float* parts = (float*)lds;
  operands with = {$(operands)};
  constexpr int BLOCKS = (HF_N + LINE * HF_VEC - 1) / (LINE * HF_VEC);
  const i64 batch = block_x() / BLOCKS;
  const int at = thread_x() % LINE * HF_VEC, group = thread_x() / LINE;
  const int column = block_x() % BLOCKS * (LINE * HF_VEC) + at;
  i64 a_offset, b_offset;
  batch_offsets(batch, a_offset, b_offset);
  a += a_offset;
  b += b_offset;
  float sum[HF_M][HF_VEC] = {};
  if (column < HF_N) {
#pragma unroll 4
    for (int k = group; k < HF_K; k += HF_GROUPS) {
      float vb[HF_VEC];
      pack<HF_VEC, HF_B>::load(b + k * HF_B_ROW + column, vb);
#pragma unroll
      for (int r = 0; r < HF_M; r++) {
        float va = ta::load(a[(r < m ? r : m - 1) * HF_A_ROW + k * HF_A_COL]);
        for (int e = 0; e < HF_VEC; e++) sum[r][e] = fma_f32(va, vb[e], sum[r][e]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < HF_M; r++) {
    for (int e = 0; e < HF_VEC; e++) parts[group * LINE * HF_VEC + at + e] = sum[r][e];
    barrier();
    for (int c = thread_x(); c < LINE * HF_VEC; c += HF_THREADS) {
      float v = 0;
      for (int g = 0; g < HF_GROUPS; g++) v += parts[g * LINE * HF_VEC + c];
      int j = column - at + c;
      i64 row = batch * m + r;
      if (r < m && j < HF_N) out[row * HF_N + j] = tout::store(finish(with, v, row, j));
    }
    barrier();
  }
}
)hip";

// Rows are rounded up, so that few texts serve all.
int rows_of(const BatchedGemmProblem& p) {
  int rows = 1;
  while (rows < p.m) rows *= 2;
  return rows;
}

int vector_of_b(const BatchedGemmProblem& p, int most) {
  int vec = p.b_by_rows() ? vector_along(p.n, {p.b_row}, most) : vector_along(p.k, {p.b_col}, most);
  for (const BatchAxis& axis : p.batch) vec = vector_along(0, {axis.b}, vec);
  return vec;
}

KernelSpec along_depth(const BatchedGemmProblem& p, const Target& target) {
  int rows = rows_of(p), columns = std::clamp(16 / rows, 1, 4), vec = vector_of_b(p, vector_of(p.b));
  bool even = p.a_by_rows() && vector_along(0, {p.a_row}, vec) == vec &&
              std::all_of(p.batch.begin(), p.batch.end(), [&](const BatchAxis& x) { return x.a % vec == 0; });
  KernelSpec spec = begin_spec(p, "skinny_depth", kAlongDepth);
  for (const std::string& define :
       {fmt::format("HF_M={}", rows), fmt::format("HF_COLS={}", columns), fmt::format("HF_VEC={}", vec),
        fmt::format("HF_A_VEC={}", even ? vec : 1), fmt::format("HF_THREADS={}", kThreads)})
    spec.defines.push_back(define);
  int64_t per_block = int64_t{kThreads} / target.wave_size * columns;
  spec.grid[0] = blocks_for((p.n + per_block - 1) / per_block * p.batches(), 1);
  spec.block[0] = kThreads;
  return spec;
}

KernelSpec along_columns(const BatchedGemmProblem& p, const Target& target) {
  int rows = rows_of(p), vec = vector_of_b(p, rows <= 4 ? vector_of(p.b) : rows <= 8 ? 4 : 2);
  // As many groups along the depth as leave every group a few steps, and more where there are few columns.
  int groups = 1;
  int64_t lines = (p.n + vec - 1) / vec;
  auto blocks = [&](int g) { return (lines * g + kThreads - 1) / kThreads * p.batches(); };
  while (groups < kThreads / 8 && groups * 4 < p.k &&
         (lines * groups < kThreads || blocks(groups) < 2 * target.compute_units))
    groups *= 2;
  KernelSpec spec = begin_spec(p, "skinny_columns", kAlongColumns);
  for (const std::string& define : {fmt::format("HF_M={}", rows), fmt::format("HF_GROUPS={}", groups),
                                    fmt::format("HF_VEC={}", vec), fmt::format("HF_THREADS={}", kThreads)})
    spec.defines.push_back(define);
  int64_t per_block = int64_t{kThreads} / groups * vec;
  spec.grid[0] = blocks_for((p.n + per_block - 1) / per_block * p.batches(), 1);
  spec.block[0] = kThreads;
  spec.lds_bytes = static_cast<uint32_t>(kThreads * vec * 4);
  return spec;
}

}  // namespace

bool takes_skinny(const BatchedGemmProblem& p) { return p.m <= 16 && p.k > 0 && (p.b_by_rows() || p.b_row == 1); }

KernelSpec skinny(const BatchedGemmProblem& p, const Target& target) {
  return p.b_by_rows() ? along_columns(p, target) : along_depth(p, target);
}

}  // namespace hf::kernel::gemm

// Products of matrices of 8-bit integers: tiles of 64 x 64 through LDS.
#include "kernel/integer_gemm.h"

#include <fmt/core.h>

#include "base/error.h"
#include "kernel/integer_text.h"

namespace hf::kernel {
namespace {

constexpr int kTile = 64, kDepth = 16, kThreads = 256;

const char* const kSource = R"hip(
enum { TILE = 64, DEPTH = 16, PITCH = TILE + 4 };

KERNEL(256, 2) integer_gemm(const a_type* a, const b_type* b, out_type* y, int m, i64 a_batch, i64 b_batch HF_INT_PARAMS) {
  LDS(lds, 2 * 4 * 16 * 68);
  int *as = (int*)lds, *bs = as + DEPTH * PITCH;  // [depth][row or column]
  int t = thread_x(), row0 = block_y() * TILE, column0 = block_x() * TILE;
  a += block_z() * a_batch;
  b += block_z() * b_batch;
  y += (i64)block_z() * m * HF_N;
  // What this thread loads: four depths of one row of a, four columns of one depth of b.
  int a_row = t / 4, a_depth = t % 4 * 4, b_depth = t / 16, b_column = t % 16 * 4;
  int row = row0 + a_row, a_zero_here = row < m ? get_a_zero(row, 0 HF_INT_ARGS) : 0, b_zero_here[4];
  for (int j = 0; j < 4; j++) {
    int column = column0 + b_column + j;
    b_zero_here[j] = column < HF_N ? get_b_zero(0, column HF_INT_ARGS) : 0;
  }
  int sums[4][4] = {};
  for (int k = 0; k < HF_K; k += DEPTH) {
    for (int j = 0; j < 4; j++) {
      int d = k + a_depth + j, e = k + b_depth, column = column0 + b_column + j;
      as[(a_depth + j) * PITCH + a_row] = row < m && d < HF_K ? (int)a[(i64)row * HF_K + d] - a_zero_here : 0;
      bs[b_depth * PITCH + b_column + j] = column < HF_N && e < HF_K ? (int)b[(i64)e * HF_N + column] - b_zero_here[j] : 0;
    }
    barrier();
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
      u32x4 u = *(const u32x4*)(as + d * PITCH + t / 16 * 4), v = *(const u32x4*)(bs + d * PITCH + t % 16 * 4);
      int x[4] = {(int)u.x, (int)u.y, (int)u.z, (int)u.w}, w[4] = {(int)v.x, (int)v.y, (int)v.z, (int)v.w};
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sums[i][j] += x[i] * w[j];
    }
    barrier();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      int r = row0 + t / 16 * 4 + i, c = column0 + t % 16 * 4 + j;
      if (r < m && c < HF_N) y[(i64)r * HF_N + c] = finished(sums[i][j], r, c HF_INT_ARGS);
    }
}
)hip";

}  // namespace

Candidates integer_gemm(const IntegerGemmProblem& p, const Target&) {
  const int64_t rows = (p.m + kTile - 1) / kTile;
  if (rows > 65535 || p.batch > 65535 || p.n > INT32_MAX - kTile || p.k > INT32_MAX - kDepth || p.m > INT32_MAX - kTile)
    fail(Code::Unsupported, "{} integer products of {} x {} x {}", p.batch, p.m, p.n, p.k);
  KernelSpec spec{.family = "integer_gemm",
                  .variant = "64x64",
                  .source = integer_text(p.types) + kSource,
                  .entry = "integer_gemm",
                  .defines = {fmt::format("HF_N={}", p.n), fmt::format("HF_K={}", p.k)},
                  .grid = {blocks_for(p.n, kTile), static_cast<uint32_t>(rows), static_cast<uint32_t>(p.batch)},
                  .block = {kThreads, 1, 1},
                  .lds_bytes = 2 * 4 * kDepth * (kTile + 4),
                  .arguments = {Argument::input(p.types.a_input), Argument::input(p.types.b_input), Argument::output(0),
                                Argument::int32(p.m), Argument::int64(p.a_batch), Argument::int64(p.b_batch)}};
  add_parameters(spec, p.types);
  return {std::move(spec)};
}

}  // namespace hf::kernel

// Softmax over rows: one wave a row for short rows, one block a row for long ones; registers hold the row if it fits.
#include "kernel/softmax.h"

#include <fmt/core.h>

#include "base/error.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;
constexpr int kMostKept = 32;  // values a lane keeps in registers; more would spill beside the rest

// HF_LANES  lanes that share a row: WAVE or HF_THREADS
// HF_VEC    elements of one access; divides HF_COLS
// HF_KEEP   accesses of a lane that cover the row, kept in registers; 0: too many, the row is read three times
const char* const kSource = R"hip(
typedef element<HF_IN> in;
typedef element<HF_OUT> out;
constexpr bool WHOLE_BLOCK = HF_LANES == HF_THREADS;
constexpr int STEP = HF_LANES * HF_VEC;

template <class Op> DEV float over_row(float v, float* scratch) {
  if constexpr (WHOLE_BLOCK) return block_reduce<Op, HF_THREADS>(v, scratch);
  else return wave_reduce<Op>(v);
}
// Columns beyond the row count as -inf, which changes neither maximum nor sum.
DEV void read(const in::type* row, int col, float (&v)[HF_VEC]) {
  if (col < HF_COLS) {
    pack<HF_VEC, HF_IN>::load(row + col, v);
  } else {
    for (int i = 0; i < HF_VEC; i++) v[i] = -infinity();
  }
}
DEV void write(out::type* row, int col, const float (&v)[HF_VEC], float max, float sum) {
  float y[HF_VEC];
#if HF_LOG
  float shift = log_f32(sum);
  for (int i = 0; i < HF_VEC; i++) y[i] = v[i] - max - shift;
#else
  float scale = 1.f / sum;
  for (int i = 0; i < HF_VEC; i++) y[i] = exp_f32(v[i] - max) * scale;
#endif
  if (col < HF_COLS) pack<HF_VEC, HF_OUT>::store(row + col, y);
}

KERNEL(HF_THREADS, 2) softmax(const in::type* x, out::type* y, i64 rows) {
  LDS(lds, 64);
  float* scratch = (float*)lds;
  int lane = WHOLE_BLOCK ? thread_x() : lane_id();
  i64 row = (i64)block_x() * (HF_THREADS / HF_LANES) + thread_x() / HF_LANES;
  if (row >= rows) return;  // whole waves only
  x += row * HF_COLS;
  y += row * HF_COLS;
  float max = -infinity(), sum = 0;
#if HF_KEEP
  float v[HF_KEEP][HF_VEC];
#pragma unroll
  for (int k = 0; k < HF_KEEP; k++) {
    read(x, k * STEP + lane * HF_VEC, v[k]);
    for (int i = 0; i < HF_VEC; i++) max = max_f32(max, v[k][i]);
  }
  max = over_row<max_f32_op>(max, scratch);
#pragma unroll
  for (int k = 0; k < HF_KEEP; k++)
    for (int i = 0; i < HF_VEC; i++) sum += exp_f32(v[k][i] - max);
  sum = over_row<add_f32_op>(sum, scratch);
#pragma unroll
  for (int k = 0; k < HF_KEEP; k++) write(y, k * STEP + lane * HF_VEC, v[k], max, sum);
#else
  float v[HF_VEC];
  for (int col = lane * HF_VEC; col < HF_COLS; col += STEP) {
    read(x, col, v);
    for (int i = 0; i < HF_VEC; i++) max = max_f32(max, v[i]);
  }
  max = over_row<max_f32_op>(max, scratch);
  for (int col = lane * HF_VEC; col < HF_COLS; col += STEP) {
    read(x, col, v);
    for (int i = 0; i < HF_VEC; i++) sum += exp_f32(v[i] - max);
  }
  sum = over_row<add_f32_op>(sum, scratch);
  for (int col = lane * HF_VEC; col < HF_COLS; col += STEP) {
    read(x, col, v);
    write(y, col, v, max, sum);
  }
#endif
}
)hip";

KernelSpec make(const SoftmaxProblem& p, int lanes, const char* variant) {
  int vec = vector_of(p.in) > vector_of(p.out) ? vector_of(p.in) : vector_of(p.out);
  while (p.cols % vec) vec /= 2;
  int64_t keep = (p.cols + int64_t{lanes} * vec - 1) / (int64_t{lanes} * vec);
  if (keep * vec > kMostKept) keep = 0;
  return {
      .family = "softmax",
      .variant = variant,
      .source = kSource,
      .entry = "softmax",
      .defines = {fmt::format("HF_IN={}", static_cast<int>(p.in)), fmt::format("HF_OUT={}", static_cast<int>(p.out)),
                  fmt::format("HF_COLS={}", p.cols), fmt::format("HF_THREADS={}", kThreads),
                  fmt::format("HF_LANES={}", lanes), fmt::format("HF_VEC={}", vec), fmt::format("HF_KEEP={}", keep),
                  fmt::format("HF_LOG={}", int{p.log})},
      .grid = {blocks_for(p.rows, kThreads / lanes), 1, 1},
      .block = {kThreads, 1, 1},
      .lds_bytes = 64,
      .arguments = {Argument::input(0), Argument::output(0), Argument::int64(p.rows)}};
}

}  // namespace

Candidates softmax(const SoftmaxProblem& p, const Target& target) {
  // Columns are ints in the kernel, with room for one step beyond the row.
  if (p.cols > INT32_MAX / 2) fail(Code::Unsupported, "softmax over {} columns; at most {}", p.cols, INT32_MAX / 2);
  KernelSpec wave = make(p, target.wave_size, "wave"), block = make(p, kThreads, "block");
  // A wave is best as long as it holds the row, unless there are too few rows to give every compute unit one.
  bool short_rows = p.cols <= int64_t{target.wave_size} * kMostKept;
  bool enough_rows = p.rows >= 2 * target.compute_units || p.cols <= int64_t{target.wave_size} * 4;
  if (short_rows && enough_rows) return {std::move(wave), std::move(block)};
  return {std::move(block), std::move(wave)};
}

}  // namespace hf::kernel

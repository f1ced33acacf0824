// Rows normalised in one launch: a wave or a block a row, values in registers if they fit.
#include "kernel/row_norm.h"

#include <fmt/core.h>

#include "kernel/epilogue_text.h"
#include "kernel/row_norm_text.h"
#include "kernel/rows.h"

namespace hf::kernel {
namespace {

// Without HF_KEEP the row is read two or three times.
const char* const kSource = R"hip(
DEV void read(const in::type* row, int col, float (&v)[HF_VEC]) {
  if (col < HF_PITCH) {
    pack<HF_VEC, HF_IN>::load(row + col, v);
  } else {
    for (int i = 0; i < HF_VEC; i++) v[i] = 0;
  }
}
// Elements beyond the row are zeros: they count where they are compared with the mean only.
DEV float distances(int col, const float (&v)[HF_VEC], float mean) {
  float sum = 0;
  for (int i = 0; i < HF_VEC; i++)
    if (!CENTRED || col + i < HF_COLS) sum += distance(v[i], mean);
  return sum;
}

KERNEL(HF_THREADS, ROW_BLOCKS) row_norm(const in::type* x, out::type* y, i64 rows, float epsilon$(own)$(parameters)) {
  LDS(lds, 128);
  float* scratch = (float*)lds;
  int lane = lane_of_row();
  i64 row = row_of_thread();
  bool live = row < rows;
  if (!live) row = rows - 1;
  x += row * HF_PITCH;
  y += row * HF_PITCH;
  float sum = 0, mean = 0;
#if HF_KEEP
  float v[HF_KEEP][HF_VEC];
#pragma unroll
  for (int k = 0; k < HF_KEEP; k++) {
    read(x, k * STEP + lane * HF_VEC, v[k]);
    if (CENTRED)
      for (int i = 0; i < HF_VEC; i++) mean += v[k][i];
  }
  if (CENTRED) mean = over_row<add_f32_op>(mean, scratch) / HF_COLS;
#pragma unroll
  for (int k = 0; k < HF_KEEP; k++) sum += distances(k * STEP + lane * HF_VEC, v[k], mean);
#else
  float v[1][HF_VEC];
  if (CENTRED) {
    for (int col = lane * HF_VEC; col < HF_PITCH; col += STEP) {
      read(x, col, v[0]);
      for (int i = 0; i < HF_VEC; i++) mean += v[0][i];
    }
    mean = over_row<add_f32_op>(mean, scratch) / HF_COLS;
  }
  for (int col = lane * HF_VEC; col < HF_PITCH; col += STEP) {
    read(x, col, v[0]);
    sum += distances(col, v[0], mean);
  }
#endif
  sum = over_row<add_f32_op>(sum, scratch);
  if (!live) return;
  float factor = factor_of(sum, epsilon);
  if (lane == 0) {
#if HF_MEAN
    mean_out[row] = mean;
#endif
#if HF_INVERSE
    inverse_out[row] = factor;
#endif
  }
#if HF_KEEP
#pragma unroll
  for (int k = 0; k < HF_KEEP; k++) {
    int col = k * STEP + lane * HF_VEC;
    if (col < HF_PITCH) write(y, row, col, v[k], mean, factor$(own_arguments)$(arguments));
  }
#else
  for (int col = lane * HF_VEC; col < HF_PITCH; col += STEP) {
    read(x, col, v[0]);
    write(y, row, col, v[0], mean, factor$(own_arguments)$(arguments));
  }
#endif
}
)hip";

KernelSpec make(const RowNormProblem& p, const RowPlan& plan) {
  KernelSpec spec{
      .family = "row_norm",
      .variant = plan.variant,
      .source = row_norm_source(
          p, std::string(kRowsText) + kRowNormTypes + kRowNormMeasure + kRowNormFactor + kRowNormScale + kSource),
      .entry = "row_norm",
      .defines = row_norm_defines(p),
      .grid = {plan.blocks(p.rows), 1, 1},
      .block = {static_cast<uint32_t>(plan.threads), 1, 1},
      .lds_bytes = kRowLds,
      .arguments = {Argument::input(0), Argument::output(0), Argument::int64(p.rows), Argument::float32(p.epsilon)}};
  for (std::string& define : plan.defines()) spec.defines.push_back(std::move(define));
  int output = 1;
  if (p.mean) spec.arguments.push_back(Argument::output(output++));
  if (p.inverse) spec.arguments.push_back(Argument::output(output++));
  add_row_norm_inputs(spec, p);
  return spec;
}

}  // namespace

Candidates row_norm(const RowNormProblem& p, const Target& target) {
  const int64_t length = p.pitch ? p.pitch : p.cols;
  Candidates all;
  for (const RowPlan& plan : row_plans(p.rows, length, row_vector(length, p.in, p.out), target))
    all.push_back(make(p, plan));
  return all;
}

}  // namespace hf::kernel

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
DEV void read(const in::type* x, i64 row, int access, float (&v)[HF_VEC]) {
  if (access * HF_VEC < HF_PITCH) {
    pack<HF_VEC, HF_IN>::load(x + place_of(row, access), v);
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

DEV void further(i64 row, float mean, float factor$(own)) {
#if HF_MEAN
  if (lane_of_row() == 0) mean_out[row] = mean;
#endif
#if HF_INVERSE
  if (lane_of_row() == 0) inverse_out[row] = factor;
#endif
}

KERNEL(HF_THREADS, ROW_BLOCKS) row_norm(const in::type* x, out::type* y, i64 rows, float epsilon$(own)$(parameters)) {
  LDS(lds, 128);
  float* scratch = (float*)lds;
  int lane = lane_of_row();
#if HF_KEEP
  float v[HF_TOGETHER][HF_KEEP][HF_VEC], mean[HF_TOGETHER], factor[HF_TOGETHER];
#pragma unroll
  for (int r = 0; r < HF_TOGETHER; r++) {
    i64 row = row_of_thread(r) < rows ? row_of_thread(r) : rows - 1;
#pragma unroll
    for (int k = 0; k < HF_KEEP; k++) read(x, row, k * HF_LANES + lane, v[r][k]);
  }
#pragma unroll
  for (int r = 0; r < HF_TOGETHER; r++) {
    float sum = 0;
    mean[r] = 0;
    if (CENTRED) {
#pragma unroll
      for (int k = 0; k < HF_KEEP; k++)
        for (int i = 0; i < HF_VEC; i++) mean[r] += v[r][k][i];
      mean[r] = over_row<add_f32_op>(mean[r], scratch) / HF_COLS;
    }
#pragma unroll
    for (int k = 0; k < HF_KEEP; k++) sum += distances(k * STEP + lane * HF_VEC, v[r][k], mean[r]);
    factor[r] = factor_of(over_row<add_f32_op>(sum, scratch), epsilon);
  }
#pragma unroll
  for (int r = 0; r < HF_TOGETHER; r++) {
    i64 row = row_of_thread(r);
    if (row >= rows) return;
    further(row, mean[r], factor[r]$(own_arguments));
#pragma unroll
    for (int k = 0; k < HF_KEEP; k++) {
      int access = k * HF_LANES + lane;
      if (access * HF_VEC < HF_PITCH) write(y + place_of(row, access), row, access * HF_VEC, v[r][k], mean[r], factor[r]$(own_arguments)$(arguments));
    }
  }
#else
  i64 row = row_of_thread();
  bool live = row < rows;
  if (!live) row = rows - 1;
  float v[HF_VEC], sum = 0, mean = 0;
  if (CENTRED) {
    for (int access = lane; access * HF_VEC < HF_PITCH; access += HF_LANES) {
      read(x, row, access, v);
      for (int i = 0; i < HF_VEC; i++) mean += v[i];
    }
    mean = over_row<add_f32_op>(mean, scratch) / HF_COLS;
  }
  for (int access = lane; access * HF_VEC < HF_PITCH; access += HF_LANES) {
    read(x, row, access, v);
    sum += distances(access * HF_VEC, v, mean);
  }
  float factor = factor_of(over_row<add_f32_op>(sum, scratch), epsilon);
  if (!live) return;
  further(row, mean, factor$(own_arguments));
  for (int access = lane; access * HF_VEC < HF_PITCH; access += HF_LANES) {
    read(x, row, access, v);
    write(y + place_of(row, access), row, access * HF_VEC, v, mean, factor$(own_arguments)$(arguments));
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
    all.push_back(make(p, paired(plan, p.rows, target)));
  return all;
}

}  // namespace hf::kernel

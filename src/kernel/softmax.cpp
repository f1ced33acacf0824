// Softmax over rows, whose values stay in registers if they fit; and over the middle axis of three, one thread a row.
#include "kernel/softmax.h"

#include <fmt/core.h>

#include "base/error.h"
#include "kernel/rows.h"

namespace hf::kernel {
namespace {

// Without HF_KEEP the row is read three times. Of a row's HF_PITCH elements HF_COLS count.
const char* const kSource = R"hip(
typedef element<HF_IN> in;
typedef element<HF_OUT> out;
// Columns beyond the row count as -inf, which changes neither maximum nor sum.
DEV void read(const in::type* x, i64 row, int access, float (&v)[HF_VEC]) {
  int col = access * HF_VEC;
  if (col < HF_PITCH) pack<HF_VEC, HF_IN>::load(x + place_of(row, access), v);
  for (int i = 0; i < HF_VEC; i++)
    if (col + i >= HF_COLS) v[i] = -infinity();
}
// Adds e^(v - max); v becomes that, except for logarithms.
DEV void exponentials(float (&v)[HF_VEC], float max, float& sum) {
  for (int i = 0; i < HF_VEC; i++) {
    float e = exp_f32(v[i] - max);
    sum += e;
    if (!HF_LOG) v[i] = e;
  }
}
// Of what exponentials() left.
DEV void write(out::type* y, i64 row, int access, float (&v)[HF_VEC], float max, float sum) {
  int col = access * HF_VEC;
  if (col >= HF_PITCH) return;
#if HF_LOG
  float shift = log_f32(sum);
  for (int i = 0; i < HF_VEC; i++) v[i] = v[i] - max - shift;
#else
  float scale = 1.f / sum;
  for (int i = 0; i < HF_VEC; i++) v[i] *= scale;
#endif
  for (int i = 0; i < HF_VEC; i++)
    if (col + i >= HF_COLS) v[i] = 0;
  pack<HF_VEC, HF_OUT>::store(y + place_of(row, access), v);
}

KERNEL(HF_THREADS, ROW_BLOCKS) softmax(const in::type* x, out::type* y, i64 rows) {
  LDS(lds, 128);
  float* scratch = (float*)lds;
  int lane = lane_of_row();
#if HF_KEEP
  float v[HF_TOGETHER][HF_KEEP][HF_VEC], max[HF_TOGETHER], sum[HF_TOGETHER];
#pragma unroll
  for (int r = 0; r < HF_TOGETHER; r++) {
    i64 row = row_of_thread(r) < rows ? row_of_thread(r) : rows - 1;
#pragma unroll
    for (int k = 0; k < HF_KEEP; k++) read(x, row, k * HF_LANES + lane, v[r][k]);
  }
#pragma unroll
  for (int r = 0; r < HF_TOGETHER; r++) {
    max[r] = -infinity();
    sum[r] = 0;
#pragma unroll
    for (int k = 0; k < HF_KEEP; k++)
      for (int i = 0; i < HF_VEC; i++) max[r] = max_f32(max[r], v[r][k][i]);
    max[r] = over_row<max_f32_op>(max[r], scratch);
#pragma unroll
    for (int k = 0; k < HF_KEEP; k++) exponentials(v[r][k], max[r], sum[r]);
    sum[r] = over_row<add_f32_op>(sum[r], scratch);
  }
#pragma unroll
  for (int r = 0; r < HF_TOGETHER; r++) {
    i64 row = row_of_thread(r);
    if (row >= rows) return;
#pragma unroll
    for (int k = 0; k < HF_KEEP; k++) write(y, row, k * HF_LANES + lane, v[r][k], max[r], sum[r]);
  }
#else
  i64 row = row_of_thread();
  bool live = row < rows;
  if (!live) row = rows - 1;
  float v[HF_VEC], max = -infinity(), sum = 0;
  for (int access = lane; access * HF_VEC < HF_PITCH; access += HF_LANES) {
    read(x, row, access, v);
    for (int i = 0; i < HF_VEC; i++) max = max_f32(max, v[i]);
  }
  max = over_row<max_f32_op>(max, scratch);
  for (int access = lane; access * HF_VEC < HF_PITCH; access += HF_LANES) {
    read(x, row, access, v);
    exponentials(v, max, sum);
  }
  sum = over_row<add_f32_op>(sum, scratch);
  if (!live) return;
  for (int access = lane; access * HF_VEC < HF_PITCH; access += HF_LANES) {
    float unused = 0;
    read(x, row, access, v);
    exponentials(v, max, unused);
    write(y, row, access, v, max, sum);
  }
#endif
}
)hip";

// The axis is walked twice, vectors of HF_VEC neighbours along HF_INNER at a time: once for the greatest value and the
// sum of what lies below it, which is scaled down whenever a greater value comes; once to write.
const char* const kColumns = R"hip(
typedef element<HF_IN> in;
typedef element<HF_OUT> out;

KERNEL(HF_THREADS, 2) softmax_columns(const in::type* x, out::type* y, i64 count) {
  i64 at = (i64)block_x() * HF_THREADS + thread_x();
  if (at >= count) return;
  constexpr int VECTORS = HF_INNER / HF_VEC;
  i64 first = at / VECTORS * ((i64)HF_AXIS * HF_INNER) + at % VECTORS * HF_VEC;
  x += first;
  y += first;
  float max[HF_VEC], sum[HF_VEC], v[HF_VEC];
  for (int i = 0; i < HF_VEC; i++) max[i] = -infinity(), sum[i] = 0;
#pragma unroll 4
  for (int k = 0; k < HF_AXIS; k++) {
    pack<HF_VEC, HF_IN>::load(x + (i64)k * HF_INNER, v);
    for (int i = 0; i < HF_VEC; i++) {
      float top = max_f32(max[i], v[i]);
      if (top > max[i]) sum[i] *= exp_f32(max[i] - top);
      if (v[i] > -infinity()) sum[i] += exp_f32(v[i] - top);
      max[i] = top;
    }
  }
  for (int i = 0; i < HF_VEC; i++) sum[i] = HF_LOG ? log_f32(sum[i]) : 1.f / sum[i];
#pragma unroll 4
  for (int k = 0; k < HF_AXIS; k++) {
    pack<HF_VEC, HF_IN>::load(x + (i64)k * HF_INNER, v);
    for (int i = 0; i < HF_VEC; i++) v[i] = HF_LOG ? v[i] - max[i] - sum[i] : exp_f32(v[i] - max[i]) * sum[i];
    pack<HF_VEC, HF_OUT>::store(y + (i64)k * HF_INNER, v);
  }
}
)hip";

std::vector<std::string> types_of(const SoftmaxProblem& p) {
  return {fmt::format("HF_IN={}", static_cast<int>(p.in)), fmt::format("HF_OUT={}", static_cast<int>(p.out)),
          fmt::format("HF_LOG={}", int{p.log})};
}

KernelSpec make_rows(const SoftmaxProblem& p, const RowPlan& plan) {
  KernelSpec spec{.family = "softmax",
                  .variant = plan.variant,
                  .source = std::string(kRowsText) + kSource,
                  .entry = "softmax",
                  .defines = types_of(p),
                  .grid = {plan.blocks(p.rows), 1, 1},
                  .block = {static_cast<uint32_t>(plan.threads), 1, 1},
                  .lds_bytes = kRowLds,
                  .arguments = {Argument::input(0), Argument::output(0), Argument::int64(p.rows)}};
  for (std::string& define : plan.defines()) spec.defines.push_back(std::move(define));
  spec.defines.push_back(fmt::format("HF_COLS={}", p.cols));
  spec.defines.push_back(fmt::format("HF_PITCH={}", p.pitch ? p.pitch : p.cols));
  return spec;
}

KernelSpec make_columns(const SoftmaxProblem& p) {
  constexpr int kThreads = 128;
  if (p.cols > INT32_MAX / 2 || p.inner > INT32_MAX / 2)
    fail(Code::Unsupported, "softmax over {} x {} elements; at most {} each", p.cols, p.inner, INT32_MAX / 2);
  const int vec = row_vector(p.inner, p.in, p.out);
  const int64_t count = p.rows * (p.inner / vec);
  KernelSpec spec{.family = "softmax",
                  .variant = "columns",
                  .source = kColumns,
                  .entry = "softmax_columns",
                  .defines = types_of(p),
                  .grid = {blocks_for(count, kThreads), 1, 1},
                  .block = {kThreads, 1, 1},
                  .arguments = {Argument::input(0), Argument::output(0), Argument::int64(count)}};
  for (const auto& [name, value] :
       {std::pair("AXIS", p.cols), {"INNER", p.inner}, {"VEC", int64_t{vec}}, {"THREADS", int64_t{kThreads}}})
    spec.defines.push_back(fmt::format("HF_{}={}", name, value));
  return spec;
}

}  // namespace

Candidates softmax(const SoftmaxProblem& p, const Target& target) {
  if (p.inner > 1) return {make_columns(p)};
  const int64_t length = p.pitch ? p.pitch : p.cols;
  Candidates all;
  for (const RowPlan& plan : row_plans(p.rows, length, row_vector(length, p.in, p.out), target))
    all.push_back(make_rows(p, paired(plan, p.rows, target)));
  return all;
}

}  // namespace hf::kernel

// Normalisation over the middle axis of three: a thread has some neighbouring columns.
#include <fmt/core.h>

#include "base/error.h"
#include "kernel/row_norm.h"
#include "kernel/row_norm_text.h"
#include "kernel/rows.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 128;

const char* const kSource = R"hip(
KERNEL(HF_THREADS, 2) row_norm_columns(const in::type* x, out::type* y, i64 count, float epsilon) {
  i64 at = (i64)block_x() * HF_THREADS + thread_x();
  if (at >= count) return;
  constexpr int VECTORS = HF_INNER / HF_VEC;
  i64 first = at / VECTORS * ((i64)HF_COLS * HF_INNER) + at % VECTORS * HF_VEC;
  x += first;
  y += first;
  float mean[HF_VEC], sum[HF_VEC], v[HF_VEC];
  for (int i = 0; i < HF_VEC; i++) mean[i] = sum[i] = 0;
  if (CENTRED) {
#pragma unroll 4
    for (int k = 0; k < HF_COLS; k++) {
      pack<HF_VEC, HF_IN>::load(x + (i64)k * HF_INNER, v);
      for (int i = 0; i < HF_VEC; i++) mean[i] += v[i];
    }
    for (int i = 0; i < HF_VEC; i++) mean[i] /= HF_COLS;
  }
#pragma unroll 4
  for (int k = 0; k < HF_COLS; k++) {
    pack<HF_VEC, HF_IN>::load(x + (i64)k * HF_INNER, v);
    for (int i = 0; i < HF_VEC; i++) sum[i] += distance(v[i], mean[i]);
  }
  for (int i = 0; i < HF_VEC; i++) sum[i] = factor_of(sum[i], epsilon);
#pragma unroll 4
  for (int k = 0; k < HF_COLS; k++) {
    pack<HF_VEC, HF_IN>::load(x + (i64)k * HF_INNER, v);
    for (int i = 0; i < HF_VEC; i++) v[i] = (v[i] - mean[i]) * sum[i];
    pack<HF_VEC, HF_OUT>::store(y + (i64)k * HF_INNER, v);
  }
}
)hip";

}  // namespace

Candidates row_norm_columns(const RowNormProblem& p, int64_t inner) {
  check(!p.pitch && !p.scale && !p.bias && !p.mean && !p.inverse && p.epilogue.identity(),
        "columns are normalised only");
  if (p.cols > INT32_MAX / 2 || inner > INT32_MAX / 2)
    fail(Code::Unsupported, "{} x {} elements; at most {} each", p.cols, inner, INT32_MAX / 2);
  const int vec = row_vector(inner, p.in, p.out);
  const int64_t count = p.rows * (inner / vec);
  KernelSpec spec{
      .family = "row_norm",
      .variant = "columns",
      .source = std::string(kRowNormTypes) + kRowNormMeasure + kRowNormFactor + kSource,
      .entry = "row_norm_columns",
      .defines = row_norm_defines(p),
      .grid = {blocks_for(count, kThreads), 1, 1},
      .block = {kThreads, 1, 1},
      .arguments = {Argument::input(0), Argument::output(0), Argument::int64(count), Argument::float32(p.epsilon)}};
  for (const auto& [name, value] : {std::pair("INNER", inner), {"VEC", int64_t{vec}}, {"THREADS", int64_t{kThreads}}})
    spec.defines.push_back(fmt::format("HF_{}={}", name, value));
  return {std::move(spec)};
}

}  // namespace hf::kernel

// Local response normalisation, one thread an element: its neighbours are in the caches.
#include "kernel/lrn.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;

const char* const kSource = R"hip(
typedef element<HF_IN> in;
typedef element<HF_OUT> out;

KERNEL(HF_THREADS, 2) lrn(const in::type* x, out::type* y, i64 count, float factor, float beta, float bias) {
  i64 at = (i64)block_x() * HF_THREADS + thread_x();
  if (at >= count) return;
#if HF_PITCH
  constexpr i64 STRIDE = 1;
  int c = (int)(at % HF_PITCH);
  if (c >= HF_CHANNELS) {
    y[at] = out::store(0);
    return;
  }
#else
  constexpr i64 STRIDE = HF_POSITIONS;
  int c = (int)(at / HF_POSITIONS % HF_CHANNELS);
#endif
  float sum = 0;
#pragma unroll 8
  for (int k = -HF_BEFORE; k <= HF_BEHIND; k++) {
    if (c + k < 0 || c + k >= HF_CHANNELS) continue;
    float v = in::load(x[at + k * STRIDE]);
    sum = fma_f32(v, v, sum);
  }
  y[at] = out::store(in::load(x[at]) * exp_f32(-beta * log_f32(fma_f32(factor, sum, bias))));
}
)hip";

}  // namespace

Candidates lrn(const LrnProblem& p, const Target&) {
  const int64_t count = p.images * p.positions * (p.pitch ? p.pitch : p.channels);
  if (p.positions > INT32_MAX / 2 || p.channels > INT32_MAX / 2)
    fail(Code::Unsupported, "{} channels of {} elements; at most {}", p.channels, p.positions, INT32_MAX / 2);
  KernelSpec spec{.family = "lrn",
                  .variant = p.pitch ? "channels last" : "rows",
                  .source = kSource,
                  .entry = "lrn",
                  .grid = {blocks_for(count, kThreads), 1, 1},
                  .block = {kThreads, 1, 1},
                  .arguments = {Argument::input(0), Argument::output(0), Argument::int64(count),
                                Argument::float32(p.alpha / static_cast<float>(p.size)), Argument::float32(p.beta),
                                Argument::float32(p.bias)}};
  const std::pair<const char*, int64_t> numbers[] = {{"IN", static_cast<int>(p.in)},
                                                     {"OUT", static_cast<int>(p.out)},
                                                     {"THREADS", kThreads},
                                                     {"CHANNELS", p.channels},
                                                     {"POSITIONS", p.positions},
                                                     {"PITCH", p.pitch},
                                                     {"BEFORE", std::min((p.size - 1) / 2, p.channels)},
                                                     {"BEHIND", std::min(p.size / 2, p.channels)}};
  for (const auto& [name, value] : numbers) spec.defines.push_back(fmt::format("HF_{}={}", name, value));
  return {std::move(spec)};
}

}  // namespace hf::kernel

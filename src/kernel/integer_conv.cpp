// Convolutions of 8-bit integers, row-major: a thread has a few filters of one output.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "kernel/integer_text.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;

// Padding is what the zero point stands for: it adds nothing.
const char* const kSource = R"hip(
KERNEL(HF_THREADS, 2) integer_conv(const a_type* x, const b_type* w, out_type* y, int batch HF_INT_PARAMS) {
  enum { OUTPUTS = HF_O * HF_P * HF_Q, INPUTS = HF_D * HF_H * HF_W, TAPS = HF_T * HF_R * HF_S, ALL = HF_GROUPS * HF_FILTERS };
  u32 t = (u32)block_x() * HF_THREADS + thread_x();
  int at = (int)(t % OUTPUTS), q0 = at % HF_Q, p0 = at / HF_Q % HF_P, z0 = at / HF_Q / HF_P;
  t /= OUTPUTS;
  int f = (int)(t % (ALL / HF_NF)) * HF_NF, n = (int)(t / (ALL / HF_NF));
  if (n >= batch) return;
  x += ((i64)n * HF_GROUPS + f / HF_FILTERS) * HF_CHANNELS * INPUTS;
  w += (i64)f * HF_CHANNELS * TAPS;
  int x_zero = get_a_zero(0, 0 HF_INT_ARGS), w_zero[HF_NF], sums[HF_NF];
  for (int i = 0; i < HF_NF; i++) {
    w_zero[i] = get_b_zero(0, f + i HF_INT_ARGS);
    sums[i] = 0;
  }
  for (int c = 0; c < HF_CHANNELS; c++)
    for (int d = 0; d < HF_T; d++) {
      int z = z0 * HF_SD + d * HF_DD - HF_PD;
      if ((u32)z >= HF_D) continue;
      for (int r = 0; r < HF_R; r++) {
        int h = p0 * HF_SH + r * HF_DH - HF_PH;
        if ((u32)h >= HF_H) continue;
        for (int s = 0; s < HF_S; s++) {
          int v = q0 * HF_SW + s * HF_DW - HF_PW;
          if ((u32)v >= HF_W) continue;
          int value = (int)x[(i64)c * INPUTS + (z * HF_H + h) * HF_W + v] - x_zero;
          int tap = (d * HF_R + r) * HF_S + s;
          for (int i = 0; i < HF_NF; i++) sums[i] += value * ((int)w[((i64)i * HF_CHANNELS + c) * TAPS + tap] - w_zero[i]);
        }
      }
    }
  for (int i = 0; i < HF_NF; i++) y[((i64)n * ALL + f + i) * OUTPUTS + at] = finished(sums[i], 0, f + i HF_INT_ARGS);
}
)hip";

std::vector<std::string> defines_of(const IntegerConvProblem& p, int64_t filters) {
  const SpatialAxis &d = p.axes[0], &h = p.axes[1], &w = p.axes[2];
  const std::pair<const char*, int64_t> numbers[] = {
      {"THREADS", kThreads}, {"NF", filters},  {"GROUPS", p.groups}, {"CHANNELS", p.channels}, {"FILTERS", p.filters},
      {"D", d.input},        {"H", h.input},   {"W", w.input},       {"O", d.output},          {"P", h.output},
      {"Q", w.output},       {"T", d.kernel},  {"R", h.kernel},      {"S", w.kernel},          {"SD", d.stride},
      {"SH", h.stride},      {"SW", w.stride}, {"DD", d.dilation},   {"DH", h.dilation},       {"DW", w.dilation},
      {"PD", d.begin},       {"PH", h.begin},  {"PW", w.begin}};
  std::vector<std::string> all;
  for (auto [name, value] : numbers) all.push_back(fmt::format("HF_{}={}", name, value));
  return all;
}

}  // namespace

Candidates integer_conv(const IntegerConvProblem& p, const Target&) {
  int64_t inputs = 1, outputs = 1, taps = 1;
  for (const SpatialAxis& a : p.axes) {
    // Coordinates are ints in the kernel.
    if (a.kernel > INT32_MAX / 4 / a.dilation || std::max(a.input, a.output) > INT32_MAX / 4 / a.stride ||
        a.begin > INT32_MAX / 4)
      fail(Code::Unsupported, "an integer convolution of {} taps over {} inputs", a.kernel, a.input);
    inputs *= a.input, outputs *= a.output, taps *= a.kernel;
    if (std::max({inputs, outputs, taps}) > INT32_MAX)
      fail(Code::Unsupported, "an integer convolution of {} places", inputs);
  }
  const int64_t filters = std::gcd(p.filters, int64_t{4}), planes = p.batch * (p.groups * p.filters / filters);
  if (planes > (int64_t{UINT32_MAX} - kThreads) / outputs)
    fail(Code::Unsupported, "an integer convolution of {} planes", planes);
  KernelSpec spec{.family = "integer_conv",
                  .variant = fmt::format("{} filters", filters),
                  .source = integer_text(p.types) + kSource,
                  .entry = "integer_conv",
                  .defines = defines_of(p, filters),
                  .grid = {blocks_for(planes * outputs, kThreads), 1, 1},
                  .block = {kThreads, 1, 1},
                  .arguments = {Argument::input(p.types.a_input), Argument::input(p.types.b_input), Argument::output(0),
                                Argument::int32(p.batch)}};
  add_parameters(spec, p.types);
  return {std::move(spec)};
}

}  // namespace hf::kernel

// Direct convolution: a thread has a few filters of a row of outputs in registers; it walks over taps and channels.
#include "kernel/direct_conv.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "kernel/channel_vectors.h"
#include "kernel/vector_epilogue.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 128;
constexpr int kOutputs = 4;  // along the width, a thread

// HF_VEC  filters a thread, all of one group      HF_XV  channels loaded at once
// HF_TQ   outputs a thread, HF_STEP apart along the width: of a transposed convolution, those that share their taps
const char* const kSource = R"hip(
typedef element<HF_IN> in;
typedef element<HF_OUT> out;
typedef element<HF_WEIGHT> weight;
enum { STEP = HF_TRANSPOSED ? HF_SW : 1 };

// The input that output o reads for tap k, or -1.
DEV int input_of(int o, int k, int stride, int dilation, int begin, int extent) {
#if HF_TRANSPOSED
  int at = o + begin - k * dilation;
  if (at < 0 || at % stride) return -1;
  at /= stride;
#else
  int at = o * stride + k * dilation - begin;
#endif
  return (u32)at < (u32)extent ? at : -1;
}

DEV void read_weights(const weight::type* w, float (&v)[HF_VEC]) {
#if HF_WF == 1
  pieces<HF_VEC, HF_WEIGHT>::load(w, ~0u, v);
#else
  for (int i = 0; i < HF_VEC; i++) v[i] = weight::load(w[(i64)i * HF_WF]);
#endif
}

// All channels of one tap. at: the place of output 0; the others lie `apart` places further on.
DEV void add_tap(const in::type* line, int at, int apart, const weight::type* w, float (&acc)[HF_TQ][HF_VEC]) {
#pragma unroll 1
  for (int c = 0; c < HF_CHANNELS; c += HF_XV) {
    float x[HF_TQ][HF_XV], v[HF_VEC];
#pragma unroll
    for (int q = 0; q < HF_TQ; q++) {
      int place = at + q * apart, clamped = place < 0 ? 0 : place >= HF_W ? HF_W - 1 : place;
      pieces<HF_XV, HF_IN>::load(line + (i64)clamped * HF_XP + c, place == clamped ? ~0u : 0u, x[q]);
    }
#pragma unroll
    for (int j = 0; j < HF_XV; j++) {
      read_weights(w + (i64)(c + j) * HF_WC, v);
#pragma unroll
      for (int q = 0; q < HF_TQ; q++)
#pragma unroll
        for (int i = 0; i < HF_VEC; i++) acc[q][i] += x[q][j] * v[i];
    }
  }
}

// All taps of the tile at depth z0, height p0, width q0.
DEV void convolve(const in::type* x, const weight::type* w, int z0, int p0, int q0, float (&acc)[HF_TQ][HF_VEC]) {
  for (int t = 0; t < HF_T; t++) {
    int z = input_of(z0, t, HF_SD, HF_DD, HF_PD, HF_D);
    if (z < 0) continue;
    for (int r = 0; r < HF_R; r++) {
      int h = input_of(p0, r, HF_SH, HF_DH, HF_PH, HF_H);
      if (h < 0) continue;
      const in::type* line = x + ((i64)z * HF_H + h) * (HF_W * HF_XP);
      for (int s = 0; s < HF_S; s++) {
        const weight::type* tap = w + (i64)((t * HF_R + r) * HF_S + s) * HF_WT;
#if HF_TRANSPOSED
        int at = q0 + HF_PW - s * HF_DW;
        if (at % HF_SW == 0) add_tap(line, at / HF_SW, 1, tap, acc);
#else
        add_tap(line, q0 * HF_SW - HF_PW + s * HF_DW, HF_SW, tap, acc);
#endif
      }
    }
  }
}

KERNEL(HF_THREADS, 2)
direct_conv(const in::type* __restrict__ x, const weight::type* __restrict__ w, out::type* __restrict__ y, int batch
#if HF_HAS_BIAS
            , const element<HF_BIAS>::type* __restrict__ bias
#endif
            HF_EPI_PARAMS) {
  constexpr int CHUNKS = HF_YP / HF_VEC, TILES = (HF_Q + STEP * HF_TQ - 1) / (STEP * HF_TQ);
  u32 t = (u32)block_x() * HF_THREADS + thread_x();
  int f = (int)(t % CHUNKS) * HF_VEC;
  t /= CHUNKS;
  int q0 = (int)(t % TILES) * (STEP * HF_TQ);
  t /= TILES;
  q0 += (int)(t % STEP);
  t /= STEP;
  int p0 = (int)(t % HF_P);
  t /= HF_P;
  int z0 = (int)(t % HF_O), n = (int)(t / HF_O);
  if (n >= batch) return;
  float acc[HF_TQ][HF_VEC];
  for (int q = 0; q < HF_TQ; q++)
    for (int i = 0; i < HF_VEC; i++) acc[q][i] = 0.f;
  if (f < HF_COLUMNS) {
    int group = f / HF_FILTERS;
    convolve(x + (i64)n * (HF_D * HF_H) * (HF_W * HF_XP) + group * HF_CHANNELS,
             w + (i64)group * HF_WG + (i64)(f % HF_FILTERS) * HF_WF, z0, p0, q0, acc);
#if HF_HAS_BIAS
    float b[HF_VEC];
    pieces<HF_VEC, HF_BIAS>::load(bias + f, ~0u, b);
    for (int q = 0; q < HF_TQ; q++)
      for (int i = 0; i < HF_VEC; i++) acc[q][i] += b[i];
#endif
  }
#pragma unroll
  for (int q = 0; q < HF_TQ; q++) {
    int at = q0 + q * STEP;
    if (at < HF_Q) finish(acc[q], y, (((i64)n * HF_O + z0) * HF_P + p0) * HF_Q + at, f HF_EPI_ARGS);
  }
}
)hip";

std::vector<std::string> defines_of(const DirectConvProblem& p, int64_t vec, int64_t xv) {
  const SpatialAxis &d = p.axes[0], &h = p.axes[1], &w = p.axes[2];
  std::vector<std::string> all = {
      fmt::format("HF_IN={}", element_name(p.in)), fmt::format("HF_OUT={}", element_name(p.out)),
      fmt::format("HF_WEIGHT={}", element_name(p.weight)), fmt::format("HF_BIAS={}", element_name(p.bias))};
  const std::pair<const char*, int64_t> numbers[] = {{"THREADS", kThreads},
                                                     {"VEC", vec},
                                                     {"XV", xv},
                                                     {"TQ", kOutputs},
                                                     {"TRANSPOSED", p.transposed},
                                                     {"HAS_BIAS", p.has_bias},
                                                     {"D", d.input},
                                                     {"H", h.input},
                                                     {"W", w.input},
                                                     {"O", d.output},
                                                     {"P", h.output},
                                                     {"Q", w.output},
                                                     {"T", d.kernel},
                                                     {"R", h.kernel},
                                                     {"S", w.kernel},
                                                     {"SD", d.stride},
                                                     {"SH", h.stride},
                                                     {"SW", w.stride},
                                                     {"DD", d.dilation},
                                                     {"DH", h.dilation},
                                                     {"DW", w.dilation},
                                                     {"PD", d.begin},
                                                     {"PH", h.begin},
                                                     {"PW", w.begin},
                                                     {"XP", p.in_pitch},
                                                     {"YP", p.out_pitch},
                                                     {"CHANNELS", p.channels},
                                                     {"FILTERS", p.filters},
                                                     {"COLUMNS", p.all_filters()},
                                                     {"WG", p.strides.group},
                                                     {"WF", p.strides.filter},
                                                     {"WC", p.strides.channel},
                                                     {"WT", p.strides.tap}};
  for (auto [name, value] : numbers) all.push_back(fmt::format("HF_{}={}", name, value));
  return all;
}

}  // namespace

Candidates direct_conv(const DirectConvProblem& p, const Target&) {
  const SpatialAxis &d = p.axes[0], &h = p.axes[1], &w = p.axes[2];
  const int64_t vec = std::gcd(p.filters, int64_t{8}), xv = std::gcd(p.channels, int64_t{vector_of(p.in)});
  const int64_t step = p.transposed ? w.stride : 1, tiles = (w.output + step * kOutputs - 1) / (step * kOutputs);
  for (const SpatialAxis& a : p.axes) {
    int64_t reach = a.kernel * a.dilation + a.begin, most = std::max(a.input, a.output) * a.stride;
    if (a.kernel * a.dilation > INT32_MAX / 4 || reach > INT32_MAX / 2 || most > INT32_MAX / 2)
      fail(Code::Unsupported, "a convolution of {} taps over {} inputs", a.kernel, a.input);
  }
  const int64_t threads = p.batch * d.output * h.output * step * tiles * (p.out_pitch / vec);
  if (d.input * h.input > INT32_MAX || w.input * p.in_pitch > INT32_MAX || threads > UINT32_MAX - kThreads)
    fail(Code::Unsupported, "a direct convolution of {} images of {} x {} x {}", p.batch, d.input, h.input, w.input);
  KernelSpec spec{.family = "direct_conv",
                  .variant = fmt::format("{}x{}", vec, xv),
                  .source = channel_vectors(p.epilogue) + kSource,
                  .entry = "direct_conv",
                  .defines = defines_of(p, vec, xv),
                  .grid = {blocks_for(threads, kThreads), 1, 1},
                  .block = {kThreads, 1, 1},
                  .arguments = {Argument::input(0), p.weights, Argument::output(0), Argument::int32(p.batch)}};
  if (p.has_bias) spec.arguments.push_back(p.biases);
  add_operands(spec, p.epilogue, p.inputs);
  return {std::move(spec)};
}

}  // namespace hf::kernel

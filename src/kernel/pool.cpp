// Pools: a thread has a few channels of one or two outputs.
#include "kernel/pool.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "kernel/channel_vectors.h"
#include "kernel/vector_epilogue.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kUnrolled = 32;  // taps of a window that are unrolled

// HF_LAST   channels last; else each plane is an image of one channel
// HF_CLAMP  every window sees the input and no tap is skipped, so that for a maximum padding may be read as the edge
const char* const kCommon = R"hip(
typedef element<HF_IN> in;
typedef element<HF_OUT> out;
#if HF_MAX
DEV float nothing() { return -infinity(); }
DEV float with(float sum, float v) { return max_f32(sum, v); }
DEV float result(float sum, int) { return sum; }
#elif HF_P == 0
DEV float nothing() { return 0.f; }
DEV float with(float sum, float v) { return sum + v; }
DEV float result(float sum, int count) { return count > 0 ? sum / (float)count : sum; }
#else
DEV float nothing() { return 0.f; }
DEV float with(float sum, float v) {
  return HF_P == 1 ? sum + abs_f32(v) : HF_P == 2 ? sum + v * v : sum + pw::power(abs_f32(v), (float)HF_P);
}
DEV float result(float sum, int) {
  return HF_P == 1 ? sum : HF_P == 2 ? sqrt_f32(sum) : pw::power(sum, 1.f / HF_P);
}
#endif

// The taps of output o along an axis that lie in the input: [from, to).
struct range { int from, to; };
DEV range taps_of(int o, int input, int kernel, int stride, int dilation, int begin) {
  int first = o * stride - begin, end = (input - first + dilation - 1) / dilation;
  return {first < 0 ? (dilation - 1 - first) / dilation : 0, first >= input ? 0 : end < kernel ? end : kernel};
}
// How many taps an average divides by, along an axis.
DEV int counted(int o, int input, int kernel, int stride, int dilation, int begin, int padded_end) {
#if HF_COUNT_PADDING
  int room = input + padded_end + begin - o * stride, taps = room <= 0 ? 0 : (room + dilation - 1) / dilation;
  return taps < kernel ? taps : kernel;
#else
  range r = taps_of(o, input, kernel, stride, dilation, begin);
  return r.to > r.from ? r.to - r.from : 0;
#endif
}

struct place { int c, q, p, z; i64 n; };
DEV bool place_of(int batch, int outputs, place& at) {
  constexpr int CHUNKS = HF_YP / HF_VEC;
  const u32 tiles = (HF_Q + outputs - 1) / outputs;
  u32 t = (u32)block_x() * HF_THREADS + thread_x();
  at.c = (int)(t % CHUNKS) * HF_VEC;
  t /= CHUNKS;
  at.q = (int)(t % tiles) * outputs;
  t /= tiles;
  at.p = (int)(t % HF_P_OUT);
  t /= HF_P_OUT;
  at.z = (int)(t % HF_O);
  at.n = t / HF_O;
  return at.n < batch;
}

DEV void store(float (&v)[HF_VEC], out::type* y, const place& at, int q HF_EPI_PARAMS) {
  int count = counted(at.z, HF_D, HF_T, HF_SD, HF_DD, HF_PD, HF_ED) * counted(at.p, HF_H, HF_R, HF_SH, HF_DH, HF_PH, HF_EH) *
              counted(q, HF_W, HF_S, HF_SW, HF_DW, HF_PW, HF_EW);
#pragma unroll
  for (int i = 0; i < HF_VEC; i++) v[i] = result(v[i], count);
  i64 line = (at.n * HF_O + at.z) * HF_P_OUT + at.p;
#if HF_LAST
  finish(v, y, line * HF_Q + q, at.c HF_EPI_ARGS);
#else
  epilogue(v, line, q, HF_Q HF_EPI_ARGS);
  y[line * HF_Q + q] = out::store(v[0]);
#endif
}
)hip";

// All taps unrolled, two outputs a thread, which share columns.
const char* const kUnrolledText = R"hip(
enum { COLS = (HF_TQ - 1) * HF_SW + (HF_S - 1) * HF_DW + 1 };
DEV int clamp_to(int v, int extent) { return v < 0 ? 0 : v >= extent ? extent - 1 : v; }

KERNEL(HF_THREADS, 2) pool(const in::type* __restrict__ x, out::type* __restrict__ y, int batch HF_EPI_PARAMS) {
  place at;
  if (!place_of(batch, HF_TQ, at)) return;
  x += at.n * (HF_D * HF_H) * (HF_W * HF_XP) + at.c;
  float acc[HF_TQ][HF_VEC];
  for (int q = 0; q < HF_TQ; q++)
    for (int i = 0; i < HF_VEC; i++) acc[q][i] = nothing();
#pragma unroll
  for (int t = 0; t < HF_T; t++)
#pragma unroll
    for (int r = 0; r < HF_R; r++) {
      int z = at.z * HF_SD + t * HF_DD - HF_PD, h = at.p * HF_SH + r * HF_DH - HF_PH;
      int zc = clamp_to(z, HF_D), hc = clamp_to(h, HF_H);
      const in::type* line = x + ((i64)zc * HF_H + hc) * (HF_W * HF_XP);
#pragma unroll
      for (int col = 0; col < COLS; col++) {
        int w = at.q * HF_SW - HF_PW + col, wc = clamp_to(w, HF_W);
        bool inside = HF_CLAMP || (z == zc && h == hc && w == wc);
        float v[HF_VEC];
        pieces<HF_VEC, HF_IN>::load(line + wc * HF_XP, inside ? ~0u : 0u, v);
        if (HF_MAX && !inside)
          for (int i = 0; i < HF_VEC; i++) v[i] = nothing();
#pragma unroll
        for (int q = 0; q < HF_TQ; q++) {
          int s = col - q * HF_SW;
          if (s >= 0 && s % HF_DW == 0 && s / HF_DW < HF_S)
            for (int i = 0; i < HF_VEC; i++) acc[q][i] = with(acc[q][i], v[i]);
        }
      }
    }
#pragma unroll
  for (int q = 0; q < HF_TQ; q++)
    if (at.q + q < HF_Q) store(acc[q], y, at, at.q + q HF_EPI_ARGS);
}
)hip";

// Loops over those taps that lie in the input.
const char* const kLoops = R"hip(
KERNEL(HF_THREADS, 2) pool(const in::type* __restrict__ x, out::type* __restrict__ y, int batch HF_EPI_PARAMS) {
  place at;
  if (!place_of(batch, 1, at)) return;
  x += at.n * (HF_D * HF_H) * (HF_W * HF_XP) + at.c;
  float acc[HF_VEC], v[HF_VEC];
  for (int i = 0; i < HF_VEC; i++) acc[i] = nothing();
  range ts = taps_of(at.z, HF_D, HF_T, HF_SD, HF_DD, HF_PD), rs = taps_of(at.p, HF_H, HF_R, HF_SH, HF_DH, HF_PH),
        ss = taps_of(at.q, HF_W, HF_S, HF_SW, HF_DW, HF_PW);
  for (int t = ts.from; t < ts.to; t++)
    for (int r = rs.from; r < rs.to; r++) {
      i64 z = at.z * HF_SD + t * HF_DD - HF_PD, h = at.p * HF_SH + r * HF_DH - HF_PH;
      const in::type* line = x + (z * HF_H + h) * (HF_W * HF_XP);
#pragma unroll 4
      for (int s = ss.from; s < ss.to; s++) {
        pieces<HF_VEC, HF_IN>::load(line + (at.q * HF_SW + s * HF_DW - HF_PW) * HF_XP, ~0u, v);
        for (int i = 0; i < HF_VEC; i++) acc[i] = with(acc[i], v[i]);
      }
    }
  store(acc, y, at, at.q HF_EPI_ARGS);
}
)hip";

// No window lies in the padding only, and all have neighbouring taps.
bool may_clamp(const PoolProblem& p) {
  return p.kind == PoolProblem::Kind::Max &&
         std::all_of(std::begin(p.axes), std::end(p.axes), [](const SpatialAxis& a) {
           return a.dilation == 1 && a.begin < a.kernel && (a.output - 1) * a.stride - a.begin < a.input;
         });
}

struct Shape {
  int64_t planes, pitch, vec;  // images of `pitch` channels
};
Shape shape_of(const PoolProblem& p) {
  if (!p.channels_last) return {p.batch * p.channels, 1, 1};
  return {p.batch, (p.channels + 7) / 8 * 8, std::max(vector_of(p.in), vector_of(p.out))};
}

std::vector<std::string> defines_of(const PoolProblem& p, const Shape& s, int64_t outputs) {
  const SpatialAxis &d = p.axes[0], &h = p.axes[1], &w = p.axes[2];
  const bool max = p.kind == PoolProblem::Kind::Max;
  const std::pair<const char*, int64_t> numbers[] = {{"THREADS", kThreads},
                                                     {"VEC", s.vec},
                                                     {"TQ", outputs},
                                                     {"LAST", p.channels_last},
                                                     {"MAX", max},
                                                     {"P", p.kind == PoolProblem::Kind::Lp ? p.p : 0},
                                                     {"COUNT_PADDING", p.counts_padding},
                                                     {"CLAMP", may_clamp(p)},
                                                     {"COLUMNS", p.channels_last ? p.channels : 1},
                                                     {"XP", s.pitch},
                                                     {"YP", s.pitch},
                                                     {"D", d.input},
                                                     {"H", h.input},
                                                     {"W", w.input},
                                                     {"O", d.output},
                                                     {"P_OUT", h.output},
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
                                                     {"ED", d.end},
                                                     {"EH", h.end},
                                                     {"EW", w.end}};
  std::vector<std::string> all = {fmt::format("HF_IN={}", element_name(p.in)),
                                  fmt::format("HF_OUT={}", element_name(p.out))};
  for (auto [name, value] : numbers) all.push_back(fmt::format("HF_{}={}", name, value));
  return all;
}

KernelSpec make(const PoolProblem& p, const char* variant, int64_t outputs, const char* text) {
  const SpatialAxis &d = p.axes[0], &h = p.axes[1], &w = p.axes[2];
  const Shape s = shape_of(p);
  const int64_t tiles = (w.output + outputs - 1) / outputs;
  const int64_t threads = s.planes * d.output * h.output * tiles * (s.pitch / s.vec);
  if (d.input * h.input > INT32_MAX || w.input * s.pitch > INT32_MAX || threads > UINT32_MAX - kThreads)
    fail(Code::Unsupported, "a pool of {} planes of {} x {} x {}", s.planes, d.input, h.input, w.input);
  KernelSpec spec{.family = "pool",
                  .variant = variant,
                  .source = channel_vectors(p.epilogue) + kCommon + text,
                  .entry = "pool",
                  .defines = defines_of(p, s, outputs),
                  .grid = {blocks_for(threads, kThreads), 1, 1},
                  .block = {kThreads, 1, 1},
                  .arguments = {Argument::input(0), Argument::output(0), Argument::int32(s.planes)}};
  add_operands(spec, p.epilogue, 1);
  return spec;
}

}  // namespace

Candidates pool(const PoolProblem& p, const Target&) {
  int64_t taps = 1;
  for (const SpatialAxis& a : p.axes) {
    // Coordinates are ints in the kernel.
    if (a.kernel > INT32_MAX / 4 / a.dilation || std::max(a.output, int64_t{1}) > INT32_MAX / 4 / a.stride ||
        a.begin > INT32_MAX / 4 || a.end > INT32_MAX / 4 || a.input > INT32_MAX / 4)
      fail(Code::Unsupported, "a pool of {} taps over {} inputs", a.kernel, a.input);
    taps *= std::min<int64_t>(a.kernel, kUnrolled + 1);
  }
  const SpatialAxis& w = p.axes[2];
  const int64_t columns = (w.kernel - 1) * w.dilation + w.stride + 1;
  Candidates all;
  if (taps <= kUnrolled && w.dilation == 1) {
    if (w.stride < w.kernel && columns < kUnrolled) all.push_back(make(p, "pairs", 2, kUnrolledText));
    all.push_back(make(p, "unrolled", 1, kUnrolledText));
  }
  if (all.empty()) all.push_back(make(p, "loops", 1, kLoops));
  return all;
}

}  // namespace hf::kernel

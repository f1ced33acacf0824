// GridSample: a thread has a few channels of one output.
#include "kernel/grid_sample.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "kernel/channel_vectors.h"
#include "kernel/vector_epilogue.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;

// HF_MODE 0 nearest, 1 linear, 2 cubic; HF_PADDING 0 zeros, 1 border, 2 reflection. TAPS along each axis.
const char* const kSource = R"hip(
typedef element<HF_IN> in;
typedef element<HF_GRID> grid_type;
typedef element<HF_OUT> out;
enum { TAPS = HF_MODE == 0 ? 1 : HF_MODE == 1 ? 2 : 4 };
constexpr float LOW = HF_ALIGN ? 0.f : -0.5f, MARGIN = HF_ALIGN ? 1.f : 0.5f;  // the edges are LOW and extent - MARGIN

// x mirrored at the edges until it is between them.
DEV float reflected(float x, float low, float high) {
  float range = high - low;
  if (range <= 0.f) return low;
  float d = abs_f32(x - low), twice = 2.f * range;
  d -= floor_f32(d / twice) * twice;
  return d <= range ? low + d : low + twice - d;
}
// The element at i along an axis, or -1 for a zero.
DEV int inside(int i, int extent) {
  if ((u32)i < (u32)extent) return i;
#if HF_PADDING == 0
  return -1;
#elif HF_PADDING == 2
  i = (int)reflected((float)i, LOW, (float)extent - MARGIN);
#endif
  return i < 0 ? 0 : i >= extent ? extent - 1 : i;
}
// Cubic convolution with a = -0.75, https://ieeexplore.ieee.org/document/1163711.
DEV float keys(float x) {
  const float a = -0.75f;
  if (x <= 1.f) return ((a + 2.f) * x - (a + 3.f)) * x * x + 1.f;
  return ((a * x - 5.f * a) * x + 8.f * a) * x - 4.f * a;
}
DEV void taps_of(float normal, int extent, int (&index)[TAPS], float (&weight)[TAPS]) {
  float n = (float)extent, high = n - MARGIN;
  float x = HF_ALIGN ? (normal + 1.f) * 0.5f * (n - 1.f) : ((normal + 1.f) * n - 1.f) * 0.5f;
  if (HF_MODE == 0) x = rint_f32(x);
  if (x < LOW || x > high) {
    if (HF_PADDING == 2) x = reflected(x, LOW, high);
    if (HF_PADDING == 1 && HF_MODE != 2) x = x < 0.f ? 0.f : n - 1.f;
  }
  // Farther away there are zeros or the edge only; this also takes what is no number.
  if (!(x > -4.f)) x = -4.f;
  if (!(x < n + 4.f)) x = n + 4.f;
  float base = floor_f32(x), f = x - base;
  int first = (int)base - (HF_MODE == 2);
  for (int i = 0; i < TAPS; i++) {
    index[i] = inside(first + i, extent);
    weight[i] = HF_MODE == 0 ? 1.f : HF_MODE == 1 ? (i ? f : 1.f - f) : keys(abs_f32(f + 1.f - (float)i));
  }
}

KERNEL(HF_THREADS, 2) grid_sample(const in::type* __restrict__ x, const grid_type::type* __restrict__ grid, out::type* __restrict__ y, int batch) {
  constexpr int CHUNKS = HF_YP / HF_VEC;
  u32 at = (u32)block_x() * HF_THREADS + thread_x();
  int c = (int)(at % CHUNKS) * HF_VEC;
  u32 place = at / CHUNKS;
  if (place / HF_OUTPUTS >= (u32)batch) return;
  x += (i64)(place / HF_OUTPUTS) * HF_INPUTS * HF_YP + c;
  grid += (i64)place * HF_RANK;
  int iz[TAPS] = {}, ih[TAPS] = {}, iw[TAPS];
  float wz[TAPS] = {1.f}, wh[TAPS] = {1.f}, ww[TAPS];
  taps_of(grid_type::load(grid[0]), HF_W, iw, ww);
#if HF_RANK > 1
  taps_of(grid_type::load(grid[1]), HF_H, ih, wh);
#endif
#if HF_RANK > 2
  taps_of(grid_type::load(grid[2]), HF_D, iz, wz);
#endif
  float acc[HF_VEC], v[HF_VEC];
  for (int i = 0; i < HF_VEC; i++) acc[i] = 0.f;
#pragma unroll
  for (int a = 0; a < (HF_RANK > 2 ? TAPS : 1); a++)
#pragma unroll
    for (int b = 0; b < (HF_RANK > 1 ? TAPS : 1); b++)
#pragma unroll
      for (int d = 0; d < TAPS; d++) {
        bool some = iz[a] >= 0 && ih[b] >= 0 && iw[d] >= 0;
        float w = wz[a] * wh[b] * ww[d];
        i64 from = some ? ((i64)iz[a] * HF_H + ih[b]) * HF_W + iw[d] : 0;
        pieces<HF_VEC, HF_IN>::load(x + from * HF_YP, some ? ~0u : 0u, v);
        for (int i = 0; i < HF_VEC; i++) acc[i] = fma_f32(v[i], w, acc[i]);
      }
  finish(acc, y, place, c);
}
)hip";

}  // namespace

Candidates grid_sample(const GridSampleProblem& p, const Target&) {
  const int64_t vec = std::max(vector_of(p.in), vector_of(p.out)), pitch = (p.channels + 7) / 8 * 8;
  const int64_t inputs = p.input[0] * p.input[1] * p.input[2], outputs = p.output[0] * p.output[1] * p.output[2];
  const int64_t threads = p.batch * outputs * (pitch / vec), longest = *std::max_element(p.input, p.input + 3);
  if (threads > UINT32_MAX - kThreads || longest > (1 << 24) || inputs > INT32_MAX)
    fail(Code::Unsupported, "sampling {} images of {} at {} places", p.batch, inputs, outputs);
  std::vector<std::string> defines = {fmt::format("HF_IN={}", element_name(p.in)),
                                      fmt::format("HF_GRID={}", element_name(p.grid)),
                                      fmt::format("HF_OUT={}", element_name(p.out))};
  const std::pair<const char*, int64_t> numbers[] = {{"THREADS", kThreads},
                                                     {"VEC", vec},
                                                     {"MODE", static_cast<int>(p.mode)},
                                                     {"PADDING", static_cast<int>(p.padding)},
                                                     {"ALIGN", p.align_corners},
                                                     {"RANK", p.rank},
                                                     {"COLUMNS", p.channels},
                                                     {"YP", pitch},
                                                     {"D", p.input[0]},
                                                     {"H", p.input[1]},
                                                     {"W", p.input[2]},
                                                     {"INPUTS", inputs},
                                                     {"OUTPUTS", outputs}};
  for (auto [name, value] : numbers) defines.push_back(fmt::format("HF_{}={}", name, value));
  return {{.family = "grid_sample",
           .variant = "gather",
           .source = channel_vectors({}) + kSource,
           .entry = "grid_sample",
           .defines = std::move(defines),
           .grid = {blocks_for(threads, kThreads), 1, 1},
           .block = {kThreads, 1, 1},
           .arguments = {Argument::input(0), Argument::input(1), Argument::output(0), Argument::int32(p.batch)}}};
}

}  // namespace hf::kernel

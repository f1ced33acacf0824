// Depthwise convolution: a thread has a few channels of a tile of outputs in registers and the weights of those
// channels; it walks down the input's rows, each of which it reads once.
// Strips are best where there are enough of them: their code is a loop, which tiles are not, and no row is read twice.
#include "kernel/depthwise.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "kernel/channel_vectors.h"
#include "kernel/vector_epilogue.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 128;
constexpr int kMostWeights = 128;  // floats of weights that a thread keeps

const char* const kCommon = R"hip(
typedef element<HF_IN> in;
typedef element<HF_OUT> out;
// What the filters [c, c + HF_VEC) read at one place; zeros where keep is 0, which is ~0 otherwise.
DEV void read(const in::type* p, int c, u32 keep, float (&v)[HF_VEC]) {
#if HF_MULTIPLIER > 1
  for (int i = 0; i < HF_VEC; i++) v[i] = keep ? in::load(p[(c + i) / HF_MULTIPLIER]) : 0.f;
#else
  pieces<HF_VEC, HF_IN>::load(p + c, keep, v);
#endif
}
)hip";

// HF_VEC channels a thread; HF_TP x HF_TQ outputs. Neighbouring threads have neighbouring channels, then tiles along
// the width, which share inputs through the first-level cache.
const char* const kTile = R"hip(
constexpr int ROWS = (HF_TP - 1) * HF_SH + (HF_R - 1) * HF_DH + 1;
constexpr int COLS = (HF_TQ - 1) * HF_SW + (HF_S - 1) * HF_DW + 1;

// Whether some tap of the tile reads this row or column: those between are skipped where strides or dilations leave any.
DEV constexpr bool is_read(int at, int outputs, int stride, int taps, int dilation) {
  for (int o = 0; o < outputs; o++)
    for (int k = 0; k < taps; k++)
      if (o * stride + k * dilation == at) return true;
  return false;
}

// INSIDE: no column of the tile lies in the padding.
template <bool INSIDE>
DEV void tile(const in::type* x, const float (&w)[HF_R][HF_S][HF_VEC], int c, int h0, int w0,
              float (&acc)[HF_TP][HF_TQ][HF_VEC]) {
#pragma unroll
  for (int row = 0; row < ROWS; row++) {
    if (!is_read(row, HF_TP, HF_SH, HF_R, HF_DH)) continue;
    int h = h0 + row;
    if ((u32)h >= HF_H) continue;
    float v[COLS][HF_VEC];
    const in::type* line = x + (h * HF_W + (INSIDE ? w0 : 0)) * HF_XP;
#pragma unroll
    for (int col = 0; col < COLS; col++) {
      if (!is_read(col, HF_TQ, HF_SW, HF_S, HF_DW)) continue;
      if constexpr (INSIDE) {
        read(line + col * HF_XP, c, ~0u, v[col]);
      } else {
        int at = w0 + col, clamped = at < 0 ? 0 : at >= HF_W ? HF_W - 1 : at;
        read(line + clamped * HF_XP, c, at == clamped ? ~0u : 0u, v[col]);
      }
    }
#pragma unroll
    for (int p = 0; p < HF_TP; p++) {
      int r = row - p * HF_SH;
      if (r < 0 || r % HF_DH || r / HF_DH >= HF_R) continue;
#pragma unroll
      for (int s = 0; s < HF_S; s++)
#pragma unroll
        for (int q = 0; q < HF_TQ; q++)
#pragma unroll
          for (int i = 0; i < HF_VEC; i++) acc[p][q][i] += v[q * HF_SW + s * HF_DW][i] * w[r / HF_DH][s][i];
    }
  }
}

KERNEL(HF_THREADS, HF_BLOCKS)
depthwise(const in::type* __restrict__ x, const float* __restrict__ weights, out::type* __restrict__ y, int batch HF_EPI_PARAMS) {
  constexpr int CHUNKS = HF_YP / HF_VEC, TILES_P = (HF_P + HF_TP - 1) / HF_TP, TILES_Q = (HF_Q + HF_TQ - 1) / HF_TQ;
  u32 t = (u32)block_x() * HF_THREADS + thread_x();
  int c = (int)(t % CHUNKS) * HF_VEC;
  t /= CHUNKS;
  int q0 = (int)(t % TILES_Q) * HF_TQ;
  t /= TILES_Q;
  int p0 = (int)(t % TILES_P) * HF_TP;
  int n = (int)(t / TILES_P);
  if (n >= batch) return;
  x += (i64)n * (HF_H * HF_W * HF_XP);

  float w[HF_R][HF_S][HF_VEC], acc[HF_TP][HF_TQ][HF_VEC];
#pragma unroll
  for (int r = 0; r < HF_R; r++)
#pragma unroll
    for (int s = 0; s < HF_S; s++) pieces<HF_VEC, HF_F32>::load(weights + (r * HF_S + s) * HF_YP + c, ~0u, w[r][s]);
  float bias[HF_VEC];
  pieces<HF_VEC, HF_F32>::load(weights + HF_R * HF_S * HF_YP + c, ~0u, bias);
#pragma unroll
  for (int p = 0; p < HF_TP; p++)
#pragma unroll
    for (int q = 0; q < HF_TQ; q++)
#pragma unroll
      for (int i = 0; i < HF_VEC; i++) acc[p][q][i] = bias[i];

  int h0 = p0 * HF_SH - HF_PH, w0 = q0 * HF_SW - HF_PW;
#if HF_SPLIT
  if (w0 >= 0 && w0 + COLS <= HF_W)
    tile<true>(x, w, c, h0, w0, acc);
  else
#endif
    tile<false>(x, w, c, h0, w0, acc);

#pragma unroll
  for (int p = 0; p < HF_TP; p++)
#pragma unroll
    for (int q = 0; q < HF_TQ; q++) {
      if (p0 + p >= HF_P || q0 + q >= HF_Q) continue;
      i64 row = ((i64)n * HF_P + p0 + p) * HF_Q + q0 + q;
      finish(acc[p][q], y, row, c HF_EPI_ARGS);
    }
}
)hip";

// Kernels too large for registers: a row of HF_TQ outputs, the taps one after the other.
const char* const kTaps = R"hip(
KERNEL(HF_THREADS, HF_BLOCKS)
depthwise(const in::type* __restrict__ x, const float* __restrict__ weights, out::type* __restrict__ y, int batch HF_EPI_PARAMS) {
  constexpr int CHUNKS = HF_YP / HF_VEC, TILES_Q = (HF_Q + HF_TQ - 1) / HF_TQ;
  u32 t = (u32)block_x() * HF_THREADS + thread_x();
  int c = (int)(t % CHUNKS) * HF_VEC;
  t /= CHUNKS;
  int q0 = (int)(t % TILES_Q) * HF_TQ;
  t /= TILES_Q;
  int p0 = (int)(t % HF_P), n = (int)(t / HF_P);
  if (n >= batch) return;
  x += (i64)n * (HF_H * HF_W * HF_XP);
  float acc[HF_TQ][HF_VEC], w[HF_VEC], v[HF_VEC];
  pieces<HF_VEC, HF_F32>::load(weights + HF_R * HF_S * HF_YP + c, ~0u, w);
  for (int q = 0; q < HF_TQ; q++)
    for (int i = 0; i < HF_VEC; i++) acc[q][i] = w[i];
  for (int r = 0; r < HF_R; r++) {
    int h = p0 * HF_SH - HF_PH + r * HF_DH;
    if ((u32)h >= HF_H) continue;
#pragma unroll 1
    for (int s = 0; s < HF_S; s++) {
      pieces<HF_VEC, HF_F32>::load(weights + (r * HF_S + s) * HF_YP + c, ~0u, w);
#pragma unroll
      for (int q = 0; q < HF_TQ; q++) {
        int at = (q0 + q) * HF_SW - HF_PW + s * HF_DW, clamped = at < 0 ? 0 : at >= HF_W ? HF_W - 1 : at;
        read(x + (h * HF_W + clamped) * HF_XP, c, at == clamped ? ~0u : 0u, v);
        for (int i = 0; i < HF_VEC; i++) acc[q][i] += v[i] * w[i];
      }
    }
  }
#pragma unroll
  for (int q = 0; q < HF_TQ; q++)
    if (q0 + q < HF_Q) finish(acc[q], y, ((i64)n * HF_P + p0) * HF_Q + q0 + q, c HF_EPI_ARGS);
}
)hip";

// A strip of HF_TP outputs along the height: the sums of those outputs that a row takes part in (LIVE) are kept, and
// the next row is on its way while one is computed with. Where HF_ROTATE the sums keep their registers and the loop is
// unrolled LIVE times; else they move along by one an output, which large kernels' code has to be small for.
const char* const kStrip = R"hip(
typedef pieces<HF_VEC, HF_IN> vec;
enum { LIVE = (HF_R + HF_SH - 1) / HF_SH, COLS = (HF_TQ - 1) * HF_SW + (HF_S - 1) * HF_DW + 1, UNROLL = HF_ROTATE ? LIVE : 1 };

template <bool INSIDE> DEV void fetch_row(const in::type* x, int h, int w0, vec::raw (&line)[COLS]) {
  if ((u32)h >= HF_H) {
#pragma unroll
    for (int col = 0; col < COLS; col++)
#pragma unroll
      for (int i = 0; i < vec::WORDS; i++) line[col].w[i] = 0;
    return;
  }
  const in::type* row = x + (i64)h * (HF_W * HF_XP);
  if constexpr (INSIDE) row += w0 * HF_XP;
#pragma unroll
  for (int col = 0; col < COLS; col++) {
    if constexpr (INSIDE) {
      line[col] = vec::fetch(row + col * HF_XP);
    } else {
      int at = w0 + col, clamped = at < 0 ? 0 : at >= HF_W ? HF_W - 1 : at;
      line[col] = vec::fetch(row + clamped * HF_XP);
#pragma unroll
      for (int i = 0; i < vec::WORDS; i++) line[col].w[i] = at == clamped ? line[col].w[i] : 0u;
    }
  }
}

template <bool INSIDE>
DEV void strip(const in::type* x, const float (&w)[HF_R][HF_S][HF_VEC], const float (&bias)[HF_VEC], out::type* y, i64 n,
               int c, int p0, int q0 HF_EPI_PARAMS) {
  int rows = HF_P - p0 < HF_TP ? HF_P - p0 : HF_TP, steps = rows + LIVE - 1, w0 = q0 * HF_SW - HF_PW;
  float acc[LIVE][HF_TQ][HF_VEC];
  vec::raw next[COLS];
  fetch_row<INSIDE>(x, p0 * HF_SH - HF_PH, w0, next);
#pragma unroll
  for (int a = 0; a < LIVE; a++)
#pragma unroll
    for (int q = 0; q < HF_TQ; q++)
#pragma unroll
      for (int i = 0; i < HF_VEC; i++) acc[a][q][i] = bias[i];
#pragma unroll 1
  for (int first = 0; first < steps; first += UNROLL)
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      int step = first + u;
      if (step >= steps) return;
#pragma unroll
      for (int j = 0; j < HF_SH; j++) {
        float v[COLS][HF_VEC];
#pragma unroll
        for (int col = 0; col < COLS; col++) vec::unpack(next[col], ~0u, v[col]);
        fetch_row<INSIDE>(x, (p0 + step) * HF_SH - HF_PH + j + 1, w0, next);
#pragma unroll
        for (int a = 0; a < LIVE; a++) {
          int r = j + a * HF_SH, slot = HF_ROTATE ? (u - a + LIVE) % LIVE : a;
          if (r >= HF_R) continue;
#pragma unroll
          for (int s = 0; s < HF_S; s++)
#pragma unroll
            for (int q = 0; q < HF_TQ; q++)
#pragma unroll
              for (int i = 0; i < HF_VEC; i++) acc[slot][q][i] += v[q * HF_SW + s * HF_DW][i] * w[r][s][i];
        }
      }
      enum { LAST = LIVE - 1 };
      int slot = HF_ROTATE ? (u + 1) % LIVE : LAST, p = p0 + step - LAST;
#pragma unroll
      for (int q = 0; q < HF_TQ; q++)
        if (p >= p0 && q0 + q < HF_Q) finish(acc[slot][q], y, (n * HF_P + p) * HF_Q + q0 + q, c HF_EPI_ARGS);
#pragma unroll
      for (int q = 0; q < HF_TQ; q++)
#pragma unroll
        for (int i = 0; i < HF_VEC; i++) {
#if !HF_ROTATE
#pragma unroll
          for (int a = LAST; a > 0; a--) acc[a][q][i] = acc[a - 1][q][i];
          slot = 0;
#endif
          acc[slot][q][i] = bias[i];
        }
    }
}

KERNEL(HF_THREADS, HF_BLOCKS)
depthwise(const in::type* __restrict__ x, const float* __restrict__ weights, out::type* __restrict__ y,
          int batch HF_EPI_PARAMS) {
  constexpr int CHUNKS = HF_YP / HF_VEC, TILES_P = (HF_P + HF_TP - 1) / HF_TP, TILES_Q = (HF_Q + HF_TQ - 1) / HF_TQ;
  u32 t = (u32)block_x() * HF_THREADS + thread_x();
  int c = (int)(t % CHUNKS) * HF_VEC;
  t /= CHUNKS;
  int q0 = (int)(t % TILES_Q) * HF_TQ;
  t /= TILES_Q;
  int p0 = (int)(t % TILES_P) * HF_TP;
  int n = (int)(t / TILES_P);
  if (n >= batch) return;
  x += (i64)n * (HF_H * HF_W * HF_XP) + c;
  float w[HF_R][HF_S][HF_VEC], bias[HF_VEC];
#pragma unroll
  for (int r = 0; r < HF_R; r++)
#pragma unroll
    for (int s = 0; s < HF_S; s++) pieces<HF_VEC, HF_F32>::load(weights + (r * HF_S + s) * HF_YP + c, ~0u, w[r][s]);
  pieces<HF_VEC, HF_F32>::load(weights + HF_R * HF_S * HF_YP + c, ~0u, bias);
#if HF_SPLIT
  int w0 = q0 * HF_SW - HF_PW;
  if (w0 >= 0 && w0 + COLS <= HF_W)
    strip<true>(x, w, bias, y, n, c, p0, q0 HF_EPI_ARGS);
  else
#endif
    strip<false>(x, w, bias, y, n, c, p0, q0 HF_EPI_ARGS);
}
)hip";

struct Tile {
  const char* variant;
  int vec, p, q;
  int blocks;  // that should fit a compute unit, which caps the registers
};
// By the kernel's extent, in the order of FMAs for each load; the last is for outputs too small to share out otherwise.
constexpr Tile kSmall[] = {{"4x4x4", 4, 4, 4, 3}, {"2x7x4", 2, 7, 4, 4}, {"4x2x4", 4, 2, 4, 4}, {"4x1x2", 4, 1, 2, 6}};
constexpr Tile kMedium[] = {{"2x7x4", 2, 7, 4, 3}, {"2x4x4", 2, 4, 4, 4}, {"4x2x4", 4, 2, 4, 2}, {"2x1x2", 2, 1, 2, 5}};
constexpr Tile kLarge[] = {{"2x4x4", 2, 4, 4, 3}, {"2x7x4", 2, 7, 4, 2}, {"2x2x4", 2, 2, 4, 3}, {"2x1x2", 2, 1, 2, 3}};

std::vector<std::string> defines_of(const DepthwiseProblem& p, const Tile& t) {
  const SpatialAxis &h = p.axes[0], &w = p.axes[1];
  std::vector<std::string> d = {fmt::format("HF_IN={}", element_name(p.in)),
                                fmt::format("HF_OUT={}", element_name(p.out))};
  const std::pair<const char*, int64_t> numbers[] = {{"THREADS", kThreads},
                                                     {"BLOCKS", t.blocks},
                                                     {"VEC", t.vec},
                                                     {"TP", t.p},
                                                     {"TQ", t.q},
                                                     {"H", h.input},
                                                     {"W", w.input},
                                                     {"P", h.output},
                                                     {"Q", w.output},
                                                     {"R", h.kernel},
                                                     {"S", w.kernel},
                                                     {"SH", h.stride},
                                                     {"SW", w.stride},
                                                     {"DH", h.dilation},
                                                     {"DW", w.dilation},
                                                     {"PH", h.begin},
                                                     {"PW", w.begin},
                                                     {"XP", p.in_pitch},
                                                     {"YP", p.out_pitch},
                                                     {"COLUMNS", p.filters()},
                                                     {"MULTIPLIER", p.multiplier},
                                                     {"SPLIT", w.output > 3 * t.q},
                                                     {"ROTATE", h.kernel * w.kernel <= 25}};
  for (auto [name, value] : numbers) d.push_back(fmt::format("HF_{}={}", name, value));
  return d;
}

KernelSpec make(const DepthwiseProblem& p, const Tile& t, const char* text) {
  auto tiles = [](int64_t outputs, int tile) { return (outputs + tile - 1) / tile; };
  int64_t threads = p.batch * tiles(p.axes[0].output, t.p) * tiles(p.axes[1].output, t.q) * (p.out_pitch / t.vec);
  if (threads > UINT32_MAX - kThreads) fail(Code::Unsupported, "a depthwise convolution of {} threads", threads);
  KernelSpec spec{
      .family = "depthwise",
      .variant = t.variant,
      .source = channel_vectors(p.epilogue) + kCommon + text,
      .entry = "depthwise",
      .defines = defines_of(p, t),
      .grid = {blocks_for(threads, kThreads), 1, 1},
      .block = {kThreads, 1, 1},
      .arguments = {Argument::input(0), Argument::packed(0), Argument::output(0), Argument::int32(p.batch)}};
  add_operands(spec, p.epilogue, p.inputs);
  return spec;
}

// How large a tile of inputs and weights gets, in registers: dilations and strides make it grow.
bool fits(const DepthwiseProblem& p, const Tile& t) {
  const SpatialAxis &h = p.axes[0], &w = p.axes[1];
  int64_t columns = (t.q - 1) * w.stride + (w.kernel - 1) * w.dilation + 1;
  return h.kernel * w.kernel * t.vec <= kMostWeights && std::min(columns, t.q * w.kernel) * t.vec <= 96 &&
         (t.p - 1) * h.stride + (h.kernel - 1) * h.dilation < 64 && columns < 64;
}

// The strips that share out the outputs over all compute units, as long as possible; a height of 0 if there are too
// few.
Tile strip_of(const DepthwiseProblem& p, const Target& target) {
  const SpatialAxis &h = p.axes[0], &w = p.axes[1];
  const int64_t taps = h.kernel * w.kernel;
  Tile t{"strip", 2, 0, w.output % 4 && w.output % 7 == 0 && taps <= 9 ? 7 : 4, taps <= 9 ? 5 : taps <= 25 ? 3 : 2};
  if (h.dilation != 1 || h.kernel < h.stride || p.multiplier != 1 || h.kernel < 2) return t;
  const int64_t columns = p.batch * ((w.output + t.q - 1) / t.q) * (p.out_pitch / t.vec);  // of threads
  const int64_t wanted = int64_t{target.compute_units} * 768, shortest = std::min(h.output, 2 * h.kernel);
  const int64_t strips = std::clamp<int64_t>((wanted + columns - 1) / columns, 1, h.output / shortest);
  if (columns * strips * 2 >= wanted) t.p = static_cast<int>((h.output + strips - 1) / strips);
  return t;
}

}  // namespace

Candidates depthwise(const DepthwiseProblem& p, const Target& target) {
  const SpatialAxis &h = p.axes[0], &w = p.axes[1];
  if (h.input * w.input * p.in_pitch > INT32_MAX || p.batch > INT32_MAX)
    fail(Code::Unsupported, "a depthwise convolution of {} images of {} x {} x {}", p.batch, h.input, w.input,
         p.in_pitch);
  int64_t taps = h.kernel * w.kernel;
  Candidates all;
  int64_t enough = int64_t{target.compute_units} * kThreads;
  for (const Tile& t : taps <= 9 ? kSmall : taps <= 25 ? kMedium : kLarge) {
    // Tiles that reach beyond the output or leave most of the device idle come last, in the small tile's favour.
    if (!fits(p, t)) continue;
    all.push_back(make(p, t, kTile));
  }
  auto idle = [&](const KernelSpec& s) { return int64_t{s.grid[0]} * kThreads < enough; };
  std::stable_partition(all.begin(), all.end(), [&](const KernelSpec& s) { return !idle(s); });
  if (!all.empty() && idle(all.front())) std::reverse(all.begin(), all.end());
  if (const Tile strip = strip_of(p, target); strip.p && fits(p, {"", strip.vec, 1, strip.q, 0}))
    all.insert(all.begin(), make(p, strip, kStrip));
  if (all.empty()) all.push_back(make(p, {"taps", p.out == Element::F32 ? 4 : 8, 1, 4, 2}, kTaps));
  return all;
}

}  // namespace hf::kernel

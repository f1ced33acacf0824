// Recurrent steps: a thread has rows of the recurrent weights, in registers if they fit; states lie in LDS.
#include "kernel/recurrent.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "kernel/channel_vectors.h"

namespace hf::kernel {
namespace {

constexpr int64_t kMostLds = 48 * 1024;
constexpr int64_t kMostThreads = 512;
constexpr int64_t kMostKept = 64;  // words of weights in a thread's registers
constexpr int64_t kMostSlice = 8;  // sequences a block

// HF_KEEP  a thread has one row, whose weights it keeps in registers     HF_NB  sequences a block
const char* const kSource = R"hip(
typedef element<HF_STATE> state;
typedef element<HF_WEIGHT> weight;
typedef pieces<4, HF_F32> four;
enum { GH = HF_GATES * HF_HIDDEN };

#if HF_KEEP
struct kept { u32 w[HF_PADDED * sizeof(weight::type) / 4]; };
#else
struct kept {};
#endif
DEV void keep(const weight::type* r, int row, kept& k) {
#if HF_KEEP
  enum { WORDS = sizeof(weight::type) };  // of four weights
#pragma unroll
  for (int i = 0; i < HF_PADDED / 4; i++) {
    const u32* from = (const u32*)(r + ((i64)i * GH + row) * 4);
#pragma unroll
    for (int j = 0; j < WORDS; j++) k.w[i * WORDS + j] = from[j];
  }
#endif
}
DEV void weights_at(const weight::type* r, int row, const kept& k, int i, float (&w)[4]) {
#if HF_KEEP
#if HF_WEIGHT == 0
  for (int j = 0; j < 4; j++) w[j] = as_float(k.w[4 * i + j]);
#else
  for (int j = 0; j < 4; j++) w[j] = weight::load((u16)(k.w[2 * i + j / 2] >> j % 2 * 16));
#endif
#else
  pieces<4, HF_WEIGHT>::load(r + ((i64)i * GH + row) * 4, ~0u, w);
#endif
}
// sums[b] = the row's product with vector b of HF_PADDED floats in LDS.
DEV void product(const weight::type* r, int row, const kept& k, const float* h, float (&sums)[HF_NB]) {
  for (int b = 0; b < HF_NB; b++) sums[b] = 0.f;
#if HF_KEEP
#pragma unroll
#else
#pragma unroll 4
#endif
  for (int i = 0; i < HF_PADDED / 4; i++) {
    float w[4], v[4];
    weights_at(r, row, k, i, w);
#pragma unroll
    for (int b = 0; b < HF_NB; b++) {
      four::load(h + b * HF_PADDED + 4 * i, ~0u, v);
      for (int j = 0; j < 4; j++) sums[b] = fma_f32(w[j], v[j], sums[b]);
    }
  }
}

struct sizes { int steps, batch, d, first; };
DEV bool backwards(int d) { return d == 1 ? !HF_REVERSE : HF_REVERSE; }
DEV i64 state_at(const sizes& s, int b) {
  i64 at = HF_BATCH_FIRST ? (i64)(s.first + b) * HF_DIRECTIONS + s.d : (i64)s.d * s.batch + s.first + b;
  return at * HF_HIDDEN;
}
// The row of X and of its products for a sequence and a time.
DEV i64 row_at(const sizes& s, int b, int t) {
  return HF_BATCH_FIRST ? (i64)(s.first + b) * s.steps + t : (i64)t * s.batch + s.first + b;
}
DEV i64 output_at(const sizes& s, int b, int t) {
  i64 at = HF_BATCH_FIRST ? ((i64)(s.first + b) * s.steps + t) * HF_DIRECTIONS + s.d
                          : ((i64)t * HF_DIRECTIONS + s.d) * s.batch + s.first + b;
  return at * HF_HIDDEN;
}

// One element of the next state; g: the sequence's gates; more: Lstm's c; of Gru see gates().
DEV float cell(const float* g, int j, float h, float* more) {
#if HF_CELL == 0
  return tanh_f32(g[j]);
#elif HF_CELL == 1
  float z = sigmoid_f32(g[j]);
#if HF_LINEAR
  float n = tanh_f32(*more + sigmoid_f32(g[HF_HIDDEN + j]) * g[2 * HF_HIDDEN + j]);
#else
  float n = tanh_f32(g[2 * HF_HIDDEN + j]);
#endif
  return (1.f - z) * n + z * h;
#else
  float i = sigmoid_f32(g[j]), o = sigmoid_f32(g[HF_HIDDEN + j]), f = sigmoid_f32(g[2 * HF_HIDDEN + j]);
  *more = f * *more + i * tanh_f32(g[3 * HF_HIDDEN + j]);
  return o * tanh_f32(*more);
#endif
}

// Gates of rows [from, to) from the vectors at h. With HF_LINEAR the candidate's part of x goes to `more`.
DEV void gates(const float* pre, const weight::type* r, const kept& k, const float* bias, const sizes& s,
               const int (&time)[HF_NB], const float* h, float* g, float* more, int from, int to) {
  for (int row = thread_x(); row < to; row += HF_THREADS) {
    if (row < from) continue;
    float x[HF_NB], sums[HF_NB];
#pragma unroll
    for (int b = 0; b < HF_NB; b++) x[b] = time[b] < 0 ? 0.f : pre[row_at(s, b, time[b]) * GH + row];
    product(r, row, k, h, sums);
    float of_x = bias[row], of_h = bias[GH + row];
#pragma unroll
    for (int b = 0; b < HF_NB; b++) {
      if (HF_LINEAR && row >= 2 * HF_HIDDEN) {
        more[b * HF_PADDED + row - 2 * HF_HIDDEN] = x[b] + of_x;
        g[b * GH + row] = sums[b] + of_h;
      } else {
        g[b * GH + row] = sums[b] + x[b] + of_x + of_h;
      }
    }
  }
}

DEV void start(float* h, float* more, const state::type* h0, const state::type* c0, const sizes& s) {
  for (int i = thread_x(); i < HF_NB * HF_PADDED; i += HF_THREADS) {
    int b = i / HF_PADDED, j = i % HF_PADDED;
    bool there = j < HF_HIDDEN && s.first + b < s.batch;
    h[i] = HF_HAS_H && there ? state::load(h0[state_at(s, b) + j]) : 0.f;
    more[i] = HF_HAS_C && there ? state::load(c0[state_at(s, b) + j]) : 0.f;
  }
}

KERNEL(HF_THREADS, 1)
recurrent(const float* pre, const weight::type* r, const float* bias, const int* lengths, const state::type* h0,
          const state::type* c0, state::type* y, state::type* last_h, state::type* last_c, int steps, int batch) {
  LDS(lds, HF_LDS);
  float *h = (float*)lds, *more = h + HF_NB * HF_PADDED, *g = more + HF_NB * HF_PADDED;
  sizes s = {steps, batch, block_x() % HF_DIRECTIONS, block_x() / HF_DIRECTIONS * HF_NB};
  pre += (i64)s.d * steps * batch * GH;
  r += (i64)s.d * HF_PADDED * GH;
  bias += (i64)s.d * 2 * GH;
  int length[HF_NB], time[HF_NB], longest = 0;
  for (int b = 0; b < HF_NB; b++) {
    length[b] = s.first + b < batch ? steps : 0;
    if (HF_HAS_LENGTHS && s.first + b < batch) {
      int n = lengths[s.first + b];
      length[b] = n < 0 ? 0 : n > steps ? steps : n;
    }
    longest = length[b] > longest ? length[b] : longest;
  }
  kept k;
  if (thread_x() < GH) keep(r, thread_x(), k);
  start(h, more, h0, c0, s);
  barrier();
  for (int step = 0; step < longest; step++) {
#pragma unroll
    for (int b = 0; b < HF_NB; b++)
      time[b] = step >= length[b] ? -1 : backwards(s.d) ? length[b] - 1 - step : step;
#if HF_CELL == 1 && !HF_LINEAR
    gates(pre, r, k, bias, s, time, h, g, more, 0, 2 * HF_HIDDEN);
    barrier();
    for (int i = thread_x(); i < HF_NB * HF_HIDDEN; i += HF_THREADS) {
      int b = i / HF_HIDDEN, j = i % HF_HIDDEN;
      more[b * HF_PADDED + j] = sigmoid_f32(g[b * GH + HF_HIDDEN + j]) * h[b * HF_PADDED + j];
    }
    barrier();
    gates(pre, r, k, bias, s, time, more, g, more, 2 * HF_HIDDEN, GH);
#else
    gates(pre, r, k, bias, s, time, h, g, more, 0, GH);
#endif
    barrier();
#pragma unroll
    for (int b = 0; b < HF_NB; b++) {
      if (time[b] < 0) continue;
      for (int j = thread_x(); j < HF_HIDDEN; j += HF_THREADS) {
        float v = cell(g + b * GH, j, h[b * HF_PADDED + j], more + b * HF_PADDED + j);
        h[b * HF_PADDED + j] = v;
        if (HF_WANTS_Y) y[output_at(s, b, time[b]) + j] = state::store(v);
      }
    }
    barrier();
  }
#pragma unroll
  for (int b = 0; b < HF_NB; b++) {
    if (s.first + b >= batch) continue;
    for (int j = thread_x(); j < HF_HIDDEN; j += HF_THREADS) {
      if (HF_WANTS_H) last_h[state_at(s, b) + j] = state::store(h[b * HF_PADDED + j]);
      if (HF_WANTS_C) last_c[state_at(s, b) + j] = state::store(more[b * HF_PADDED + j]);
      if (HF_WANTS_Y)
        for (int t = length[b]; t < steps; t++) y[output_at(s, b, t) + j] = state::store(0.f);
    }
  }
}
)hip";

int64_t lds_of(const RecurrentProblem& p, int64_t slice) { return slice * (2 * p.padded() + p.rows()) * 4; }

std::vector<std::string> defines_of(const RecurrentProblem& p, int64_t slice, int64_t threads, bool keep) {
  std::vector<std::string> all = {fmt::format("HF_STATE={}", static_cast<int>(p.state)),
                                  fmt::format("HF_WEIGHT={}", static_cast<int>(p.weight))};
  const std::pair<const char*, int64_t> numbers[] = {{"CELL", static_cast<int>(p.cell)},
                                                     {"GATES", p.gates()},
                                                     {"HIDDEN", p.hidden},
                                                     {"PADDED", p.padded()},
                                                     {"DIRECTIONS", p.directions},
                                                     {"REVERSE", p.reverse},
                                                     {"LINEAR", p.linear_before_reset},
                                                     {"BATCH_FIRST", p.batch_first},
                                                     {"HAS_LENGTHS", p.has_lengths},
                                                     {"HAS_H", p.has_h},
                                                     {"HAS_C", p.has_c},
                                                     {"WANTS_Y", p.wants[0]},
                                                     {"WANTS_H", p.wants[1]},
                                                     {"WANTS_C", p.wants[2]},
                                                     {"NB", slice},
                                                     {"THREADS", threads},
                                                     {"KEEP", keep},
                                                     {"LDS", lds_of(p, slice)}};
  for (auto [name, value] : numbers) all.push_back(fmt::format("HF_{}={}", name, value));
  return all;
}

// Absent buffers are given as the workspace: the kernel does not look at them.
std::vector<Argument> arguments_of(const RecurrentProblem& p) {
  auto given = [](bool has, Argument a) { return has ? a : Argument::workspace(); };
  return {Argument::workspace(),
          Argument::packed(0),
          Argument::packed(1),
          given(p.has_lengths, Argument::input(4)),
          given(p.has_h, Argument::input(5)),
          given(p.has_c, Argument::input(6)),
          given(p.wants[0], Argument::output(0)),
          given(p.wants[1], Argument::output(1)),
          given(p.wants[2], Argument::output(2)),
          Argument::int32(p.steps),
          Argument::int32(p.batch)};
}

}  // namespace

Candidates recurrent(const RecurrentProblem& p, const Target& target) {
  if (p.steps > INT32_MAX / 2 || p.batch > INT32_MAX / 2 || p.hidden > INT32_MAX / 64 || lds_of(p, 1) > kMostLds)
    fail(Code::Unsupported, "{} steps of {} sequences with {} values of state", p.steps, p.batch, p.hidden);
  const int64_t units = std::max(1, target.compute_units);
  int64_t slice = std::clamp<int64_t>((p.batch * p.directions + units - 1) / units, 1, std::min(kMostSlice, p.batch));
  while (lds_of(p, slice) > kMostLds) --slice;
  const int64_t threads = std::min(kMostThreads, (p.rows() + 63) / 64 * 64);
  const bool keep = p.rows() <= threads && p.padded() * size_of(p.weight) / 4 <= kMostKept;
  return {{.family = "recurrent",
           .variant = fmt::format("{}{}", keep ? "kept" : "read", slice),
           .source = std::string(kPieces) + kSource,
           .entry = "recurrent",
           .defines = defines_of(p, slice, threads, keep),
           .grid = {blocks_for((p.batch + slice - 1) / slice * p.directions, 1), 1, 1},
           .block = {static_cast<uint32_t>(threads), 1, 1},
           .lds_bytes = static_cast<uint32_t>(lds_of(p, slice)),
           .arguments = arguments_of(p),
           .workspace_bytes = p.directions * p.steps * p.batch * p.rows() * 4}};
}

}  // namespace hf::kernel

// Quantising and dequantising: eight elements a thread.
#include "kernel/quantize.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "kernel/channel_vectors.h"
#include "kernel/vector_epilogue.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 8;
constexpr int kMostParts = 512;  // blocks that look for a tensor's range

const char* const kSource = R"hip(
typedef element<HF_REAL> real;
typedef HF_C_TYPE whole;

DEV u32 scale_of(u32 i) { return HF_EXTENT == 1 ? 0 : i / HF_INNER % HF_EXTENT; }
DEV bool is_padding(u32 i) { return HF_PITCH && i % (HF_PITCH + !HF_PITCH) >= HF_CHANNELS; }

// Eight integers at a place that is aligned to eight of them.
DEV void read(const whole* p, int (&v)[8]) {
  alignas(16) u32 w[2 * sizeof(whole)];
  if constexpr (sizeof(whole) == 1) {
    u64 all = *(const u64*)p;
    w[0] = (u32)all;
    w[1] = (u32)(all >> 32);
  } else {
    for (int i = 0; i < (int)sizeof(whole) / 2; i++) {
      u32x4 four = ((const u32x4*)p)[i];
      w[4 * i] = four.x, w[4 * i + 1] = four.y, w[4 * i + 2] = four.z, w[4 * i + 3] = four.w;
    }
  }
  for (int i = 0; i < 8; i++) v[i] = (whole)(w[i * sizeof(whole) / 4] >> i * sizeof(whole) % 4 * 8);
}
DEV void write(whole* p, const int (&v)[8]) {
  u32 w[2 * sizeof(whole)] = {};
  for (int i = 0; i < 8; i++) {
    u32 bits = sizeof(whole) == 1 ? (u8)v[i] : sizeof(whole) == 2 ? (u16)v[i] : (u32)v[i];
    w[i * sizeof(whole) / 4] |= bits << i * sizeof(whole) % 4 * 8;
  }
  if constexpr (sizeof(whole) == 1) *(u64*)p = w[0] | (u64)w[1] << 32;
  else for (int i = 0; i < (int)sizeof(whole) / 2; i++) ((u32x4*)p)[i] = u32x4{w[4 * i], w[4 * i + 1], w[4 * i + 2], w[4 * i + 3]};
}

#if HF_TO_INTEGER
typedef real::type from_type;
typedef whole to_type;
DEV int convert(float v, float scale, int zero) {
  float q = v / scale;
  if (HF_QUOTIENT != HF_F32) q = element<HF_QUOTIENT>::load(element<HF_QUOTIENT>::store(q));
  return quantized(q, zero);
}
#else
typedef whole from_type;
typedef real::type to_type;
DEV float convert(int v, float scale, int zero) { return (float)(v - zero) * scale; }
#endif

KERNEL(HF_THREADS, 2) quantize(const from_type* x, const float* scale, to_type* y, u32 count
#if HF_HAS_ZERO
                               , const whole* zero
#endif
) {
  u32 at = ((u32)block_x() * HF_THREADS + thread_x()) * 8;
  if (at >= count) return;
  u32 some = count - at < 8 ? count - at : 8;
  float r[8];
  int n[8];
#if HF_TO_INTEGER
  if (some == 8) pack<8, HF_REAL>::load(x + at, r);
  else
#pragma unroll
    for (u32 i = 0; i < 8; i++) r[i] = i < some ? real::load(x[at + i]) : 0.f;
#else
  if (some == 8) read(x + at, n);
  else
#pragma unroll
    for (u32 i = 0; i < 8; i++) n[i] = i < some ? (int)x[at + i] : 0;
#endif
#pragma unroll
  for (u32 i = 0; i < 8; i++) {
    if (i >= some) continue;
    u32 s = is_padding(at + i) ? 0 : scale_of(at + i);
    int z = 0;
#if HF_HAS_ZERO
    z = zero[s];
#endif
#if HF_TO_INTEGER
    n[i] = is_padding(at + i) ? 0 : convert(r[i], scale[s], z);
#else
    r[i] = is_padding(at + i) ? 0.f : convert(n[i], scale[s], z);
#endif
  }
#if HF_TO_INTEGER
  if (some == 8) write(y + at, n);
  else
#pragma unroll
    for (u32 i = 0; i < 8; i++)
      if (i < some) y[at + i] = (whole)n[i];
#else
  if (some == 8) pack<8, HF_REAL>::store(y + at, r);
  else
#pragma unroll
    for (u32 i = 0; i < 8; i++)
      if (i < some) y[at + i] = real::store(r[i]);
#endif
}
)hip";

// parts: the least and largest of what each block has seen, with 0. NaN is passed over.
const char* const kRange = R"hip(
typedef element<HF_REAL> real;
struct min_op { DEV float run(float a, float b) { return a < b ? a : b; } };
struct max_op { DEV float run(float a, float b) { return a > b ? a : b; } };

KERNEL(HF_THREADS, 2) find_range(const real::type* x, float* parts, u32 count) {
  LDS(lds, 64);
  float low = 0.f, high = 0.f;
  for (u32 i = (u32)block_x() * HF_THREADS + thread_x(); i < count; i += HF_THREADS * HF_PARTS) {
    float v = real::load(x[i]);
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  low = block_reduce<min_op, HF_THREADS>(low, (float*)lds);
  high = block_reduce<max_op, HF_THREADS>(high, (float*)lds);
  if (thread_x() == 0) {
    parts[2 * block_x()] = low;
    parts[2 * block_x() + 1] = high;
  }
}

KERNEL(HF_THREADS, 2) dynamic_quantize(const real::type* x, const float* parts, u8* y, float* scale_out, u8* zero_out, u32 count) {
  float low = 0.f, high = 0.f;
  for (int i = 0; i < HF_PARTS; i++) {
    low = parts[2 * i] < low ? parts[2 * i] : low;
    high = parts[2 * i + 1] > high ? parts[2 * i + 1] : high;
  }
  float scale = high == low ? 1.f : (high - low) / 255.f;
  int zero = quantized(-low / scale, 0);
  if (block_x() == 0 && thread_x() == 0) {
    if (scale_out) *scale_out = scale;
    if (zero_out) *zero_out = (u8)zero;
  }
  for (u32 i = (u32)block_x() * HF_THREADS + thread_x(); i < count; i += HF_THREADS * HF_BLOCKS)
    y[i] = (u8)quantized(real::load(x[i]) / scale, zero);
}
)hip";

}  // namespace

const std::string_view kQuantized = R"hip(
constexpr float LOW = HF_INTEGER == 1 ? -128.f : HF_INTEGER == 3 ? -32768.f : 0.f;
constexpr float HIGH = HF_INTEGER == 0 ? 255.f : HF_INTEGER == 1 ? 127.f : HF_INTEGER == 2 ? 65535.f : 32767.f;
DEV int quantized(float v, int zero) {
  v = rint_f32(v) + (float)zero;
  return (int)(v > LOW ? v < HIGH ? v : HIGH : LOW);
}
// The rounded product may lie half way between two integers where the exact one does not: fma tells on which side it is.
DEV int requantized(int sum, float scale, int zero) {
  float below = floor_f32((float)sum * scale), half = below + 0.5f, side = fma_f32((float)sum, scale, -half);
  return quantized(side > 0.f ? below + 1.f : side < 0.f ? below : half, zero);
}
)hip";

int size_of(Integer type) { return type <= Integer::I8 ? 1 : type <= Integer::I16 ? 2 : 4; }

std::string_view c_name(Integer type) {
  constexpr std::string_view names[] = {"u8", "signed char", "u16", "short", "int"};
  return names[static_cast<size_t>(type)];
}

Candidates quantize(const QuantizeProblem& p, const Target&) {
  if (p.count > INT32_MAX) fail(Code::Unsupported, "quantising {} elements", p.count);
  std::vector<std::string> defines = {fmt::format("HF_REAL={}", element_name(p.real)),
                                      fmt::format("HF_QUOTIENT={}", element_name(p.quotient)),
                                      fmt::format("HF_INTEGER={}", static_cast<int>(p.integer)),
                                      fmt::format("HF_C_TYPE={}", c_name(p.integer)),
                                      fmt::format("HF_TO_INTEGER={}", int{p.to_integer}),
                                      fmt::format("HF_HAS_ZERO={}", int{p.has_zero}),
                                      fmt::format("HF_INNER={}", p.inner),
                                      fmt::format("HF_EXTENT={}", p.extent),
                                      fmt::format("HF_PITCH={}", p.pitch),
                                      fmt::format("HF_CHANNELS={}", p.channels),
                                      fmt::format("HF_THREADS={}", kThreads)};
  KernelSpec spec{.family = "quantize",
                  .variant = "vector",
                  .source = std::string(kQuantized) + kSource,
                  .entry = "quantize",
                  .defines = std::move(defines),
                  .grid = {blocks_for(p.count, int64_t{kThreads} * kEach), 1, 1},
                  .block = {kThreads, 1, 1},
                  .arguments = {Argument::input(0), Argument::input(1), Argument::output(0), Argument::int32(p.count)}};
  if (p.has_zero) spec.arguments.push_back(Argument::input(2));
  return {std::move(spec)};
}

std::vector<Candidates> dynamic_quantize(const DynamicQuantizeProblem& p, const Target& target) {
  if (p.count > INT32_MAX) fail(Code::Unsupported, "quantising {} elements", p.count);
  const int64_t most = std::clamp<int64_t>(int64_t{target.compute_units} * 2, 1, kMostParts);
  const int64_t parts = std::min(most, (p.count + 4 * kThreads - 1) / (4 * kThreads)),
                blocks = std::min(int64_t{8} * most, (p.count + kThreads - 1) / kThreads);
  KernelSpec range{
      .family = "find_range",
      .variant = "parts",
      .source = std::string(kQuantized) + kRange,
      .entry = "find_range",
      .defines = {fmt::format("HF_REAL={}", element_name(p.real)), "HF_INTEGER=0", fmt::format("HF_PARTS={}", parts),
                  fmt::format("HF_BLOCKS={}", blocks), fmt::format("HF_THREADS={}", kThreads)},
      .grid = {static_cast<uint32_t>(parts), 1, 1},
      .block = {kThreads, 1, 1},
      .lds_bytes = 64,
      .arguments = {Argument::input(0), Argument::workspace(), Argument::int32(p.count)},
      .workspace_bytes = parts * 8};
  KernelSpec apply = range;
  apply.family = apply.entry = "dynamic_quantize";
  apply.grid[0] = static_cast<uint32_t>(blocks);
  apply.lds_bytes = 0;
  apply.arguments = {Argument::input(0),  Argument::workspace(), Argument::output(0),
                     Argument::output(1), Argument::output(2),   Argument::int32(p.count)};
  return {{std::move(range)}, {std::move(apply)}};
}

}  // namespace hf::kernel

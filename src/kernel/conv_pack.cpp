// Constants of convolutions, packed on the device; rows padded to vectors.
#include <fmt/core.h>

#include "base/error.h"
#include "kernel/conv_source.h"
#include "kernel/matrix_tile.h"

namespace hf::kernel {
namespace {

const char* const kBias = R"hip(
typedef element<HF_FROM> from;
KERNEL(256, 2) pack_bias(const from::type* b, const from::type* b2, float* y, int count, float factor) {
  int i = block_x() * 256 + thread_x();
  if (i >= count) return;
  int row = i % HF_KROWS, k = i / HF_KROWS * HF_K + row;
  float v = 0;
  if (row < HF_K) {
    v = from::load(b[HF_ONE ? 0 : k]) * factor;
#if HF_TWO
    v += from::load(b2[k]);
#endif
  }
  y[i] = v;
}
)hip";

const char* const kRows = R"hip(
typedef element<HF_T> in;
KERNEL(256, 2) pad_rows(const in::type* x, in::type* y, i64 vectors) {
  i64 i = (i64)block_x() * 256 + thread_x();
  if (i >= vectors) return;
  constexpr int VEC = in::VEC, PER_ROW = HF_PITCH / VEC;
  i64 row = i / PER_ROW;
  int col = (int)(i % PER_ROW) * VEC;
  float v[VEC];
#pragma unroll
  for (int e = 0; e < VEC; e++) v[e] = col + e < HF_COLS ? in::load(x[row * HF_COLS + col + e]) : 0.f;
  pack<VEC, HF_T>::store(y + row * HF_PITCH + col, v);
}
)hip";

}  // namespace

KernelSpec conv_weights(const ConvProblem& p, const Target& target, const WeightSource& w, const WeightSource& w2,
                        float factor, int64_t& bytes, std::string& key) {
  const ConvShape s = conv_shape(p, target);
  const int64_t count = s.groups * (s.steps1 + s.steps2) * s.krows * s.chunks;
  bytes = count * 16;
  KernelSpec spec{
      .family = "conv_weights", .variant = "chunk", .source = std::string(kConvPack), .entry = "pack_weights"};
  spec.defines = conv_defines(p, s);
  auto define = [&](const char* name, int64_t value) { spec.defines.push_back(fmt::format("HF_{}={}", name, value)); };
  define("FROM", static_cast<int>(w.type)), define("K_STRIDE", w.k_stride), define("C_STRIDE", w.c_stride);
  define("R_STRIDE", w.r_stride), define("S_STRIDE", w.s_stride), define("JOINED", s.joined);
  define("GROUP_C", p.c / p.groups), define("PAIRS", s.pairs), define("PAIR_SHIFT", s.pair_shift),
      define("TAPS_W", p.s);
  define("FROM2", static_cast<int>(w2.type)), define("K_STRIDE2", w2.k_stride), define("C_STRIDE2", w2.c_stride);
  define("REAL_C2", p.c2);
  key = fmt::format("conv weights {} {}", target.arch, factor);
  for (const std::string& one : spec.defines) key += " " + one;
  spec.grid[0] = blocks_for(count, 256);
  spec.block[0] = 256;
  spec.arguments = {Argument::input(0), Argument::input(p.c2 ? 1 : 0), Argument::output(0), Argument::int64(count),
                    Argument::float32(factor)};
  return spec;
}

KernelSpec conv_bias(const ConvProblem& p, const Target& target, Element type, bool one_element, bool two, float factor,
                     int64_t& bytes, std::string& key) {
  const ConvShape s = conv_shape(p, target);
  const int64_t count = s.groups * s.krows;
  bytes = count * 4;
  KernelSpec spec{.family = "conv_bias", .variant = "element", .source = kBias, .entry = "pack_bias"};
  spec.defines = {fmt::format("HF_FROM={}", static_cast<int>(type)), fmt::format("HF_KROWS={}", s.krows),
                  fmt::format("HF_K={}", s.k), fmt::format("HF_ONE={}", int{one_element}),
                  fmt::format("HF_TWO={}", int{two})};
  key = fmt::format("conv bias {}", factor);
  for (const std::string& one : spec.defines) key += " " + one;
  spec.grid[0] = blocks_for(count, 256);
  spec.block[0] = 256;
  spec.arguments = {Argument::input(0), Argument::input(two ? 1 : 0), Argument::output(0), Argument::int32(count),
                    Argument::float32(factor)};
  return spec;
}

KernelSpec pad_rows(int64_t rows, int64_t cols, int64_t pitch, Element type) {
  const int vec = vector_of(type);
  check(pitch % vec == 0 && pitch >= cols && pitch < INT32_MAX, "rows are padded to vectors");
  const int64_t vectors = rows * (pitch / vec);
  return {.family = "pad_rows",
          .variant = "vector",
          .source = kRows,
          .entry = "pad_rows",
          .defines = {fmt::format("HF_T={}", static_cast<int>(type)), fmt::format("HF_COLS={}", cols),
                      fmt::format("HF_PITCH={}", pitch)},
          .grid = {blocks_for(vectors, 256), 1, 1},
          .block = {256, 1, 1},
          .arguments = {Argument::input(0), Argument::output(0), Argument::int64(vectors)}};
}

}  // namespace hf::kernel

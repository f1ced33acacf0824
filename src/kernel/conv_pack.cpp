// Constants of convolutions, packed on the device; rows padded to vectors.
#include <fmt/core.h>

#include "base/error.h"
#include "kernel/conv_source.h"
#include "kernel/matrix_tile.h"

namespace hf::kernel {
namespace {

const char* const kBias = R"hip(
typedef element<HF_FROM> from;
KERNEL(256, 2) pack_bias(const from::type* b, const from::type* b2, float* y, int count, int krows, int channels, int stride,
                         int two, float factor) {
  int i = block_x() * 256 + thread_x();
  if (i >= count) return;
  int row = i % krows, k = i / krows * channels + row;
  float v = 0;
  if (row < channels) {
    v = from::load(b[k * stride]) * factor;
    if (two) v += from::load(b2[k]);
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

// All that the data depends on besides the constants. The order of rows is the architecture's.
std::string key_of(const KernelSpec& spec, const Target& target) {
  std::string key = fmt::format("{} {}", spec.family, target.arch);
  for (const std::string& define : spec.defines) key += " " + define;
  for (const Argument& a : spec.arguments)
    if (a.kind == Argument::Kind::Float32)
      key += fmt::format(" {}", a.number);
    else
      key += fmt::format(" {}", a.integer);
  return key;
}

}  // namespace

KernelSpec conv_weights(const ConvProblem& p, const Target& target, const WeightSource& w, const WeightSource& w2,
                        float factor, int64_t& bytes, std::string& key) {
  const ConvShape s = conv_shape(p, target);
  const int64_t count = s.groups * (s.steps1 + s.steps2) * s.krows * s.chunks;
  bytes = count * 16;
  KernelSpec spec{
      .family = "conv_weights", .variant = "chunk", .source = std::string(kConvPack), .entry = "pack_weights"};
  auto define = [&](const char* name, int64_t value) { spec.defines.push_back(fmt::format("HF_{}={}", name, value)); };
  define("T", static_cast<int>(p.in)), define("FROM", static_cast<int>(w.type)),
      define("FROM2", static_cast<int>(w2.type));
  define("CHUNKS", s.chunks), define("PAIRS", s.pairs);
  spec.grid[0] = blocks_for(count, 256);
  spec.block[0] = 256;
  spec.arguments = {Argument::input(0), Argument::input(p.c2 ? 1 : 0), Argument::output(0), Argument::int64(count),
                    Argument::float32(factor)};
  for (int64_t v :
       {s.c, s.k, p.r, s.s, p.c2 ? p.pitch2 : 0, s.krows, s.joined, p.c / p.groups, int64_t{s.pair_shift}, p.s, p.c2})
    spec.arguments.push_back(Argument::int32(v));
  for (int64_t v : {w.k_stride, w.c_stride, w.r_stride, w.s_stride, w2.k_stride, w2.c_stride})
    spec.arguments.push_back(Argument::int64(v));
  key = key_of(spec, target);
  return spec;
}

KernelSpec conv_bias(const ConvProblem& p, const Target& target, Element type, bool one_element, bool two, float factor,
                     int64_t& bytes, std::string& key) {
  const ConvShape s = conv_shape(p, target);
  const int64_t count = s.groups * s.krows;
  bytes = count * 4;
  KernelSpec spec{.family = "conv_bias", .variant = "element", .source = kBias, .entry = "pack_bias"};
  spec.defines = {fmt::format("HF_FROM={}", static_cast<int>(type))};
  spec.grid[0] = blocks_for(count, 256);
  spec.block[0] = 256;
  spec.arguments = {Argument::input(0), Argument::input(two ? 1 : 0), Argument::output(0), Argument::int32(count)};
  for (int64_t v : {s.krows, s.k, int64_t{!one_element}, int64_t{two}}) spec.arguments.push_back(Argument::int32(v));
  spec.arguments.push_back(Argument::float32(factor));
  key = key_of(spec, target);
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

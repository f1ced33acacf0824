// Convolution kernels: problems to specifications.
#include "kernel/conv.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "kernel/conv_tiles.h"
#include "kernel/device_header.h"
#include "kernel/matrix_tile.h"

namespace hf::kernel {
namespace {

constexpr int64_t up(int64_t a, int64_t to) { return (a + to - 1) / to * to; }

// Groups are joined until their channels fill vectors on both sides and a matrix tile is not mostly padding.
int64_t joined_groups(const ConvProblem& p) {
  const int64_t c = p.c / p.groups, k = p.k / p.groups, vec = std::max(vector_of(p.in), 8);
  for (int64_t join = 1; join < p.groups; ++join) {
    if (p.groups % join) continue;
    if (c * join % vec == 0 && k * join % vec == 0 && c * join >= 16 && k * join >= 32) return join;
  }
  return p.groups;
}

// Rows of packed weights, for all tiles: depends on the shape only, so that batches share them.
int64_t rows_of(int64_t k) {
  if (k <= 64) return up(k, 32);
  int64_t by128 = up(k, 128), by256 = up(k, 256);
  return by256 * 8 <= k * 9 ? by256 : by128;
}

int chunks_of(const ConvProblem& p, const ConvShape& s, const Target& target) {
  // Registers hold a step in flight where copies are not asynchronous, and lanes take long for one; the emulator
  // stands for either kind.
  const MatrixTile unit = matrix_tile(target, p.in);
  if (target.arch != "emu" && !(unit.async && unit.matrix)) return 4;
  if (s.c % (8 * s.vec) == 0) return 8;
  if (s.c % (4 * s.vec) == 0 && p.r * p.s > 1) return 4;
  return p.r * s.s * s.c + p.c2 > 64 * s.vec ? 8 : 4;
}

void check_problem(const ConvProblem& p) {
  auto limit = [](int64_t a, int64_t b, int64_t c, int64_t d) {
    int64_t all = 0;
    if (__builtin_mul_overflow(a, b, &all) || __builtin_mul_overflow(all, c, &all) ||
        __builtin_mul_overflow(all, d, &all) || all > INT32_MAX - 65536)
      fail(Code::Unsupported, "a convolution over {} x {} x {} x {} elements; at most 2^31", a, b, c, d);
  };
  limit(p.n, p.h + 2 * p.pad[0] + p.r * p.dilation[0], p.w + 2 * p.pad[1] + p.s * p.dilation[1], p.pitch);
  limit(p.n, p.p, p.q, 1);
  limit(p.n, p.h2, p.w2, std::max<int64_t>(p.pitch2, 1));
  limit(p.k, p.r, p.s, p.pitch / p.groups + 64);
  // Too many taps for a bit each: coordinates of 16 bits, unless there is one row.
  if (p.r * p.s <= 32 || (p.h == 1 && p.r == 1 && p.pad[0] == 0)) return;
  limit(p.p * p.stride[0] + p.pad[0], 1 << 15, 1, 1);
  limit(p.q * p.stride[1] + p.pad[1], 1 << 15, 1, 1);
}

}  // namespace

bool wants_pairs(const ConvProblem& p) {
  return p.c <= 4 && p.groups == 1 && size_of(p.in) == 2 && p.w % 2 == 0 && p.stride[1] % 2 == 0 &&
         p.dilation[1] == 1 && !p.c2;
}

ConvShape conv_shape(const ConvProblem& p, const Target& target) {
  check_problem(p);
  ConvShape s{};
  s.vec = vector_of(p.in);
  s.joined = joined_groups(p);
  s.groups = p.groups / s.joined;
  s.pairs = wants_pairs(p) && p.pitch == 4;
  check(s.pairs || p.pitch % s.vec == 0, "pixels of a convolution's input are whole vectors");
  check(p.pitch2 % s.vec == 0 && (p.groups == 1 || !p.c2), "a convolution's second input");
  s.w = s.pairs ? p.w / 2 : p.w;
  s.pitch = s.pairs ? 8 : p.pitch;
  s.c = s.groups == 1 ? s.pitch : p.c / s.groups;
  s.k = p.k / s.groups;
  s.pad_w = s.pairs ? (p.pad[1] + 1) / 2 : p.pad[1];
  s.pair_shift = s.pairs ? static_cast<int>(2 * s.pad_w - p.pad[1]) : 0;
  s.s = s.pairs ? (p.s + s.pair_shift + 1) / 2 : p.s;
  s.stride_w = s.pairs ? p.stride[1] / 2 : p.stride[1];
  s.chunks = chunks_of(p, s, target);
  s.krows = rows_of(s.k);
  const int64_t step = s.chunks * s.vec;
  s.steps1 = up(p.r * s.s * s.c, step) / step;
  s.steps2 = up(p.c2 ? p.pitch2 : 0, step) / step;
  return s;
}

namespace {

KernelSpec make(const ConvProblem& p, const ConvShape& s, const ConvTile& t, const Target& target) {
  const MatrixTile unit = matrix_tile(target, p.in);
  const int64_t pixels = p.n * p.p * p.q, threads = int64_t{t.wm} * t.wn * (t.wgmma ? 128 : target.wave_size);
  const int64_t out_tiles = up(pixels, t.m) / t.m * (up(s.k, t.n) / t.n) * s.groups, tiles = out_tiles * t.splits;
  const int64_t resident = unit.async && t.splits == 1 ? int64_t{t.blocks} * target.compute_units : tiles;
  KernelSpec spec{.family = "conv", .entry = "conv"};
  spec.variant = fmt::format("{}{}x{}x{}/{}x{}/s{}{}", t.wgmma ? "w" : "", t.m, t.n, s.chunks * s.vec, t.wm, t.wn,
                             t.stages, t.splits > 1 ? fmt::format("k{}", t.splits) : "");
  if (t.wgmma) spec.source = wgmma_text(p.in, t.n / t.wn);
  spec.source += conv_epilogue_text(p, s);
  for (std::string_view part : {kConvShape, kConvFeeder, kConvMultiply, kConvKernel}) spec.source += part;
  auto define = [&](const char* name, int64_t value) { spec.defines.push_back(fmt::format("HF_{}={}", name, value)); };
  define("T", static_cast<int>(p.in)), define("CHUNKS", s.chunks), define("KROWS", s.krows), define("GROUPS", s.groups);
  define("C", s.c), define("K", s.k), define("R", p.r), define("S", s.s), define("C2", p.c2 ? p.pitch2 : 0);
  define("OUT", static_cast<int>(p.out)), define("H", p.h), define("W", s.w), define("XP", s.pitch),
      define("YP", p.out_pitch);
  define("P", p.p), define("Q", p.q), define("SH", p.stride[0]), define("SW", s.stride_w), define("DH", p.dilation[0]);
  define("DW", p.dilation[1]), define("PH", p.pad[0]), define("PW", s.pad_w), define("XP2", p.pitch2),
      define("H2", p.h2);
  define("W2", p.w2), define("SH2", p.stride2[0]), define("SW2", p.stride2[1]), define("BIAS", p.bias),
      define("BM", t.m);
  define("BN", t.n), define("WM", t.wm), define("WN", t.wn), define("STAGES", t.stages), define("BLOCKS", t.blocks);
  define("USE_WGMMA", t.wgmma), define("SPLITK", t.splits > 1), define("L1", 0),
      define("HELD_VECTORS", unit.matrix ? (unit.pixels == 16 && !unit.async ? 4 : 8) : 0);
  // With 384 threads a lane has 168 registers, 128 of them sums.
  define("HELD_CHUNK", !unit.matrix ? 0 : !unit.async || threads > 256 ? 2 : t.wgmma ? 8 : 4);
  spec.grid[0] = blocks_for(std::min(tiles, resident), 1);
  spec.block[0] = static_cast<uint32_t>(threads);
  spec.lds_bytes = static_cast<uint32_t>((t.m + t.n) * s.chunks * 16 * t.stages + 16);
  if (t.splits > 1) {
    spec.workspace_bytes = tiles * t.m * t.n * 4;
    spec.counters = static_cast<int>(out_tiles);
  }
  // Pointers that the kernel does not use are the input's.
  spec.arguments = {Argument::input(0),
                    Argument::input(p.c2 ? p.second_input : 0),
                    Argument::packed(0),
                    p.bias ? Argument::packed(1) : Argument::input(0),
                    Argument::output(0),
                    t.splits > 1 ? Argument::workspace() : Argument::input(0),
                    t.splits > 1 ? Argument::counters() : Argument::input(0),
                    Argument::int32(pixels),
                    Argument::int32(tiles),
                    Argument::int32(spec.grid[0]),
                    Argument::int32(t.splits),
                    Argument::int32((s.steps1 + s.steps2 + t.splits - 1) / t.splits)};
  const int own = p.c2 ? 2 : 1;
  for (int i = 0; i < static_cast<int>(p.epilogue.operands.size()); ++i)
    spec.arguments.push_back(
        Argument::input(p.operand_inputs.empty() ? own + i : p.operand_inputs[static_cast<size_t>(i)]));
  return spec;
}

}  // namespace

Candidates conv(const ConvProblem& p, const Target& target) {
  const ConvShape s = conv_shape(p, target);
  check(p.out_pitch == p.k || (p.out_pitch % 8 == 0 && p.out_pitch == up(p.k, 8)), "a convolution's output pitch");
  Candidates all;
  for (const ConvTile& t : conv_tiles(p, s, target, 8)) all.push_back(make(p, s, t, target));
  return all;
}

}  // namespace hf::kernel

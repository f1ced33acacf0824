// Attention: which tiles, and a problem as arguments and defines.
#include "kernel/attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "kernel/attention_text.h"
#include "kernel/device_header.h"

namespace hf::kernel {
namespace {

constexpr float kLog2E = 1.44269504f;

struct Tile {
  int queries, keys, threads, stages;
};

int64_t up_to(int64_t v, int64_t multiple) { return (v + multiple - 1) / multiple * multiple; }

int64_t lds_bytes(const AttentionProblem& p, const Tile& t) {
  int64_t d = up_to(p.head_size, 32), vd = up_to(p.v_head_size, 32);
  return size_of(p.type) * (t.queries * d + t.stages * t.keys * (d + vd));
}

// Warps' instructions for the whole of it, roughly, from counts in the compiled kernels: a step has some of its own
// (copies, addresses, waiting) and some for each key; a warp with 32 rows in the place of 16 has fewer for each row,
// but leaves fewer registers for other warps.
double cuda_cost(const AttentionProblem& p, const Tile& t) {
  bool tall = t.threads == t.queries;
  double warps = static_cast<double>((p.queries + t.queries - 1) / t.queries * (t.threads / 32));
  double steps = static_cast<double>((p.keys + t.keys - 1) / t.keys);
  return warps * steps * (60 + t.keys * (tall ? 12.0 : 6.6));
}

// Tiles for heads of at most 128 small floats: of 64 or 128 queries, or of as many as leave few rows empty.
std::vector<Tile> cuda_tiles(const AttentionProblem& p, int64_t size) {
  int64_t parts = (p.queries + 127) / 128;
  int fitted = static_cast<int>(up_to((p.queries + parts - 1) / parts, 16));
  std::vector<Tile> all = {
      {64, 64, 128, 2}, {128, 64, 256, 2}, {fitted, 64, 2 * fitted, 2}, {fitted, 32, 2 * fitted, 2}};
  if (fitted == 64 || fitted == 128) all.resize(2);
  if (size <= 64) all.push_back({128, 64, 128, 2});
  all.push_back({64, 32, 128, 2});
  std::stable_sort(all.begin(), all.end(),
                   [&](const Tile& a, const Tile& b) { return cuda_cost(p, a) < cuda_cost(p, b); });
  return all;
}

// In order of expected speed; what LDS cannot hold is left out. Elsewhere than on CUDA a tile's rows are multiples
// of 32.
std::vector<Tile> tiles_for(const AttentionProblem& p, const Target& target) {
  bool cuda = target.arch.starts_with("sm_"), narrow = p.type != Element::F32;
  int64_t size = std::max(p.head_size, p.v_head_size);
  std::vector<Tile> all;
  if (!narrow) {
    all = {{128, 32, 128, 1}, {64, 32, 128, 1}, {32, 32, 64, 1}};
    if (p.queries <= 64) all = {{64, 32, 128, 1}, {32, 32, 64, 1}};
  } else if (size > 128) {
    all = {{64, 32, 128, cuda ? 2 : 1}, {32, 32, 64, 1}};
  } else if (cuda) {
    all = cuda_tiles(p, size);
  } else {
    bool scarce = target.wave_size == 32;  // registers are, for more
    int keys = size <= 64 && !scarce ? 64 : 32;
    all = {{64, keys, 128, 1}};
    if (size <= 64 || !scarce) all.push_back({128, keys, 256, 1});
    if (p.queries <= 32) all.insert(all.begin(), {32, keys, 64, 1});
    if (keys == 64) all.push_back({64, 32, 128, 1});
  }
  std::erase_if(all, [&](const Tile& t) { return lds_bytes(p, t) > target.lds_bytes; });
  return all;
}

// All strides and offsets that a whole number of `vec` elements divides.
bool aligned(std::initializer_list<HeadRows> all, int vec) {
  return std::all_of(all.begin(), all.end(), [&](const HeadRows& r) {
    return r.offset % vec == 0 && r.batch % vec == 0 && r.head % vec == 0 && r.row % vec == 0;
  });
}

KernelSpec spec_of(const AttentionProblem& p, const Tile& t) {
  const AttentionMask& m = p.mask;
  using Kind = AttentionMask::Kind;
  int vec = vector_of(p.type);
  bool whole = aligned({p.q, p.k, p.v}, vec) && p.head_size % vec == 0 && p.v_head_size % vec == 0;
  bool out_whole = aligned({p.out}, 8) && p.v_head_size % 8 == 0;
  bool mask_whole = m.batch % 8 == 0 && m.head % 8 == 0 && m.row % 8 == 0;
  bool fold = m.kind == Kind::None && p.softcap == 0 && p.scale > 0;
  // Short heads in narrow tiles: registers for three blocks a unit.
  int blocks =
      p.type != Element::F32 && t.threads == 128 && t.queries <= 64 && std::max(p.head_size, p.v_head_size) <= 64 ? 3
                                                                                                                  : 1;
  std::string lengths = p.lengths < 0 ? "0" : p.lengths_wide ? "8" : "4";
  KernelSpec spec{.family = "attention",
                  .variant = fmt::format("{}x{}{}", t.queries, t.keys, t.threads == 2 * t.queries ? "" : " tall"),
                  .source = std::string(kDeviceChain) + kAttentionTypes + kAttentionScores + kAttentionKernel,
                  .entry = "attention",
                  .defines = {fmt::format("HF_T={}", static_cast<int>(p.type)),
                              fmt::format("HF_OUT={}", static_cast<int>(p.out_type)),
                              fmt::format("HF_BM={}", t.queries),
                              fmt::format("HF_BN={}", t.keys),
                              fmt::format("HF_THREADS={}", t.threads),
                              fmt::format("HF_BLOCKS={}", blocks),
                              fmt::format("HF_STAGES={}", t.stages),
                              fmt::format("HF_D={}", p.head_size),
                              fmt::format("HF_VD={}", p.v_head_size),
                              fmt::format("HF_DP={}", up_to(p.head_size, 32)),
                              fmt::format("HF_VDP={}", up_to(p.v_head_size, 32)),
                              fmt::format("HF_WHOLE={}", int{whole}),
                              fmt::format("HF_OUT_WHOLE={}", int{out_whole}),
                              fmt::format("HF_MASK={}", static_cast<int>(m.kind)),
                              fmt::format("HF_MASK_TYPE={}", static_cast<int>(m.type)),
                              fmt::format("HF_MASK_ROWS={}", int{m.row != 0}),
                              fmt::format("HF_MASK_WHOLE={}", int{mask_whole}),
                              fmt::format("HF_CAUSAL={}", int{p.causal}),
                              fmt::format("HF_WINDOW={}", int{p.window >= 0}),
                              "HF_LENGTHS=" + lengths,
                              fmt::format("HF_TOKENS_FIRST={}", int{p.tokens_first}),
                              fmt::format("HF_CAP={}", int{p.softcap > 0}),
                              fmt::format("HF_FOLD={}", int{fold})},
                  .grid = {blocks_for((p.queries + t.queries - 1) / t.queries * p.batch * p.heads, 1), 1, 1},
                  .block = {static_cast<uint32_t>(t.threads), 1, 1},
                  .lds_bytes = static_cast<uint32_t>(lds_bytes(p, t))};
  auto operand = [&](const HeadRows& r) {
    return Argument{.kind = r.place, .index = r.buffer, .integer = r.offset * size_of(p.type)};
  };
  spec.workspace_bytes = p.workspace_bytes;
  spec.arguments = {operand(p.q),
                    operand(p.k),
                    operand(p.v),
                    Argument::output(p.out.buffer, p.out.offset * size_of(p.out_type)),
                    m.kind == Kind::None ? operand(p.q) : Argument::input(m.buffer),
                    p.lengths < 0 ? operand(p.q) : Argument::input(p.lengths)};
  for (int64_t v : {p.heads, p.heads / p.kv_heads, p.queries, p.keys}) spec.arguments.push_back(Argument::int32(v));
  // The kernel's exponents are of 2; a cap's are of its own.
  spec.arguments.push_back(Argument::float32(p.softcap > 0 ? p.scale / p.softcap : p.scale * kLog2E));
  spec.arguments.push_back(Argument::float32(p.softcap));
  // The kernel knows one limit: what may be ahead moves the positions and widens the window.
  for (int64_t v : {p.past + p.ahead, p.window + p.ahead, p.lengths_more, m.keys})
    spec.arguments.push_back(Argument::int32(v));
  for (const HeadRows& r : {p.q, p.k, p.v, p.out})
    for (int64_t v : {r.batch, r.head, r.row}) spec.arguments.push_back(Argument::int64(v));
  for (int64_t v : {m.batch, m.head, m.row}) spec.arguments.push_back(Argument::int64(v));
  return spec;
}

}  // namespace

Candidates attention(const AttentionProblem& p, const Target& target) {
  constexpr int64_t kMost = INT32_MAX / 4;
  if (std::max(p.head_size, p.v_head_size) > kMostHeadSize)
    fail(Code::Unsupported, "attention with heads of {} elements; at most {}", std::max(p.head_size, p.v_head_size),
         kMostHeadSize);
  if (std::max({p.queries, p.keys, p.heads, std::abs(p.past), p.window, p.ahead, p.mask.keys}) > kMost)
    fail(Code::Unsupported, "attention of {} queries, {} keys and {} heads; at most {}", p.queries, p.keys, p.heads,
         kMost);
  Candidates all;
  for (const Tile& tile : tiles_for(p, target)) all.push_back(spec_of(p, tile));
  if (all.empty())
    fail(Code::Unsupported, "attention with float32 heads of {} elements does not fit {} bytes of LDS", p.head_size,
         target.lds_bytes);
  return all;
}

}  // namespace hf::kernel

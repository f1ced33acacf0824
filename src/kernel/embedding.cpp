// Sums of embeddings: a thread has a few neighbouring columns of a token.
#include "kernel/embedding.h"

#include <fmt/core.h>

#include <algorithm>

#include "kernel/rows.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;

const char* const kIndex = R"hip(
#if HF_INDEX == 64
typedef i64 index;
#else
typedef int index;
#endif
)hip";

const char* const kSum = R"hip(
template <int T> DEV void add(const typename element<T>::type* table, i64 id, i64 rows, int column, float (&v)[HF_VEC]) {
  float w[HF_VEC];
  id = id < 0 ? 0 : id < rows ? id : rows - 1;
  pack<HF_VEC, T>::load(table + id * HF_WIDTH + column, w);
  for (int i = 0; i < HF_VEC; i++) v[i] += w[i];
}

KERNEL(HF_THREADS, 2) embedding(float* sums, i64 tokens, const index* ids, const element<HF_WORDS>::type* words, const element<HF_POSITIONS>::type* positions
#if HF_HAS_POSITIONS
  , const index* position_ids
#endif
#if HF_HAS_SEGMENTS
  , const index* segment_ids, const element<HF_SEGMENTS>::type* segments
#endif
#if HF_SUMS
  , element<HF_OUT>::type* y
#endif
) {
  constexpr int VECTORS = HF_WIDTH / HF_VEC;
  i64 at = (i64)block_x() * HF_THREADS + thread_x(), token = at / VECTORS;
  if (token >= tokens) return;
  int column = (int)(at % VECTORS) * HF_VEC;
  float v[HF_VEC];
  for (int i = 0; i < HF_VEC; i++) v[i] = 0;
  add<HF_WORDS>(words, ids[token], HF_WORD_ROWS, column, v);
#if HF_HAS_POSITIONS
  i64 position = position_ids[HF_SHARED ? token % HF_LENGTH : token];
#else
  i64 position = token % HF_LENGTH;
#endif
  add<HF_POSITIONS>(positions, position, HF_POSITION_ROWS, column, v);
#if HF_HAS_SEGMENTS
  add<HF_SEGMENTS>(segments, segment_ids[token], HF_SEGMENT_ROWS, column, v);
#endif
  pack<HF_VEC, HF_F32>::store(sums + at * HF_VEC, v);
#if HF_SUMS
  pack<HF_VEC, HF_OUT>::store(y + at * HF_VEC, v);
#endif
}
)hip";

const char* const kCount = R"hip(
KERNEL(HF_THREADS, 2) mask_count(index* y
#if HF_HAS_MASK
  , const index* mask
#endif
) {
  LDS(lds, 128);
  float ones = 0;
#if HF_HAS_MASK
  for (int i = thread_x(); i < HF_LENGTH; i += HF_THREADS) ones += mask[(i64)block_x() * HF_LENGTH + i] == 1 ? 1.f : 0.f;
#endif
  ones = block_reduce<add_f32_op, HF_THREADS>(ones, (float*)lds);
  if (thread_x() == 0) y[block_x()] = (index)ones;
}
)hip";

}  // namespace

Candidates embedding(const EmbeddingProblem& p, const Target&) {
  const int vec = row_vector(p.width, Element::F16, Element::F16);
  const int64_t tokens = p.batch * p.length;
  KernelSpec spec{.family = "embedding",
                  .variant = "sum",
                  .source = std::string(kIndex) + kSum,
                  .entry = "embedding",
                  .grid = {blocks_for(tokens * (p.width / vec), kThreads), 1, 1},
                  .block = {kThreads, 1, 1},
                  .arguments = {Argument::workspace(), Argument::int64(tokens), Argument::input(0), Argument::input(1),
                                Argument::input(2)},
                  .workspace_bytes = tokens * p.width * 4};
  int input = 3;
  if (p.has_positions) spec.arguments.push_back(Argument::input(input++));
  if (p.has_segments) {
    spec.arguments.push_back(Argument::input(input));
    spec.arguments.push_back(Argument::input(input + 1));
  }
  if (p.sums) spec.arguments.push_back(Argument::output(0));
  const std::pair<const char*, int64_t> numbers[] = {{"THREADS", kThreads},
                                                     {"VEC", vec},
                                                     {"WIDTH", p.width},
                                                     {"LENGTH", p.length},
                                                     {"INDEX", p.index_bits},
                                                     {"WORDS", static_cast<int>(p.words.type)},
                                                     {"WORD_ROWS", p.words.rows},
                                                     {"POSITIONS", static_cast<int>(p.positions.type)},
                                                     {"POSITION_ROWS", p.positions.rows},
                                                     {"SEGMENTS", static_cast<int>(p.segments.type)},
                                                     {"SEGMENT_ROWS", p.segments.rows},
                                                     {"HAS_POSITIONS", p.has_positions},
                                                     {"HAS_SEGMENTS", p.has_segments},
                                                     {"SHARED", p.positions_are_shared},
                                                     {"SUMS", p.sums},
                                                     {"OUT", static_cast<int>(p.out)}};
  for (const auto& [name, value] : numbers) spec.defines.push_back(fmt::format("HF_{}={}", name, value));
  return {std::move(spec)};
}

Candidates mask_count(const MaskCountProblem& p, const Target&) {
  KernelSpec spec{.family = "embedding",
                  .variant = "mask count",
                  .source = std::string(kIndex) + kCount,
                  .entry = "mask_count",
                  .defines = {fmt::format("HF_THREADS={}", kThreads), fmt::format("HF_INDEX={}", p.index_bits),
                              fmt::format("HF_LENGTH={}", p.length), fmt::format("HF_HAS_MASK={}", int{p.has_mask})},
                  .grid = {blocks_for(p.batch, 1), 1, 1},
                  .block = {kThreads, 1, 1},
                  .lds_bytes = kRowLds,
                  .arguments = {Argument::output(0)}};
  if (p.has_mask) spec.arguments.push_back(Argument::input(0));
  return {std::move(spec)};
}

}  // namespace hf::kernel

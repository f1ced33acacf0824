// Positions of greatest and least elements: lanes share a row, or each thread has a column.
#include "kernel/arg_reduce.h"

#include <fmt/core.h>

#include "base/error.h"
#include "kernel/rows.h"

namespace hf::kernel {
namespace {

const char* const kChoice = R"hip(
#if HF_INTEGER == 64
typedef i64 number;
typedef i64 source;
DEV number get(source v) { return v; }
#elif HF_INTEGER == 32
typedef int number;
typedef int source;
DEV number get(source v) { return v; }
#else
typedef float number;
typedef element<HF_IN>::type source;
DEV number get(source v) { return element<HF_IN>::load(v); }
#endif

struct choice {
  number v;
  int at;  // -1: none
  DEV choice of(number v, int at) { choice c; c.v = v; c.at = at; return c; }
  DEV bool beats(choice a, choice b) {
    if (a.at < 0 || b.at < 0) return b.at < 0;
#if !HF_INTEGER
    bool a_nan = a.v != a.v, b_nan = b.v != b.v;
    if (a_nan != b_nan) return a_nan;
    if (a_nan) return HF_LAST ? a.at > b.at : a.at < b.at;
#endif
    if (a.v != b.v) return HF_GREATEST ? a.v > b.v : a.v < b.v;
    return HF_LAST ? a.at > b.at : a.at < b.at;
  }
  DEV void join(choice& a, choice b) { if (beats(b, a)) a = b; }
  DEV u32 exchanged(u32 v, int mask) { return shuffle(v, lane_id() ^ mask); }
  DEV choice exchanged(choice c, int mask) {
#if HF_INTEGER == 64
    c.v = (i64)((u64)exchanged((u32)((u64)c.v >> 32), mask) << 32 | exchanged((u32)c.v, mask));
#elif HF_INTEGER == 32
    c.v = (int)exchanged((u32)c.v, mask);
#else
    c.v = shuffle_xor(c.v, mask);
#endif
    c.at = (int)exchanged((u32)c.at, mask);
    return c;
  }
};
#if HF_ONE_HOT
typedef element<HF_OUT>::type result;
#else
typedef i64 result;
#endif
)hip";

const char* const kRows = R"hip(
KERNEL(HF_THREADS, ROW_BLOCKS) arg_reduce_rows(const source* x, result* y, i64 rows) {
  LDS(lds, 512);
  choice* scratch = (choice*)lds;
  i64 row = row_of_thread();
  bool live = row < rows;
  if (!live) row = rows - 1;
  x += row * HF_PITCH;
  choice best = choice::of(0, -1);
#pragma unroll 4
  for (int col = lane_of_row() * HF_VEC; col < HF_AXIS; col += STEP) {
#if HF_INTEGER
    for (int i = 0; i < HF_VEC; i++) choice::join(best, choice::of(get(x[col + i]), col + i));
#else
    float v[HF_VEC];
    pack<HF_VEC, HF_IN>::load(x + col, v);
    for (int i = 0; i < HF_VEC; i++) choice::join(best, choice::of(v[i], col + i));
#endif
  }
#pragma unroll
  for (int mask = (HF_LANES < WAVE ? HF_LANES : WAVE) / 2; mask; mask >>= 1)
    choice::join(best, choice::exchanged(best, mask));
  if (WHOLE_BLOCK) {
    if (lane_id() == 0) scratch[thread_x() / WAVE] = best;
    barrier();
    best = scratch[0];
    for (int i = 1; i < HF_THREADS / WAVE; i++) choice::join(best, scratch[i]);
  }
  if (!live) return;
#if HF_ONE_HOT
  for (int col = lane_of_row(); col < HF_PITCH; col += HF_LANES)
    y[row * HF_PITCH + col] = element<HF_OUT>::store(col == best.at ? 1.f : 0.f);
#else
  if (lane_of_row() == 0) y[row] = best.at;
#endif
}
)hip";

const char* const kColumns = R"hip(
KERNEL(HF_THREADS, 2) arg_reduce_columns(const source* x, result* y, i64 outer) {
  i64 at = (i64)block_x() * HF_THREADS + thread_x();
  if (at >= outer * HF_INNER) return;
  i64 first = at / HF_INNER * ((i64)HF_AXIS * HF_INNER) + at % HF_INNER;
  choice best = choice::of(get(x[first]), 0);
#pragma unroll 4
  for (int k = 1; k < HF_AXIS; k++) choice::join(best, choice::of(get(x[first + (i64)k * HF_INNER]), k));
#if HF_ONE_HOT
  for (int k = 0; k < HF_AXIS; k++)
    y[first + (i64)k * HF_INNER] = element<HF_OUT>::store(k == best.at ? 1.f : 0.f);
#else
  y[at] = best.at;
#endif
}
)hip";

}  // namespace

Candidates arg_reduce(const ArgReduceProblem& p, const Target& target) {
  if (p.axis > INT32_MAX / 2) fail(Code::Unsupported, "an axis of {} elements; at most {}", p.axis, INT32_MAX / 2);
  const int64_t pitch = p.pitch ? p.pitch : p.axis;
  int vec = p.integer_bits ? 1 : row_vector(p.axis, p.in, p.in);
  while (pitch % vec) vec /= 2;
  const RowPlan plan = row_plans(p.outer, p.axis, vec, target)[0];
  const bool rows = p.inner == 1;
  const int threads = rows ? plan.threads : 128;
  KernelSpec spec{.family = "arg_reduce",
                  .variant = rows ? plan.variant : "columns",
                  .source = rows ? std::string(kRowsText) + kChoice + kRows : std::string(kChoice) + kColumns,
                  .entry = rows ? "arg_reduce_rows" : "arg_reduce_columns",
                  .grid = {rows ? plan.blocks(p.outer) : blocks_for(p.outer * p.inner, threads), 1, 1},
                  .block = {static_cast<uint32_t>(threads), 1, 1},
                  .lds_bytes = rows ? 512u : 0,
                  .arguments = {Argument::input(0), Argument::output(0), Argument::int64(p.outer)}};
  const std::pair<const char*, int64_t> numbers[] = {{"IN", static_cast<int>(p.in)},
                                                     {"OUT", static_cast<int>(p.out)},
                                                     {"INTEGER", p.integer_bits},
                                                     {"GREATEST", p.greatest},
                                                     {"LAST", p.last},
                                                     {"ONE_HOT", p.one_hot},
                                                     {"AXIS", p.axis},
                                                     {"INNER", p.inner},
                                                     {"PITCH", pitch},
                                                     {"THREADS", threads},
                                                     {"LANES", plan.lanes},
                                                     {"TOGETHER", 1},
                                                     {"VEC", vec}};
  for (const auto& [name, value] : numbers) spec.defines.push_back(fmt::format("HF_{}={}", name, value));
  return {std::move(spec)};
}

}  // namespace hf::kernel

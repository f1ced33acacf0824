// Gathering: a vector of a run a thread, or one element.
#include "kernel/gather.h"

#include <fmt/core.h>

#include "kernel/cells.h"
#include "kernel/copy_parts.h"
#include "kernel/text.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;

// $(tuple) adds up the tuple's place in `at`, from `index`.
// HF_VECTORS  vectors of a run
// HF_BATCH    elements of x in one batch
const char* const kRuns = R"hip(
typedef HF_CELL::type cell;
KERNEL(HF_THREADS, 2) gather(const cell* x, const HF_INDEX* indices, cell* y, i64 tuples, HF_COUNT count) {
  const HF_COUNT v = (HF_COUNT)block_x() * HF_THREADS + thread_x();
  if (v >= count) return;
  const HF_COUNT j = v / HF_VECTORS;
#if HF_BATCHES
  const i64 batch = j / (HF_COUNT)tuples, own = HF_SHARED ? j % (HF_COUNT)tuples : j;
#else
  const i64 batch = 0, own = j;
#endif
  const HF_INDEX* index = indices + own * HF_TUPLE;
  i64 at = 0;
$(tuple)  alignas(16) cell raw[HF_VEC];
  move_bytes<HF_VEC * sizeof(cell)>(raw, x + batch * HF_BATCH + at * HF_RUN + v % HF_VECTORS * HF_VEC);
  move_bytes<HF_VEC * sizeof(cell)>(y + (i64)v * HF_VEC, raw);
}
)hip";

const char* const kElements = R"hip(
typedef HF_CELL::type cell;
KERNEL(HF_THREADS, 2) gather_elements(const cell* x, const HF_INDEX* indices, cell* y, i64 count) {
  const i64 at = (i64)block_x() * HF_THREADS + thread_x();
  if (at >= count) return;
$(positions)  y[at] = x[$(offset) + within(indices[at], HF_LIMIT) * HF_STRIDE];
}
)hip";

std::string index_type(DType t) { return t == DType::I32 ? "int" : "i64"; }

}  // namespace

Candidates gather(const GatherProblem& p, const Target&) {
  const int bytes = bits(p.type) / 8, vec = parts::widest(bytes, {p.run});
  int64_t batch = p.run;
  std::string tuple;
  for (size_t k = 0; k < p.extents.size(); ++k) {
    batch *= p.extents[k];
    tuple += fmt::format("  at = at * {0}ll + within(index[{1}], {0}ll);\n", p.extents[k], k);
  }
  const int64_t count = p.batches * p.tuples * (p.run / vec);
  const bool wide = count * vec > INT32_MAX / 2;
  return {{.family = "gather",
           .variant = "runs",
           .source = std::string(kCells) + std::string(kWithin) + with_hole(kRuns, "$(tuple)", tuple),
           .entry = "gather",
           .defines = {"HF_CELL=" + raw_cell(bytes), "HF_INDEX=" + index_type(p.index),
                       fmt::format("HF_THREADS={}", kThreads), fmt::format("HF_VEC={}", vec),
                       fmt::format("HF_VECTORS={}u", p.run / vec), fmt::format("HF_RUN={}ll", p.run),
                       fmt::format("HF_BATCH={}ll", batch), fmt::format("HF_BATCHES={}", int{p.batches > 1}),
                       fmt::format("HF_TUPLE={}", p.extents.size()), fmt::format("HF_SHARED={}", int{p.shared}),
                       fmt::format("HF_COUNT={}", wide ? "u64" : "u32")},
           .grid = {blocks_for(count, kThreads), 1, 1},
           .block = {kThreads, 1, 1},
           .arguments = {Argument::input(0), Argument::input(1), Argument::output(0), Argument::int64(p.tuples),
                         wide ? Argument::int64(count) : Argument::int32(count)}}};
}

Candidates gather_elements(const GatherElementsProblem& p, const Target&) {
  std::vector<int64_t> strides = p.strides;
  const auto axis = static_cast<size_t>(p.axis);
  strides[axis] = 0;
  int64_t count = 1;
  for (int64_t e : p.extents) count *= e;
  std::string text = with_hole(kElements, "$(positions)", positions_text(p.extents, "at"));
  return {{.family = "gather",
           .variant = "elements",
           .source = std::string(kCells) + std::string(kWithin) + with_hole(text, "$(offset)", offset_text(strides)),
           .entry = "gather_elements",
           .defines = {"HF_CELL=" + raw_cell(bits(p.type) / 8), "HF_INDEX=" + index_type(p.index),
                       fmt::format("HF_THREADS={}", kThreads), fmt::format("HF_LIMIT={}ll", p.limit),
                       fmt::format("HF_STRIDE={}ll", p.strides[axis])},
           .grid = {blocks_for(count, kThreads), 1, 1},
           .block = {kThreads, 1, 1},
           .arguments = {Argument::input(0), Argument::input(1), Argument::output(0), Argument::int64(count)}}};
}

}  // namespace hf::kernel

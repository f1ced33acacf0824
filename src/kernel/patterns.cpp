// Trilu and OneHot, an element a thread.
#include "kernel/patterns.h"

#include <fmt/core.h>

#include "kernel/cells.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;

const char* const kTrilu = R"hip(
typedef HF_CELL::type cell;
KERNEL(HF_THREADS, 2) trilu(const cell* x, cell* y, i64 count) {
  const i64 at = (i64)block_x() * HF_THREADS + thread_x();
  if (at >= count) return;
  const i64 row = at / HF_COLUMNS % HF_ROWS, past = at % HF_COLUMNS - row - HF_K;
  y[at] = (HF_UPPER ? past >= 0 : past <= 0) ? x[at] : (cell)0;
}
)hip";

const char* const kOneHot = R"hip(
KERNEL(HF_THREADS, 2) one_hot(const HF_INDEX::type* indices, const HF_VALUES::type* values, HF_OUT::type* y, i64 count) {
  const i64 at = (i64)block_x() * HF_THREADS + thread_x();
  if (at >= count) return;
  const i64 line = at / HF_INNER, d = line % HF_DEPTH;
  i64 hot = (i64)HF_INDEX::value(indices[line / HF_DEPTH * HF_INNER + at % HF_INNER]);
  hot = hot < 0 ? hot + HF_DEPTH : hot;
  y[at] = HF_OUT::of(HF_VALUES::value(values[hot == d ? 1 : 0]));
}
)hip";

KernelSpec spec(const char* name, const char* source, std::vector<std::string> defines, int64_t count) {
  defines.push_back(fmt::format("HF_THREADS={}", kThreads));
  return {.family = name,
          .variant = "element",
          .source = std::string(kCells) + source,
          .entry = name,
          .defines = std::move(defines),
          .grid = {blocks_for(count, kThreads), 1, 1},
          .block = {kThreads, 1, 1}};
}

}  // namespace

Candidates trilu(const TriluProblem& p, const Target&) {
  const int64_t count = p.matrices * p.rows * p.columns;
  KernelSpec s = spec("trilu", kTrilu,
                      {"HF_CELL=" + raw_cell(bits(p.type) / 8), fmt::format("HF_ROWS={}ll", p.rows),
                       fmt::format("HF_COLUMNS={}ll", p.columns), fmt::format("HF_K=({}ll)", p.k),
                       fmt::format("HF_UPPER={}", int{p.upper})},
                      count);
  s.arguments = {Argument::input(0), Argument::output(0), Argument::int64(count)};
  return {std::move(s)};
}

Candidates one_hot(const OneHotProblem& p, const Target&) {
  const int64_t count = p.outer * p.depth * p.inner;
  KernelSpec s = spec("one_hot", kOneHot,
                      {"HF_INDEX=" + cell(p.index), "HF_VALUES=" + cell(p.values), "HF_OUT=" + cell(p.out),
                       fmt::format("HF_DEPTH={}ll", p.depth), fmt::format("HF_INNER={}ll", p.inner)},
                      count);
  s.arguments = {Argument::input(0), Argument::input(2), Argument::output(0), Argument::int64(count)};
  return {std::move(s)};
}

}  // namespace hf::kernel

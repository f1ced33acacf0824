// Running sums: a thread a line where there are many lines, else a block a line.
#include <fmt/core.h>

#include "kernel/cells.h"
#include "kernel/patterns.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kManyLines = 1 << 14;  // threads that keep a GPU busy

// A block's thread t has the t-th piece of the line; the pieces' totals are summed up in LDS before the second reading.
const char* const kSource = R"hip(
typedef HF_REGISTER reg;
DEV reg join(reg a, reg b) { return HF_PRODUCT ? a * b : a + b; }
DEV i64 step(i64 i) { return (HF_REVERSE ? HF_STEPS - 1 - i : i) * HF_INNER; }
KERNEL(HF_THREADS, 2) scan(const HF_IN::type* x, HF_OUT::type* y, i64 lines) {
  const i64 none = HF_PRODUCT;
#if HF_BLOCK
  LDS(lds, HF_THREADS * 8);
  reg* totals = (reg*)lds;
  const i64 line = block_x();
  i64 from = (i64)thread_x() * HF_PIECE, to = from + HF_PIECE;
  from = from < HF_STEPS ? from : HF_STEPS, to = to < HF_STEPS ? to : HF_STEPS;
#else
  const i64 line = (i64)block_x() * HF_THREADS + thread_x(), from = 0, to = HF_STEPS;
  if (line >= lines) return;
#endif
  x += line / HF_INNER * HF_STEPS * HF_INNER + line % HF_INNER;
  y += line / HF_INNER * HF_STEPS * HF_INNER + line % HF_INNER;
  reg total = (reg)none;
#if HF_BLOCK
  for (i64 i = from; i < to; i++) total = join(total, (reg)HF_IN::value(x[step(i)]));
  totals[thread_x()] = total;
  barrier();
  for (int by = 1; by < HF_THREADS; by *= 2) {
    const reg before = thread_x() >= by ? totals[thread_x() - by] : (reg)none, own = totals[thread_x()];
    barrier();
    totals[thread_x()] = join(before, own);
    barrier();
  }
  total = thread_x() ? totals[thread_x() - 1] : (reg)none;
#endif
  for (i64 i = from; i < to; i++) {
    const reg next = join(total, (reg)HF_IN::value(x[step(i)]));
    y[step(i)] = HF_OUT::of(HF_EXCLUSIVE ? total : next);
    total = next;
  }
}
)hip";

KernelSpec make(const ScanProblem& p, bool block) {
  const int64_t lines = p.outer * p.inner;
  return {.family = "scan",
          .variant = block ? "block" : "thread",
          .source = std::string(kCells) + kSource,
          .entry = "scan",
          .defines = {fmt::format("HF_REGISTER={}", is_real_cell(p.in) ? "float" : "i64"), "HF_IN=" + cell(p.in),
                      "HF_OUT=" + cell(p.out), fmt::format("HF_THREADS={}", kThreads),
                      fmt::format("HF_STEPS={}ll", p.steps), fmt::format("HF_INNER={}ll", p.inner),
                      fmt::format("HF_PIECE={}ll", (p.steps + kThreads - 1) / kThreads),
                      fmt::format("HF_PRODUCT={}", int{p.product}), fmt::format("HF_EXCLUSIVE={}", int{p.exclusive}),
                      fmt::format("HF_REVERSE={}", int{p.reverse}), fmt::format("HF_BLOCK={}", int{block})},
          .grid = {block ? blocks_for(lines, 1) : blocks_for(lines, kThreads), 1, 1},
          .block = {kThreads, 1, 1},
          .lds_bytes = block ? kThreads * 8u : 0u,
          .arguments = {Argument::input(0), Argument::output(0), Argument::int64(lines)}};
}

}  // namespace

Candidates scan(const ScanProblem& p, const Target&) {
  KernelSpec thread = make(p, false), block = make(p, true);
  if (p.outer * p.inner >= kManyLines || p.steps < 64) return {std::move(thread), std::move(block)};
  return {std::move(block), std::move(thread)};
}

}  // namespace hf::kernel

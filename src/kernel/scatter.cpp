// Scattering: a thread an update, or, where order matters, a thread a place and its updates one after the other.
#include "kernel/scatter.h"

#include <fmt/core.h>

#include "base/error.h"
#include "kernel/cells.h"
#include "kernel/text.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;

const char* const kPut = R"hip(
typedef HF_UPDATE up;
typedef HF_DATA out;
DEV bool place(i64 index, i64 extent, i64& at) {
  at = index < 0 ? index + extent : index;
  return at >= 0 && at < extent;
}
DEV void put(out::type* y, up::type u) { $(put) }
)hip";

// $(tuple) adds up `at` from `index`, and whether it is `inside`.
const char* const kRuns = R"hip(
DEV void one(const HF_INDEX* indices, const up::type* u, out::type* y, i64 j, i64 r) {
  const HF_INDEX* index = indices + j * HF_TUPLE;
  i64 at = 0, i;
  bool inside = true;
$(tuple)  if (inside) put(y + at * HF_RUN + r, u[j * HF_RUN + r]);
}
KERNEL(HF_THREADS, 2) scatter(const HF_INDEX* indices, const up::type* u, out::type* y, i64 tuples, i64 count) {
  const i64 at = (i64)block_x() * HF_THREADS + thread_x();
  if (at >= count) return;
#if HF_IN_ORDER
  for (i64 j = 0; j < tuples; j++) one(indices, u, y, j, at);
#else
  one(indices, u, y, at / HF_RUN, at % HF_RUN);
#endif
}
)hip";

// $(positions) of `at` in the box without the axis; $(from) and $(to) where that is in the updates and in y.
const char* const kElements = R"hip(
KERNEL(HF_THREADS, 2) scatter(const HF_INDEX* indices, const up::type* u, out::type* y, i64 steps, i64 count) {
  i64 at = (i64)block_x() * HF_THREADS + thread_x(), i;
  if (at >= count) return;
#if !HF_IN_ORDER
  const i64 first = at % steps, last = first + 1;
  at /= steps;
#else
  const i64 first = 0, last = steps;
#endif
$(positions)  const i64 from = $(from), to = $(to);
  for (i64 j = first; j < last; j++)
    if (place(indices[from + j * HF_STEP], HF_LIMIT, i)) put(y + to + i * HF_STRIDE, u[from + j * HF_STEP]);
}
)hip";

std::string index_type(DType t) { return t == DType::I32 ? "int" : "i64"; }

constexpr std::string_view kReductions[] = {"b", "a + b", "a * b", "pw::minimum(b, a)", "pw::maximum(b, a)"};

std::string put_text(DType data, DType updates, ScatterReduction reduction) {
  std::string how = "*y = out::of(up::value(u));";
  if (reduction != ScatterReduction::None) {
    const char* number = is_real_cell(data) ? "float" : "i64";
    how = fmt::format("const {0} a = ({0})out::value(*y), b = ({0})up::value(u); *y = out::of(({0})({1}));", number,
                      kReductions[static_cast<int>(reduction)]);
  }
  bool raw = data == updates && reduction == ScatterReduction::None;
  std::string text =
      fmt::format("#define HF_UPDATE {}\n#define HF_DATA {}\n", raw ? raw_cell(bits(data) / 8) : cell(updates),
                  raw ? raw_cell(bits(data) / 8) : cell(data));
  return std::string(kCells) + text + with_hole(kPut, "$(put)", how);
}

void check_order(ScatterReduction reduction, int64_t steps) {
  if (reduction != ScatterReduction::None && steps > kMostInOrder)
    fail(Code::Unsupported, "{} updates in order; at most {}", steps, kMostInOrder);
}

}  // namespace

Candidates scatter(const ScatterProblem& p, const Target&) {
  const bool in_order = p.reduction != ScatterReduction::None;
  check_order(p.reduction, p.tuples);
  std::string tuple;
  for (size_t k = 0; k < p.extents.size(); ++k)
    tuple += fmt::format("  inside &= place(index[{0}], {1}ll, i);\n  at = at * {1}ll + i;\n", k, p.extents[k]);
  const int64_t count = in_order ? p.run : p.run * p.tuples;
  return {{.family = "scatter",
           .variant = in_order ? "runs in order" : "runs",
           .source = put_text(p.data, p.updates, p.reduction) + with_hole(kRuns, "$(tuple)", tuple),
           .entry = "scatter",
           .defines = {"HF_INDEX=" + index_type(p.index), fmt::format("HF_THREADS={}", kThreads),
                       fmt::format("HF_RUN={}ll", p.run), fmt::format("HF_TUPLE={}", p.extents.size()),
                       fmt::format("HF_IN_ORDER={}", int{in_order})},
           .grid = {blocks_for(count, kThreads), 1, 1},
           .block = {kThreads, 1, 1},
           .arguments = {Argument::input(1), Argument::input(2), Argument::output(0), Argument::int64(p.tuples),
                         Argument::int64(count)}}};
}

Candidates scatter_elements(const ScatterElementsProblem& p, const Target&) {
  const bool in_order = p.reduction != ScatterReduction::None;
  const auto axis = static_cast<size_t>(p.axis);
  check_order(p.reduction, p.extents[axis]);
  std::vector<int64_t> extents, from, to;
  int64_t count = 1, stride = 1, step = 1;
  for (size_t k = p.extents.size(); k-- > 0; stride *= p.extents[k]) {
    if (k == axis) {
      step = stride;
      continue;
    }
    count *= p.extents[k];
    extents.insert(extents.begin(), p.extents[k]);
    from.insert(from.begin(), stride);
    to.insert(to.begin(), p.strides[k]);
  }
  if (!in_order) count *= p.extents[axis];
  std::string text = with_hole(kElements, "$(positions)", positions_text(extents, "at"));
  text = with_hole(with_hole(text, "$(from)", offset_text(from)), "$(to)", offset_text(to));
  return {{.family = "scatter",
           .variant = in_order ? "elements in order" : "elements",
           .source = put_text(p.data, p.updates, p.reduction) + text,
           .entry = "scatter",
           .defines = {"HF_INDEX=" + index_type(p.index), fmt::format("HF_THREADS={}", kThreads),
                       fmt::format("HF_STEP={}ll", step), fmt::format("HF_LIMIT={}ll", p.limit),
                       fmt::format("HF_STRIDE={}ll", p.strides[axis]), fmt::format("HF_IN_ORDER={}", int{in_order})},
           .grid = {blocks_for(count, kThreads), 1, 1},
           .block = {kThreads, 1, 1},
           .arguments = {Argument::input(1), Argument::input(2), Argument::output(0), Argument::int64(p.extents[axis]),
                         Argument::int64(count)}}};
}

}  // namespace hf::kernel

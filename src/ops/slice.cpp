// Slice: a strided part of a tensor.
#include <algorithm>

#include "ops/extents.h"
#include "ops/movement.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    required_attr("starts", AttrType::Ints, 1, 9),
    required_attr("ends", AttrType::Ints, 1, 9),
    optional_attr("axes", AttrType::Ints, 1, 9),
};

void upgrade(ir::Graph& g, Node& n, int) {
  attr_to_input(g, n, "starts", 1);
  attr_to_input(g, n, "ends", 2);
  attr_to_input(g, n, "axes", 3);
}

// What is taken along one axis.
struct Range {
  int64_t start, step, count;
};

// The standard's clamping, in which both ends may be anything up to INT64_MIN and INT64_MAX.
Range range_of(int64_t start, int64_t end, int64_t step, int64_t extent) {
  auto clamped = [&](int64_t v, int64_t low, int64_t high) { return std::clamp(v < 0 ? v + extent : v, low, high); };
  if (step > 0) {
    start = clamped(start, 0, extent);
    end = clamped(end, 0, extent);
    return {start, step, end > start ? (end - start - 1) / step + 1 : 0};
  }
  if (extent == 0) return {0, step, 0};
  start = clamped(start, 0, extent - 1);
  end = clamped(end, -1, extent - 1);
  if (end >= start) return {0, step, 0};
  if (step == INT64_MIN) return {start, step, 1};
  return {start, step, (start - end - 1) / -step + 1};
}

// The lists as given, with axes and steps filled in.
struct Request {
  std::vector<int64_t> starts, ends, steps;
  std::vector<int> axes;
};

Request request(const Tensor& starts, const Tensor& ends, const Tensor* axes, const Tensor* steps, int rank) {
  Request r{.starts = to_ints(starts), .ends = to_ints(ends), .steps = {}, .axes = {}};
  const size_t n = r.starts.size();
  r.steps = steps ? to_ints(*steps) : std::vector<int64_t>(n, 1);
  std::vector<int64_t> on = axes ? to_ints(*axes) : std::vector<int64_t>();
  if (!axes)
    for (int64_t i = 0; i < std::min<int64_t>(starts.size(), kMaxRank); ++i) on.push_back(i);
  if (r.ends.size() != n || r.steps.size() != n || on.size() != n)
    fail(Code::InvalidModel, "{} starts, {} ends, {} axes and {} steps, wanted equally many", n, r.ends.size(),
         on.size(), r.steps.size());
  for (int64_t s : r.steps)
    if (s == 0) fail(Code::InvalidModel, "a step of 0");
  r.axes = normalize_axes(on, rank);
  return r;
}

void infer(Infer& in) {
  in.require(in.has(1) && in.has(2), "starts and ends are missing");
  Shape out = in.shape(0);
  if (!out.ranked()) return in.set(0, in.dtype(0));
  const bool on_known = !in.has(3) || in.constant(3);
  if (in.constant(1) && in.constant(2) && on_known && (!in.has(4) || in.constant(4))) {
    const Request r = request(*in.constant(1), *in.constant(2), in.constant(3), in.constant(4), out.rank());
    for (size_t i = 0; i < r.axes.size(); ++i) {
      Dim& d = out[r.axes[i]];
      if (d.known())
        d = range_of(r.starts[i], r.ends[i], r.steps[i], d.value).count;
      else if (r.starts[i] != 0 || r.ends[i] < INT32_MAX || r.steps[i] != 1)
        d = Dim();
    }
    return in.set(0, in.dtype(0), out);
  }
  // Some bound is computed: only the extents of other axes are known to stay.
  std::vector<bool> cut(static_cast<size_t>(out.rank()), true);
  if (in.constant(3)) {
    cut.assign(cut.size(), false);
    for (int axis : normalize_axes(list_of(in, 3), out.rank())) cut[static_cast<size_t>(axis)] = true;
  } else if (!in.has(3)) {
    const int count = list_length(in, 1);
    for (int i = 0; i < out.rank(); ++i) cut[static_cast<size_t>(i)] = count < 0 || i < count;
  }
  for (int i = 0; i < out.rank(); ++i)
    if (cut[static_cast<size_t>(i)]) out[i] = Dim();
  in.set(0, in.dtype(0), out);
}

void reference(Eval& e) {
  const Tensor& x = e.in(0);
  const Request r = request(e.in(1), e.in(2), e.has(3) ? &e.in(3) : nullptr, e.has(4) ? &e.in(4) : nullptr, x.rank());
  const Dims strides = x.dims().strides(), to = e.out().dims().strides();
  std::vector<CopyAxis> axes = copy_axes(e.out().dims(), strides, to);
  int64_t at = 0;
  for (size_t i = 0; i < r.axes.size(); ++i) {
    const int axis = r.axes[i];
    const Range range = range_of(r.starts[i], r.ends[i], r.steps[i], x.dims()[axis]);
    at += range.start * strides[axis];
    if (range.count > 1) axes[static_cast<size_t>(axis)].from *= range.step;  // |step| < the extent
  }
  copy_strided(x, at, e.out(), 0, axes);
}

constexpr OpDef defs[] = {
    {.name = "Slice", .max_inputs = 5, .attrs = attrs, .upgrade = upgrade, .infer = infer, .reference = reference}};

}  // namespace

std::span<const OpDef> slice_ops() { return defs; }

}  // namespace hf::ops

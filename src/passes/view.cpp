// Tracing views back to the tensor that they show.
#include "passes/view.h"

#include <algorithm>
#include <vector>

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;

// A view in the making. An axis is the product of several steps through the base, outermost first: what joined axes
// that no one stride covers, a later Reshape may part again. Extents of 1 have no step.
struct Step {
  int64_t extent, stride;
};
using Axis = std::vector<Step>;
struct Trace {
  Value* base = nullptr;
  int64_t offset = 0;
  std::vector<Axis> axes;
  double number = 1;
};

Axis axis_of(int64_t extent, int64_t stride) { return extent == 1 ? Axis{} : Axis{{extent, stride}}; }

Trace itself(Value* v) {
  Trace t{.base = v};
  Dims dims = v->shape.get(), strides = dims.strides();
  for (int i = 0; i < dims.rank(); ++i) t.axes.push_back(axis_of(dims[i], strides[i]));
  return t;
}

// The axis with the steps that follow each other without gaps joined.
Axis joined(const Axis& axis) {
  Axis r;
  for (const Step& s : axis) {
    if (!r.empty() && r.back().stride == s.extent * s.stride)
      r.back() = {r.back().extent * s.extent, s.stride};
    else
      r.push_back(s);
  }
  return r;
}

std::optional<View> finished(const Trace& t) {
  View v{.base = t.base, .offset = t.offset, .number = t.number};
  for (const Axis& axis : t.axes) {
    Axis j = joined(axis);
    if (j.size() > 1) return std::nullopt;
    v.dims.push_back(j.empty() ? 1 : j[0].extent);
    v.strides.push_back(j.empty() ? 0 : j[0].stride);
  }
  return v;
}

// The same steps under other extents.
std::optional<Trace> reshaped(const Trace& from, const Dims& to) {
  Axis steps;
  for (const Axis& axis : from.axes) steps.insert(steps.end(), axis.begin(), axis.end());
  steps = joined(steps);
  Trace r{.base = from.base, .offset = from.offset, .number = from.number};
  size_t at = 0;
  for (int64_t want : to) {
    Axis axis;
    while (want > 1) {
      if (at == steps.size()) return std::nullopt;
      Step& s = steps[at];
      if (want % s.extent == 0) {
        axis.push_back(s);
        want /= s.extent;
        ++at;
      } else if (s.extent % want == 0) {
        s.extent /= want;
        axis.push_back({want, s.stride * s.extent});
        want = 1;
      } else {
        return std::nullopt;
      }
    }
    r.axes.push_back(std::move(axis));
  }
  return at == steps.size() ? std::optional(r) : std::nullopt;
}

std::optional<Trace> transposed(Trace from, const Node* n) {
  std::vector<int64_t> perm = n->ints_or_empty("perm");
  std::vector<Axis> axes;
  for (size_t i = 0; i < from.axes.size(); ++i)
    axes.push_back(from.axes[perm.empty() ? from.axes.size() - 1 - i : static_cast<size_t>(perm[i])]);
  from.axes = std::move(axes);
  return from;
}

// `extent` positions of an axis from `start` on, `step` apart.
bool cut(Trace& t, int64_t axis, int64_t start, int64_t extent, int64_t step) {
  Axis& a = t.axes[static_cast<size_t>(normalize_axis(axis, static_cast<int>(t.axes.size())))];
  Axis j = joined(a);
  if (j.size() > 1) return false;
  int64_t stride = j.empty() ? 0 : j[0].stride;
  t.offset += start * stride;
  a = axis_of(extent, stride * step);
  return true;
}

// Output `index` of a Split.
std::optional<Trace> part(Trace from, const Node* n, int index) {
  int axis = normalize_axis(n->i("axis"), static_cast<int>(from.axes.size()));
  int64_t start = 0;
  for (int i = 0; i < index; ++i) {
    if (!n->output(i) || !n->output(i)->shape.is_static()) return std::nullopt;
    start += n->output(i)->shape.get()[axis];
  }
  return cut(from, axis, start, n->output(index)->shape.get()[axis], 1) ? std::optional(from) : std::nullopt;
}

// A Slice forward with constant beginnings.
std::optional<Trace> sliced(Trace from, const Node* n) {
  auto ints = [&](int i) {
    const Value* v = n->input(i);
    return v && v->is_constant() ? std::optional(to_ints(v->constant)) : std::nullopt;
  };
  auto starts = ints(1), axes = ints(3), steps = ints(4);
  if (!starts || (n->input(3) && !axes) || (n->input(4) && !steps)) return std::nullopt;
  const Dims source = n->input(0)->shape.get(), extents = n->output()->shape.get();
  for (size_t i = 0; i < starts->size(); ++i) {
    int axis = normalize_axis(axes ? (*axes)[i] : static_cast<int64_t>(i), source.rank());
    int64_t step = steps ? (*steps)[i] : 1, extent = source[axis], start = (*starts)[i];
    if (step < 1) return std::nullopt;
    start = std::clamp<int64_t>(start < 0 ? start + extent : start, 0, extent);
    if (!cut(from, axis, start, extents[axis], step)) return std::nullopt;
  }
  return from;
}

// A Gather of one position, whose axis goes.
std::optional<Trace> selected(Trace from, const Node* n) {
  const Value* index = n->input(1);
  if (!index || !index->is_constant() || index->constant.rank() != 0) return std::nullopt;
  int axis = normalize_axis(n->i("axis"), static_cast<int>(from.axes.size()));
  int64_t at = to_int(index->constant), extent = n->input(0)->shape.get()[axis];
  if (at < 0) at += extent;
  if (at < 0 || at >= extent || !cut(from, axis, at, 1, 1)) return std::nullopt;
  from.axes.erase(from.axes.begin() + axis);
  return from;
}

// Input 0 repeated to the output's extents.
std::optional<Trace> expanded(Trace from, const Dims& to) {
  if (static_cast<int>(from.axes.size()) > to.rank()) return std::nullopt;
  from.axes.insert(from.axes.begin(), static_cast<size_t>(to.rank()) - from.axes.size(), Axis{});
  for (int i = 0; i < to.rank(); ++i)
    if (from.axes[static_cast<size_t>(i)].empty()) from.axes[static_cast<size_t>(i)] = axis_of(to[i], 0);
  return from;
}

// Which input of a product or quotient is the value, if the other one is a number.
int scaled_input(const Node* n) {
  if (n->is("Div")) return scalar_of(n->input(1)).value_or(0) != 0 ? 0 : -1;
  return !n->is("Mul") ? -1 : scalar_of(n->input(1)) ? 0 : scalar_of(n->input(0)) ? 1 : -1;
}

Trace trace(Value* v, bool scaled, int& steps);

// Through the node that makes v, if it shows its input only.
std::optional<Trace> through(const Value* v, bool scaled, int& steps) {
  const Node* n = v->producer();
  if (!n || n->epilogue || !n->input(0) || !n->input(0)->shape.is_static() || steps == 0) return std::nullopt;
  auto input = [&](int i) {
    --steps;
    return trace(n->input(i), scaled, steps);
  };
  if (n->is("Identity")) return input(0);
  if (n->is("Reshape") || n->is("Squeeze") || n->is("Unsqueeze") || n->is("Flatten"))
    return reshaped(input(0), v->shape.get());
  if (n->is("Transpose")) return transposed(input(0), n);
  if (n->is("Split")) return part(input(0), n, v->producer_index());
  if (n->is("Gather")) return selected(input(0), n);
  if (n->is("Slice")) return sliced(input(0), n);
  if (n->is("Expand")) return expanded(input(0), v->shape.get());
  int at = scaled ? scaled_input(n) : -1;
  // A number with more axes than the value would add some.
  if (at < 0 || !n->input(at)->shape.is_static() || n->input(at)->shape.get() != v->shape.get()) return std::nullopt;
  Trace r = input(at);
  double number = *scalar_of(n->input(1 - at));
  r.number = n->is("Div") ? r.number / number : r.number * number;
  return r;
}

Trace trace(Value* v, bool scaled, int& steps) {
  if (auto t = through(v, scaled, steps)) return *t;
  return itself(v);
}

}  // namespace

View view_of(Value* v, bool scaled) {
  constexpr int kMost = 64;
  int left = kMost;
  Trace t = trace(v, scaled, left);
  // Steps through the base that no strides express: from a value nearer by.
  for (int steps = kMost - left; steps > 0;) {
    if (auto view = finished(t)) return *view;
    left = --steps;
    t = trace(v, scaled, left);
  }
  return *finished(itself(v));
}

View with_rank(View view, int rank) {
  while (view.dims.rank() < rank) {
    view.dims.insert(0, 1);
    view.strides.insert(0, 0);
  }
  return view;
}

}  // namespace hf::passes

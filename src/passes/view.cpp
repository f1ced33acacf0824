// Tracing views back to the tensor that they show.
#include "passes/view.h"

#include <algorithm>

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;

View itself(Value* v) {
  Dims dims = v->shape.get();
  return {.base = v, .dims = dims, .strides = dims.strides()};
}

// The view under other extents, if strides express it: each run of new axes divides one run of old ones that lies
// without gaps.
std::optional<View> reshaped(const View& from, const Dims& to) {
  View r = from;
  r.dims = to;
  r.strides = Dims::filled(to.rank(), 0);
  Dims dims, strides;
  for (int i = 0; i < from.dims.rank(); ++i) {
    if (from.dims[i] == 1) continue;
    dims.push_back(from.dims[i]);
    strides.push_back(from.strides[i]);
  }
  int old = 0;
  for (int at = 0; at < to.rank();) {
    if (to[at] == 1) {
      ++at;
      continue;
    }
    if (old >= dims.rank()) return std::nullopt;
    int first = at, first_old = old;
    int64_t have = dims[old++], want = to[at++];
    while (have != want) {
      if (have < want) {
        if (old >= dims.rank()) return std::nullopt;
        have *= dims[old++];
      } else {
        if (at >= to.rank()) return std::nullopt;
        want *= to[at++];
      }
    }
    for (int i = first_old; i + 1 < old; ++i)
      if (strides[i] != strides[i + 1] * dims[i + 1]) return std::nullopt;
    int64_t stride = strides[old - 1];
    for (int i = at; i-- > first;) {
      r.strides[i] = stride;
      stride *= to[i];
    }
  }
  return r;
}

std::optional<View> transposed(const View& from, const Node* n) {
  View r = from;
  std::vector<int64_t> perm = n->ints_or_empty("perm");
  int rank = from.dims.rank();
  for (int i = 0; i < rank; ++i) {
    int at = perm.empty() ? rank - 1 - i : static_cast<int>(perm[static_cast<size_t>(i)]);
    r.dims[i] = from.dims[at];
    r.strides[i] = from.strides[at];
  }
  return r;
}

// Output `index` of a Split.
std::optional<View> part(View from, const Node* n, int index) {
  int axis = normalize_axis(n->i("axis"), from.dims.rank());
  for (int i = 0; i < index; ++i) {
    if (!n->output(i) || !n->output(i)->shape.is_static()) return std::nullopt;
    from.offset += n->output(i)->shape.get()[axis] * from.strides[axis];
  }
  from.dims[axis] = n->output(index)->shape.get()[axis];
  return from;
}

// A Slice forward with constant beginnings.
std::optional<View> sliced(View from, const Node* n) {
  auto ints = [&](int i) {
    const Value* v = n->input(i);
    return v && v->is_constant() ? std::optional(to_ints(v->constant)) : std::nullopt;
  };
  auto starts = ints(1), axes = ints(3), steps = ints(4);
  if (!starts || (n->input(3) && !axes) || (n->input(4) && !steps)) return std::nullopt;
  const Dims extents = n->output()->shape.get();
  for (size_t i = 0; i < starts->size(); ++i) {
    int axis = normalize_axis(axes ? (*axes)[i] : static_cast<int64_t>(i), from.dims.rank());
    int64_t step = steps ? (*steps)[i] : 1, extent = from.dims[axis], start = (*starts)[i];
    if (step < 1) return std::nullopt;
    start = std::clamp<int64_t>(start < 0 ? start + extent : start, 0, extent);
    from.offset += start * from.strides[axis];
    from.strides[axis] *= step;
    from.dims[axis] = extents[axis];
  }
  return from;
}

// A Gather of one position, whose axis goes.
std::optional<View> selected(View from, const Node* n) {
  const Value* index = n->input(1);
  if (!index || !index->is_constant() || index->constant.rank() != 0) return std::nullopt;
  int axis = normalize_axis(n->i("axis"), from.dims.rank());
  int64_t at = to_int(index->constant), extent = from.dims[axis];
  if (at < 0) at += extent;
  if (at < 0 || at >= extent) return std::nullopt;
  from.offset += at * from.strides[axis];
  from.dims.erase(axis);
  from.strides.erase(axis);
  return from;
}

// Input 0 repeated to the output's extents.
std::optional<View> expanded(const View& from, const Dims& to) {
  if (from.dims.rank() > to.rank()) return std::nullopt;
  View r = with_rank(from, to.rank());
  for (int i = 0; i < to.rank(); ++i)
    if (r.dims[i] != to[i]) r.strides[i] = 0;
  r.dims = to;
  return r;
}

// Which input of a product or quotient is the value, if the other one is a number.
int scaled_input(const Node* n) {
  if (n->is("Div")) return scalar_of(n->input(1)).value_or(0) != 0 ? 0 : -1;
  return !n->is("Mul") ? -1 : scalar_of(n->input(1)) ? 0 : scalar_of(n->input(0)) ? 1 : -1;
}

std::optional<View> through(const Value* v, bool scaled) {
  const Node* n = v->producer();
  if (!n || n->epilogue || !n->input(0) || !n->input(0)->shape.is_static()) return std::nullopt;
  if (n->is("Identity")) return view_of(n->input(0), scaled);
  if (n->is("Reshape") || n->is("Squeeze") || n->is("Unsqueeze") || n->is("Flatten"))
    return reshaped(view_of(n->input(0), scaled), v->shape.get());
  if (n->is("Transpose")) return transposed(view_of(n->input(0), scaled), n);
  if (n->is("Split")) return part(view_of(n->input(0), scaled), n, v->producer_index());
  if (n->is("Gather")) return selected(view_of(n->input(0), scaled), n);
  if (n->is("Slice")) return sliced(view_of(n->input(0), scaled), n);
  if (n->is("Expand")) return expanded(view_of(n->input(0), scaled), v->shape.get());
  int at = scaled ? scaled_input(n) : -1;
  // A number with more axes than the value would add some.
  if (at < 0 || !n->input(at)->shape.is_static() || n->input(at)->shape.get() != v->shape.get()) return std::nullopt;
  View r = view_of(n->input(at), scaled);
  double number = *scalar_of(n->input(1 - at));
  r.number = n->is("Div") ? r.number / number : r.number * number;
  return r;
}

}  // namespace

View view_of(Value* v, bool scaled) {
  if (auto view = through(v, scaled)) return *view;
  return itself(v);
}

View with_rank(View view, int rank) {
  while (view.dims.rank() < rank) {
    view.dims.insert(0, 1);
    view.strides.insert(0, 0);
  }
  return view;
}

}  // namespace hf::passes

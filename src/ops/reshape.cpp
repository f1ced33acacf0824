// Reshape, Flatten, Squeeze and Unsqueeze: the same elements under other extents.
#include <algorithm>

#include "ops/extents.h"
#include "ops/shape_values.h"

namespace hf::ops {
namespace {

constexpr AttrDef reshape_attrs[] = {int_attr("allowzero", 0, 14)};
constexpr AttrDef flatten_attrs[] = {int_attr("axis", 1)};
constexpr AttrDef squeeze_attrs[] = {optional_attr("axes", AttrType::Ints, 1, 12)};
constexpr AttrDef unsqueeze_attrs[] = {required_attr("axes", AttrType::Ints, 1, 12)};

void upgrade_reshape(ir::Graph&, Node& n, int) { n.attrs.emplace("allowzero", int64_t{0}); }

void upgrade_axes(ir::Graph& g, Node& n, int) { attr_to_input(g, n, "axes", 1); }

using Entries = std::vector<ShapeEntry>;

// Which extent of `from` is certainly the extent `to[i]` that is not known: the one it was copied from, or one with the
// same symbol that is not `gone` yet; -1 if there is none.
int counterpart(const Shape& from, const Shape& to, int i, bool copied, const std::vector<bool>& gone) {
  if (copied) return i;
  for (int k = 0; k < from.rank(); ++k)
    if (!gone[static_cast<size_t>(k)] && !from[k].known() && from[k].same(to[i])) return k;
  return -1;
}

// The extent that -1 stands for: what is left of `from` when the other extents of `to` are divided out. Extents that
// are certainly equal on both sides cancel, so that symbols survive.
Dim left_over(const Infer& in, const Shape& from, const Shape& to, int at, const std::vector<bool>& copied) {
  if (!from.ranked()) return {};
  int64_t have = 1, want = 1;
  std::vector<Dim> have_open;
  std::vector<bool> gone(static_cast<size_t>(from.rank()));
  for (int i = 0; i < to.rank(); ++i) {
    if (i == at) continue;
    if (to[i].known()) {
      want = multiply_extents(want, to[i].value);
      continue;
    }
    const int k = counterpart(from, to, i, copied[static_cast<size_t>(i)], gone);
    if (k < 0) return {};
    gone[static_cast<size_t>(k)] = true;
  }
  for (int i = 0; i < from.rank(); ++i) {
    if (gone[static_cast<size_t>(i)]) continue;
    if (from[i].known())
      have = multiply_extents(have, from[i].value);
    else
      have_open.push_back(from[i]);
  }
  if (have_open.empty()) {
    in.require(want == 0 ? have == 0 : have % want == 0, "shape {} does not divide the {} elements of {}", to.text(),
               have, from.text());
    return want == 0 ? 0 : have / want;
  }
  return have_open.size() == 1 && have == want && want != 0 ? have_open[0] : Dim();
}

Shape reshaped(const Infer& in, const Shape& from, const Entries& wanted, bool allow_zero) {
  Shape to = Shape::unknown_of_rank(static_cast<int>(wanted.size()));
  std::vector<bool> copied(wanted.size());
  int open = -1;
  bool zero = false;
  for (int i = 0; i < to.rank(); ++i) {
    const ShapeEntry& w = wanted[static_cast<size_t>(i)];
    if (!w.number) {
      to[i] = w.dim();
      continue;
    }
    in.require(*w.number >= -1, "extent {} in the shape to reshape to", *w.number);
    if (*w.number == -1) {
      in.require(open < 0, "-1 comes twice in the shape to reshape to");
      open = i;
    } else if (*w.number == 0 && !allow_zero) {
      in.require(!from.ranked() || i < from.rank(), "extent {} is to be copied from shape {}", i, from.text());
      copied[static_cast<size_t>(i)] = true;
      if (from.ranked()) to[i] = from[i];
    } else {
      to[i] = *w.number;
      zero |= *w.number == 0;
    }
  }
  if (open >= 0) {
    in.require(!zero, "0 and -1 in one shape with allowzero");
    to[open] = left_over(in, from, to, open, copied);
  } else if (from.is_static() && to.is_static()) {
    in.require(*from.count() == *to.count(), "shape {} does not fit shape {}", to.text(), from.text());
  }
  return to;
}

void infer_reshape(Infer& in) {
  const int rank = in.constant(1) ? static_cast<int>(list_of(in, 1).size()) : list_length(in, 1);
  const std::optional<Entries> wanted = shape_entries(in, 1);
  if (wanted && (rank < 0 || rank == static_cast<int>(wanted->size())))
    return in.set(0, in.dtype(0), reshaped(in, in.shape(0), *wanted, in.node.i("allowzero") != 0));
  in.set(0, in.dtype(0), rank < 0 ? Shape() : Shape::unknown_of_rank(rank));
}

void infer_flatten(Infer& in) {
  const Shape& s = in.shape(0);
  if (!s.ranked()) return in.set(0, in.dtype(0), Shape::unknown_of_rank(2));
  int64_t axis = in.node.i("axis");
  if (axis != s.rank()) axis = s.rank() ? normalize_axis(axis, s.rank()) : normalize_axis(axis, 1);
  const int split = static_cast<int>(axis);
  in.set(0, in.dtype(0), Shape({product(s, 0, split), product(s, split, s.rank())}));
}

Shape squeeze_all(const Shape& s) {  // without axes: every extent of 1 goes
  std::vector<Dim> kept;
  for (const Dim& d : s.dims()) {
    if (!d.known()) return {};  // could be 1 or not
    if (d.value != 1) kept.push_back(d);
  }
  return kept;
}

void infer_squeeze(Infer& in) {
  const Shape& s = in.shape(0);
  if (!in.has(1)) return in.set(0, in.dtype(0), s.ranked() ? squeeze_all(s) : Shape());
  if (!in.constant(1)) {
    int count = list_length(in, 1);
    in.require(count <= s.rank() || !s.ranked(), "{} axes to squeeze of shape {}", count, s.text());
    return in.set(0, in.dtype(0), count < 0 || !s.ranked() ? Shape() : Shape::unknown_of_rank(s.rank() - count));
  }
  const std::vector<int64_t> given = list_of(in, 1);
  if (!s.ranked()) return in.set(0, in.dtype(0));
  const std::vector<int> axes = normalize_axes(given, s.rank());
  std::vector<Dim> kept;
  for (int i = 0; i < s.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end())
      kept.push_back(s[i]);
    else
      in.require(!s[i].known() || s[i].value == 1, "axis {} of shape {} is not 1 and cannot be squeezed", i, s.text());
  }
  in.set(0, in.dtype(0), kept);
}

void infer_unsqueeze(Infer& in) {
  const Shape& s = in.shape(0);
  const int count = in.constant(1) ? static_cast<int>(list_of(in, 1).size()) : list_length(in, 1);
  if (!s.ranked() || count < 0) return in.set(0, in.dtype(0));
  const int rank = s.rank() + count;
  Shape out = Shape::unknown_of_rank(rank);
  if (in.constant(1)) {
    const std::vector<int> axes = normalize_axes(list_of(in, 1), rank);
    for (int i = 0, from = 0; i < rank; ++i)
      out[i] = std::find(axes.begin(), axes.end(), i) == axes.end() ? s[from++] : Dim(1);
  }
  in.set(0, in.dtype(0), out);
}

void reference(Eval& e) { e.out() = e.in(0).reshaped(e.out().dims()); }

constexpr OpDef defs[] = {
    {.name = "Reshape",
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = reshape_attrs,
     .upgrade = upgrade_reshape,
     .infer = infer_reshape,
     .reference = reference},
    {.name = "Flatten", .attrs = flatten_attrs, .infer = infer_flatten, .reference = reference},
    {.name = "Squeeze",
     .max_inputs = 2,
     .attrs = squeeze_attrs,
     .upgrade = upgrade_axes,
     .infer = infer_squeeze,
     .reference = reference},
    {.name = "Unsqueeze",
     .max_inputs = 2,
     .attrs = unsqueeze_attrs,
     .upgrade = upgrade_axes,
     .infer = infer_unsqueeze,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> reshape_ops() { return defs; }

}  // namespace hf::ops

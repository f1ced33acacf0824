// Concat and Split along one axis.
#include <algorithm>

#include "ops/extents.h"
#include "ops/movement.h"

namespace hf::ops {
namespace {

constexpr AttrDef concat_attrs[] = {required_attr("axis", AttrType::Int, 4)};
constexpr AttrDef split_attrs[] = {int_attr("axis", 0), optional_attr("split", AttrType::Ints, 1, 12),
                                   optional_attr("num_outputs", AttrType::Int, 18)};

// ---- Concat

void infer_concat(Infer& in) {
  int rank = -1;
  for (int i = 0; i < in.inputs(); ++i) {
    in.require(in.dtype(i) == in.dtype(0), "input {} is {}, input 0 {}", i, name(in.dtype(i)), name(in.dtype(0)));
    if (in.rank(i) < 0) continue;
    in.require(rank < 0 || rank == in.rank(i), "input {} has shape {}, wanted rank {}", i, in.shape(i).text(), rank);
    rank = in.rank(i);
  }
  if (rank < 0) return in.set(0, in.dtype(0));
  const int axis = normalize_axis(in.node.i("axis"), rank);
  Shape out = Shape::unknown_of_rank(rank);
  int64_t total = 0;
  bool sum_known = true;
  for (int i = 0; i < in.inputs(); ++i) {
    const Shape s = in.rank(i) < 0 ? Shape::unknown_of_rank(rank) : in.shape(i);
    for (int k = 0; k < rank; ++k) {
      if (k == axis || !s[k].known()) {
        if (k != axis && !out[k].known() && out[k].symbol.empty()) out[k] = s[k];
        continue;
      }
      in.require(!out[k].known() || out[k].value == s[k].value, "input {} has shape {}, its axis {} should be {}", i,
                 s.text(), k, out[k].value);
      out[k] = s[k];
    }
    sum_known &= s[axis].known();
    if (sum_known) total = add_extents(total, s[axis].value);
  }
  if (sum_known)
    out[axis] = total;
  else if (in.inputs() == 1)
    out[axis] = in.shape(0)[axis];
  in.set(0, in.dtype(0), out);
}

void concat(Eval& e) {
  Tensor& out = e.out();
  const int axis = normalize_axis(e.node.i("axis"), out.rank());
  const Dims to = out.dims().strides();
  int64_t at = 0;
  for (int i = 0; i < e.node.own_inputs(); ++i) {
    const Tensor& x = e.in(i);
    copy_strided(x, 0, out, at * to[axis], copy_axes(x.dims(), x.dims().strides(), to));
    at += x.dims()[axis];
  }
}

// ---- Split

void upgrade_split(ir::Graph& g, Node& n, int) { attr_to_input(g, n, "split", 1); }

// The extents of the outputs along an axis of `extent` (-1: not known): as given, or equal; with num_outputs the last
// ones may be smaller.
std::vector<int64_t> part_sizes(const Node& n, int64_t extent, const Tensor* given) {
  const auto count = static_cast<int64_t>(n.outputs().size());
  if (!given) {
    if (!n.has("num_outputs") && extent % count != 0)
      fail(Code::InvalidModel, "an axis of {} is not {} equal parts", extent, count);
    std::vector<int64_t> sizes;
    const int64_t size = (extent + count - 1) / count;
    for (int64_t i = 0; i < count; ++i) sizes.push_back(std::clamp<int64_t>(extent - i * size, 0, size));
    return sizes;
  }
  const std::vector<int64_t> sizes = to_ints(*given);
  int64_t sum = 0;
  for (int64_t s : sizes) {
    if (s < 0) fail(Code::InvalidModel, "an output of size {}", s);
    sum = add_extents(sum, s);
  }
  if (static_cast<int64_t>(sizes.size()) != count || (extent >= 0 && sum != extent))
    fail(Code::InvalidModel, "{} sizes with sum {} for {} outputs and an axis of {}", sizes.size(), sum, count, extent);
  return sizes;
}

void infer_split(Infer& in) {
  const bool by_number = in.node.has("num_outputs");
  in.require(!by_number || in.node.i("num_outputs") == in.outputs(), "num_outputs is not the {} outputs", in.outputs());
  in.require(!by_number || !in.has(1), "both num_outputs and split are given");
  const Shape& s = in.shape(0);
  const int axis = s.ranked() ? normalize_axis(in.node.i("axis"), s.rank()) : 0;
  const Dim extent = s.ranked() ? s[axis] : Dim();
  std::vector<Dim> parts(static_cast<size_t>(in.outputs()));
  if (in.constant(1) || (extent.known() && !in.has(1))) {
    const std::vector<int64_t> sizes = part_sizes(in.node, extent.value, in.constant(1));
    parts.assign(sizes.begin(), sizes.end());
  }
  for (int i = 0; i < in.outputs(); ++i) {
    Shape part = s;
    if (s.ranked()) part[axis] = parts[static_cast<size_t>(i)];
    in.set(i, in.dtype(0), part);
  }
}

void split(Eval& e) {
  const Tensor& x = e.in(0);
  const int axis = normalize_axis(e.node.i("axis"), x.rank());
  const std::vector<int64_t> sizes = part_sizes(e.node, x.dims()[axis], e.has(1) ? &e.in(1) : nullptr);
  const Dims from = x.dims().strides();
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (e.wants(static_cast<int>(i))) {
      Tensor& out = e.outputs[i];
      copy_strided(x, at * from[axis], out, 0, copy_axes(out.dims(), from, out.dims().strides()));
    }
    at += sizes[i];
  }
}

constexpr OpDef defs[] = {
    {.name = "Concat", .max_inputs = -1, .attrs = concat_attrs, .infer = infer_concat, .reference = concat},
    {.name = "Split",
     .max_inputs = 2,
     .max_outputs = -1,
     .attrs = split_attrs,
     .upgrade = upgrade_split,
     .infer = infer_split,
     .reference = split},
};

}  // namespace

std::span<const OpDef> concat_ops() { return defs; }

}  // namespace hf::ops

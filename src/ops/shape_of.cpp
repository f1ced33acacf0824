// Shape and Size: the extents of a tensor as a tensor.
#include <algorithm>

#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef shape_attrs[] = {int_attr("start", 0, 15), optional_attr("end", AttrType::Int, 15)};

void upgrade(ir::Graph&, Node& n, int) { n.attrs.emplace("start", int64_t{0}); }

// The axes [first, last) that are wanted; out of range means the nearest end.
struct Range {
  int first, last;
};

Range range_of(const Node& n, int rank) {
  auto clamp = [&](int64_t axis) {
    return static_cast<int>(std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank));
  };
  const int first = clamp(n.i("start")), last = n.has("end") ? clamp(n.i("end")) : rank;
  return {first, std::max(first, last)};
}

void infer_shape(Infer& in) {
  if (in.rank(0) < 0) return in.set(0, DType::I64, Shape::unknown_of_rank(1));
  const Range r = range_of(in.node, in.rank(0));
  in.set(0, DType::I64, Dims{r.last - r.first});
}

void shape(Eval& e) {
  const Range r = range_of(e.node, e.in(0).rank());
  std::copy(e.in(0).dims().begin() + r.first, e.in(0).dims().begin() + r.last, e.out().data<int64_t>());
}

void infer_size(Infer& in) { in.set(0, DType::I64, Dims{}); }

void size(Eval& e) { e.out().data<int64_t>()[0] = e.in(0).size(); }

constexpr OpDef defs[] = {
    {.name = "Shape", .attrs = shape_attrs, .upgrade = upgrade, .infer = infer_shape, .reference = shape},
    {.name = "Size", .infer = infer_size, .reference = size},
};

}  // namespace

std::span<const OpDef> shape_of_ops() { return defs; }

}  // namespace hf::ops

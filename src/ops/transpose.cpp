// Transpose: axes in another order.
#include <algorithm>

#include "ops/extents.h"
#include "ops/movement.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {optional_attr("perm", AttrType::Ints)};

// The permutation; reversed axes if the model gives none.
std::vector<int> permutation(const Node& n, int rank) {
  if (n.has("perm")) {
    const std::vector<int64_t>& perm = n.ints("perm");
    if (static_cast<int>(perm.size()) != rank)
      fail(Code::InvalidModel, "perm has {} axes, the input {}", perm.size(), rank);
    for (int64_t p : perm)
      if (p < 0) fail(Code::InvalidModel, "perm has the negative axis {}", p);
    return normalize_axes(perm, rank);
  }
  std::vector<int> reversed;
  for (int i = rank - 1; i >= 0; --i) reversed.push_back(i);
  return reversed;
}

void infer(Infer& in) {
  const Shape& s = in.shape(0);
  if (!s.ranked()) {
    const size_t given = in.node.ints_or_empty("perm").size();
    if (given > kMaxRank) fail(Code::Unsupported, "perm has {} axes, at most {} are handled", given, kMaxRank);
    return in.set(0, in.dtype(0), given ? Shape::unknown_of_rank(static_cast<int>(given)) : Shape());
  }
  std::vector<Dim> dims;
  for (int axis : permutation(in.node, s.rank())) dims.push_back(s[axis]);
  in.set(0, in.dtype(0), dims);
}

void reference(Eval& e) {
  const Tensor& x = e.in(0);
  const Dims from = x.dims().strides(), to = e.out().dims().strides();
  std::vector<CopyAxis> axes;
  int i = 0;
  for (int axis : permutation(e.node, x.rank())) axes.push_back({x.dims()[axis], from[axis], to[i++]});
  copy_strided(x, 0, e.out(), 0, axes);
}

constexpr OpDef defs[] = {{.name = "Transpose", .attrs = attrs, .infer = infer, .reference = reference}};

}  // namespace

std::span<const OpDef> transpose_ops() { return defs; }

}  // namespace hf::ops

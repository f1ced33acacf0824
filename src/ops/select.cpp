// NonZero and Compress, whose outputs' extents the data decide; OneHot, which is the way back.
#include <algorithm>

#include "ops/extents.h"
#include "ops/movement.h"

namespace hf::ops {
namespace {

constexpr AttrDef compress_attrs[] = {optional_attr("axis", AttrType::Int)};
constexpr AttrDef one_hot_attrs[] = {int_attr("axis", -1)};

// ---- NonZero

void infer_nonzero(Infer& in) {
  const int rank = in.rank(0);
  in.set(0, DType::I64, Shape({rank < 0 ? Dim() : Dim(rank), Dim()}));
}

std::vector<int64_t> nonzero_positions(const Tensor& x) {
  std::vector<int64_t> found;
  if (x.dtype() == DType::String) {
    for (int64_t i = 0; i < x.size(); ++i)
      if (!x.strings()[static_cast<size_t>(i)].empty()) found.push_back(i);
    return found;
  }
  const ReadAs<bool> set(x);
  for (int64_t i = 0; i < x.size(); ++i)
    if (set[i]) found.push_back(i);
  return found;
}

void nonzero(Eval& e) {
  const Tensor& x = e.in(0);
  const std::vector<int64_t> found = nonzero_positions(x);
  const auto count = static_cast<int64_t>(found.size());
  Tensor out(DType::I64, {x.rank(), count});
  const Dims strides = x.dims().strides();
  for (int k = 0; k < x.rank(); ++k)
    for (int64_t i = 0; i < count; ++i)
      out.data<int64_t>()[k * count + i] = found[static_cast<size_t>(i)] / strides[k] % x.dims()[k];
  e.out() = std::move(out);
}

// ---- Compress

void infer_compress(Infer& in) {
  Shape out = in.shape(0);
  if (!in.node.has("axis")) return in.set(0, in.dtype(0), Shape::unknown_of_rank(1));
  if (out.ranked()) out[normalize_axis(in.node.i("axis"), out.rank())] = Dim();
  in.set(0, in.dtype(0), out);
}

void compress(Eval& e) {
  const Tensor& x = e.in(0);
  const bool flat = !e.node.has("axis");
  const int axis = flat ? 0 : normalize_axis(e.node.i("axis"), x.rank());
  const int64_t extent = flat ? x.size() : x.dims()[axis];
  const int64_t outer = flat ? 1 : x.dims().count(0, axis), run = flat ? 1 : x.dims().count(axis + 1, x.rank());
  const ReadAs<bool> condition(e.in(1));
  std::vector<int64_t> taken;
  for (int64_t i = 0; i < std::min(condition.size(), extent); ++i)
    if (condition[i]) taken.push_back(i);
  const auto count = static_cast<int64_t>(taken.size());
  Dims dims = {count};
  if (!flat) dims = x.dims(), dims[axis] = count;
  Tensor out(x.dtype(), dims);
  const Mover mover(x, out);
  mover.for_each(outer * count, run, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      mover.copy((i / count * extent + taken[static_cast<size_t>(i % count)]) * run, i * run, run);
  });
  e.out() = std::move(out);
}

// ---- OneHot

void infer_one_hot(Infer& in) {
  const Shape& indices = in.shape(0);
  const Tensor* depth = in.constant(1);
  in.require(!depth || depth->size() == 1, "depth has {} elements, wanted 1", depth ? depth->size() : 0);
  const Dim extent = depth ? Dim(to_int(*depth)) : Dim();
  in.require(!depth || extent.known(), "depth is {}", extent.value);
  const std::optional<int64_t> values = in.shape(2).count();
  in.require(!values || *values == 2, "{} values, wanted off and on", values.value_or(0));
  if (!indices.ranked()) return in.set(0, in.dtype(2));
  std::vector<Dim> out = indices.dims();
  out.insert(out.begin() + normalize_axis(in.node.i("axis"), indices.rank() + 1), extent);
  in.set(0, in.dtype(2), out);
}

// Indices outside [-depth, depth-1] leave their vector off.
void one_hot(Eval& e) {
  const ReadAs<int64_t> indices(e.in(0));
  Tensor& out = e.out();
  const int axis = normalize_axis(e.node.i("axis"), out.rank());
  const int64_t depth = out.dims()[axis], inner = out.dims().count(axis + 1, out.rank());
  const CopyAxis all[] = {{out.size(), 0, 1}};
  copy_strided(e.in(2), 0, out, 0, all);
  const Mover mover(e.in(2), out);
  for (int64_t i = 0; i < indices.size(); ++i) {
    const int64_t hot = indices[i] < 0 ? indices[i] + depth : indices[i];
    if (hot >= 0 && hot < depth) mover.copy(1, (i / inner * depth + hot) * inner + i % inner, 1);
  }
}

constexpr OpDef defs[] = {
    {.name = "NonZero", .since = 9, .infer = infer_nonzero, .reference = nonzero},
    {.name = "Compress",
     .since = 9,
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = compress_attrs,
     .infer = infer_compress,
     .reference = compress},
    {.name = "OneHot",
     .since = 9,
     .min_inputs = 3,
     .max_inputs = 3,
     .attrs = one_hot_attrs,
     .infer = infer_one_hot,
     .reference = one_hot},
};

}  // namespace

std::span<const OpDef> select_ops() { return defs; }

}  // namespace hf::ops

// Gather, GatherElements and GatherND: elements and slices by index.
#include <algorithm>

#include "ops/extents.h"
#include "ops/movement.h"

namespace hf::ops {
namespace {

constexpr AttrDef axis_attrs[] = {int_attr("axis", 0)};
constexpr AttrDef nd_attrs[] = {int_attr("batch_dims", 0, 12)};

// ---- Gather

void infer_gather(Infer& in) {
  const Shape &data = in.shape(0), &indices = in.shape(1);
  if (!data.ranked()) return in.set(0, in.dtype(0));
  const int axis = normalize_axis(in.node.i("axis"), data.rank());
  if (!indices.ranked()) return in.set(0, in.dtype(0));
  std::vector<Dim> out(data.dims().begin(), data.dims().begin() + axis);
  out.insert(out.end(), indices.dims().begin(), indices.dims().end());
  out.insert(out.end(), data.dims().begin() + axis + 1, data.dims().end());
  in.set(0, in.dtype(0), out);
}

void gather(Eval& e) {
  const Tensor& data = e.in(0);
  const ReadAs<int64_t> given(e.in(1));
  const int axis = normalize_axis(e.node.i("axis"), data.rank());
  const int64_t extent = data.dims()[axis], count = given.size();
  const int64_t outer = data.dims().count(0, axis), run = data.dims().count(axis + 1, data.rank());
  std::vector<int64_t> indices;
  for (int64_t i : given) indices.push_back(checked_index(i, extent));
  const Mover mover(data, e.out());
  mover.for_each(outer * count, run, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      mover.copy((i / count * extent + indices[static_cast<size_t>(i % count)]) * run, i * run, run);
  });
}

// ---- GatherElements

void infer_elements(Infer& in) {
  const Shape &data = in.shape(0), &indices = in.shape(1);
  if (data.ranked() && indices.ranked()) {
    in.require(data.rank() == indices.rank(), "indices {} have not the rank of data {}", indices.text(), data.text());
    const int axis = normalize_axis(in.node.i("axis"), data.rank());
    for (int i = 0; i < data.rank(); ++i)
      in.require(i == axis || !data[i].known() || !indices[i].known() || indices[i].value <= data[i].value,
                 "indices {} reach out of data {} on axis {}", indices.text(), data.text(), i);
  }
  in.set(0, in.dtype(0), indices);
}

void gather_elements(Eval& e) {
  const Tensor& data = e.in(0);
  const ReadAs<int64_t> indices(e.in(1));
  const int axis = normalize_axis(e.node.i("axis"), data.rank());
  const Dims extent = e.in(1).dims(), strides = data.dims().strides(), steps = extent.strides();
  const Mover mover(data, e.out());
  mover.for_each(indices.size(), 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = checked_index(indices[i], data.dims()[axis]) * strides[axis];
      for (int k = 0; k < extent.rank(); ++k)
        if (k != axis) at += i / steps[k] % extent[k] * strides[k];
      mover.copy(at, i, 1);
    }
  });
}

// ---- GatherND

void upgrade_nd(ir::Graph&, Node& n, int) { n.attrs.emplace("batch_dims", int64_t{0}); }

void infer_nd(Infer& in) {
  const Shape &data = in.shape(0), &indices = in.shape(1);
  const int64_t batch = in.node.i("batch_dims");
  in.require(batch >= 0, "batch_dims is {}", batch);
  if (!data.ranked() || !indices.ranked()) return in.set(0, in.dtype(0));
  in.require(data.rank() >= 1 && indices.rank() >= 1, "a scalar cannot be gathered from or by");
  in.require(batch < data.rank() && batch < indices.rank(), "batch_dims {} with data {} and indices {}", batch,
             data.text(), indices.text());
  for (int i = 0; i < batch; ++i)
    in.require(!data[i].known() || !indices[i].known() || data[i].value == indices[i].value,
               "data {} and indices {} differ on batch axis {}", data.text(), indices.text(), i);
  const Dim& tuple = indices[indices.rank() - 1];
  if (!tuple.known()) return in.set(0, in.dtype(0));
  in.require(tuple.value >= 1 && tuple.value <= data.rank() - batch, "index tuples of {} for data {}", tuple.value,
             data.text());
  std::vector<Dim> out(indices.dims().begin(), indices.dims().end() - 1);
  out.insert(out.end(), data.dims().begin() + batch + tuple.value, data.dims().end());
  in.set(0, in.dtype(0), out);
}

void gather_nd(Eval& e) {
  const Tensor& data = e.in(0);
  const ReadAs<int64_t> indices(e.in(1));
  const int batch = static_cast<int>(e.node.i("batch_dims")), tuple = static_cast<int>(e.in(1).dims().back());
  const Dims& d = data.dims();
  const int64_t batches = d.count(0, batch), per_batch = e.in(1).dims().count(batch, e.in(1).rank() - 1);
  const int64_t batch_size = d.count(batch, d.rank()), run = d.count(batch + tuple, d.rank());
  const Mover mover(data, e.out());
  mover.for_each(batches * per_batch, run, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = 0;
      for (int k = 0; k < tuple; ++k) at = at * d[batch + k] + checked_index(indices[i * tuple + k], d[batch + k]);
      mover.copy(i / per_batch * batch_size + at * run, i * run, run);
    }
  });
}

constexpr OpDef defs[] = {
    {.name = "Gather",
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = axis_attrs,
     .infer = infer_gather,
     .reference = gather},
    {.name = "GatherElements",
     .since = 11,
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = axis_attrs,
     .infer = infer_elements,
     .reference = gather_elements},
    {.name = "GatherND",
     .since = 11,
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = nd_attrs,
     .upgrade = upgrade_nd,
     .infer = infer_nd,
     .reference = gather_nd},
};

}  // namespace

std::span<const OpDef> gather_ops() { return defs; }

}  // namespace hf::ops

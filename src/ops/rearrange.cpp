// ReverseSequence and Trilu: a tensor of the same shape with some of its elements elsewhere or gone.
#include <algorithm>

#include "ops/extents.h"
#include "ops/movement.h"

namespace hf::ops {
namespace {

constexpr AttrDef reverse_attrs[] = {int_attr("batch_axis", 1), int_attr("time_axis", 0)};
constexpr AttrDef trilu_attrs[] = {int_attr("upper", 1)};

// ---- ReverseSequence

void infer_reverse(Infer& in) {
  const int64_t batch = in.node.i("batch_axis"), time = in.node.i("time_axis");
  in.require((batch == 0 || batch == 1) && time == 1 - batch, "batch_axis {} and time_axis {}, wanted 0 and 1", batch,
             time);
  const Shape& s = in.shape(0);
  if (s.ranked()) {
    in.require(s.rank() >= 2, "input has shape {}, wanted at least 2 axes", s.text());
    ir::merge(Shape({s[static_cast<int>(batch)]}), in.shape(1));
  }
  infer_same(in);
}

void reverse(Eval& e) {
  const Tensor& x = e.in(0);
  const int batch = static_cast<int>(e.node.i("batch_axis")), time = 1 - batch;
  const Dims strides = x.dims().strides();
  const std::vector<int64_t> lengths = to_ints(e.in(1));
  std::vector<CopyAxis> axes = copy_axes(x.dims(), strides, strides);
  axes[static_cast<size_t>(batch)].extent = 1;
  CopyAxis& along = axes[static_cast<size_t>(time)];
  for (int64_t b = 0; b < x.dims()[batch]; ++b) {
    const int64_t length = lengths[static_cast<size_t>(b)], extent = x.dims()[time], step = strides[time];
    if (length < 0 || length > extent)
      fail(Code::InvalidArgument, "sequence length {} is outside [0, {}]", length, extent);
    const int64_t at = b * strides[batch];
    along = {length, -step, step};
    copy_strided(x, at + (length - 1) * step, e.out(), at, axes);
    along = {extent - length, step, step};
    copy_strided(x, at + length * step, e.out(), at + length * step, axes);
  }
}

// ---- Trilu

void infer_trilu(Infer& in) {
  in.require(in.rank(0) < 0 || in.rank(0) >= 2, "input has shape {}, wanted at least 2 axes", in.shape(0).text());
  const Tensor* k = in.constant(1);
  in.require(!k || k->size() == 1, "k has {} elements, wanted 1", k ? k->size() : 0);
  infer_same(in);
}

void trilu(Eval& e) {
  const Tensor& x = e.in(0);
  const int64_t rows = x.dims()[x.rank() - 2], columns = x.dims().back();
  const int64_t k = std::clamp(e.has(1) ? to_int(e.in(1)) : 0, -rows - 1, columns + 1);
  const bool upper = e.node.i("upper") != 0;
  fill(e.out());
  const Mover mover(x, e.out());
  mover.for_each(columns ? x.size() / columns : 0, columns, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t diagonal = std::clamp<int64_t>(r % rows + k + (upper ? 0 : 1), 0, columns);
      if (upper)
        mover.copy(r * columns + diagonal, r * columns + diagonal, columns - diagonal);
      else
        mover.copy(r * columns, r * columns, diagonal);
    }
  });
}

constexpr OpDef defs[] = {
    {.name = "ReverseSequence",
     .since = 10,
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = reverse_attrs,
     .infer = infer_reverse,
     .reference = reverse},
    {.name = "Trilu", .since = 14, .max_inputs = 2, .attrs = trilu_attrs, .infer = infer_trilu, .reference = trilu},
};

}  // namespace

std::span<const OpDef> rearrange_ops() { return defs; }

}  // namespace hf::ops

// Expand and Tile: repetition along axes.
#include <algorithm>

#include "ops/extents.h"
#include "ops/movement.h"
#include "ops/shape_values.h"

namespace hf::ops {
namespace {

void infer_expand(Infer& in) {
  const Shape& s = in.shape(0);
  const int length = in.constant(1) ? static_cast<int>(list_of(in, 1).size()) : list_length(in, 1);
  const std::optional<std::vector<ShapeEntry>> entries = shape_entries(in, 1);
  if (entries) {
    Shape wanted{std::vector<Dim>()};
    for (const ShapeEntry& w : *entries) {
      in.require(!w.number || *w.number >= 0, "extent {} in the shape to expand to", w.number.value_or(0));
      wanted.dims().push_back(w.dim());
    }
    return in.set(0, in.dtype(0), broadcast_shapes(s, wanted));
  }
  in.set(0, in.dtype(0), length < 0 || !s.ranked() ? Shape() : Shape::unknown_of_rank(std::max(length, s.rank())));
}

void expand(Eval& e) {
  const Tensor& x = e.in(0);
  const Dims &out = e.out().dims(), strides = x.dims().strides(), to = out.strides();
  std::vector<CopyAxis> axes;
  for (int i = 0; i < out.rank(); ++i) {
    const int k = i - (out.rank() - x.rank());
    axes.push_back({out[i], k < 0 || x.dims()[k] == 1 ? 0 : strides[k], to[i]});
  }
  copy_strided(x, 0, e.out(), 0, axes);
}

void infer_tile(Infer& in) {
  Shape out = in.shape(0);
  if (!out.ranked()) {
    const int length = list_length(in, 1);
    return in.set(0, in.dtype(0), length < 0 ? Shape() : Shape::unknown_of_rank(length));
  }
  if (!in.constant(1)) return in.set(0, in.dtype(0), Shape::unknown_of_rank(out.rank()));
  const std::vector<int64_t> repeats = list_of(in, 1);
  in.require(static_cast<int>(repeats.size()) == out.rank(), "{} repeats for shape {}", repeats.size(), out.text());
  for (int i = 0; i < out.rank(); ++i) {
    const int64_t r = repeats[static_cast<size_t>(i)];
    in.require(r >= 0, "{} repeats", r);
    if (out[i].known())
      out[i] = multiply_extents(out[i].value, r);
    else if (r != 1)
      out[i] = r == 0 ? Dim(0) : Dim();
  }
  in.set(0, in.dtype(0), out);
}

void tile(Eval& e) {
  const Tensor& x = e.in(0);
  const Dims from = x.dims().strides(), to = e.out().dims().strides();
  std::vector<CopyAxis> axes;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t extent = x.dims()[i];
    if (extent) axes.push_back({e.out().dims()[i] / extent, 0, extent * to[i]});
    axes.push_back({extent, from[i], to[i]});
  }
  copy_strided(x, 0, e.out(), 0, axes);
}

constexpr OpDef defs[] = {
    {.name = "Expand", .since = 8, .min_inputs = 2, .max_inputs = 2, .infer = infer_expand, .reference = expand},
    {.name = "Tile", .min_inputs = 2, .max_inputs = 2, .infer = infer_tile, .reference = tile},
};

}  // namespace

std::span<const OpDef> expand_ops() { return defs; }

}  // namespace hf::ops

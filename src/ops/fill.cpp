// ConstantOfShape, Range and EyeLike: tensors made from little.
#include <algorithm>
#include <cmath>

#include "ops/op.h"
#include "ops/pointwise.h"

namespace hf::ops {
namespace {

constexpr AttrDef constant_attrs[] = {optional_attr("value", AttrType::Tensor)};
constexpr AttrDef range_attrs[] = {int_attr("stash_type", 1, 27)};
constexpr AttrDef eye_attrs[] = {optional_attr("dtype", AttrType::Int), int_attr("k", 0)};

Tensor value_of(const Node& n) {
  Tensor t = n.has("value") ? n.tensor("value") : Tensor::scalar(0.0f);
  if (t.size() != 1) fail(Code::InvalidModel, "the value has {} elements, wanted 1", t.size());
  return t.reshaped({});
}

void infer_constant(Infer& in) {
  const DType dtype = value_of(in.node).dtype();
  in.require(in.rank(0) < 0 || in.rank(0) == 1, "the shape has rank {}, wanted 1", in.rank(0));
  if (const Tensor* shape = in.constant(0)) {
    const Dims dims(to_ints(*shape));
    dims.count();  // refuses negative extents
    in.set(0, dtype, dims);
  } else if (in.rank(0) == 1 && in.shape(0)[0].known() && in.shape(0)[0].value <= kMaxRank) {
    in.set(0, dtype, Shape::unknown_of_rank(static_cast<int>(in.shape(0)[0].value)));
  } else {
    in.set(0, dtype);
  }
}

void constant_of_shape(Eval& e) { broadcast_copy(value_of(e.node), e.out()); }

// max(ceil((limit - start) / delta), 0)
int64_t range_count(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  if (to_number(delta) == 0) fail(Code::InvalidArgument, "delta is 0");
  if (is_float(start.dtype())) {
    const double n = std::ceil((to_number(limit) - to_number(start)) / to_number(delta));
    if (std::isnan(n) || n > 4e18) fail(Code::InvalidArgument, "a range of {} elements", n);
    return n < 0 ? 0 : static_cast<int64_t>(n);
  }
  const int64_t from = to_int(start), to = to_int(limit), by = to_int(delta);
  if (by > 0 ? to <= from : to >= from) return 0;
  // Unsigned, since the distance may exceed int64.
  const uint64_t distance = by > 0 ? static_cast<uint64_t>(to) - static_cast<uint64_t>(from)
                                   : static_cast<uint64_t>(from) - static_cast<uint64_t>(to);
  const uint64_t step = by > 0 ? static_cast<uint64_t>(by) : 0 - static_cast<uint64_t>(by);
  const uint64_t n = (distance - 1) / step + 1;
  if (n > uint64_t{1} << 62) fail(Code::InvalidArgument, "a range of {} elements", n);
  return static_cast<int64_t>(n);
}

void infer_range(Infer& in) {
  if (in.constant(0) && in.constant(1) && in.constant(2))
    in.set(0, in.dtype(0), Dims{range_count(*in.constant(0), *in.constant(1), *in.constant(2))});
  else
    in.set(0, in.dtype(0), Shape::unknown_of_rank(1));
}

void range(Eval& e) {
  dispatch_number(e.in(0).dtype(), [&]<class T>(T) {
    using A =
        std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;  // never beyond the limit, but i * delta may wrap
    const A start = static_cast<A>(ReadAs<T>(e.in(0))[0]), delta = static_cast<A>(ReadAs<T>(e.in(2))[0]);
    WriteAs<T> out(e.out());
    for (int64_t i = 0; i < e.out().size(); ++i) out[i] = static_cast<T>(start + static_cast<A>(i) * delta);
    out.commit();
  });
}

void infer_eye(Infer& in) {
  in.require(in.rank(0) < 0 || in.rank(0) == 2, "the input has rank {}, wanted 2", in.rank(0));
  const int64_t dtype = in.node.has("dtype") ? in.node.i("dtype") : static_cast<int64_t>(in.dtype(0));
  in.require(dtype >= 0 && dtype < kDTypeCount && dtype != static_cast<int64_t>(DType::String), "dtype is {}", dtype);
  in.set(0, static_cast<DType>(dtype), in.shape(0));
}

void eye(Eval& e) {
  const int64_t rows = e.out().dims()[0], columns = e.out().dims()[1], k = e.node.i("k");
  WriteAs<float> out(e.out());
  std::fill_n(out.data(), e.out().size(), 0.0f);
  if (k > -rows && k < columns)
    for (int64_t r = std::max<int64_t>(0, -k); r < rows && r + k < columns; ++r) out[r * columns + r + k] = 1;
  out.commit();
}

constexpr OpDef defs[] = {
    {.name = "ConstantOfShape",
     .since = 9,
     .attrs = constant_attrs,
     .infer = infer_constant,
     .reference = constant_of_shape},
    {.name = "EyeLike", .since = 9, .attrs = eye_attrs, .infer = infer_eye, .reference = eye},
    {.name = "Range",
     .since = 11,
     .min_inputs = 3,
     .max_inputs = 3,
     .attrs = range_attrs,
     .infer = infer_range,
     .reference = range},
};

}  // namespace

std::span<const OpDef> fill_ops() { return defs; }

}  // namespace hf::ops

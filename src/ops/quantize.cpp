// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include <cmath>

#include "ops/op.h"
#include "ops/quantized.h"

namespace hf::ops {
namespace {

constexpr AttrDef quantize_attrs[] = {
    int_attr("axis", 1),          int_attr("block_size", 0, 21), int_attr("output_dtype", 0, 21),
    int_attr("precision", 0, 23), int_attr("saturate", 1, 19),
};

constexpr AttrDef dequantize_attrs[] = {
    int_attr("axis", 1),
    int_attr("block_size", 0, 21),
    int_attr("output_dtype", 0, 23),
};

int64_t attr_or(const Node& n, std::string_view name, int64_t otherwise) { return n.has(name) ? n.i(name) : otherwise; }

DType dtype_attr(const Node& n, std::string_view name) {
  const int64_t v = attr_or(n, name, 0);
  if (v < 0 || v >= kDTypeCount) fail(Code::InvalidModel, "attribute '{}' is {}, which is no element type", name, v);
  return static_cast<DType>(v);
}

// Which element of the scale each element of x takes: the only one, one along an axis, or one a block along it.
struct Granularity {
  int64_t extent = 1, inner = 1;  // of the axis, and of what is behind it
  int64_t block = 0;              // 0: no blocks
  int64_t scales = 1;             // the scale's extent along the axis; 1 without blocks: one for all

  int64_t operator()(int64_t i) const {
    if (scales == 1 && !block) return 0;
    const int64_t at = i / inner % extent;
    return block ? (i / inner / extent * scales + at / block) * inner + i % inner : at;
  }
};

Granularity granularity_of(const Node& n, const Dims& x, const Dims& scale) {
  const int64_t block = attr_or(n, "block_size", 0);
  if (block < 0) fail(Code::InvalidModel, "attribute 'block_size' is {}", block);
  if (scale.count() == 1 && (!block || scale.rank() == 0)) return {};
  if (x.rank() == 0) fail(Code::InvalidModel, "a scale of shape {} for a scalar", scale.text());
  // Of a vector there is one axis; the default of the attribute does not fit it.
  const int axis = x.rank() == 1 ? 0 : normalize_axis(n.i("axis"), x.rank());
  Granularity g{.extent = x[axis], .inner = x.count(axis + 1, x.rank()), .block = block};
  Dims wanted = x;
  if (block)
    wanted[axis] = (x[axis] + block - 1) / block;
  else
    wanted = {x[axis]};
  if (scale != wanted)
    fail(Code::InvalidModel, "the scale is of shape {}, wanted {} for x of shape {}, axis {}, block size {}",
         scale.text(), wanted.text(), x.text(), axis, block);
  g.scales = block ? wanted[axis] : x[axis];
  return g;
}

void check_scale(const Infer& in) {
  const Shape &x = in.shape(0), &scale = in.shape(1);
  if (x.is_static() && scale.is_static()) granularity_of(in.node, x.get(), scale.get());
  if (!in.has(2)) return;
  const auto scales = scale.count(), zeros = in.shape(2).count();
  in.require(!scales || !zeros || *scales == *zeros, "the scale is of shape {}, the zero point of shape {}",
             scale.text(), in.shape(2).text());
}

void infer_quantize(Infer& in) {
  check_scale(in);
  DType to = dtype_attr(in.node, "output_dtype");
  if (in.has(2)) {
    in.require(to == DType::Undefined || to == in.dtype(2), "attribute 'output_dtype' says {}, the zero point is {}",
               name(to), name(in.dtype(2)));
    to = in.dtype(2);
  }
  if (to == DType::Undefined) to = DType::U8;
  quantized_range(to);  // refuses a type that nothing is quantised to
  in.set(0, to, in.shape(0));
}

void infer_dequantize(Infer& in) {
  check_scale(in);
  DType to = dtype_attr(in.node, "output_dtype");
  if (to == DType::Undefined) to = in.dtype(1);
  in.require(is_float(to) && bits(to) >= 16, "dequantising to {}", name(to));
  in.set(0, to, in.shape(0));
}

// x as a value of a narrower float type has it.
float rounded(float x, DType to) {
  if (to == DType::F16) return to_float(to_half(x));
  if (to == DType::BF16) return to_float(to_bfloat16(x));
  return x;
}

void store_small_floats(const float* from, Tensor& to, bool saturate) {
  auto* bytes = static_cast<uint8_t*>(to.raw());
  for (int64_t i = 0; i < to.size(); ++i) bytes[i] = float_to_small_float(to.dtype(), from[i], saturate);
}

void quantize_linear(Eval& e) {
  const Tensor &x = e.in(0), &scale = e.in(1);
  const Granularity g = granularity_of(e.node, x.dims(), scale.dims());
  DType precision = dtype_attr(e.node, "precision");
  if (precision == DType::Undefined) precision = scale.dtype();
  ReadAs<float> xs(x), scales(scale);
  const PerChannel<float> zeros(e.has(2) ? &e.in(2) : nullptr, 0);
  const DType to = e.out().dtype();
  const QuantizedRange range = quantized_range(to);
  std::vector<float> y(static_cast<size_t>(x.size()));
  parallel_for(x.size(), 10, [&](int64_t from, int64_t end) {
    for (int64_t i = from; i < end; ++i) {
      const int64_t s = g(i);
      const float q = rounded(xs[i] / scales[s], precision);
      y[static_cast<size_t>(i)] = range.integer ? quantize(static_cast<double>(q), zeros[s], range) : q + zeros[s];
    }
  });
  if (is_float(to) && bits(to) == 8)
    store_small_floats(y.data(), e.out(), attr_or(e.node, "saturate", 1) != 0);
  else
    write_elements(y.data(), e.out());
}

void dequantize_linear(Eval& e) {
  const Tensor &x = e.in(0), &scale = e.in(1);
  const Granularity g = granularity_of(e.node, x.dims(), scale.dims());
  ReadAs<float> xs(x), scales(scale);
  const PerChannel<float> zeros(e.has(2) ? &e.in(2) : nullptr, 0);
  WriteAs<float> y(e.out());
  parallel_for(x.size(), 5, [&](int64_t from, int64_t end) {
    for (int64_t i = from; i < end; ++i) {
      const int64_t s = g(i);
      y[i] = (xs[i] - zeros[s]) * scales[s];
    }
  });
  y.commit();
}

void infer_dynamic(Infer& in) {
  in.set(0, DType::U8, in.shape(0));
  in.set(1, DType::F32, Dims());
  in.set(2, DType::U8, Dims());
}

// The range of x, widened to hold 0, is spread over 0 to 255. All zeros take a scale of 1.
void dynamic_quantize_linear(Eval& e) {
  ReadAs<float> x(e.in(0));
  float low = 0, high = 0;
  for (float v : x) low = std::min(low, v), high = std::max(high, v);
  const float scale = high == low ? 1 : (high - low) / 255;
  const QuantizedRange range = quantized_range(DType::U8);
  const float zero = quantize(static_cast<double>(-low / scale), 0, range);
  auto* y = e.out().data<uint8_t>();
  for (int64_t i = 0; i < x.size(); ++i)
    y[i] = static_cast<uint8_t>(quantize(static_cast<double>(x[i] / scale), zero, range));
  if (e.wants(1)) *e.out(1).data<float>() = scale;
  if (e.wants(2)) *e.out(2).data<uint8_t>() = static_cast<uint8_t>(zero);
}

constexpr OpDef defs[] = {
    {.name = "QuantizeLinear",
     .since = 10,
     .min_inputs = 2,
     .max_inputs = 3,
     .attrs = quantize_attrs,
     .infer = infer_quantize,
     .reference = quantize_linear},
    {.name = "DequantizeLinear",
     .since = 10,
     .min_inputs = 2,
     .max_inputs = 3,
     .attrs = dequantize_attrs,
     .infer = infer_dequantize,
     .reference = dequantize_linear},
    {.name = "DynamicQuantizeLinear",
     .since = 11,
     .min_outputs = 3,
     .max_outputs = 3,
     .infer = infer_dynamic,
     .reference = dynamic_quantize_linear},
};

}  // namespace

std::span<const OpDef> quantize_ops() { return defs; }

}  // namespace hf::ops

// ConvInteger and QLinearConv: convolutions of 8-bit integers, computed in int32.
#include "ops/convolve.h"
#include "ops/quantized.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    string_attr("auto_pad", "NOTSET"),
    optional_attr("dilations", AttrType::Ints),
    int_attr("group", 1),
    optional_attr("kernel_shape", AttrType::Ints),
    optional_attr("pads", AttrType::Ints),
    optional_attr("strides", AttrType::Ints),
};

// Input `i`, if there, is one value or one a filter.
void check_per_filter(const Infer& in, int i, int weights) {
  if (!in.has(i) || !in.shape(i).ranked()) return;
  const Shape &s = in.shape(i), &w = in.shape(weights);
  auto size = s.count();
  if (!size || *size == 1) return;
  in.require(s.rank() == 1 && (!w.ranked() || !w[0].known() || w[0].value == *size),
             "input {} is of shape {}, wanted one value or one a filter of weights {}", i, s.text(), w.text());
}

void check_scalar(const Infer& in, int i) {
  if (!in.has(i)) return;
  auto size = in.shape(i).count();
  in.require(!size || *size == 1, "input {} is of shape {}, wanted one value", i, in.shape(i).text());
}

void infer_integer(Infer& in) {
  check_scalar(in, 2);
  check_per_filter(in, 3, 1);
  in.set(0, DType::I32, infer_convolution(in, 0, 1, -1));
}

void infer_qlinear(Infer& in) {
  for (int i : {1, 2, 6, 7}) check_scalar(in, i);
  for (int i : {4, 5}) check_per_filter(in, i, 3);
  in.set(0, in.dtype(7), infer_convolution(in, 0, 3, 8));
}

// The convolution of what remains of x and w without their zero points: padding then counts as zero.
std::vector<int32_t> accumulate(const Convolution& c, const Tensor& x, const Tensor* x_zero, const Tensor& w,
                                const Tensor* w_zero) {
  std::vector<int32_t> xs(static_cast<size_t>(x.size())), ws(static_cast<size_t>(w.size()));
  read_elements(x, xs.data());
  read_elements(w, ws.data());
  const PerChannel<int32_t> xz(x_zero, 0), wz(w_zero, 0);
  for (int32_t& v : xs) v -= xz[0];
  const int64_t filter = w.dims().count(1, w.rank());
  for (int64_t i = 0; i < w.size(); ++i) ws[static_cast<size_t>(i)] -= wz[i / filter];
  std::vector<int32_t> y(static_cast<size_t>(c.batch * c.groups * c.filters * c.window.outputs()));
  convolve(c, xs.data(), ws.data(), y.data());
  return y;
}

const Tensor* input(const Eval& e, int i) { return e.has(i) ? &e.in(i) : nullptr; }

void integer(Eval& e) {
  std::vector<int32_t> y =
      accumulate(convolution_of(e.node, e.in(0), e.in(1)), e.in(0), input(e, 2), e.in(1), input(e, 3));
  std::copy(y.begin(), y.end(), e.out().data<int32_t>());
}

void qlinear(Eval& e) {
  const Convolution c = convolution_of(e.node, e.in(0), e.in(3));
  const std::vector<int32_t> sums = accumulate(c, e.in(0), &e.in(2), e.in(3), &e.in(5));
  const PerChannel<float> x_scale(&e.in(1), 1), w_scale(&e.in(4), 1), y_scale(&e.in(6), 1), y_zero(&e.in(7), 0);
  const PerChannel<int32_t> bias(input(e, 8), 0);
  const QuantizedRange range = quantized_range(e.out().dtype());
  const int64_t outputs = c.window.outputs(), filters = c.groups * c.filters;
  WriteAs<float> y(e.out());
  for (int64_t i = 0; i < static_cast<int64_t>(sums.size()); ++i) {
    const int64_t f = i / outputs % filters;
    const float scale = x_scale[0] * w_scale[f] / y_scale[0];
    const int64_t sum = int64_t{sums[static_cast<size_t>(i)]} + bias[f];
    y[i] = quantize(static_cast<double>(sum) * static_cast<double>(scale), y_zero[0], range);
  }
  y.commit();
}

constexpr OpDef defs[] = {
    {.name = "ConvInteger",
     .since = 10,
     .min_inputs = 2,
     .max_inputs = 4,
     .attrs = attrs,
     .infer = infer_integer,
     .reference = integer},
    {.name = "QLinearConv",
     .since = 10,
     .min_inputs = 8,
     .max_inputs = 9,
     .attrs = attrs,
     .infer = infer_qlinear,
     .reference = qlinear},
};

}  // namespace

std::span<const OpDef> conv_quantized_ops() { return defs; }

}  // namespace hf::ops

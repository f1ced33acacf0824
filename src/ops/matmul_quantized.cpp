// MatMulInteger and QLinearMatMul: products of quantised matrices, computed in int32.
#include <algorithm>

#include "ops/matmul.h"
#include "ops/pointwise.h"
#include "ops/quantized.h"

namespace hf::ops {
namespace {

void infer_integer(Infer& in) { in.set(0, DType::I32, matmul_shape(in, in.shape(0), in.shape(1))); }

void infer_qlinear(Infer& in) { in.set(0, in.dtype(7), matmul_shape(in, in.shape(0), in.shape(3))); }

// A scale or zero point as one value for each element of a tensor of extents `dims`. A vector holds one a row (`rows`)
// or one a column; anything of more axes broadcasts.
template <class T>
std::vector<T> spread(const Tensor* p, const Dims& dims, bool rows, T otherwise) {
  std::vector<T> values(static_cast<size_t>(dims.count()), otherwise);
  if (!p) return values;
  Tensor from(dtype_of<T>(), p->dims());
  read_elements(*p, from.data<T>());
  if (p->size() == 1) {
    std::fill(values.begin(), values.end(), *from.data<T>());
    return values;
  }
  if (rows && p->rank() == 1 && dims.rank() > 1) from = from.reshaped({p->size(), 1});
  if (from.rank() > dims.rank() || broadcast(from.dims(), dims) != dims)
    fail(Code::InvalidModel, "a scale or zero point of shape {} does not fit a tensor of shape {}", p->dims().text(),
         dims.text());
  Tensor to(dtype_of<T>(), dims);
  broadcast_copy(from, to);
  read_elements(to, values.data());
  return values;
}

template <class T>
std::vector<T> without_zero(const Tensor& x, const Tensor* zero, bool rows) {
  std::vector<T> values(static_cast<size_t>(x.size()));
  read_elements(x, values.data());
  if (!zero) return values;
  const std::vector<T> zeros = spread<T>(zero, x.dims(), rows, 0);
  for (size_t i = 0; i < values.size(); ++i) values[i] -= zeros[i];
  return values;
}

void integer(Eval& e) {
  const Tensor &a = e.in(0), &b = e.in(1);
  const std::vector<int32_t> av = without_zero<int32_t>(a, e.has(2) ? &e.in(2) : nullptr, true);
  const std::vector<int32_t> bv = without_zero<int32_t>(b, e.has(3) ? &e.in(3) : nullptr, false);
  matmul(a.dims(), av.data(), b.dims(), bv.data(), e.out().data<int32_t>());
}

// T: int32_t for integers, float for the float8 types.
template <class T>
void qlinear_in(Eval& e) {
  const Tensor &a = e.in(0), &b = e.in(3);
  const Dims& dims = e.out().dims();
  const std::vector<T> av = without_zero<T>(a, &e.in(2), true), bv = without_zero<T>(b, &e.in(5), false);
  std::vector<T> sums(static_cast<size_t>(e.out().size()));
  matmul(a.dims(), av.data(), b.dims(), bv.data(), sums.data());
  const std::vector<float> a_scale = spread<float>(&e.in(1), dims, true, 1),
                           b_scale = spread<float>(&e.in(4), dims, false, 1);
  const std::vector<float> y_scale = spread<float>(&e.in(6), dims, true, 1),
                           y_zero = spread<float>(&e.in(7), dims, true, 0);
  const QuantizedRange range = quantized_range(e.out().dtype());
  WriteAs<float> y(e.out());
  for (size_t i = 0; i < sums.size(); ++i)
    y[static_cast<int64_t>(i)] = quantize(
        static_cast<double>(sums[i]) * static_cast<double>(a_scale[i] * b_scale[i] / y_scale[i]), y_zero[i], range);
  y.commit();
}

void qlinear(Eval& e) {
  if (is_float(e.in(0).dtype()))
    qlinear_in<float>(e);
  else
    qlinear_in<int32_t>(e);
}

constexpr OpDef defs[] = {
    {.name = "MatMulInteger",
     .since = 10,
     .min_inputs = 2,
     .max_inputs = 4,
     .infer = infer_integer,
     .reference = integer},
    {.name = "QLinearMatMul",
     .since = 10,
     .min_inputs = 8,
     .max_inputs = 8,
     .infer = infer_qlinear,
     .reference = qlinear},
};

}  // namespace

std::span<const OpDef> matmul_quantized_ops() { return defs; }

}  // namespace hf::ops

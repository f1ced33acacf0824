// MatMul, and com.microsoft's FusedMatMul, which transposes and scales on the way.
#include "ops/matmul.h"

#include <algorithm>

namespace hf::ops {

Shape matmul_shape(const Infer& in, const Shape& a, const Shape& b) {
  if (!a.ranked() || !b.ranked()) return {};
  in.require(a.rank() >= 1 && b.rank() >= 1, "a product of shapes {} and {}: both want an axis", a.text(), b.text());
  const Dim& ka = a[a.rank() - 1];
  const Dim& kb = b[std::max(b.rank() - 2, 0)];
  in.require(!ka.known() || !kb.known() || ka.value == kb.value, "shapes {} and {} do not multiply", a.text(),
             b.text());
  auto batch = [](const Shape& s) {
    return Shape(std::vector<Dim>(s.dims().begin(), s.dims().end() - std::min(s.rank(), 2)));
  };
  Shape out = broadcast_shapes(batch(a), batch(b));
  if (a.rank() > 1) out.dims().push_back(a[a.rank() - 2]);
  if (b.rank() > 1) out.dims().push_back(b[b.rank() - 1]);
  return out;
}

template <class T>
void matmul(const Dims& a_dims, const T* a, const Dims& b_dims, const T* b, T* y) {
  const int ra = a_dims.rank(), rb = b_dims.rank();
  const int64_t m = ra > 1 ? a_dims[ra - 2] : 1, k = a_dims.back(), n = rb > 1 ? b_dims[rb - 1] : 1;
  Dims a_batch, b_batch;
  for (int i = 0; i + 2 < ra; ++i) a_batch.push_back(a_dims[i]);
  for (int i = 0; i + 2 < rb; ++i) b_batch.push_back(b_dims[i]);
  if (b_batch.count() == 1 && b_batch.rank() <= a_batch.rank()) return multiply(a_batch.count() * m, n, k, a, b, y);
  const Dims batch = broadcast(a_batch, b_batch);
  // Which matrix of a and b each matrix of y takes.
  auto place = [&](int64_t i, const Dims& from) {
    int64_t at = 0, step = 1;
    for (int axis = batch.rank() - 1, d = from.rank() - 1; axis >= 0; --axis, --d) {
      int64_t p = i % batch[axis];
      i /= batch[axis];
      if (d < 0) break;
      if (from[d] != 1) at += p * step;
      step *= from[d];
    }
    return at;
  };
  const int64_t count = batch.count();
  auto range = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      multiply(m, n, k, a + place(i, a_batch) * m * k, b + place(i, b_batch) * k * n, y + i * m * n);
  };
  if (count < 4)
    range(0, count);  // each product runs in parallel itself
  else
    parallel_for(count, static_cast<double>(m * n) * static_cast<double>(k) * 0.15, range);
}

#define HF_INSTANTIATE(T) template void matmul<T>(const Dims&, const T*, const Dims&, const T*, T*);
HF_INSTANTIATE(float)
HF_INSTANTIATE(double)
HF_INSTANTIATE(int32_t)
HF_INSTANTIATE(int64_t)
#undef HF_INSTANTIATE

namespace {

constexpr AttrDef fused_attrs[] = {
    float_attr("alpha", 1),     int_attr("transA", 0),      int_attr("transB", 0),
    int_attr("transBatchA", 0), int_attr("transBatchB", 0),
};

void infer(Infer& in) { in.set(0, in.dtype(0), matmul_shape(in, in.shape(0), in.shape(1))); }

void reference(Eval& e) {
  dispatch_product(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> a(e.in(0)), b(e.in(1));
    WriteAs<T> y(e.out());
    matmul(e.in(0).dims(), a.data(), e.in(1).dims(), b.data(), y.data());
    y.commit();
  });
}

// The axes of an operand in the order of a plain product. trans_batch: the rows' axis comes before the batch's.
std::vector<int> product_axes(int rank, bool trans, bool trans_batch) {
  std::vector<int> axes(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) axes[static_cast<size_t>(i)] = i;
  if (trans_batch && rank > 2) std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1);
  if (trans && rank > 1) std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return axes;
}

std::vector<int> operand_axes(const Node& n, int operand, int rank) {
  return product_axes(rank, n.i(operand ? "transB" : "transA") != 0, n.i(operand ? "transBatchB" : "transBatchA") != 0);
}

void infer_fused(Infer& in) {
  Shape shapes[2];
  for (int i : {0, 1}) {
    if (!in.shape(i).ranked()) continue;
    std::vector<Dim> dims;
    for (int axis : operand_axes(in.node, i, in.rank(i))) dims.push_back(in.shape(i)[axis]);
    shapes[i] = dims;
  }
  in.set(0, in.dtype(0), matmul_shape(in, shapes[0], shapes[1]));
}

template <class T>
struct Operand {
  Dims dims;
  std::vector<T> values;

  Operand(const Tensor& t, const std::vector<int>& axes) : values(static_cast<size_t>(t.size())) {
    const Dims strides = t.dims().strides();
    for (int axis : axes) dims.push_back(t.dims()[axis]);
    ReadAs<T> x(t);
    for (int64_t i = 0; i < t.size(); ++i) {
      int64_t left = i, at = 0;
      for (int d = dims.rank() - 1; d >= 0; --d) {
        at += left % dims[d] * strides[axes[static_cast<size_t>(d)]];
        left /= dims[d];
      }
      values[static_cast<size_t>(i)] = x[at];
    }
  }
};

void reference_fused(Eval& e) {
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) {
    Operand<T> a(e.in(0), operand_axes(e.node, 0, e.in(0).rank())), b(e.in(1), operand_axes(e.node, 1, e.in(1).rank()));
    WriteAs<T> y(e.out());
    matmul(a.dims, a.values.data(), b.dims, b.values.data(), y.data());
    const T alpha = e.node.f("alpha");
    for (int64_t i = 0; i < e.out().size(); ++i) y[i] *= alpha;
    y.commit();
  });
}

constexpr OpDef defs[] = {
    {.name = "MatMul", .min_inputs = 2, .max_inputs = 2, .infer = infer, .reference = reference},
    {.name = "FusedMatMul",
     .domain = "com.microsoft",
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = fused_attrs,
     .infer = infer_fused,
     .reference = reference_fused},
};

}  // namespace

std::span<const OpDef> matmul_ops() { return defs; }

}  // namespace hf::ops

// FlexAttention of ai.onnx.preview: attention whose scores and probabilities a model's own subgraphs may change.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/body.h"
#include "ops/op.h"
#include "ops/product.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    optional_attr("prob_mod", AttrType::Graph),
    optional_attr("scale", AttrType::Float),
    optional_attr("score_mod", AttrType::Graph),
    optional_attr("softmax_precision", AttrType::Int),
};

constexpr const char* kModifiers[] = {"score_mod", "prob_mod"};

// The type of scores and probabilities.
DType precision(const Node& n, DType q) {
  if (!n.has("softmax_precision")) return q == DType::F64 ? DType::F64 : DType::F32;
  int64_t t = n.i("softmax_precision");
  DType type = t > 0 && t < kDTypeCount ? static_cast<DType>(t) : DType::Undefined;
  if (!is_float(type)) fail(Code::InvalidModel, "softmax_precision {} is no float type's", t);
  return type;
}

Shape scores_shape(const Shape& q, const Shape& k) {
  return q.rank() == 4 && k.rank() == 4 ? Shape({q[0], q[1], q[2], k[2]}) : Shape();
}

void infer(Infer& in) {
  in.require(is_float(in.dtype(0)), "Q is {}, wanted a float type", name(in.dtype(0)));
  precision(in.node, in.dtype(0));
  in.set(0, in.dtype(0));
  const Shape &q = in.shape(0), &k = in.shape(1), &v = in.shape(2);
  if (!q.ranked() || !k.ranked() || !v.ranked()) return;
  ir::merge(q, Shape::unknown_of_rank(4));
  ir::merge(k, Shape({q[0], Dim(), Dim(), q[3]}));
  ir::merge(v, Shape({q[0], k[1], k[2], Dim()}));
  if (q[1].known() && k[1].known())
    in.require(k[1].value > 0 && q[1].value % k[1].value == 0, "{} query heads do not share {} key heads", q[1].value,
               k[1].value);
  in.set(0, in.dtype(0), Shape({q[0], q[1], q[2], v[3]}));
}

void infer_modifiers(Node& n) {
  type_captures(n);
  for (const char* attr : kModifiers) {
    if (!n.has(attr)) continue;
    ir::Graph& g = n.subgraph(attr);
    if (g.inputs().size() != 1 || g.outputs().size() != 1)
      fail(Code::InvalidModel, "{} has {} inputs and {} outputs, wanted one and one", attr, g.inputs().size(),
           g.outputs().size());
    set_type(g.inputs()[0], precision(n, n.input(0)->dtype), scores_shape(n.input(0)->shape, n.input(1)->shape));
    infer_graph(g);
  }
}

Tensor modified(const Eval& e, const char* attr, Tensor t) {
  if (!e.node.has(attr)) return t;
  const DType type = t.dtype();
  const Dims dims = t.dims();
  Tensor inputs[] = {std::move(t)};
  Tensor got = e.runner->run(e.node.subgraph(attr), inputs, captured(e, attr)).at(0);
  if (got.dtype() != type || got.dims() != dims)
    fail(Code::InvalidModel, "{} makes {} of {} {}", attr, got.text(), name(type), dims.text());
  return got;
}

// Extents: batch, query heads, key heads, queries, keys, head size, value's head size.
struct Sizes {
  int64_t b, h, kv, l, s, d, dv;
  int64_t kv_row(int64_t row) const { return row / l / h * kv + row / l % h / (h / kv); }  // of rows [b, h, l]
};

template <class T>
Tensor scores_of(Eval& e, const Sizes& z, DType type) {
  ReadAs<T> q(e.in(0)), k(e.in(1));
  Tensor scores(type, {z.b, z.h, z.l, z.s});
  WriteAs<T> out(scores);
  const T scale = e.node.has("scale") ? T(e.node.f("scale")) : 1 / std::sqrt(T(z.d));
  parallel_for(scores.size() ? z.b * z.h * z.l : 0, static_cast<double>(z.s * (z.d + 1)),
               [&](int64_t from, int64_t to) {
                 for (int64_t r = from; r < to; ++r)
                   for (int64_t j = 0; j < z.s; ++j)
                     out[r * z.s + j] = scale * dot(q.data() + r * z.d, k.data() + (z.kv_row(r) * z.s + j) * z.d, z.d);
               });
  out.commit();
  return scores;
}

template <class T>
Tensor softmax(const Tensor& scores, int64_t rows, int64_t n) {
  ReadAs<T> in(scores);
  Tensor result(scores.dtype(), scores.dims());
  WriteAs<T> out(result);
  parallel_for(result.size() ? rows : 0, static_cast<double>(n) * 10, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      const T* x = in.data() + r * n;
      T *y = out.data() + r * n, top = *std::max_element(x, x + n), sum = 0;
      const bool closed = top == -std::numeric_limits<T>::infinity();  // zeros, as in Attention
      for (int64_t j = 0; j < n; ++j) sum += y[j] = closed ? T(0) : std::exp(x[j] - top);
      for (int64_t j = 0; j < n && !closed; ++j) y[j] /= sum;
    }
  });
  out.commit();
  return result;
}

template <class T>
void weigh(Eval& e, const Sizes& z, const Tensor& probabilities) {
  ReadAs<T> p(probabilities), v(e.in(2));
  WriteAs<T> out(e.out());
  parallel_for(e.out().size() ? z.b * z.h * z.l : 0, static_cast<double>(z.s * z.dv), [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      T* y = out.data() + r * z.dv;
      std::fill_n(y, z.dv, T(0));
      for (int64_t j = 0; j < z.s; ++j) {
        const T* row = v.data() + (z.kv_row(r) * z.s + j) * z.dv;
        for (int64_t i = 0; i < z.dv; ++i) y[i] += p[r * z.s + j] * row[i];
      }
    }
  });
  out.commit();
}

void reference(Eval& e) {
  const Dims &q = e.in(0).dims(), &k = e.in(1).dims();
  const Sizes z{q[0], q[1], k[1], q[2], k[2], q[3], e.in(2).dims()[3]};
  const DType type = precision(e.node, e.in(0).dtype());
  const DType wide = type == DType::F64 || e.in(0).dtype() == DType::F64 ? DType::F64 : DType::F32;
  dispatch_float(wide, [&]<class T>(T) {
    Tensor scores = modified(e, "score_mod", scores_of<T>(e, z, type));
    weigh<T>(e, z, modified(e, "prob_mod", softmax<T>(scores, z.b * z.h * z.l, z.s)));
  });
}

constexpr OpDef defs[] = {
    {.name = "FlexAttention",
     .domain = "ai.onnx.preview",
     .min_inputs = 3,
     .max_inputs = 3,
     .attrs = attrs,
     .infer = infer,
     .infer_subgraphs = infer_modifiers,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> flex_attention_ops() { return defs; }

}  // namespace hf::ops

// Attention of com.microsoft: the projection to queries, keys and values, and self-attention.
#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/op.h"
#include "ops/padding_mask.h"
#include "ops/product.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    int_attr("do_rotary", 0),
    float_attr("mask_filter_value", -10000),
    required_attr("num_heads", AttrType::Int),
    int_attr("past_present_share_buffer", 0),
    optional_attr("qkv_hidden_sizes", AttrType::Ints),
    int_attr("rotary_embedding_dim", 0),
    optional_attr("scale", AttrType::Float),
    int_attr("unidirectional", 0),
};

enum Inputs { kX, kWeights, kBias, kMask, kPast, kAttentionBias, kPastLength };

// Features of query (and key) and of value, from those of all three.
struct Features {
  int64_t qk, v;
};

Features features_of(const Node& n, int64_t all) {
  Features f{all / 3, all / 3};
  if (n.has("qkv_hidden_sizes")) {
    const std::vector<int64_t>& sizes = n.ints("qkv_hidden_sizes");
    if (sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] <= 0 || sizes[2] <= 0)
      fail(Code::InvalidModel, "qkv_hidden_sizes are not three positive numbers, the first two equal");
    f = {sizes[0], sizes[2]};
  }
  int64_t heads = n.i("num_heads");
  if (f.qk > all || all - f.qk != f.qk + f.v)
    fail(Code::InvalidModel, "hidden sizes {}, {} and {} are not the {} of the weights", f.qk, f.qk, f.v, all);
  if (heads <= 0 || f.qk % heads || f.v % heads)
    fail(Code::InvalidModel, "{} and {} features do not divide among {} heads", f.qk, f.v, heads);
  return f;
}

void infer(Infer& in) {
  const Node& n = in.node;
  if (n.i("do_rotary") || n.i("past_present_share_buffer") || in.has(kPastLength))
    fail(Code::Unsupported, "do_rotary and past_present_share_buffer");
  in.require(is_float(in.dtype(kX)), "input is {}, wanted a float type", name(in.dtype(kX)));
  in.set(0, in.dtype(kX));
  in.set(1, in.dtype(kX));
  const Shape &x = in.shape(kX), &w = in.shape(kWeights);
  if (!x.ranked() || !w.ranked()) return;
  ir::merge(x, Shape::unknown_of_rank(3));
  ir::merge(w, Shape({x[2], Dim()}));
  if (!w[1].known()) return;
  Features f = features_of(n, w[1].value);
  if (in.has(kBias)) ir::merge(in.shape(kBias), Shape(std::vector<Dim>{w[1]}));
  in.set(0, in.dtype(kX), Shape({x[0], x[1], f.v}));
  Shape present({2, x[0], n.i("num_heads"), x[1], f.qk / n.i("num_heads")});
  if (in.has(kPast)) {
    in.require(f.qk == f.v, "past wants key and value of one size, got {} and {}", f.qk, f.v);
    Shape past = present;
    past[3] = Dim();
    past = ir::merge(in.shape(kPast), past);
    present[3] = past[3].known() && x[1].known() ? Dim(past[3].value + x[1].value) : Dim();
  }
  if (in.wants(1)) in.require(f.qk == f.v, "present wants key and value of one size, got {} and {}", f.qk, f.v);
  in.set(1, in.dtype(kX), present);
}

template <class T>
void attend(Eval& e) {
  const Dims &d = e.in(kX).dims(), &dw = e.in(kWeights).dims();
  const Features f = features_of(e.node, dw[1]);
  const int64_t heads = e.node.i("num_heads"), past = e.has(kPast) ? e.in(kPast).dims()[3] : 0, width = dw[1];
  ReadAs<T> x(e.in(kX)), w(e.in(kWeights));
  Tensor qkv(dtype_of<T>(), {d[0] * d[1], width});
  T* projected = qkv.template data<T>();
  std::fill_n(projected, qkv.size(), T(0));
  if (e.has(kBias)) {
    ReadAs<T> bias(e.in(kBias));
    for (int64_t i = 0; i < qkv.size(); i += width) std::copy_n(bias.data(), width, projected + i);
  }
  add_product<T>({x.data(), d[0] * d[1], d[2]}, {w.data(), d[2], width}, {projected, d[0] * d[1], width});
  ScaledAttention<T> a;
  a.batch = d[0], a.heads = a.kv_heads = heads, a.queries = d[1], a.keys = past + d[1];
  a.head_size = f.qk / heads, a.v_head_size = f.v / heads;
  a.q = {projected, d[1] * width, a.head_size, width};
  a.k = {projected + f.qk, d[1] * width, a.head_size, width};
  a.v = {projected + 2 * f.qk, d[1] * width, a.v_head_size, width};
  std::optional<ReadAs<T>> old;
  if (e.has(kPast)) old.emplace(e.in(kPast));
  const T* past_k = old ? old->data() : nullptr;
  const T* past_v = old ? past_k + old->size() / 2 : nullptr;
  Tensor k = concatenated<T>(past_k, past, a.k, nullptr, {d[0], heads, a.keys, a.head_size});
  Tensor v = concatenated<T>(past_v, past, a.v, nullptr, {d[0], heads, a.keys, a.v_head_size});
  a.k = heads_outside<const T>(k.template data<T>(), heads, a.keys, a.head_size);
  a.v = heads_outside<const T>(v.template data<T>(), heads, a.keys, a.v_head_size);
  WriteAs<T> out(e.out());
  a.out = heads_inside(out.data(), heads, a.queries, a.v_head_size);
  float scale = e.node.has("scale") ? e.node.f("scale") : 0;
  a.scale = scale != 0 ? T(scale) : 1 / std::sqrt(T(a.head_size));
  const PaddingMask<T> mask(a, past, e.has(kMask) ? &e.in(kMask) : nullptr,
                            e.has(kAttentionBias) ? &e.in(kAttentionBias) : nullptr, e.node.f("mask_filter_value"),
                            e.node.i("unidirectional") != 0);
  a.bias = [&](int64_t b, int64_t h, int64_t i, T* to) { mask(b, h, i, to); };
  a.run();
  out.commit();
  if (!e.wants(1)) return;
  WriteAs<T> present(e.out(1));
  std::copy_n(k.template data<T>(), k.size(), present.data());
  std::copy_n(v.template data<T>(), v.size(), present.data() + k.size());
  present.commit();
}

void reference(Eval& e) {
  dispatch_float(e.in(kX).dtype(), [&]<class T>(T) { attend<T>(e); });
}

constexpr OpDef defs[] = {
    {.name = "Attention",
     .domain = "com.microsoft",
     .min_inputs = 2,
     .max_inputs = 7,
     .max_outputs = 2,
     .attrs = attrs,
     .infer = infer,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> projected_attention_ops() { return defs; }

}  // namespace hf::ops

// MultiHeadAttention of com.microsoft: attention from projected queries, keys and values.
#include <cmath>
#include <optional>

#include "ops/op.h"
#include "ops/padding_mask.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    float_attr("mask_filter_value", -10000),
    required_attr("num_heads", AttrType::Int),
    optional_attr("scale", AttrType::Float),
    int_attr("unidirectional", 0),
};

enum Inputs { kQuery, kKey, kValue, kBias, kMask, kAttentionBias, kPastK, kPastV, kPastLength, kBeams };

// How the operands lie: rows of all heads; all three in the query, or key and value in the key, head by head; or keys
// and values as a cache has them.
enum class Form { Plain, PackedQkv, PackedKv, Cached };

struct Extents {
  Form form;
  Dim batch, queries, new_keys, size, v_size, past = 0, keys;
};

Dim part(const Dim& features, int64_t heads) {
  if (!features.known()) return {};
  if (features.value % heads)
    fail(Code::InvalidModel, "{} features do not divide among {} heads", features.value, heads);
  return features.value / heads;
}

void require(const Shape& s, const Shape& wanted, const char* what) {
  auto where = context([&] { return fmt::format("input {}", what); });
  ir::merge(s, wanted);
}

// From the shapes of query, key, value and past_key; an absent one is unranked.
Extents extents(const Node& n, const Shape& q, const Shape& k, const Shape& v, const Shape& past) {
  int64_t heads = n.i("num_heads");
  if (heads <= 0) fail(Code::InvalidModel, "num_heads is {}", heads);
  Extents x;
  if (q.rank() == 5) {
    require(q, Shape({Dim(), Dim(), heads, 3, Dim()}), "query");
    x = {Form::PackedQkv, q[0], q[1], q[1], q[4], q[4]};
  } else {
    require(q, Shape::unknown_of_rank(3), "query");
    if (!k.ranked() || (k.rank() != 5 && !v.ranked())) fail(Code::InvalidModel, "key or value is missing");
    x = {Form::Plain, q[0], q[1], Dim(), part(q[2], heads), Dim()};
    if (k.rank() == 5) {
      require(k, Shape({q[0], Dim(), heads, 2, x.size}), "key");
      x.form = Form::PackedKv, x.new_keys = k[1], x.v_size = x.size;
    } else if (k.rank() == 4) {
      require(k, Shape({q[0], heads, Dim(), x.size}), "key");
      require(v, Shape({q[0], heads, k[2], Dim()}), "value");
      x.form = Form::Cached, x.new_keys = k[2], x.v_size = v[3];
    } else {
      require(k, Shape({q[0], Dim(), q[2]}), "key");
      require(v, Shape({q[0], k[1], Dim()}), "value");
      x.new_keys = k[1], x.v_size = part(v[2], heads);
    }
  }
  if (past.ranked()) {
    require(past, Shape({q[0], heads, Dim(), x.size}), "past_key");
    x.past = past[2];
  }
  if (x.past.known() && x.new_keys.known()) x.keys = x.past.value + x.new_keys.value;
  return x;
}

void infer(Infer& in) {
  in.require(is_float(in.dtype(kQuery)), "query is {}, wanted a float type", name(in.dtype(kQuery)));
  if (in.has(kPastLength) || in.has(kBeams)) fail(Code::Unsupported, "past_sequence_length and cache_indirection");
  in.require(in.has(kPastK) == in.has(kPastV), "past_key and past_value go together");
  for (int i = 0; i < 3; ++i) in.set(i, in.dtype(kQuery));
  auto shape = [&](int i) { return in.has(i) ? in.shape(i) : Shape(); };
  for (int i : {kQuery, kKey, kValue, kPastK, kPastV})
    if (in.has(i) && in.rank(i) < 0) return;
  Extents x = extents(in.node, shape(kQuery), shape(kKey), shape(kValue), shape(kPastK));
  int64_t heads = in.node.i("num_heads");
  if (in.has(kPastV)) require(in.shape(kPastV), Shape({x.batch, heads, x.past, x.v_size}), "past_value");
  if (in.has(kBias) && x.size.known() && x.v_size.known())
    require(in.shape(kBias), Shape(Dims{heads * (2 * x.size.value + x.v_size.value)}), "bias");
  in.set(0, in.dtype(kQuery),
         Shape({x.batch, x.queries, x.v_size.known() ? Dim(Dims{heads, x.v_size.value}.count()) : Dim()}));
  in.set(1, in.dtype(kQuery), Shape({x.batch, heads, x.keys, x.size}));
  in.set(2, in.dtype(kQuery), Shape({x.batch, heads, x.keys, x.v_size}));
}

// One of several [heads, parts, size] blocks a row.
template <class T>
HeadRows<const T> packed(const T* data, int64_t which, int64_t parts, int64_t heads, int64_t rows, int64_t size) {
  return {data + which * size, rows * heads * parts * size, parts * size, heads * parts * size};
}

template <class T>
void attend(Eval& e, const Extents& x) {
  const int64_t heads = e.node.i("num_heads");
  ScaledAttention<T> a;
  a.batch = x.batch.value, a.heads = a.kv_heads = heads, a.queries = x.queries.value, a.keys = x.keys.value;
  a.head_size = x.size.value, a.v_head_size = x.v_size.value;
  const int64_t rows = x.new_keys.value, size = a.head_size, v_size = a.v_head_size;
  ReadAs<T> q(e.in(kQuery));
  std::optional<ReadAs<T>> k, v, bias, past_k, past_v;
  auto read = [&](std::optional<ReadAs<T>>& to, int i) {
    if (e.has(i)) to.emplace(e.in(i));
    return to ? to->data() : nullptr;
  };
  const T *key = read(k, kKey), *value = read(v, kValue), *b = read(bias, kBias);
  const T *bias_k = b ? b + heads * size : nullptr, *bias_v = b ? b + 2 * heads * size : nullptr;
  a.q = heads_inside(q.data(), heads, a.queries, size);
  switch (x.form) {
    case Form::PackedQkv:
      a.q = packed(q.data(), 0, 3, heads, rows, size);
      a.k = packed(q.data(), 1, 3, heads, rows, size), a.v = packed(q.data(), 2, 3, heads, rows, size);
      break;
    case Form::PackedKv: a.k = packed(key, 0, 2, heads, rows, size), a.v = packed(key, 1, 2, heads, rows, size); break;
    case Form::Cached:  // the bias was added when the cache was filled
      a.k = heads_outside(key, heads, rows, size), a.v = heads_outside(value, heads, rows, v_size);
      bias_k = bias_v = nullptr;
      break;
    case Form::Plain: a.k = heads_inside(key, heads, rows, size), a.v = heads_inside(value, heads, rows, v_size);
  }
  Tensor all_q = concatenated<T>(nullptr, 0, a.q, b, {a.batch, heads, a.queries, size});
  Tensor all_k = concatenated<T>(read(past_k, kPastK), x.past.value, a.k, bias_k, {a.batch, heads, a.keys, size});
  Tensor all_v = concatenated<T>(read(past_v, kPastV), x.past.value, a.v, bias_v, {a.batch, heads, a.keys, v_size});
  a.q = heads_outside<const T>(all_q.template data<T>(), heads, a.queries, size);
  a.k = heads_outside<const T>(all_k.template data<T>(), heads, a.keys, size);
  a.v = heads_outside<const T>(all_v.template data<T>(), heads, a.keys, v_size);
  WriteAs<T> out(e.out());
  a.out = heads_inside(out.data(), heads, a.queries, v_size);
  float scale = e.node.has("scale") ? e.node.f("scale") : 0;
  a.scale = scale != 0 ? T(scale) : 1 / std::sqrt(T(size));
  const PaddingMask<T> mask(a, x.past.value, e.has(kMask) ? &e.in(kMask) : nullptr,
                            e.has(kAttentionBias) ? &e.in(kAttentionBias) : nullptr, e.node.f("mask_filter_value"),
                            e.node.i("unidirectional") != 0);
  a.bias = [&](int64_t s, int64_t h, int64_t i, T* to) { mask(s, h, i, to); };
  a.run();
  out.commit();
  if (e.wants(1)) write_elements(all_k.template data<T>(), e.out(1));
  if (e.wants(2)) write_elements(all_v.template data<T>(), e.out(2));
}

void reference(Eval& e) {
  auto shape = [&](int i) { return e.has(i) ? Shape(e.in(i).dims()) : Shape(); };
  Extents x = extents(e.node, shape(kQuery), shape(kKey), shape(kValue), shape(kPastK));
  dispatch_float(e.in(kQuery).dtype(), [&]<class T>(T) { attend<T>(e, x); });
}

constexpr OpDef defs[] = {
    {.name = "MultiHeadAttention",
     .domain = "com.microsoft",
     .max_inputs = 10,
     .max_outputs = 3,
     .attrs = attrs,
     .infer = infer,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> multi_head_attention_ops() { return defs; }

}  // namespace hf::ops

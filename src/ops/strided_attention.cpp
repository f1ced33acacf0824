// StridedAttention: softmax(scale * q k^T + mask) v, each operand by its strides.
#include "ops/strided_attention.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "ops/scaled_attention.h"

namespace hf::ops {
namespace {

using Rows = StridedAttention::Rows;

constexpr AttrDef attrs[] = {
    required_attr("dims", AttrType::Ints),  required_attr("k", AttrType::Ints), required_attr("mask", AttrType::Ints),
    required_attr("out", AttrType::Ints),   required_attr("q", AttrType::Ints), required_attr("scale", AttrType::Float),
    required_attr("sizes", AttrType::Ints), required_attr("v", AttrType::Ints),
};

std::vector<int64_t> ints(const Node& n, const char* attr, size_t count) {
  const std::vector<int64_t>& v = n.ints(attr);
  if (v.size() != count || std::any_of(v.begin(), v.end(), [](int64_t i) { return i < 0; }))
    fail(Code::InvalidModel, "attribute {} has {} numbers, wanted {} that are not negative", attr, v.size(), count);
  return v;
}
Rows rows(const Node& n, const char* attr) {
  std::vector<int64_t> v = ints(n, attr, 4);
  return {v[0], v[1], v[2], v[3]};
}
std::vector<int64_t> listed(const Rows& r) { return {r.offset, r.batch, r.head, r.row}; }

// Does the last element of these rows lie within `elements`?
bool within(const Rows& r, int64_t batch, int64_t heads, int64_t rows, int64_t size, int64_t elements) {
  double last = static_cast<double>(r.offset) + static_cast<double>(batch - 1) * static_cast<double>(r.batch) +
                static_cast<double>(heads - 1) * static_cast<double>(r.head) +
                static_cast<double>(rows - 1) * static_cast<double>(r.row) + static_cast<double>(size);
  return last <= static_cast<double>(elements);
}

void infer(Infer& in) {
  StridedAttention a = StridedAttention::of(in.node);
  auto require_within = [&](int i, const Rows& r, int64_t heads, int64_t rows, int64_t size) {
    if (!in.shape(i).is_static()) return;
    in.require(within(r, a.batch, heads, rows, size, in.shape(i).get().count()),
               "input {} of shape {} ends before its rows", i, in.shape(i).text());
  };
  for (int i : {0, 1, 2})
    in.require(is_float(in.dtype(i)), "input {} is {}, wanted a float type", i, name(in.dtype(i)));
  require_within(0, a.q, a.heads, a.queries, a.head_size);
  require_within(1, a.k, a.kv_heads, a.keys, a.head_size);
  require_within(2, a.v, a.kv_heads, a.keys, a.v_head_size);
  if (in.has(3)) {
    in.require(in.dtype(3) == DType::Bool || is_float(in.dtype(3)), "the mask is {}", name(in.dtype(3)));
    require_within(3, a.mask, a.heads, a.queries, a.keys);
  }
  in.set(0, in.dtype(0), Dims(a.dims));
}

template <class T>
void attend(Eval& e, const StridedAttention& x) {
  ReadAs<T> q(e.in(0)), k(e.in(1)), v(e.in(2));
  std::optional<ReadAs<T>> mask;
  WriteAs<T> out(e.out());
  auto placed = [](auto* data, const Rows& r) {
    return HeadRows<std::remove_pointer_t<decltype(data)>>{data + r.offset, r.batch, r.head, r.row};
  };
  ScaledAttention<T> a;
  a.batch = x.batch, a.heads = x.heads, a.kv_heads = x.kv_heads, a.queries = x.queries, a.keys = x.keys;
  a.head_size = x.head_size, a.v_head_size = x.v_head_size, a.scale = T(x.scale);
  a.q = placed(q.data(), x.q), a.k = placed(k.data(), x.k), a.v = placed(v.data(), x.v),
  a.out = placed(out.data(), x.out);
  if (e.has(3)) {
    mask.emplace(e.in(3));
    bool closes = e.in(3).dtype() == DType::Bool;
    a.bias = [&, closes](int64_t b, int64_t h, int64_t i, T* to) {
      const T* row = placed(mask->data(), x.mask).at(b, h, i);
      for (int64_t j = 0; j < x.keys; ++j)
        to[j] += !closes ? row[j] : row[j] != 0 ? T(0) : -std::numeric_limits<T>::infinity();
    };
  }
  a.run();
  out.commit();
}

void reference(Eval& e) {
  StridedAttention a = StridedAttention::of(e.node);
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) { attend<T>(e, a); });
}

constexpr OpDef defs[] = {
    {.name = "StridedAttention",
     .domain = "hipforge",
     .min_inputs = 3,
     .max_inputs = 4,
     .attrs = attrs,
     .infer = infer,
     .reference = reference},
};

}  // namespace

StridedAttention StridedAttention::of(const Node& n) {
  std::vector<int64_t> s = ints(n, "sizes", 7);
  StridedAttention a;
  a.batch = s[0], a.heads = s[1], a.kv_heads = s[2], a.queries = s[3], a.keys = s[4], a.head_size = s[5];
  a.v_head_size = s[6];
  a.q = rows(n, "q"), a.k = rows(n, "k"), a.v = rows(n, "v"), a.out = rows(n, "out"), a.mask = rows(n, "mask");
  a.scale = n.f("scale");
  a.dims = n.ints("dims");
  if (std::find(s.begin(), s.end(), 0) != s.end() || a.heads % a.kv_heads)
    fail(Code::InvalidModel, "{} query heads, {} key heads, {} queries, {} keys of {} elements", a.heads, a.kv_heads,
         a.queries, a.keys, a.head_size);
  // Dense: every element of the output is written once.
  Dims dims(a.dims);
  if (dims.count() != Dims{a.batch, a.heads, a.queries, a.v_head_size}.count() ||
      !within(a.out, a.batch, a.heads, a.queries, a.v_head_size, dims.count()))
    fail(Code::InvalidModel, "an output of {} elements for {} x {} x {} x {}", dims.count(), a.batch, a.heads,
         a.queries, a.v_head_size);
  return a;
}

ir::Attrs StridedAttention::attrs() const {
  return {{"dims", dims},
          {"k", listed(k)},
          {"mask", listed(mask)},
          {"out", listed(out)},
          {"q", listed(q)},
          {"scale", scale},
          {"sizes", std::vector<int64_t>{batch, heads, kv_heads, queries, keys, head_size, v_head_size}},
          {"v", listed(v)}};
}

std::span<const OpDef> strided_attention_ops() { return defs; }

}  // namespace hf::ops

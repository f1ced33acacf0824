// Attention of the default domain.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ops/op.h"
#include "ops/scaled_attention.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    int_attr("is_causal", 0),
    optional_attr("kv_num_heads", AttrType::Int),
    int_attr("left_window_size", -1, 25),
    optional_attr("q_num_heads", AttrType::Int),
    int_attr("qk_matmul_output_mode", 0),
    int_attr("right_window_size", -1, 25),
    optional_attr("scale", AttrType::Float),
    optional_attr("softmax_precision", AttrType::Int),
    float_attr("softcap", 0),
};

// Before opset 25 there was no window.
void upgrade(ir::Graph&, Node& n, int opset) {
  if (opset < 25) n.attrs["left_window_size"] = n.attrs["right_window_size"] = int64_t{-1};
}

enum Inputs { kQ, kK, kV, kMask, kPastK, kPastV, kLengths };

struct Extents {
  Dim batch, heads, kv_heads, queries, new_keys, head_size, v_head_size, past = 0, keys;
  bool packed = false;  // heads inside: rank 3
};

// What two places say of one extent.
Dim agree(const Dim& a, const Dim& b, const char* what) {
  if (a.known() && b.known() && a.value != b.value)
    fail(Code::InvalidModel, "{} is {} in one input and {} in another", what, a.value, b.value);
  return a.known() || (!b.known() && b.symbol.empty()) ? a : b;
}

// Batch, heads, rows and head size of one operand, whichever its layout.
struct Operand {
  Dim batch, heads, rows, size;
};

Operand operand(const Node& n, const Shape& s, const char* heads_attr) {
  if (s.rank() == 4) return {s[0], s[1], s[2], s[3]};
  if (!n.has(heads_attr) || n.i(heads_attr) <= 0)
    fail(Code::InvalidModel, "attribute {} must be given and positive with inputs of rank 3", heads_attr);
  int64_t heads = n.i(heads_attr);
  if (s[2].known() && s[2].value % heads)
    fail(Code::InvalidModel, "{} features do not divide among {} heads", s[2].value, heads);
  return {s[0], heads, s[1], s[2].known() ? Dim(s[2].value / heads) : Dim()};
}

Extents extents(const Node& n, const Shape& q, const Shape& k, const Shape& v, const Shape* past) {
  if ((q.rank() != 3 && q.rank() != 4) || k.rank() != q.rank() || v.rank() != q.rank())
    fail(Code::InvalidModel, "Q, K and V have ranks {}, {} and {}, wanted all 3 or all 4", q.rank(), k.rank(),
         v.rank());
  Operand a = operand(n, q, "q_num_heads"), b = operand(n, k, "kv_num_heads"), c = operand(n, v, "kv_num_heads");
  Extents x;
  x.packed = q.rank() == 3;
  x.batch = agree(agree(a.batch, b.batch, "batch"), c.batch, "batch");
  x.heads = a.heads, x.queries = a.rows, x.v_head_size = c.size;
  x.kv_heads = agree(b.heads, c.heads, "the number of key and value heads");
  x.new_keys = agree(b.rows, c.rows, "the number of keys");
  x.head_size = agree(a.size, b.size, "head_size");
  if (x.heads.known() && x.kv_heads.known() && (x.kv_heads.value == 0 || x.heads.value % x.kv_heads.value))
    fail(Code::InvalidModel, "{} query heads do not share {} key heads", x.heads.value, x.kv_heads.value);
  if (past) {
    if (past->rank() != 4) fail(Code::InvalidModel, "past_key has rank {}, wanted 4", past->rank());
    x.past = (*past)[2];
  }
  if (x.past.known() && x.new_keys.known())
    x.keys = x.past.value + x.new_keys.value;
  else if (x.past.value == 0)
    x.keys = x.new_keys;
  return x;
}

// The mask's extents, seen from the right, are those of the scores or 1; the last one may be shorter.
void require_mask(const Infer& in, const Extents& x) {
  const Shape& m = in.shape(kMask);
  in.require(in.dtype(kMask) == DType::Bool || is_float(in.dtype(kMask)) || is_int(in.dtype(kMask)),
             "attn_mask is {}, wanted bool or a number", name(in.dtype(kMask)));
  if (!m.ranked()) return;
  in.require(m.rank() >= 1 && m.rank() <= 4, "attn_mask has rank {}, wanted 1 to 4", m.rank());
  const Dim* scores[] = {&x.keys, &x.queries, &x.heads, &x.batch};
  for (int i = 0; i < m.rank(); ++i) {
    const Dim &got = m[m.rank() - 1 - i], &wanted = *scores[i];
    if (!got.known() || !wanted.known()) continue;
    bool fits = i == 0 ? got.value <= wanted.value : got.value == wanted.value || got.value == 1;
    in.require(fits, "attn_mask {} does not fit scores [{}, {}, {}, {}]", m.text(), x.batch.text(), x.heads.text(),
               x.queries.text(), x.keys.text());
  }
}

void infer(Infer& in) {
  for (int i : {kQ, kK, kV})
    in.require(is_float(in.dtype(i)), "input {} is {}, wanted a float type", i, name(in.dtype(i)));
  in.require(in.has(kPastK) == in.has(kPastV), "past_key and past_value go together");
  in.require(!in.has(kPastK) || !in.has(kLengths), "nonpad_kv_seqlen does not go with past_key");
  for (const char* window : {"left_window_size", "right_window_size"})
    in.require(in.node.i(window) >= -1, "{} is {}, wanted at least -1", window, in.node.i(window));
  int64_t mode = in.node.i("qk_matmul_output_mode");
  in.require(mode >= 0 && mode <= 3, "qk_matmul_output_mode is {}, wanted 0 to 3", mode);
  in.set(0, in.dtype(kQ));
  in.set(1, in.dtype(kK));
  in.set(2, in.dtype(kV));
  in.set(3, in.dtype(kQ));
  if (in.rank(kQ) < 0 || in.rank(kK) < 0 || in.rank(kV) < 0 || (in.has(kPastK) && in.rank(kPastK) < 0)) return;
  Extents x = extents(in.node, in.shape(kQ), in.shape(kK), in.shape(kV), in.has(kPastK) ? &in.shape(kPastK) : nullptr);
  if (in.has(kPastK)) {
    ir::merge(in.shape(kPastK), Shape({x.batch, x.kv_heads, x.past, x.head_size}));
    ir::merge(in.shape(kPastV), Shape({x.batch, x.kv_heads, x.past, x.v_head_size}));
  }
  if (in.has(kLengths)) ir::merge(in.shape(kLengths), Shape(std::vector<Dim>{x.batch}));
  if (in.has(kMask)) require_mask(in, x);
  Dim hidden = x.heads.known() && x.v_head_size.known() ? Dim(Dims{x.heads.value, x.v_head_size.value}.count()) : Dim();
  in.set(0, in.dtype(kQ),
         x.packed ? Shape({x.batch, x.queries, hidden}) : Shape({x.batch, x.heads, x.queries, x.v_head_size}));
  in.set(1, in.dtype(kK), Shape({x.batch, x.kv_heads, x.keys, x.head_size}));
  in.set(2, in.dtype(kV), Shape({x.batch, x.kv_heads, x.keys, x.v_head_size}));
  in.set(3, in.dtype(kQ), Shape({x.batch, x.heads, x.queries, x.keys}));
}

// The bias of a query's scores: mask, causality, window and padding.
template <class T>
class Bias {
 public:
  Bias(Eval& e, const ScaledAttention<T>& a, int64_t past)
      : keys_(a.keys),
        causal_(e.node.i("is_causal") != 0),
        left_(std::min(e.node.i("left_window_size"), kFar)),
        right_(std::min(e.node.i("right_window_size"), kFar)) {
    if (e.has(kMask)) read_mask(e.in(kMask));
    offsets_.assign(static_cast<size_t>(a.batch), past);
    ends_.assign(static_cast<size_t>(a.batch), keys_);
    if (!e.has(kLengths)) return;
    ends_ = to_ints(e.in(kLengths));
    for (size_t b = 0; b < ends_.size(); ++b) {
      if (ends_[b] < 0 || ends_[b] > keys_)
        fail(Code::InvalidArgument, "nonpad_kv_seqlen {} at {}, wanted 0 to {}", ends_[b], b, keys_);
      offsets_[b] = ends_[b] - a.queries;
    }
  }

  void operator()(int64_t b, int64_t h, int64_t i, T* bias) const {
    constexpr T kClosed = -std::numeric_limits<T>::infinity();
    if (mask_) {
      const T* row = mask_->data() + b * strides_[0] + h * strides_[1] + i * strides_[2];
      std::copy_n(row, mask_keys_, bias);
      std::fill(bias + mask_keys_, bias + keys_, kClosed);
    }
    int64_t position = offsets_[static_cast<size_t>(b)] + i, from = 0, to = ends_[static_cast<size_t>(b)];
    if (causal_) to = std::min(to, position + 1);
    if (right_ >= 0) to = std::min(to, position + right_ + 1);
    if (left_ >= 0) from = position - left_;
    std::fill(bias, bias + std::clamp<int64_t>(from, 0, keys_), kClosed);
    std::fill(bias + std::clamp<int64_t>(to, 0, keys_), bias + keys_, kClosed);
  }

 private:
  static constexpr int64_t kFar = int64_t{1} << 48;  // a window that no tensor fills

  // As numbers to add: a bool mask's false closes.
  void read_mask(const Tensor& m) {
    mask_.emplace(m);
    if (m.dtype() == DType::Bool) {
      closed_ = Tensor(dtype_of<T>(), m.dims());
      T* to = closed_.template data<T>();
      for (int64_t j = 0; j < m.size(); ++j) to[j] = (*mask_)[j] != 0 ? T(0) : -std::numeric_limits<T>::infinity();
      mask_.emplace(closed_);
    }
    mask_keys_ = m.dims().back();
    Dims strides = m.dims().strides();
    for (int d = 0; d < m.rank() - 1; ++d) strides_[3 - (m.rank() - 1 - d)] = m.dims()[d] == 1 ? 0 : strides[d];
  }

  int64_t keys_;
  bool causal_;
  int64_t left_, right_;
  Tensor closed_;
  std::optional<ReadAs<T>> mask_;
  int64_t mask_keys_ = 0;
  int64_t strides_[3] = {};              // of batch, head and query
  std::vector<int64_t> offsets_, ends_;  // a sequence: the position of its first query, the number of its keys
};

template <class T>
void attend(Eval& e, const Extents& x) {
  ReadAs<T> q(e.in(kQ)), k(e.in(kK)), v(e.in(kV));
  auto rows_of = [&](auto* data, const Dim& heads, const Dim& rows, const Dim& size) {
    return x.packed ? heads_inside(data, heads.value, rows.value, size.value)
                    : heads_outside(data, heads.value, rows.value, size.value);
  };
  ScaledAttention<T> a;
  a.batch = x.batch.value, a.heads = x.heads.value, a.kv_heads = x.kv_heads.value, a.queries = x.queries.value;
  a.keys = x.keys.value, a.head_size = x.head_size.value, a.v_head_size = x.v_head_size.value;
  a.q = rows_of(q.data(), x.heads, x.queries, x.head_size);
  a.k = rows_of(k.data(), x.kv_heads, x.new_keys, x.head_size);
  a.v = rows_of(v.data(), x.kv_heads, x.new_keys, x.v_head_size);
  Tensor all_k, all_v;
  auto present = [&](int past, int output, HeadRows<const T>& rows, int64_t size, Tensor& all) {
    if (!e.has(past) && !e.wants(output)) return;
    std::optional<ReadAs<T>> old;
    if (e.has(past)) old.emplace(e.in(past));
    all =
        concatenated<T>(old ? old->data() : nullptr, x.past.value, rows, nullptr, {a.batch, a.kv_heads, a.keys, size});
    rows = heads_outside<const T>(all.template data<T>(), a.kv_heads, a.keys, size);
    if (e.wants(output)) write_elements(all.template data<T>(), e.out(output));
  };
  present(kPastK, 1, a.k, a.head_size, all_k);
  present(kPastV, 2, a.v, a.v_head_size, all_v);
  WriteAs<T> out(e.out());
  a.out = rows_of(out.data(), x.heads, x.queries, x.v_head_size);
  a.scale = e.node.has("scale") ? T(e.node.f("scale")) : 1 / std::sqrt(T(a.head_size));
  a.softcap = T(e.node.f("softcap"));
  const Bias<T> bias(e, a, x.past.value);
  a.bias = [&](int64_t b, int64_t h, int64_t i, T* to) { bias(b, h, i, to); };
  std::optional<WriteAs<T>> scores;
  if (e.wants(3)) scores.emplace(e.out(3));
  a.scores = scores ? scores->data() : nullptr;
  a.which = static_cast<Scores>(e.node.i("qk_matmul_output_mode"));
  a.run();
  out.commit();
  if (scores) scores->commit();
}

void reference(Eval& e) {
  Shape past = e.has(kPastK) ? Shape(e.in(kPastK).dims()) : Shape();
  Extents x = extents(e.node, e.in(kQ).dims(), e.in(kK).dims(), e.in(kV).dims(), e.has(kPastK) ? &past : nullptr);
  bool wide =
      e.in(kQ).dtype() == DType::F64 || (e.node.has("softmax_precision") && e.node.i("softmax_precision") == 11);
  if (wide)
    attend<double>(e, x);
  else
    attend<float>(e, x);
}

constexpr OpDef defs[] = {
    {.name = "Attention",
     .since = 23,
     .min_inputs = 3,
     .max_inputs = 7,
     .max_outputs = 4,
     .attrs = attrs,
     .upgrade = upgrade,
     .infer = infer,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> attention_ops() { return defs; }

}  // namespace hf::ops

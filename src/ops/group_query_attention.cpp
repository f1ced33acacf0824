// GroupQueryAttention of com.microsoft: causal attention with a key and value cache, as decoders of language models use
// it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ops/op.h"
#include "ops/rotary.h"
#include "ops/scaled_attention.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    int_attr("causal", 1),
    int_attr("do_rotary", 0),
    optional_attr("k_norm_epsilon", AttrType::Float),
    string_attr("k_quant_type", "NONE"),
    optional_attr("kv_cache_bit_width", AttrType::Int),
    required_attr("kv_num_heads", AttrType::Int),
    int_attr("local_window_size", -1),
    required_attr("num_heads", AttrType::Int),
    optional_attr("q_norm_epsilon", AttrType::Float),
    optional_attr("qk_norm_epsilon", AttrType::Float),
    int_attr("qk_output", 0),
    int_attr("rotary_interleaved", 0),
    optional_attr("scale", AttrType::Float),
    int_attr("sliding_window_cache", 0),
    int_attr("smooth_softmax", 0),
    float_attr("softcap", 0),
    string_attr("v_quant_type", "NONE"),
};

enum Inputs {
  kQuery,
  kKey,
  kValue,
  kPastK,
  kPastV,
  kLastPositions,
  kTotal,
  kCos,
  kSin,
  kPositions,
  kBias,
  kSink,
  kScaleK,
  kScaleV,
  kNormQ,
  kNormK,
  kChunks
};

void refuse_what_is_not_handled(const Infer& in) {
  const Node& n = in.node;
  if (n.s("k_quant_type") != "NONE" || n.s("v_quant_type") != "NONE" || in.has(kScaleK) || in.has(kScaleV))
    fail(Code::Unsupported, "a quantized cache");
  if (n.i("sliding_window_cache")) fail(Code::Unsupported, "sliding_window_cache");
  if (in.has(kNormQ) || in.has(kNormK)) fail(Code::Unsupported, "q_norm_weight and k_norm_weight");
  if (n.i("qk_output")) fail(Code::Unsupported, "qk_output");
}

int64_t head_size(const Node& n, int64_t features, bool packed) {
  int64_t heads = n.i("num_heads"), kv = n.i("kv_num_heads");
  constexpr int64_t kMost = 1 << 20;
  if (heads <= 0 || kv <= 0 || heads % kv || heads > kMost)
    fail(Code::InvalidModel, "{} query heads do not share {} key heads", heads, kv);
  int64_t rows = packed ? heads + 2 * kv : heads;
  if (features % rows) fail(Code::InvalidModel, "{} features do not divide among {} heads", features, rows);
  return features / rows;
}

void infer(Infer& in) {
  const Node& n = in.node;
  refuse_what_is_not_handled(in);
  in.require(is_float(in.dtype(kQuery)), "query is {}, wanted a float type", name(in.dtype(kQuery)));
  in.require(in.has(kKey) == in.has(kValue), "key and value go together");
  in.require(in.has(kPastK) == in.has(kPastV), "past_key and past_value go together");
  in.require(in.has(kLastPositions) && in.has(kTotal), "seqlens_k or total_sequence_length is missing");
  if (n.i("do_rotary")) in.require(in.has(kCos) && in.has(kSin), "do_rotary without cos_cache and sin_cache");
  for (int i = 0; i < 3; ++i) in.set(i, in.dtype(kQuery));
  const Shape& q = in.shape(kQuery);
  if (!q.ranked()) return;
  ir::merge(q, Shape::unknown_of_rank(3));
  if (!q[2].known()) return;
  int64_t kv = n.i("kv_num_heads"), size = head_size(n, q[2].value, !in.has(kKey));
  for (int i : {kKey, kValue})
    if (in.has(i)) ir::merge(in.shape(i), Shape({q[0], q[1], kv * size}));
  Dim capacity;
  if (in.constant(kTotal)) {
    int64_t total = to_int(*in.constant(kTotal));
    in.require(total >= 0, "total_sequence_length is {}", total);
    capacity = total;
  }
  if (in.has(kPastK)) {
    Shape past = ir::merge(in.shape(kPastK), Shape({q[0], kv, Dim(), size}));
    ir::merge(in.shape(kPastV), past);
    if (capacity.known()) capacity = past[2].known() ? Dim(std::max(capacity.value, past[2].value)) : Dim();
  }
  for (int i : {kLastPositions, kChunks})
    if (in.has(i) && in.rank(i) == 1) ir::merge(in.shape(i), Shape(std::vector<Dim>{q[0]}));
  if (in.has(kSink)) ir::merge(in.shape(kSink), Shape(Dims{n.i("num_heads")}));
  in.set(0, in.dtype(kQuery), Shape({q[0], q[1], n.i("num_heads") * size}));
  for (int i : {1, 2}) in.set(i, in.dtype(kQuery), Shape({q[0], kv, capacity, size}));
}

// Of one sequence: how many tokens were in the cache, how many rows of the chunk are tokens.
struct Span {
  int64_t past, rows;
  int64_t total() const { return past + rows; }
};

std::vector<Span> spans_of(Eval& e, int64_t batch, int64_t rows, int64_t held, int64_t capacity) {
  std::vector<int64_t> last = to_ints(e.in(kLastPositions)), chunk;
  if (e.has(kChunks)) chunk = to_ints(e.in(kChunks));
  if (static_cast<int64_t>(last.size()) != batch || (e.has(kChunks) && chunk.size() != last.size()))
    fail(Code::InvalidModel, "seqlens_k has {} elements, wanted {}", last.size(), batch);
  std::vector<Span> spans;
  for (size_t b = 0; b < last.size(); ++b) {
    if (last[b] < 0 || last[b] >= capacity)
      fail(Code::InvalidArgument, "seqlens_k {} at {}, wanted 0 to {}", last[b], b, capacity - 1);
    int64_t total = last[b] + 1, valid = chunk.empty() ? std::min(rows, total) : chunk[b];
    if (valid < 0 || valid > std::min(rows, total))
      fail(Code::InvalidArgument, "query_seqlens {} at {}, wanted 0 to {}", valid, b, std::min(rows, total));
    if (total - valid > held) fail(Code::InvalidArgument, "{} tokens of a past of {}", total - valid, held);
    spans.push_back({total - valid, valid});
  }
  return spans;
}

// The angles of each row, by its position.
template <class T>
class Rotation {
 public:
  Rotation(Eval& e, int64_t size) : size_(size), cos_(e.in(kCos)), sin_(e.in(kSin)) {
    const Dims &c = e.in(kCos).dims(), &s = e.in(kSin).dims();
    if (c.rank() != 2 || c != s || 2 * c[1] > size)
      fail(Code::InvalidModel, "caches {} and {} do not fit heads of {}", c.text(), s.text(), size);
    count_ = c[0], half_ = c[1];
    interleaved_ = e.node.i("rotary_interleaved") != 0;
    if (e.has(kPositions)) positions_ = to_ints(e.in(kPositions));
  }
  // `row` counts the rows of the batch.
  void operator()(const T* x, int64_t row, int64_t position, T* y) const {
    if (static_cast<size_t>(row) < positions_.size()) position = positions_[static_cast<size_t>(row)];
    if (position < 0 || position >= count_)
      fail(Code::InvalidArgument, "position {}, wanted 0 to {}", position, count_ - 1);
    rotate_row(x, cos_.data() + position * half_, sin_.data() + position * half_, size_, 2 * half_, interleaved_, y);
  }

 private:
  int64_t size_, count_ = 0, half_ = 0;
  bool interleaved_ = false;
  ReadAs<T> cos_, sin_;
  std::vector<int64_t> positions_;
};

template <class T>
class Run {
 public:
  explicit Run(Eval& e) : e_(e), query_(e.in(kQuery)) {
    const Dims& d = e.in(kQuery).dims();
    batch_ = d[0], rows_ = d[1], heads_ = e.node.i("num_heads"), kv_ = e.node.i("kv_num_heads");
    size_ = head_size(e.node, d[2], !e.has(kKey));
    held_ = e.has(kPastK) ? e.in(kPastK).dims()[2] : 0;
    capacity_ = std::max(to_int(e.in(kTotal)), held_);
    spans_ = spans_of(e, batch_, rows_, held_, capacity_);
    if (e.node.i("do_rotary")) rotation_.emplace(e, size_);
    q_ = heads_inside(query_.data(), heads_, rows_, size_);
    if (e.has(kKey)) {
      k_ = heads_inside(key_.emplace(e.in(kKey)).data(), kv_, rows_, size_);
      v_ = heads_inside(value_.emplace(e.in(kValue)).data(), kv_, rows_, size_);
    } else {
      q_.row = k_.row = v_.row = d[2];
      q_.batch = k_.batch = v_.batch = rows_ * d[2];
      q_.head = k_.head = v_.head = size_;
      k_.data = q_.data + heads_ * size_, v_.data = k_.data + kv_ * size_;
    }
  }

  void all() {
    Tensor k = cache(kPastK, k_, true), v = cache(kPastV, v_, false), q(dtype_of<T>(), {batch_, heads_, rows_, size_});
    HeadRows<T> turned = heads_outside(q.template data<T>(), heads_, rows_, size_);
    copy_rows(q_, heads_, turned, false, true);
    attend(turned, k, v);
    if (e_.wants(1)) write_elements(k.template data<T>(), e_.out(1));
    if (e_.wants(2)) write_elements(v.template data<T>(), e_.out(2));
  }

 private:
  // The rows that are tokens, turned if need be; into a cache they go behind its past.
  void copy_rows(HeadRows<const T> from, int64_t heads, HeadRows<T> to, bool behind_past, bool turn) const {
    for (int64_t b = 0; b < batch_; ++b) {
      const Span& s = spans_[static_cast<size_t>(b)];
      for (int64_t i = 0; i < s.rows; ++i)
        for (int64_t h = 0; h < heads; ++h) {
          T* target = to.at(b, h, behind_past ? s.past + i : i);
          if (turn && rotation_)
            (*rotation_)(from.at(b, h, i), b * rows_ + i, s.past + i, target);
          else
            std::copy_n(from.at(b, h, i), size_, target);
        }
    }
  }

  // The present: the past, the new rows, zeros.
  Tensor cache(int past, HeadRows<const T> rows, bool turn) const {
    Tensor t(dtype_of<T>(), {batch_, kv_, capacity_, size_});
    std::fill_n(t.template data<T>(), t.size(), T(0));
    HeadRows<T> to = heads_outside(t.template data<T>(), kv_, capacity_, size_);
    if (e_.has(past)) {
      ReadAs<T> old(e_.in(past));
      HeadRows<const T> from = heads_outside(old.data(), kv_, held_, size_);
      for (int64_t b = 0; b < batch_; ++b)
        for (int64_t h = 0; h < kv_; ++h)
          std::copy_n(from.at(b, h, 0), spans_[static_cast<size_t>(b)].past * size_, to.at(b, h, 0));
    }
    copy_rows(rows, kv_, to, true, turn);
    return t;
  }

  // The attention bias's row for a query, or null.
  const T* bias_row(const std::optional<ReadAs<T>>& bias, int64_t b, int64_t h, int64_t i) const {
    if (!bias) return nullptr;
    const Dims& d = e_.in(kBias).dims();
    return bias->data() + (((d[0] == 1 ? 0 : b) * d[1] + (d[1] == 1 ? 0 : h)) * rows_ + i) * d[3];
  }

  void attend(HeadRows<T> q, Tensor& k, Tensor& v) {
    constexpr T kClosed = -std::numeric_limits<T>::infinity();
    ScaledAttention<T> a;
    a.batch = batch_, a.heads = heads_, a.kv_heads = kv_, a.queries = rows_, a.keys = capacity_;
    a.head_size = a.v_head_size = size_;
    a.q = {q.data, q.batch, q.head, q.row};
    a.k = heads_outside<const T>(k.template data<T>(), kv_, capacity_, size_);
    a.v = heads_outside<const T>(v.template data<T>(), kv_, capacity_, size_);
    WriteAs<T> out(e_.out());
    a.out = heads_inside(out.data(), heads_, rows_, size_);
    float scale = e_.node.has("scale") ? e_.node.f("scale") : 0;
    a.scale = scale != 0 ? T(scale) : 1 / std::sqrt(T(size_));
    a.softcap = T(e_.node.f("softcap"));
    std::vector<T> zeros(e_.node.i("smooth_softmax") ? static_cast<size_t>(heads_) : 0);
    std::optional<ReadAs<T>> sink, bias;
    if (e_.has(kSink))
      a.sink = sink.emplace(e_.in(kSink)).data();
    else if (!zeros.empty())
      a.sink = zeros.data();
    int64_t columns = 0;
    if (e_.has(kBias)) {
      const Dims& d = e_.in(kBias).dims();
      if (d.rank() != 4 || (d[0] != 1 && d[0] != batch_) || (d[1] != 1 && d[1] != heads_) || d[2] != rows_)
        fail(Code::InvalidModel, "attention_bias {} does not fit [{}, {}, {}, ...]", d.text(), batch_, heads_, rows_);
      bias.emplace(e_.in(kBias));
      columns = std::min(d[3], capacity_);
    }
    const bool causal = e_.node.i("causal") != 0;
    const int64_t window = e_.node.i("local_window_size");
    a.bias = [&](int64_t b, int64_t h, int64_t i, T* to) {
      const Span& s = spans_[static_cast<size_t>(b)];
      if (const T* row = bias_row(bias, b, h, i)) std::copy_n(row, columns, to);
      int64_t position = s.past + i, end = i >= s.rows ? 0 : causal ? position + 1 : s.total();
      int64_t start = causal && window > 0 ? std::clamp<int64_t>(position - window + 1, 0, end) : 0;
      std::fill(to, to + start, kClosed);
      std::fill(to + end, to + capacity_, kClosed);
    };
    a.run();
    out.commit();
  }

  Eval& e_;
  ReadAs<T> query_;
  std::optional<ReadAs<T>> key_, value_;
  int64_t batch_ = 0, rows_ = 0, heads_ = 0, kv_ = 0, size_ = 0, held_ = 0, capacity_ = 0;
  std::vector<Span> spans_;
  std::optional<Rotation<T>> rotation_;
  HeadRows<const T> q_, k_, v_;
};

void reference(Eval& e) {
  dispatch_float(e.in(kQuery).dtype(), [&]<class T>(T) { Run<T>(e).all(); });
}

constexpr OpDef defs[] = {
    {.name = "GroupQueryAttention",
     .domain = "com.microsoft",
     .min_inputs = 1,
     .max_inputs = 17,
     .max_outputs = 3,
     .attrs = attrs,
     .infer = infer,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> group_query_attention_ops() { return defs; }

}  // namespace hf::ops

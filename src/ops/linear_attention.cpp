// LinearAttention and CausalConvWithState: the recurrent layers of Gated DeltaNet, RetNet, Mamba and their kin.
#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/op.h"
#include "ops/scaled_attention.h"

namespace hf::ops {
namespace {

void require_float(const Infer& in, int i) {
  in.require(is_float(in.dtype(i)), "input {} is {}, wanted a float type", i, name(in.dtype(i)));
}

// ---- LinearAttention

constexpr AttrDef attention_attrs[] = {
    int_attr("chunk_size", 64),  // a hint for those who compute in chunks
    required_attr("kv_num_heads", AttrType::Int),
    required_attr("q_num_heads", AttrType::Int),
    float_attr("scale", 0),
    string_attr("update_rule", "gated_delta"),
};

enum AttentionInputs { kQuery, kKey, kValue, kPast, kDecay, kBeta };

struct Rule {
  bool gated, delta;
};

Rule rule_of(const Node& n) {
  const std::string& r = n.s("update_rule");
  if (r == "linear") return {false, false};
  if (r == "gated") return {true, false};
  if (r == "delta") return {false, true};
  if (r == "gated_delta") return {true, true};
  fail(Code::InvalidModel, "update_rule '{}', wanted linear, gated, delta or gated_delta", r);
}

Dim part(const Infer& in, const Dim& features, int64_t heads) {
  in.require(!features.known() || features.value % heads == 0, "{} features do not divide among {} heads",
             features.text(), heads);
  return features.known() ? Dim(features.value / heads) : Dim();
}

Dim times(const Dim& a, int64_t b) { return a.known() ? Dim(Dims{a.value, b}.count()) : Dim(); }

// The last extent is one of two numbers.
void require_last(const Infer& in, int i, const char* what, const Dim& one, const Dim& other) {
  const Dim& last = in.shape(i)[2];
  if (last.known() && one.known() && other.known())
    in.require(last.value == one.value || last.value == other.value, "{} has {} features, wanted {} or {}", what,
               last.text(), one.text(), other.text());
}

void infer_attention(Infer& in) {
  Rule rule = rule_of(in.node);
  int64_t heads = in.node.i("q_num_heads"), kv = in.node.i("kv_num_heads");
  in.require(heads > 0 && kv > 0 && heads % kv == 0, "{} query heads do not share {} key heads", heads, kv);
  in.require(in.has(kDecay) == rule.gated, "decay and the update rule do not go together");
  in.require(in.has(kBeta) == rule.delta, "beta and the update rule do not go together");
  for (int i : {kQuery, kKey, kValue, kPast, kDecay, kBeta})
    if (in.has(i)) {
      require_float(in, i);
      int rank = i == kPast ? 4 : 3;
      in.require(in.rank(i) < 0 || in.rank(i) == rank, "input {} has rank {}, wanted {}", i, in.rank(i), rank);
    }
  DType state = in.dtype(in.has(kPast) ? kPast : kQuery);
  in.set(0, in.dtype(kQuery));
  in.set(1, state);
  if (in.rank(kQuery) < 0 || in.rank(kValue) < 0) return;
  const Shape &q = in.shape(kQuery), &v = in.shape(kValue);
  Dim size = part(in, q[2], heads), v_size = part(in, v[2], kv);
  ir::merge(in.shape(kKey), Shape({q[0], q[1], times(size, kv)}));
  ir::merge(v, Shape({q[0], q[1], Dim()}));
  Shape states({q[0], kv, size, v_size});
  if (in.has(kPast)) ir::merge(in.shape(kPast), states);
  for (int i : {kDecay, kBeta})
    if (in.has(i) && in.rank(i) == 3) {
      ir::merge(in.shape(i), Shape({q[0], q[1], Dim()}));
      require_last(in, i, i == kDecay ? "decay" : "beta", kv, i == kDecay ? times(size, kv) : Dim(1));
    }
  in.set(0, in.dtype(kQuery), Shape({q[0], q[1], times(v_size, heads)}));
  in.set(1, state, states);
}

// One key head of one sequence, all its steps: the state is a [size, v_size] matrix.
struct Recurrence {
  Rule rule;
  int64_t steps, size, v_size, group;
  HeadRows<const float> q, k, v, decay, beta;  // decay's rows have one element or `size`
  HeadRows<float> out;
  int64_t decay_step;  // 0: one decay for all of the state's rows
  float scale;

  void run(int64_t b, int64_t kv, float* state) const {
    std::vector<float> value(static_cast<size_t>(v_size));
    for (int64_t t = 0; t < steps; ++t) {
      const float* key = k.at(b, kv, t);
      std::copy_n(v.at(b, kv, t), v_size, value.begin());
      if (rule.gated) {
        const float* d = decay.at(b, kv, t);
        for (int64_t i = 0; i < size; ++i) {
          float keep = std::exp(d[i * decay_step]);
          for (int64_t j = 0; j < v_size; ++j) state[i * v_size + j] *= keep;
        }
      }
      if (rule.delta) {
        for (int64_t i = 0; i < size; ++i)
          for (int64_t j = 0; j < v_size; ++j) value[static_cast<size_t>(j)] -= state[i * v_size + j] * key[i];
        for (float& x : value) x *= *beta.at(b, kv, t);
      }
      for (int64_t i = 0; i < size; ++i)
        for (int64_t j = 0; j < v_size; ++j) state[i * v_size + j] += key[i] * value[static_cast<size_t>(j)];
      for (int64_t h = kv * group; h < (kv + 1) * group; ++h) read(q.at(b, h, t), state, out.at(b, h, t));
    }
  }

  void read(const float* query, const float* state, float* to) const {
    std::fill_n(to, v_size, 0.0f);
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < v_size; ++j) to[j] += scale * query[i] * state[i * v_size + j];
  }
};

void linear_attention(Eval& e) {
  int64_t heads = e.node.i("q_num_heads"), kv = e.node.i("kv_num_heads");
  const Dims &d = e.in(kQuery).dims(), &dv = e.in(kValue).dims();
  Recurrence r{rule_of(e.node),  d[1], d[2] / heads, dv[2] / kv, heads / kv, {}, {}, {}, {}, {}, {}, 0,
               e.node.f("scale")};
  if (r.scale == 0) r.scale = 1 / std::sqrt(static_cast<float>(r.size));
  ReadAs<float> q(e.in(kQuery)), k(e.in(kKey)), v(e.in(kValue));
  std::optional<ReadAs<float>> decay, beta;
  WriteAs<float> out(e.out());
  r.q = heads_inside(q.data(), heads, r.steps, r.size);
  r.k = heads_inside(k.data(), kv, r.steps, r.size);
  r.v = heads_inside(v.data(), kv, r.steps, r.v_size);
  r.out = heads_inside(out.data(), heads, r.steps, r.v_size);
  if (r.rule.gated) {
    r.decay_step = e.in(kDecay).dims()[2] == kv ? 0 : 1;
    r.decay = heads_inside(decay.emplace(e.in(kDecay)).data(), kv, r.steps, r.decay_step ? r.size : 1);
  }
  if (r.rule.delta) {
    bool shared = e.in(kBeta).dims()[2] == 1;
    r.beta = heads_inside(beta.emplace(e.in(kBeta)).data(), shared ? 1 : kv, r.steps, 1);
    if (shared) r.beta.head = 0;
  }
  Tensor state(DType::F32, {d[0], kv, r.size, r.v_size});
  float* states = state.data<float>();
  if (e.has(kPast))
    read_elements(e.in(kPast), states);
  else
    std::fill_n(states, state.size(), 0.0f);
  int64_t size = r.size * r.v_size;
  if (size == 0) {  // however many steps there are
    std::fill_n(out.data(), e.out().size(), 0.0f);
    return out.commit();
  }
  parallel_for(d[0] * kv, static_cast<double>(r.steps * size), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) r.run(i / kv, i % kv, states + i * size);
  });
  out.commit();
  if (e.wants(1)) write_elements(states, e.out(1));
}

// ---- CausalConvWithState

constexpr AttrDef conv_attrs[] = {string_attr("activation", "none")};

enum ConvInputs { kX, kWeight, kBias, kState };

bool has_silu(const Node& n) {
  const std::string& a = n.s("activation");
  if (a != "none" && a != "silu" && a != "swish")
    fail(Code::InvalidModel, "activation '{}', wanted none, silu or swish", a);
  return a != "none";
}

void infer_conv(Infer& in) {
  has_silu(in.node);
  require_float(in, kX);
  infer_same(in);
  in.set(1, in.dtype(kX));
  const Shape &x = in.shape(kX), &w = in.shape(kWeight);
  if (!x.ranked() || !w.ranked()) return;
  ir::merge(x, Shape::unknown_of_rank(3));
  ir::merge(w, Shape({x[1], 1, Dim()}));
  in.require(!w[2].known() || w[2].value > 0, "a kernel of no elements");
  if (in.has(kBias)) ir::merge(in.shape(kBias), Shape(std::vector<Dim>{x[1]}));
  Shape state({x[0], x[1], w[2].known() ? Dim(w[2].value - 1) : Dim()});
  if (in.has(kState)) ir::merge(in.shape(kState), state);
  in.set(1, in.dtype(kX), state);
}

void causal_conv(Eval& e) {
  const Dims& d = e.in(kX).dims();
  int64_t channels = d[1], length = d[2], size = e.in(kWeight).dims()[2], before = size - 1;
  bool silu = has_silu(e.node);
  if (length == 0 && before == 0) return;
  dispatch_float(e.in(kX).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(kX)), w(e.in(kWeight));
    std::optional<ReadAs<T>> bias, past;
    if (e.has(kBias)) bias.emplace(e.in(kBias));
    if (e.has(kState)) past.emplace(e.in(kState));
    WriteAs<T> out(e.out());
    Tensor present(dtype_of<T>(), {d[0], channels, before});
    T* states = present.template data<T>();
    parallel_for(d[0] * channels, static_cast<double>(length * size), [&](int64_t from, int64_t to) {
      std::vector<T> row(static_cast<size_t>(before + length));
      for (int64_t r = from; r < to; ++r) {
        if (past) std::copy_n(past->data() + r * before, before, row.begin());
        std::copy_n(x.data() + r * length, length, row.begin() + before);
        for (int64_t i = 0; i < length; ++i) {
          T sum = bias ? (*bias)[r % channels] : T(0);
          for (int64_t j = 0; j < size; ++j) sum += row[static_cast<size_t>(i + j)] * w[r % channels * size + j];
          out[r * length + i] = silu ? sum / (1 + std::exp(-sum)) : sum;
        }
        std::copy_n(row.begin() + length, before, states + r * before);
      }
    });
    out.commit();
    if (e.wants(1)) write_elements(states, e.out(1));
  });
}

constexpr OpDef defs[] = {
    {.name = "LinearAttention",
     .since = 27,
     .min_inputs = 3,
     .max_inputs = 6,
     .min_outputs = 1,
     .max_outputs = 2,
     .attrs = attention_attrs,
     .infer = infer_attention,
     .reference = linear_attention},
    {.name = "CausalConvWithState",
     .since = 27,
     .min_inputs = 2,
     .max_inputs = 4,
     .min_outputs = 1,
     .max_outputs = 2,
     .attrs = conv_attrs,
     .infer = infer_conv,
     .reference = causal_conv},
};

}  // namespace

std::span<const OpDef> linear_attention_ops() { return defs; }

}  // namespace hf::ops

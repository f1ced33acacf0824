// Scaled dot-product attention (Vaswani et al. 2017), a query at a time.
#include "ops/scaled_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/product.h"

namespace hf::ops {
namespace {

// Softmax in place; `extra` is a further score without a place of its own (-inf: none).
template <class T>
void softmax(T* s, int64_t n, T extra) {
  T top = extra, sum = 0;
  for (int64_t j = 0; j < n; ++j) top = std::max(top, s[j]);
  if (top == -std::numeric_limits<T>::infinity()) return std::fill_n(s, n, T(0)), void();
  for (int64_t j = 0; j < n; ++j) sum += s[j] = std::exp(s[j] - top);
  sum += std::exp(extra - top);
  for (int64_t j = 0; j < n; ++j) s[j] /= sum;
}

}  // namespace

template <class T>
Tensor concatenated(const T* past, int64_t past_rows, HeadRows<const T> from, const T* bias, const Dims& dims) {
  Tensor t(dtype_of<T>(), dims);
  const int64_t heads = dims[1], rows = dims[2], size = dims[3];
  HeadRows<T> to = heads_outside(t.template data<T>(), heads, rows, size);
  parallel_for(t.size() ? dims[0] * heads : 0, static_cast<double>(rows * size), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      int64_t b = at / heads, h = at % heads;
      if (past) std::copy_n(past + at * past_rows * size, past_rows * size, to.at(b, h, 0));
      for (int64_t i = past_rows; i < rows; ++i) {
        const T* source = from.at(b, h, i - past_rows);
        T* target = to.at(b, h, i);
        for (int64_t l = 0; l < size; ++l) target[l] = source[l] + (bias ? bias[h * size + l] : T(0));
      }
    }
  });
  return t;
}

template <class T>
void ScaledAttention<T>::query(int64_t b, int64_t h, int64_t i, T* s, T* add) const {
  constexpr T kClosed = -std::numeric_limits<T>::infinity();
  int64_t kv = h / (heads / kv_heads);
  T* kept = scores ? scores + ((b * heads + h) * queries + i) * keys : nullptr;
  auto keep = [&](Scores stage) {
    if (kept && which == stage) std::copy_n(s, keys, kept);
  };
  for (int64_t j = 0; j < keys; ++j) s[j] = scale * dot(q.at(b, h, i), k.at(b, kv, j), head_size);
  keep(Scores::Raw);
  if (softcap > 0)
    for (int64_t j = 0; j < keys; ++j) s[j] = softcap * std::tanh(s[j] / softcap);
  keep(Scores::Capped);
  bool open = keys > 0;
  if (bias) {
    std::fill_n(add, keys, T(0));
    bias(b, h, i, add);
    open = false;
    for (int64_t j = 0; j < keys; ++j) {
      s[j] = add[j] == kClosed ? kClosed : s[j] + add[j];
      open |= add[j] != kClosed;
    }
  }
  keep(Scores::Biased);
  if (open)
    softmax(s, keys, sink ? sink[h] : kClosed);
  else
    std::fill_n(s, keys, T(0));
  keep(Scores::Softmax);
  T* to = out.at(b, h, i);
  std::fill_n(to, v_head_size, T(0));
  for (int64_t j = 0; j < keys; ++j) {
    if (s[j] == 0) continue;
    const T* from = v.at(b, kv, j);
    for (int64_t l = 0; l < v_head_size; ++l) to[l] += s[j] * from[l];
  }
}

template <class T>
void ScaledAttention<T>::run() const {
  if (v_head_size == 0 && (keys == 0 || !scores)) return;  // nothing to write, however many queries there are
  double cost_ns = static_cast<double>(keys) * (static_cast<double>(head_size + v_head_size) / 8 + 10);
  parallel_for(batch * heads * queries, cost_ns, [&](int64_t from, int64_t to) {
    Tensor work(dtype_of<T>(), {2, keys});
    T* s = work.data<T>();
    for (int64_t at = from; at < to; ++at) query(at / queries / heads, at / queries % heads, at % queries, s, s + keys);
  });
}

template struct ScaledAttention<float>;
template struct ScaledAttention<double>;
template Tensor concatenated(const float*, int64_t, HeadRows<const float>, const float*, const Dims&);
template Tensor concatenated(const double*, int64_t, HeadRows<const double>, const double*, const Dims&);

}  // namespace hf::ops

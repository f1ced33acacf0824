// Scaled dot-product attention: the computation that every attention operator shares.
#pragma once
#include <functional>

#include "ops/op.h"

namespace hf::ops {

/// The rows of one operand, in elements: row i of head h of sequence b starts at data + b * batch + h * head + i * row,
/// and is contiguous.
template <class T>
struct HeadRows {
  T* data = nullptr;
  int64_t batch = 0, head = 0, row = 0;
  T* at(int64_t b, int64_t h, int64_t i) const { return data + b * batch + h * head + i * row; }
};

/// Of an array [batch, heads, rows, size].
template <class T>
HeadRows<T> heads_outside(T* data, int64_t heads, int64_t rows, int64_t size) {
  return {data, heads * rows * size, rows * size, size};
}
/// Of an array [batch, rows, heads * size].
template <class T>
HeadRows<T> heads_inside(T* data, int64_t heads, int64_t rows, int64_t size) {
  return {data, rows * heads * size, size, heads * size};
}

/// An array [batch, heads, rows, size] of these extents: `past_rows` from one that has so many, then those of `from`,
/// with `bias` (of [heads, size], or null) added.
template <class T>
Tensor concatenated(const T* past, int64_t past_rows, HeadRows<const T> from, const T* bias, const Dims& dims);

/// Which scores to keep for the caller; the numbers are ONNX's qk_matmul_output_mode.
enum class Scores { Raw = 0, Capped = 1, Biased = 2, Softmax = 3 };

/// out = softmax(cap(scale * q k^T) + bias) v, head by head. Query heads share key and value heads in groups of
/// heads / kv_heads. A query that no key is open to (bias -inf for all) gets zeros; a weight of zero takes nothing from
/// its value, whatever that is.
template <class T>
struct ScaledAttention {
  int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, head_size = 0, v_head_size = 0;
  HeadRows<const T> q, k, v;
  HeadRows<T> out;
  T scale = 1;
  T softcap = 0;  // 0: none; else softcap * tanh(score / softcap)
  /// Adds to the `keys` zeros at `bias` what is to be added to the scores of a query; null: nothing.
  std::function<void(int64_t b, int64_t h, int64_t query, T* bias)> bias;
  /// One extra score a head that takes part in the softmax and has no value; null: none.
  const T* sink = nullptr;
  /// [batch, heads, queries, keys], or null.
  T* scores = nullptr;
  Scores which = Scores::Raw;

  void run() const;

 private:
  void query(int64_t b, int64_t h, int64_t i, T* s, T* add) const;
};

}  // namespace hf::ops

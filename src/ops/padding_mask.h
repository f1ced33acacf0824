// The masks of com.microsoft's Attention and MultiHeadAttention.
#pragma once
#include <optional>
#include <vector>

#include "ops/scaled_attention.h"

namespace hf::ops {

/// What these operators add to the scores of a query: `filter` where the padding mask closes a key, minus infinity
/// where the key lies after the query and `causal` is set, and the attention bias. Masks: [batch] ends of sequences; [2
/// batch] ends, then starts; [batch, keys] and [batch, queries, keys] with zero for closed.
template <class T>
class PaddingMask {
 public:
  /// `mask` and `bias` may be null. Throws Unsupported for a mask of another shape, InvalidModel for a bias that does
  /// not broadcast to the scores.
  PaddingMask(const ScaledAttention<T>& a, int64_t past, const Tensor* mask, const Tensor* bias, float filter,
              bool causal);
  void operator()(int64_t b, int64_t h, int64_t query, T* to) const;

 private:
  void read_mask(const ScaledAttention<T>& a, const Tensor& mask);

  int64_t keys_, past_;
  T filter_;
  bool causal_;
  std::vector<int64_t> ends_, starts_;
  std::optional<ReadAs<int64_t>> open_;
  int64_t open_batch_ = 0, open_query_ = 0;  // strides
  std::optional<ReadAs<T>> bias_;
  int64_t bias_batch_ = 0, bias_head_ = 0;
};

}  // namespace hf::ops

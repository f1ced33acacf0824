// The masks of com.microsoft's attention operators.
#include "ops/padding_mask.h"

#include <algorithm>
#include <limits>

namespace hf::ops {

template <class T>
PaddingMask<T>::PaddingMask(const ScaledAttention<T>& a, int64_t past, const Tensor* mask, const Tensor* bias,
                            float filter, bool causal)
    : keys_(a.keys), past_(past), filter_(filter), causal_(causal) {
  if (mask) read_mask(a, *mask);
  if (!bias) return;
  const Dims& d = bias->dims();
  bool fits = d.rank() == 4 && (d[0] == 1 || d[0] == a.batch) && (d[1] == 1 || d[1] == a.heads) && d[2] == a.queries &&
              d[3] == a.keys;
  if (!fits)
    fail(Code::InvalidModel, "attention_bias {} does not fit scores [{}, {}, {}, {}]", d.text(), a.batch, a.heads,
         a.queries, a.keys);
  bias_.emplace(*bias);
  bias_head_ = d[1] == 1 ? 0 : a.queries * a.keys;
  bias_batch_ = d[0] == 1 ? 0 : d[1] * a.queries * a.keys;
}

template <class T>
void PaddingMask<T>::read_mask(const ScaledAttention<T>& a, const Tensor& mask) {
  const Dims& d = mask.dims();
  if (d == Dims{a.batch} || d == Dims{2 * a.batch}) {
    ends_ = to_ints(mask);
    starts_.assign(ends_.begin() + a.batch, ends_.end());
    starts_.resize(static_cast<size_t>(a.batch));
  } else if (d == Dims{a.batch, a.keys} || d == Dims{a.batch, a.queries, a.keys}) {
    open_.emplace(mask);
    open_query_ = d.rank() == 3 ? a.keys : 0;
    open_batch_ = d.rank() == 3 ? a.queries * a.keys : a.keys;
  } else {
    fail(Code::Unsupported, "a mask {} for scores [{}, {}, {}, {}]", d.text(), a.batch, a.heads, a.queries, a.keys);
  }
}

template <class T>
void PaddingMask<T>::operator()(int64_t b, int64_t h, int64_t query, T* to) const {
  auto at = static_cast<size_t>(b);
  if (!ends_.empty())
    for (int64_t j = 0; j < keys_; ++j)
      if (j < starts_[at] || j >= ends_[at]) to[j] = filter_;
  if (open_) {
    const int64_t* row = open_->data() + b * open_batch_ + query * open_query_;
    for (int64_t j = 0; j < keys_; ++j)
      if (row[j] == 0) to[j] = filter_;
  }
  if (bias_) {
    const T* row = bias_->data() + b * bias_batch_ + h * bias_head_ + query * keys_;
    for (int64_t j = 0; j < keys_; ++j) to[j] += row[j];
  }
  if (causal_)
    for (int64_t j = past_ + query + 1; j < keys_; ++j) to[j] = -std::numeric_limits<T>::infinity();
}

template class PaddingMask<float>;
template class PaddingMask<double>;

}  // namespace hf::ops

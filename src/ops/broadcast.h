// Broadcast: reading a tensor as if it had the extents that it is broadcast to, a block at a time.
#pragma once
#include <algorithm>

#include "base/tensor.h"

namespace hf::ops {

/// An element of 128 bits, for moving them.
struct Wide {
  uint64_t part[2];
};

/// A view of elements [at, at + n) of a tensor whose elements are whole bytes (no strings). It keeps nothing alive.
inline Tensor flat_slice(const Tensor& t, int64_t at, int64_t n) {
  return Tensor::view(t.dtype(), {n}, static_cast<const char*>(t.raw()) + at * (bits(t.dtype()) / 8));
}

/// How the elements of a dense tensor of extents `from` are found when it is broadcast to `to`.
class Broadcast {
 public:
  /// Throws InvalidArgument unless `from` broadcasts to `to`.
  Broadcast(const Dims& from, const Dims& to);

  /// Every element once and in order: `from` and `to` differ by extents of 1 at most.
  bool whole() const { return rank_ == 0 || (rank_ == 1 && stride_[0] == 1); }

  /// The elements [at, at + n) of the broadcast tensor: a pointer to them with *stride 1, or to the one value that they
  /// all are with *stride 0. Written to `scratch` (n elements) where they do not lie so in `data`.
  template <class T>
  const T* block(const T* data, int64_t at, int64_t n, T* scratch, int64_t* stride) const;

 private:
  // Extents of `to` and the strides of `from`, neighbours merged where one loop can do; the last stride is 0 or 1.
  int rank_ = 0;
  int64_t extent_[kMaxRank], stride_[kMaxRank];
};

template <class T>
const T* Broadcast::block(const T* data, int64_t at, int64_t n, T* scratch, int64_t* stride) const {
  *stride = 1;
  if (rank_ == 0) return data;
  int64_t index[kMaxRank], offset = 0;
  for (int i = rank_ - 1; i >= 0; --i) {
    index[i] = at % extent_[i];
    at /= extent_[i];
    offset += index[i] * stride_[i];
  }
  const int last = rank_ - 1;
  const int64_t step = stride_[last];
  int64_t run = std::min(n, extent_[last] - index[last]);
  if (run == n) {
    *stride = step;
    return data + offset;
  }
  for (T* to = scratch;;) {
    if (step)
      std::copy_n(data + offset, run, to);
    else
      std::fill_n(to, run, data[offset]);
    to += run;
    n -= run;
    if (n == 0) return scratch;
    offset -= index[last] * step;
    index[last] = 0;
    for (int i = last - 1; i >= 0; --i) {
      offset += stride_[i];
      if (++index[i] < extent_[i]) break;
      offset -= index[i] * stride_[i];
      index[i] = 0;
    }
    run = std::min(n, extent_[last]);
  }
}

}  // namespace hf::ops

// Rotary position embedding of one row: what RotaryEmbedding and GroupQueryAttention share.
#pragma once
#include <cstdint>

namespace hf::ops {

/// Rotates the first `dim` (even) of `size` elements of x into y by the dim / 2 angles whose cosines and sines are
/// given: (x1, x2) becomes (c x1 - s x2, s x1 + c x2). A pair is element i and i + dim / 2, or, interleaved, 2 i and 2
/// i + 1. The other elements are copied. x and y may be the same.
template <class T>
void rotate_row(const T* x, const T* cos, const T* sin, int64_t size, int64_t dim, bool interleaved, T* y) {
  int64_t half = dim / 2, step = interleaved ? 2 : 1, apart = interleaved ? 1 : half;
  for (int64_t i = 0; i < half; ++i) {
    T a = x[i * step], b = x[i * step + apart];
    y[i * step] = cos[i] * a - sin[i] * b;
    y[i * step + apart] = sin[i] * a + cos[i] * b;
  }
  for (int64_t i = dim; i < size; ++i) y[i] = x[i];
}

}  // namespace hf::ops

// Test inputs by formula: short to write down, and the same in every language that computes an expected value.
#pragma once
#include "base/tensor.h"

namespace hf::ops {

/// Element i is ((7 i + 3 seed) mod 11 - 5) * scale.
inline Tensor wave(const Dims& dims, int64_t seed, float scale = 0.125f) {
  Tensor t(DType::F32, dims);
  for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = static_cast<float>((7 * i + 3 * seed) % 11 - 5) * scale;
  return t;
}

}  // namespace hf::ops

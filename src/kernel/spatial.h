// Sliding windows, as the kernels of convolutions and pools see them.
#pragma once
#include <cstdint>

namespace hf::kernel {

/// One spatial axis: output o reads o * stride + k * dilation - begin, 0 <= k < kernel, where that is in [0, input).
struct SpatialAxis {
  int64_t input = 1, output = 1, kernel = 1, stride = 1, dilation = 1, begin = 0;
  int64_t end = 0;  // padding behind the input, which averages may count
};

}  // namespace hf::kernel

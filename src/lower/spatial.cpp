// Windows for kernels.
#include "lower/spatial.h"

namespace hf::lower {

std::span<const int64_t> spatial_extents(const Dims& dims) { return std::span<const int64_t>(dims).subspan(2); }

std::array<kernel::SpatialAxis, 3> spatial_axes(const ops::Window& window) {
  check(window.rank() <= 3, "kernels have windows of at most three axes");
  std::array<kernel::SpatialAxis, 3> axes;
  for (int i = 0; i < window.rank(); ++i) {
    const ops::WindowAxis& a = window.axes[static_cast<size_t>(i)];
    axes[static_cast<size_t>(3 - window.rank() + i)] = {.input = a.input,
                                                        .output = a.output,
                                                        .kernel = a.kernel,
                                                        .stride = a.stride,
                                                        .dilation = a.dilation,
                                                        .begin = a.begin,
                                                        .end = a.end};
  }
  return axes;
}

int64_t channel_pitch(int64_t channels) {
  return (channels + kChannelMultiple - 1) / kChannelMultiple * kChannelMultiple;
}

}  // namespace hf::lower

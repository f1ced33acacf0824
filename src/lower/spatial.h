// What lowerings of convolutions, pools and the like share: windows as the kernels want them, packed data.
#pragma once
#include <array>
#include <cstring>

#include "kernel/spatial.h"
#include "lower/lowering.h"
#include "ops/window.h"

namespace hf::lower {

/// The extents behind batch and channels.
std::span<const int64_t> spatial_extents(const Dims& dims);
/// Up to three axes, innermost last; those that the window has not are of extent 1. Internal for more.
std::array<kernel::SpatialAxis, 3> spatial_axes(const ops::Window& window);
/// The pitch of channels-last values.
int64_t channel_pitch(int64_t channels);

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace hf::lower

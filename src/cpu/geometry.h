// Windows of convolutions and pools as oneDNN wants them.
#pragma once
#include "cpu/candidate.h"

namespace hf::cpu {

/// The node's window, from its attributes and its known extents. `kernel`: of the weights or of kernel_shape. The end
/// padding is what makes oneDNN's formula give the output's extent (it may be more than the node's, with ceil_mode).
compat::Window window_of(const Request& r, std::span<const int64_t> kernel);
/// The same of a transposed convolution.
compat::Window transposed_window_of(const Request& r, std::span<const int64_t> kernel);

}  // namespace hf::cpu

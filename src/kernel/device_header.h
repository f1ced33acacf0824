// The device header: the text in front of every kernel, which makes one source compile for AMD GPUs (hipRTC, clang),
// NVIDIA GPUs (NVRTC) and the host (the emulator). Kernels say nothing of an architecture; all differences are here.
#pragma once
#include <string>
#include <string_view>

namespace hf::kernel {

/// The header's parts, in order. Each is one constant, so that none outgrows a page.
extern const std::string_view kDeviceTarget;   // which target this is; attributes; vector types
extern const std::string_view kDeviceThreads;  // ids, barrier, shuffles, atomics
extern const std::string_view kDeviceFloats;   // f16 and bf16; 16-byte vectors of elements
extern const std::string_view kDeviceMath;     // exp, log, tanh, sigmoid, erf
extern const std::string_view kDeviceGroups;   // sums and maxima over waves and blocks

/// The whole header.
std::string device_header();

}  // namespace hf::kernel

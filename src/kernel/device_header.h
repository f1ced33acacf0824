// The device header: the text in front of every kernel, which makes one source compile for AMD GPUs (hipRTC, clang),
// NVIDIA GPUs (NVRTC) and the host (the emulator). Kernels say nothing of an architecture; all differences are here.
#pragma once
#include <string>
#include <string_view>

#include "kernel/kernel_spec.h"

namespace hf::kernel {

/// The header's parts, in order. Each is one constant, so that none outgrows a page.
extern const std::string_view kDeviceTarget;      // which target this is; attributes; vector types
extern const std::string_view kDeviceThreads;     // ids, barrier, shuffles, atomics
extern const std::string_view kDeviceFloats;      // f16 and bf16; 16-byte vectors of elements
extern const std::string_view kDeviceMath;        // exp, log, tanh, sigmoid, erf
extern const std::string_view kDeviceElementary;  // namespace pw: <cmath> on float
extern const std::string_view kDevicePointwise;   // namespace pw: what else elementwise expressions call
extern const std::string_view kDeviceGroups;      // sums and maxima over waves and blocks
extern const std::string_view kDeviceVectors;     // vectors of 8 small floats
extern const std::string_view kDeviceCopies;      // LDS tiles, copies to them, scheduling, dependent launches
extern const std::string_view kDeviceMatrix;      // mma: one wave's matrix tile; that of targets without a matrix unit
extern const std::string_view kDeviceMatrixCuda;
extern const std::string_view kDeviceMatrixAmd;

/// The whole header.
std::string device_header();

/// Not in the header: struct chained<T>, a product whose result is the first factor of the next.
extern const std::string_view kDeviceChain;

/// Not in the header: struct wgmma<T, N> for NVIDIA's sm_90a, where it defines HF_WGMMA; nothing on other targets. It
/// is 64 rows x N columns by one warpgroup (128 threads): run(d, a, b) adds 16 elements of k, with `a` and `b`
/// descriptors of tiles (wgmma_tile) or `a` the lane's registers of an m16n8k16 fragment. A lane's d[] is mma<T>::acc[N
/// / 32] of the rows that begin at 16 times its warp in the group. Around: fence_async_proxy() and barrier() after
/// copies_wait(); wgmma_fence(), runs, wgmma_commit(); wgmma_wait<0>() before d is read.
std::string wgmma_text(Element type, int n);

}  // namespace hf::kernel

// Search lists of libraries as data.
#include "gpu/places.h"

namespace hf::gpu {
namespace {

using Text = std::string_view;

// The setting may name the library's own folder, an installation's root, or the site-packages of pip's rocm wheels.
constexpr Text kRocmBelow[] = {"", "lib", "lib64", "_rocm_sdk_core/lib", "_rocm_sdk_devel/lib"};
constexpr Text kRocmPatterns[] = {"/opt/rocm/lib", "/opt/rocm-*/lib", "/opt/rocm/core*/lib", "/opt/rocm*/lib64"};
constexpr Text kHipNames[] = {"libamdhip64.so",   "libamdhip64.so.10", "libamdhip64.so.9", "libamdhip64.so.8",
                              "libamdhip64.so.7", "libamdhip64.so.6",  "libamdhip64.so.5"};
// Before ROCm 6 hipRTC could also be found inside libamdhip64 itself.
constexpr Text kHiprtcNames[] = {"libhiprtc.so",   "libhiprtc.so.10", "libhiprtc.so.9", "libhiprtc.so.8",
                                 "libhiprtc.so.7", "libhiprtc.so.6",  "libhiprtc.so.5", "libamdhip64.so.5"};

constexpr Text kClangBelow[] = {"bin", "llvm/bin", "lib/llvm/bin", "_rocm_sdk_core/lib/llvm/bin"};
constexpr Text kClangPatterns[] = {"/opt/rocm/llvm/bin", "/opt/rocm/lib/llvm/bin", "/opt/rocm-*/llvm/bin",
                                   "/opt/rocm/core*/lib/llvm/bin", "/usr/lib/llvm-*/bin"};

constexpr Text kCudaBelow[] = {"", "lib64", "lib", "nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"};
constexpr Text kCudaPatterns[] = {"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64"};
constexpr Text kCudaNames[] = {"libcuda.so.1"};
constexpr Text kNvrtcNames[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};

}  // namespace

LibrarySearch hip_search() {
  return {
      .what = "the HIP runtime", .setting = "rocm", .below = kRocmBelow, .patterns = kRocmPatterns, .names = kHipNames};
}
LibrarySearch hiprtc_search() {
  return {.what = "hipRTC", .setting = "rocm", .below = kRocmBelow, .patterns = kRocmPatterns, .names = kHiprtcNames};
}
LibrarySearch cuda_search() {
  return {.what = "the CUDA driver", .setting = "cuda", .below = kCudaBelow, .patterns = {}, .names = kCudaNames};
}
LibrarySearch nvrtc_search() {
  return {.what = "NVRTC", .setting = "cuda", .below = kCudaBelow, .patterns = kCudaPatterns, .names = kNvrtcNames};
}
LibrarySearch rocm_clang_search() {
  return {.what = "clang", .setting = "rocm", .below = kClangBelow, .patterns = kClangPatterns, .names = {}};
}

}  // namespace hf::gpu

// Where the libraries of ROCm and CUDA are looked for.
#pragma once
#include "gpu/library.h"

namespace hf::gpu {

LibrarySearch hip_search();
LibrarySearch hiprtc_search();
LibrarySearch cuda_search();
LibrarySearch nvrtc_search();
/// Folders that may hold clang++: ROCm's own.
LibrarySearch rocm_clang_search();

}  // namespace hf::gpu

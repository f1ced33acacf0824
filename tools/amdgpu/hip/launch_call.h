// The launch of a kernel as the API has it: checks, argument packing, enqueuing; and occupancy.
#pragma once
#include <cstddef>
#include <cstdint>

#include "hip/runtime.h"

namespace amdgpu {

struct LaunchCall {
  const char* who;  // the function that a message names
  hipFunction_t function;
  uint32_t grid[3], block[3];
  size_t dynamic_lds;
  hipStream_t stream;
  void **parameters, **extra;  // one of them, or neither for a kernel without arguments
};

/// An instruction that is not emulated is reported at once; a device fault becomes the device's sticky error.
int launch(const LaunchCall& call);

int find_function(hipFunction_t handle, FunctionHandle*& function);

/// Workgroups of a multiprocessor that registers, LDS and waves allow.
int occupancy(const Kernel& kernel, int block, size_t dynamic_lds);

}  // namespace amdgpu

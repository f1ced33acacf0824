// Runs kernels.
//
// Workgroups run one after another. The waves of a workgroup take turns: a wave runs until it ends, reaches a barrier
// or has executed a million instructions. A kernel that waits for a later workgroup never ends (AMDEMU_TIMEOUT).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/code_object.h"

namespace amdgpu {

struct Launch {
  Kernel* kernel = nullptr;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t dynamic_lds = 0;
  std::vector<uint8_t> arguments;  // explicit ones, laid out by offset

  uint32_t threads() const { return block[0] * block[1] * block[2]; }
};

/// Runs the whole grid. What went wrong is in message: kIllegalAddress for a memory fault, kNotSupported for an
/// instruction that is not emulated, kLaunchTimeOut past AMDEMU_TIMEOUT or AMDEMU_MAX_INSTS, kLaunchFailure for a trap.
Status run(const Launch& launch, std::string& message);

struct KernelStatistics {
  uint64_t launches = 0, instructions = 0, groups = 0;
  double seconds = 0;
};
/// By "kernel [architecture]".
std::map<std::string, KernelStatistics>& kernel_statistics();

}  // namespace amdgpu

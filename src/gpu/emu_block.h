// Runs the blocks of an emulated launch: one fiber a thread, barriers, shuffles within waves, LDS.
#pragma once
#include <string>

#include "gpu/driver.h"
#include "kernel/emu_abi.h"

namespace hf::gpu {

/// A kernel of a loaded library, see kernel/emu_abi.h.
struct EmuKernel {
  std::string name;
  kernel::HfEmuThread** (*self)() = nullptr;
  void (*entry)(void** args) = nullptr;
  std::vector<unsigned> argument_bytes;
};

/// Runs all blocks, one after another, on the calling thread. LDS holds NaNs at first; odd blocks run their waves and
/// lanes backwards, which shows barriers that are missing. Every live lane of a wave must take part in a shuffle.
/// Throws Driver if threads wait for each other without end.
void run_blocks(const EmuKernel& kernel, const LaunchDims& dims, int wave_size, void** args);

}  // namespace hf::gpu

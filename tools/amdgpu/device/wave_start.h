// What a wave finds when it starts: kernel arguments, dispatch packet, initial registers. The layouts are those of the
// AMDGPU ABI (https://llvm.org/docs/AMDGPUUsage.html).
#pragma once
#include <cstdint>
#include <vector>

#include "device/launch.h"

namespace amdgpu {

/// Memory of the workgroup that runs, as device addresses.
struct GroupMemory {
  uint32_t lds_bytes = 0, scratch_bytes = 0;  // scratch: of each lane
  uint64_t arguments = 0, packet = 0;
  uint64_t scratch = 0;  // of the first wave
  uint32_t scratch_stride = 0;
  uint64_t scratch_of_wave = 0;
};

void write_arguments(const Launch& launch, uint8_t* to);
void write_packet(const Launch& launch, const GroupMemory& memory, uint8_t* to);

/// The user registers in the ABI's order; `arguments` is where write_arguments() wrote.
std::vector<uint32_t> user_registers(const Kernel& kernel, const GroupMemory& memory, const uint8_t* arguments);
/// How many of them the kernel descriptor asks for.
uint32_t user_register_count(const Kernel& kernel);

/// Sets registers, execution mask and program counter of wave number w.id of the block.
void start_wave(Wave& w, const Launch& launch, const std::vector<uint32_t>& user, const GroupMemory& memory,
                const uint32_t (&block)[3]);

}  // namespace amdgpu

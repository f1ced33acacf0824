// hipDeviceProp_t and the device attributes.
#pragma once
#include <cstdint>

#include "device/arena.h"

namespace amdgpu {

/// Fills the structure, in the layout of ROCm 6 or that of ROCm 5.
void write_properties(const Device& device, uint8_t* to, bool rocm6);
/// False for an attribute that is not known.
bool read_attribute(const Device& device, int number, int& value);
/// The 16 bytes of a device's UUID, as text.
void write_uuid(const Device& device, char (&to)[16]);
/// The PCI bus of device 0; the others follow.
constexpr int kFirstPciBus = 3;

}  // namespace amdgpu

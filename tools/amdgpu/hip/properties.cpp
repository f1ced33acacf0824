// Device properties and attributes.
#include "hip/properties.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>

#include "hip/abi.h"

namespace amdgpu {

namespace {

constexpr int kMaxGridYz = 65536, kClockRateKhz = 100000, kMaxThreadsOfMultiprocessor = 2048, kMaxThreadsOfBlock = 1024;
constexpr int kArchFeatures = 0x97ff;

// Writes members that the layout has.
class Writer {
 public:
  Writer(uint8_t* to, bool rocm6) : to_(to), rocm6_(rocm6) {}
  template <class T>
  void put(PropertyOffset member, T value, int index = 0) const {
    const int offset = rocm6_ ? member.rocm6 : member.rocm5;
    if (offset >= 0) memcpy(to_ + offset + index * static_cast<int>(sizeof value), &value, sizeof value);
  }
  void size(PropertyOffset member, uint64_t value) const { put(member, value); }
  void number(PropertyOffset member, int value) const { put(member, value); }
  void text(PropertyOffset member, const char* value) const {
    char name[256] = {};
    snprintf(name, sizeof name, "%s", value);
    memcpy(to_ + (rocm6_ ? member.rocm6 : member.rocm5), name, sizeof name);
  }

 private:
  uint8_t* to_;
  bool rocm6_;
};

void write_limits(const Device& d, const Writer& w) {
  const Arch& a = *d.arch;
  w.size(property::totalGlobalMem, d.memory_total);
  w.size(property::totalConstMem, INT_MAX);
  w.size(property::sharedMemPerBlock, kLdsBytes);
  w.size(property::sharedMemPerBlockOptin, kLdsBytes);
  w.size(property::maxSharedMemoryPerMultiProcessor, kLdsBytes);
  w.size(property::sharedMemPerMultiprocessor, uint64_t{kLdsBytes} * static_cast<uint64_t>(a.multiprocessors));
  w.number(property::regsPerBlock, a.registers_per_block());
  w.number(property::regsPerMultiprocessor, a.registers_per_block());
  w.number(property::warpSize, a.wave);
  w.number(property::maxThreadsPerBlock, kMaxThreadsOfBlock);
  w.number(property::maxThreadsPerMultiProcessor, kMaxThreadsOfMultiprocessor);
  w.number(property::maxBlocksPerMultiProcessor, 2);
  for (int i = 0; i < 3; i++) {
    w.put(property::maxThreadsDim, kMaxThreadsOfBlock, i);
    w.put(property::maxGridSize, i ? kMaxGridYz : INT_MAX, i);
  }
  w.size(property::memPitch, INT_MAX);
  w.size(property::textureAlignment, 256);
  w.size(property::texturePitchAlignment, 256);
  w.size(property::surfaceAlignment, 256);
  w.number(property::maxTexture1D, 16384);
  w.number(property::maxTexture1DLinear, INT_MAX);
  w.number(property::maxSurface1D, 16384);
}

void write_hardware(const Device& d, const Writer& w) {
  const Arch& a = *d.arch;
  w.text(property::name, a.product);
  w.text(property::gcnArchName, d.target.c_str());
  w.number(property::gcnArch, a.decimal());
  w.number(property::arch, kArchFeatures);
  w.number(property::major, a.major());
  w.number(property::minor, a.minor());
  w.number(property::multiProcessorCount, a.multiprocessors);
  w.number(property::clockRate, a.clock_khz);
  w.number(property::clockInstructionRate, kClockRateKhz);
  w.number(property::memoryClockRate, a.memory_clock_khz);
  w.number(property::memoryBusWidth, a.bus_bits);
  w.number(property::l2CacheSize, a.l2_bytes);
  w.number(property::persistingL2CacheMaxSize, a.l2_bytes);
  w.number(property::pciBusID, kFirstPciBus + d.id);
  char uuid[16];
  write_uuid(d, uuid);
  for (int i = 0; i < 16; i++) w.put(property::uuid, uuid[i], i);
}

void write_abilities(const Writer& w) {
  for (PropertyOffset yes :
       {property::canMapHostMemory, property::concurrentKernels, property::isLargeBar, property::deviceOverlap,
        property::unifiedAddressing, property::streamPrioritiesSupported, property::globalL1CacheSupported,
        property::localL1CacheSupported, property::hostNativeAtomicSupported, property::memoryPoolsSupported})
    w.number(yes, 1);
  w.number(property::asyncEngineCount, 2);
}

}  // namespace

void write_uuid(const Device& d, char (&to)[16]) {
  memset(to, 0, sizeof to);
  snprintf(to, sizeof to, "EMU-%s-%d", d.arch->gfx, d.id);
}

void write_properties(const Device& d, uint8_t* to, bool rocm6) {
  memset(to, 0, rocm6 ? kPropertiesSize6 : kPropertiesSize5);
  const Writer w(to, rocm6);
  write_limits(d, w);
  write_hardware(d, w);
  write_abilities(w);
}

bool read_attribute(const Device& d, int number, int& value) {
  const Arch& a = *d.arch;
  using namespace attribute;
  const struct {
    int number, value;
  } table[] = {
      {EccEnabled, 0},
      {AccessPolicyMaxWindowSize, 0},
      {CanUseHostPointerForRegisteredMem, 0},
      {ComputeMode, 0},
      {ComputePreemptionSupported, 0},
      {ConcurrentManagedAccess, 0},
      {CooperativeLaunch, 0},
      {CooperativeMultiDeviceLaunch, 0},
      {DirectManagedMemAccessFromHost, 0},
      {Integrated, 0},
      {IsMultiGpuBoard, 0},
      {KernelExecTimeout, 0},
      {ManagedMemory, 0},
      {MultiGpuBoardGroupID, 0},
      {PageableMemoryAccess, 0},
      {PageableMemoryAccessUsesHostPageTables, 0},
      {PciDeviceId, 0},
      {PciDomainID, 0},
      {ReservedSharedMemPerBlock, 0},
      {TccDriver, 0},
      {AsicRevision, 0},
      {CanUseStreamWaitValue, 0},
      {ImageSupport, 0},
      {VirtualMemoryManagementSupported, 0},
      {HostRegisterSupported, 0},
      {CanMapHostMemory, 1},
      {ConcurrentKernels, 1},
      {DeviceOverlap, 1},
      {GlobalL1CacheSupported, 1},
      {HostNativeAtomicSupported, 1},
      {LocalL1CacheSupported, 1},
      {StreamPrioritiesSupported, 1},
      {UnifiedAddressing, 1},
      {MemoryPoolsSupported, 1},
      {IsLargeBar, 1},
      {FineGrainSupport, 1},
      {AsyncEngineCount, 2},
      {MaxBlocksPerMultiProcessor, 2},
      {ClockRate, a.clock_khz},
      {L2CacheSize, a.l2_bytes},
      {ComputeCapabilityMajor, a.major()},
      {ComputeCapabilityMinor, a.minor()},
      {MaxBlockDimX, kMaxThreadsOfBlock},
      {MaxBlockDimY, kMaxThreadsOfBlock},
      {MaxBlockDimZ, kMaxThreadsOfBlock},
      {MaxThreadsPerBlock, kMaxThreadsOfBlock},
      {MaxGridDimX, INT_MAX},
      {MaxPitch, INT_MAX},
      {TotalConstantMemory, INT_MAX},
      {MaxGridDimY, kMaxGridYz},
      {MaxGridDimZ, kMaxGridYz},
      {MaxThreadsPerMultiProcessor, kMaxThreadsOfMultiprocessor},
      {MemoryBusWidth, a.bus_bits},
      {MemoryClockRate, a.memory_clock_khz},
      {MultiprocessorCount, a.multiprocessors},
      {PhysicalMultiProcessorCount, a.wave == 64 ? a.multiprocessors : 2 * a.multiprocessors},
      {PciBusId, kFirstPciBus + d.id},
      {MaxRegistersPerBlock, a.registers_per_block()},
      {MaxRegistersPerMultiprocessor, a.registers_per_block()},
      {MaxSharedMemoryPerBlock, static_cast<int>(kLdsBytes)},
      {SharedMemPerBlockOptin, static_cast<int>(kLdsBytes)},
      {MaxSharedMemoryPerMultiprocessor, static_cast<int>(kLdsBytes)},
      {SharedMemPerMultiprocessor, static_cast<int>(kLdsBytes) * a.multiprocessors},
      {TextureAlignment, 256},
      {TotalGlobalMem, static_cast<int>(std::min<uint64_t>(d.memory_total, INT_MAX))},
      {WarpSize, a.wave},
      {ClockInstructionRate, kClockRateKhz},
      {WallClockRate, kClockRateKhz},
  };
  for (const auto& row : table)
    if (row.number == number) {
      value = row.value;
      return true;
    }
  return false;
}

}  // namespace amdgpu

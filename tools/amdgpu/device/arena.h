// Device memory and the devices themselves.
//
// A device pointer P is an address of the arena, a range that the host can never dereference (PROT_NONE) unless the
// allocation is pinned host memory. The emulated device d sees P at the host address P + to_host(d). So a host program
// that dereferences a device pointer crashes, and a kernel that is given a host pointer faults.
//
// Every allocation ends at a guard page, at the granularity of 256 bytes; the slack holds a pattern that is checked
// after each launch. Freed memory is unmapped, and its addresses are not used again while there is room. Fresh memory
// holds the pattern too: NaN as f16, bf16, f32 and f64, a wild value as an index.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/arch.h"

namespace amdgpu {

/// The error numbers of HIP that the device layer returns.
enum Status : int {
  kOk = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kSymbolNotFound = 302,
  kIllegalAddress = 700,
  kLaunchTimeOut = 702,
  kLaunchFailure = 719,
  kNotSupported = 801
};

constexpr uint32_t kLdsBytes = 65536;

enum class MemoryKind : uint8_t { Device, Host, Managed, Internal };

struct Allocation {
  uint64_t pointer = 0;         // what the user holds
  uint64_t begin = 0, end = 0;  // the mapped pages
  size_t size = 0;
  int device = 0;
  MemoryKind kind = MemoryKind::Device;
  unsigned flags = 0;
  uint64_t charged = 0;  // bytes counted against the device's memory
  uint64_t serial = 0;

  bool host_visible() const { return kind == MemoryKind::Host || kind == MemoryKind::Managed; }
};

struct Device {
  int id = 0;
  const Arch* arch = nullptr;
  std::string target;  // gcnArchName, such as gfx942:sramecc+:xnack-
  uint64_t memory_total = 0, memory_used = 0;
  uint64_t to_host = 0;
  std::vector<bool> peer;  // peer[e]: kernels of this device may access the memory of device e
  int sticky_error = 0;
  uint64_t kernel_arguments = 0;  // device address of the block that holds them
};

std::vector<Device>& devices();

/// Reads the environment, makes the devices and reserves the address space. False with the reason in error: no devices.
bool init_devices(std::string& error);

/// The device address, or 0 with the Status in status.
uint64_t allocate(int device, size_t size, MemoryKind kind, unsigned flags, Status& status);
/// Frees what allocate() gave out; host says whether the caller believes it is pinned host memory.
Status deallocate(uint64_t pointer, bool host);
/// For MemoryKind::Internal, which deallocate() refuses.
void deallocate_internal(uint64_t pointer);
/// Frees all memory of a device except what is internal.
void deallocate_all(int device);

/// The live allocation that contains p, or null.
const Allocation* find_allocation(uint64_t p);
bool in_arena(uint64_t p);
/// The host address at which the library itself may access p.
uint8_t* host_view(const Allocation& a, uint64_t p);
/// False if the memory could not be mapped.
bool enable_peer(int device, int peer, bool on);
/// False if something was written past the end of an allocation, inside its last page; message says where.
bool check_canaries(int device, std::string& message);
/// What is at or near a device address, for a fault message.
std::string describe_address(int device, uint64_t p);

/// Live allocations except internal ones.
int64_t live_allocations();
/// The pattern of uninitialised memory and registers.
uint16_t poison();
/// Device addresses at which flat accesses reach LDS and private memory, 4 GiB each.
uint64_t shared_aperture();
uint64_t private_aperture();

}  // namespace amdgpu

// hip*: devices, properties, peer access.
#include <cstdio>
#include <cstring>

#include "hip/properties.h"
#include "hip/runtime.h"

using namespace amdgpu;

HIP_EXPORT hipError_t hipGetDeviceCount(int* count) {
  return api_always(__func__, [&] {
    if (!count) return error::InvalidValue;
    *count = static_cast<int>(devices().size());
    return need_device();
  });
}

HIP_EXPORT hipError_t hipSetDevice(int device) {
  return api_always(__func__, [&] {
    HIP_TRY(need_device(device));
    thread_state.device = device;
    return 0;
  });
}

HIP_EXPORT hipError_t hipGetDevice(int* device) {
  return api_always(__func__, [&] {
    if (!device) return error::InvalidValue;
    HIP_TRY(need_device());
    *device = thread_state.device;
    return 0;
  });
}

HIP_EXPORT hipError_t hipSetDeviceFlags(unsigned) {
  return api_always(__func__, [] { return need_device(); });
}

HIP_EXPORT hipError_t hipGetDeviceFlags(unsigned* flags) {
  return api_always(__func__, [&] {
    HIP_TRY(need_device());
    if (!flags) return error::InvalidValue;
    *flags = 0;
    return 0;
  });
}

HIP_EXPORT hipError_t hipSetValidDevices(int*, int) {
  return api_always(__func__, [] { return 0; });
}

HIP_EXPORT hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return api_always(__func__, [&] {
    if (!device) return error::InvalidValue;
    HIP_TRY(need_device(ordinal));
    *device = ordinal;
    return 0;
  });
}

// ---- properties. A program asks for its layout by the function's name; fault injection knows one name.

namespace {

hipError_t get_properties(void* to, int device, bool rocm6) {
  return api_always("hipGetDeviceProperties", [&] {
    if (!to) return error::InvalidValue;
    HIP_TRY(need_device(device));
    write_properties(devices()[device], static_cast<uint8_t*>(to), rocm6);
    return 0;
  });
}

}  // namespace

HIP_EXPORT hipError_t hipGetDevicePropertiesR0600(PropertiesPointer to, int device) {
  return get_properties(to, device, true);
}
#ifndef AMDGPU_ABI_CHECK  // headers know one layout
HIP_EXPORT hipError_t hipGetDeviceProperties(void* to, int device) { return get_properties(to, device, false); }
HIP_EXPORT hipError_t hipGetDevicePropertiesR0000(void* to, int device) { return get_properties(to, device, false); }
#endif

HIP_EXPORT hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t number, int device) {
  return api_always(__func__, [&] {
    if (!value) return error::InvalidValue;
    HIP_TRY(need_device(device));
    return read_attribute(devices()[device], static_cast<int>(number), *value) ? 0 : error::InvalidValue;
  });
}

HIP_EXPORT hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  return api_always(__func__, [&] {
    if (!name || length <= 0) return error::InvalidValue;
    HIP_TRY(need_device(device));
    const char* product = devices()[device].arch->product;
    if (strlen(product) >= static_cast<size_t>(length)) return error::InvalidValue;
    strcpy(name, product);
    return 0;
  });
}

HIP_EXPORT hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  return api_always(__func__, [&] {
    if (!bytes) return error::InvalidValue;
    HIP_TRY(need_device(device));
    *bytes = devices()[device].memory_total;
    return 0;
  });
}

HIP_EXPORT hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  return api_always(__func__, [&] {
    if (!major || !minor) return error::InvalidValue;
    HIP_TRY(need_device(device));
    *major = devices()[device].arch->major();
    *minor = devices()[device].arch->minor();
    return 0;
  });
}

HIP_EXPORT hipError_t hipDeviceGetPCIBusId(char* id, int length, int device) {
  return api_always(__func__, [&] {
    if (!id || length <= 12) return error::InvalidValue;
    HIP_TRY(need_device(device));
    snprintf(id, static_cast<size_t>(length), "0000:%02x:00.0", kFirstPciBus + device);
    return 0;
  });
}

HIP_EXPORT hipError_t hipDeviceGetByPCIBusId(int* device, const char* id) {
  return api_always(__func__, [&] {
    unsigned domain, bus, slot, function;
    if (!device || !id || sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) return error::InvalidValue;
    const int number = static_cast<int>(bus) - kFirstPciBus;
    HIP_TRY(need_device(number));
    *device = number;
    return 0;
  });
}

HIP_EXPORT hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return api_always(__func__, [&] {
    if (!uuid) return error::InvalidValue;
    HIP_TRY(need_device(device));
    write_uuid(devices()[device], uuid->bytes);
    return 0;
  });
}

HIP_EXPORT hipError_t hipDeviceSynchronize() {
  return api(__func__, [] {
    HIP_TRY(need_device());
    HIP_TRY(refuse_sync_in_capture(error::StreamCaptureUnsupported));
    drain_device(thread_state.device);
    return devices()[thread_state.device].sticky_error;
  });
}

HIP_EXPORT hipError_t hipDeviceReset() {
  return api_always(__func__, [] {
    HIP_TRY(need_device());
    drain_device(thread_state.device);
    devices()[thread_state.device].sticky_error = 0;
    deallocate_all(thread_state.device);
    return 0;
  });
}

HIP_EXPORT hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return api_always(__func__, [&] {
    if (!can) return error::InvalidValue;
    HIP_TRY(need_device(device));
    HIP_TRY(need_device(peer));
    *can = device != peer;
    return 0;
  });
}

HIP_EXPORT hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api(__func__, [&] {
    if (flags) return error::InvalidValue;
    HIP_TRY(need_device(peer));
    const int own = thread_state.device;
    if (peer == own) return error::InvalidDevice;
    if (devices()[own].peer[peer]) return error::PeerAccessAlreadyEnabled;
    return enable_peer(own, peer, true) ? 0 : error::MapFailed;
  });
}

HIP_EXPORT hipError_t hipDeviceDisablePeerAccess(int peer) {
  return api(__func__, [&] {
    HIP_TRY(need_device(peer));
    const int own = thread_state.device;
    if (peer == own || !devices()[own].peer[peer]) return error::PeerAccessNotEnabled;
    drain_device(own);
    enable_peer(own, peer, false);
    return 0;
  });
}

HIP_EXPORT hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total) {
  return api(__func__, [&] {
    HIP_TRY(need_device());
    const Device& d = devices()[thread_state.device];
    if (free_bytes) *free_bytes = d.memory_total - d.memory_used;
    if (total) *total = d.memory_total;
    return 0;
  });
}

HIP_EXPORT hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api_always(__func__, [&] {
    HIP_TRY(need_device());
    if (least) *least = 1;
    if (greatest) *greatest = -1;
    return 0;
  });
}

HIP_EXPORT hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) {
  return api_always(__func__, [] { return need_device(); });
}

HIP_EXPORT hipError_t hipDeviceGetLimit(size_t* value, enum hipLimit_t limit) {
  constexpr int kStackSize = 0, kMallocHeapSize = 2;
  return api_always(__func__, [&] {
    HIP_TRY(need_device());
    if (!value) return error::InvalidValue;
    const int number = static_cast<int>(limit);
    if (number != kStackSize && number != kMallocHeapSize) return error::UnsupportedLimit;
    *value = number == kStackSize ? 1024 : 4 << 20;
    return 0;
  });
}

// hip*: allocation, memory pools, pointer attributes.
#include <algorithm>
#include <cstring>

#include "device/support.h"
#include "hip/runtime.h"

using namespace amdgpu;

namespace {

uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }

int allocate_on(int device, void** pointer, size_t bytes, MemoryKind kind, unsigned flags) {
  HIP_TRY(need_device());
  if (!pointer) return error::InvalidValue;
  if (!bytes) {
    *pointer = nullptr;
    return 0;
  }
  Status status;
  const uint64_t p = allocate(device, bytes, kind, flags, status);
  if (!p) {
    *pointer = nullptr;
    return status;
  }
  uint64_t used = 0;
  for (const Device& d : devices()) used += d.memory_used;
  uint64_t& peak = runtime().totals.memory_peak;
  peak = std::max(peak, used);
  *pointer = reinterpret_cast<void*>(p);
  return 0;
}

hipError_t allocate_call(const char* name, void** pointer, size_t bytes, MemoryKind kind, unsigned flags) {
  return api(name, [&] {
    HIP_TRY(need_device());
    HIP_TRY(refuse_in_capture());
    return allocate_on(thread_state.device, pointer, bytes, kind, flags);
  });
}

int free_now(void* pointer, bool host) {
  const int status = deallocate(address(pointer), host);
  if (status) log("%s: %p is not an allocation of this kind (freed twice?)", host ? "hipHostFree" : "hipFree", pointer);
  return status;
}

// Waits for all devices, as the driver does.
hipError_t free_call(const char* name, void* pointer, bool host) {
  return api_always(name, [&] {
    HIP_TRY(need_device());
    HIP_TRY(refuse_in_capture());
    if (!pointer) return 0;
    drain_all();
    return free_now(pointer, host);
  });
}

// Allocation and freeing are not captured.
int stream_outside_capture(hipStream_t handle, std::shared_ptr<Stream>& stream) {
  HIP_TRY(find_stream(handle, stream));
  if (!stream->capture) return 0;
  invalidate(*stream->capture);
  return error::StreamCaptureUnsupported;
}

hipError_t allocate_async_call(const char* name, void** pointer, size_t bytes, hipStream_t handle) {
  return api(name, [&] {
    std::shared_ptr<Stream> stream;
    HIP_TRY(stream_outside_capture(handle, stream));
    return allocate_on(stream->device, pointer, bytes, MemoryKind::Device, 0);
  });
}

}  // namespace

HIP_EXPORT hipError_t hipMalloc(void** pointer, size_t bytes) {
  return allocate_call(__func__, pointer, bytes, MemoryKind::Device, 0);
}
HIP_EXPORT hipError_t hipExtMallocWithFlags(void** pointer, size_t bytes, unsigned flags) {
  return allocate_call(__func__, pointer, bytes, MemoryKind::Device, flags);
}
HIP_EXPORT hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return allocate_call(__func__, pointer, bytes, MemoryKind::Managed, flags);
}
HIP_EXPORT hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned flags) {
  return allocate_call(__func__, pointer, bytes, MemoryKind::Host, flags);
}
HIP_EXPORT hipError_t hipHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return allocate_call(__func__, pointer, bytes, MemoryKind::Host, flags);
}
HIP_EXPORT hipError_t hipMallocHost(void** pointer, size_t bytes) {
  return allocate_call(__func__, pointer, bytes, MemoryKind::Host, 0);
}
HIP_EXPORT hipError_t hipMemAllocHost(void** pointer, size_t bytes) {
  return allocate_call(__func__, pointer, bytes, MemoryKind::Host, 0);
}
HIP_EXPORT hipError_t hipFree(void* pointer) { return free_call(__func__, pointer, false); }
HIP_EXPORT hipError_t hipHostFree(void* pointer) { return free_call(__func__, pointer, true); }
HIP_EXPORT hipError_t hipFreeHost(void* pointer) { return free_call(__func__, pointer, true); }

HIP_EXPORT hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t stream) {
  return allocate_async_call(__func__, pointer, bytes, stream);
}
HIP_EXPORT hipError_t hipMallocFromPoolAsync(void** pointer, size_t bytes, hipMemPool_t, hipStream_t stream) {
  return allocate_async_call(__func__, pointer, bytes, stream);
}
HIP_EXPORT hipError_t hipFreeAsync(void* pointer, hipStream_t handle) {
  return api(__func__, [&] {
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    if (!pointer) return 0;
    HIP_TRY(stream_outside_capture(handle, stream));
    const Allocation* a = find_allocation(address(pointer));
    if (!a || a->pointer != address(pointer) || a->kind != MemoryKind::Device) {
      log("hipFreeAsync: %p is not an allocation", pointer);
      return error::InvalidValue;
    }
    return submit(*stream, FreeNode, [pointer] { return free_now(pointer, false); });
  });
}

// ---- one memory pool a device, which never holds memory back

namespace {

constexpr uintptr_t kFirstPool = 0x1000;

hipMemPool_t pool_of(int device) { return reinterpret_cast<hipMemPool_t>(kFirstPool + static_cast<uintptr_t>(device)); }

hipError_t get_pool(const char* name, hipMemPool_t* pool, int device) {
  return api(name, [&] {
    if (!pool) return error::InvalidValue;
    HIP_TRY(need_device(device));
    *pool = pool_of(device);
    return 0;
  });
}

}  // namespace

HIP_EXPORT hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return get_pool(__func__, pool, device);
}
HIP_EXPORT hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) { return get_pool(__func__, pool, device); }
HIP_EXPORT hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return api(__func__, [&] {
    HIP_TRY(need_device(device));
    return pool == pool_of(device) ? 0 : error::InvalidValue;
  });
}
HIP_EXPORT hipError_t hipMemPoolTrimTo(hipMemPool_t, size_t) {
  return api(__func__, [] { return need_device(); });
}
HIP_EXPORT hipError_t hipMemPoolSetAttribute(hipMemPool_t, hipMemPoolAttr, void* value) {
  return api(__func__, [&] {
    HIP_TRY(need_device());
    return value ? 0 : error::InvalidValue;
  });
}
HIP_EXPORT hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  constexpr int kLastReuse = 3, kReleaseThreshold = 4;  // the switches of reuse are int, the rest 64 bits
  return api(__func__, [&] {
    HIP_TRY(need_device());
    if (!value) return error::InvalidValue;
    const int device = static_cast<int>(reinterpret_cast<uintptr_t>(pool) - kFirstPool);
    HIP_TRY(need_device(device));
    if (static_cast<int>(attribute) <= kLastReuse)
      *static_cast<int*>(value) = 1;
    else
      *static_cast<uint64_t*>(value) =
          static_cast<int>(attribute) == kReleaseThreshold ? 0 : devices()[device].memory_used;
    return 0;
  });
}

// ---- what a pointer is

namespace {

// hipMemoryType was numbered anew in ROCm 6.
struct MemoryTypes {
  int host, device, managed;
};
constexpr MemoryTypes kTypes6{1, 2, 3}, kTypes5{0, 1, 4};

int memory_type(const Allocation& a, const MemoryTypes& types) {
  if (a.kind == MemoryKind::Host) return types.host;
  return a.kind == MemoryKind::Managed ? types.managed : types.device;
}

}  // namespace

HIP_EXPORT hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  constexpr int kInvalidDeviceId = -2;
  return api(__func__, [&] {
    HIP_TRY(need_device());
    if (!attributes || !pointer) return error::InvalidValue;
    auto* to =
        reinterpret_cast<uint8_t*>(attributes);  // the members' names differ between releases, their places do not
    auto put = [to](size_t offset, auto v) { memcpy(to + offset, &v, sizeof v); };
    memset(to, 0, sizeof(hipPointerAttribute_t));
    const bool rocm6 = runtime().settings.major() >= 6;
    const Allocation* a = find_allocation(address(pointer));
    if (!a || a->kind == MemoryKind::Internal) {  // ordinary host memory: an error until ROCm 6
      put(4, rocm6 ? kInvalidDeviceId : 0);
      return rocm6 ? 0 : error::InvalidValue;
    }
    put(0, memory_type(*a, rocm6 ? kTypes6 : kTypes5));
    put(4, a->device);
    put(8, pointer);
    put(16, a->kind == MemoryKind::Device ? nullptr : pointer);
    put(24, static_cast<int>(a->kind == MemoryKind::Managed));
    put(28, a->flags);
    return 0;
  });
}

HIP_EXPORT hipError_t hipHostGetDevicePointer(void** device_pointer, void* pointer, unsigned flags) {
  return api(__func__, [&] {
    HIP_TRY(need_device());
    if (!device_pointer || !pointer || flags) return error::InvalidValue;
    const Allocation* a = find_allocation(address(pointer));
    const bool mapped = a && a->host_visible();
    *device_pointer = mapped ? pointer : nullptr;
    return mapped ? 0 : error::InvalidValue;
  });
}

HIP_EXPORT hipError_t hipHostGetFlags(unsigned* flags, void* pointer) {
  return api(__func__, [&] {
    HIP_TRY(need_device());
    const Allocation* a = find_allocation(address(pointer));
    if (!flags || !a || a->kind != MemoryKind::Host) return error::InvalidValue;
    *flags = a->flags;
    return 0;
  });
}

HIP_EXPORT hipError_t hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  return api(__func__, [&] {
    HIP_TRY(need_device());
    const Allocation* a = find_allocation(address(pointer));
    if (!bytes || !a) return error::InvalidValue;
    *bytes = a->size;
    return 0;
  });
}

HIP_EXPORT hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t pointer) {
  return api(__func__, [&] {
    HIP_TRY(need_device());
    const Allocation* a = find_allocation(address(pointer));
    if (!a) return error::NotFound;
    if (base) *base = reinterpret_cast<hipDeviceptr_t>(a->pointer);
    if (bytes) *bytes = a->size;
    return 0;
  });
}

HIP_EXPORT hipError_t hipHostRegister(void*, size_t, unsigned) {
  return api(__func__, [] {
    HIP_TRY(need_device());
    log("hipHostRegister is not supported");
    return error::NotSupported;
  });
}
HIP_EXPORT hipError_t hipHostUnregister(void*) {
  return api(__func__, [] {
    HIP_TRY(need_device());
    return error::HostMemoryNotRegistered;
  });
}

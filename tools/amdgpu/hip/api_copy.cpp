// hip*: copies and fills.
#include "hip/copy.h"
#include "hip/runtime.h"

using namespace amdgpu;

namespace {

constexpr bool kSync = true, kAsync = false;

hipError_t copy_call(const char* name, void* to, const void* from, size_t bytes, int kind, hipStream_t handle,
                     bool sync) {
  return api(name, [&] {
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    return copy(to, from, row_of(bytes), kind, stream, sync, name);
  });
}

hipError_t copy_2d_call(const char* name, void* to, const void* from, const Rect& rect, int kind, hipStream_t handle,
                        bool sync) {
  return api(name, [&] {
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    const bool empty = !rect.width || !rect.height;
    if (!empty && (rect.to_pitch < rect.width || rect.from_pitch < rect.width)) return error::InvalidPitchValue;
    return copy(to, from, rect, kind, stream, sync, name);
  });
}

hipError_t peer_call(const char* name, void* to, int to_device, const void* from, int from_device, size_t bytes,
                     hipStream_t handle, bool sync) {
  return api(name, [&] {
    HIP_TRY(need_device(to_device));
    HIP_TRY(need_device(from_device));
    if (sync) {
      drain_device(to_device);
      drain_device(from_device);
    }
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    return copy(to, from, row_of(bytes), DeviceToDevice, stream, sync, name);
  });
}

hipError_t fill_call(const char* name, void* to, uint32_t value, int element_bytes, size_t count, hipStream_t handle,
                     bool sync) {
  return api(name, [&] {
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    return fill(to, {value, element_bytes, count, 1, count * static_cast<size_t>(element_bytes)}, stream, sync, name);
  });
}

hipError_t fill_2d_call(const char* name, void* to, size_t pitch, int value, size_t width, size_t height,
                        hipStream_t handle, bool sync) {
  return api(name, [&] {
    std::shared_ptr<Stream> stream;
    HIP_TRY(find_stream(handle, stream));
    if (pitch < width) return error::InvalidPitchValue;
    return fill(to, {static_cast<uint8_t>(value), 1, width, height, pitch}, stream, sync, name);
  });
}

}  // namespace

HIP_EXPORT hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  return copy_call(__func__, to, from, bytes, static_cast<int>(kind), nullptr, kSync);
}
HIP_EXPORT hipError_t hipMemcpyWithStream(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t s) {
  return copy_call(__func__, to, from, bytes, static_cast<int>(kind), s, kSync);
}
HIP_EXPORT hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t s) {
  return copy_call(__func__, to, from, bytes, static_cast<int>(kind), s, kAsync);
}
HIP_EXPORT hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void* from, size_t bytes) {
  return copy_call(__func__, to, from, bytes, HostToDevice, nullptr, kSync);
}
HIP_EXPORT hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes) {
  return copy_call(__func__, to, from, bytes, DeviceToHost, nullptr, kSync);
}
HIP_EXPORT hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
  return copy_call(__func__, to, from, bytes, DeviceToDevice, nullptr, kSync);
}
HIP_EXPORT hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void* from, size_t bytes, hipStream_t s) {
  return copy_call(__func__, to, from, bytes, HostToDevice, s, kAsync);
}
HIP_EXPORT hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, size_t bytes, hipStream_t s) {
  return copy_call(__func__, to, from, bytes, DeviceToHost, s, kAsync);
}
HIP_EXPORT hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t s) {
  return copy_call(__func__, to, from, bytes, DeviceToDevice, s, kAsync);
}

HIP_EXPORT hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return peer_call(__func__, to, to_device, from, from_device, bytes, nullptr, kSync);
}
HIP_EXPORT hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                         hipStream_t s) {
  return peer_call(__func__, to, to_device, from, from_device, bytes, s, kAsync);
}

HIP_EXPORT hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                  size_t height, hipMemcpyKind kind) {
  return copy_2d_call(__func__, to, from, {width, height, to_pitch, from_pitch}, static_cast<int>(kind), nullptr,
                      kSync);
}
HIP_EXPORT hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                       size_t height, hipMemcpyKind kind, hipStream_t s) {
  return copy_2d_call(__func__, to, from, {width, height, to_pitch, from_pitch}, static_cast<int>(kind), s, kAsync);
}

HIP_EXPORT hipError_t hipMemset(void* to, int value, size_t bytes) {
  return fill_call(__func__, to, static_cast<uint8_t>(value), 1, bytes, nullptr, kSync);
}
HIP_EXPORT hipError_t hipMemsetAsync(void* to, int value, size_t bytes, hipStream_t s) {
  return fill_call(__func__, to, static_cast<uint8_t>(value), 1, bytes, s, kAsync);
}
HIP_EXPORT hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  return fill_call(__func__, to, value, 1, count, nullptr, kSync);
}
HIP_EXPORT hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  return fill_call(__func__, to, value, 2, count, nullptr, kSync);
}
HIP_EXPORT hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  return fill_call(__func__, to, static_cast<uint32_t>(value), 4, count, nullptr, kSync);
}
HIP_EXPORT hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t s) {
  return fill_call(__func__, to, value, 1, count, s, kAsync);
}
HIP_EXPORT hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count, hipStream_t s) {
  return fill_call(__func__, to, value, 2, count, s, kAsync);
}
HIP_EXPORT hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t s) {
  return fill_call(__func__, to, static_cast<uint32_t>(value), 4, count, s, kAsync);
}
HIP_EXPORT hipError_t hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return fill_2d_call(__func__, to, pitch, value, width, height, nullptr, kSync);
}
HIP_EXPORT hipError_t hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, hipStream_t s) {
  return fill_2d_call(__func__, to, pitch, value, width, height, s, kAsync);
}

// Owners of what a Device makes: each destroys its object, and keeps the device alive. A failure to destroy is logged.
#pragma once
#include <string>
#include <utility>

#include "gpu/driver.h"

namespace hf::gpu {

void log_destroy_failure(const char* what) noexcept;

/// Move-only owner of a handle or address that `Destroy` gives back.
template <class Handle, void (Device::*Destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  Owned(std::shared_ptr<Device> device, Handle handle) : device_(std::move(device)), handle_(handle) {}
  Owned(Owned&& other) noexcept : device_(std::move(other.device_)), handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      device_ = std::move(other.device_);
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Owned() { reset(); }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  Device& device() const { return *device_; }
  const std::shared_ptr<Device>& shared_device() const { return device_; }

  void reset() noexcept {
    if (Handle handle = std::exchange(handle_, nullptr)) {
      try {
        (device_.get()->*Destroy)(handle);
      } catch (const std::exception& e) {
        log_destroy_failure(e.what());
      }
    }
    device_.reset();
  }

 private:
  std::shared_ptr<Device> device_;
  Handle handle_ = nullptr;
};

/// Device memory.
class DeviceBuffer : public Owned<void*, &Device::free> {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(const std::shared_ptr<Device>& device, int64_t bytes)
      : Owned(device, device->alloc(bytes)), bytes_(bytes) {}
  int64_t size_bytes() const { return bytes_; }
  void* at(int64_t offset) const { return static_cast<char*>(get()) + offset; }

 private:
  int64_t bytes_ = 0;
};

/// Pinned host memory.
class HostBuffer : public Owned<void*, &Device::host_free> {
 public:
  HostBuffer() = default;
  HostBuffer(const std::shared_ptr<Device>& device, int64_t bytes)
      : Owned(device, device->host_alloc(bytes)), bytes_(bytes) {}
  int64_t size_bytes() const { return bytes_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(get());
  }

 private:
  int64_t bytes_ = 0;
};

class Event : public Owned<EventHandle, &Device::event_destroy> {
 public:
  Event() = default;
  explicit Event(const std::shared_ptr<Device>& device) : Owned(device, device->event_create()) {}
  void synchronize() const { device().event_synchronize(get()); }
};

class Stream;

/// Recorded work.
class Graph : public Owned<GraphHandle, &Device::graph_destroy> {
 public:
  using Owned::Owned;
  void launch(const Stream& stream) const;
};

class Stream : public Owned<StreamHandle, &Device::stream_destroy> {
 public:
  Stream() = default;
  explicit Stream(const std::shared_ptr<Device>& device) : Owned(device, device->stream_create()) {}
  void synchronize() const { device().stream_synchronize(get()); }
  void record(const Event& event) const { device().event_record(event.get(), get()); }
  void wait(const Event& event) const { device().event_wait(event.get(), get()); }
  /// Records what `work()` queues on this stream. If it throws, the capture is ended and its exception goes on.
  template <class F>
  Graph capture(F&& work) const {
    device().capture_begin(get());
    try {
      work();
    } catch (...) {
      abandon_capture();
      throw;
    }
    return Graph(shared_device(), device().capture_end(get()));
  }

 private:
  void abandon_capture() const noexcept;
};

inline void Graph::launch(const Stream& stream) const { device().graph_launch(get(), stream.get()); }

/// A loaded code object.
class Module : public Owned<ModuleHandle, &Device::module_unload> {
 public:
  Module() = default;
  Module(const std::shared_ptr<Device>& device, std::string_view code) : Owned(device, device->module_load(code)) {}
  FunctionHandle function(const std::string& name) const { return device().function(get(), name.c_str()); }
};

/// Queues a kernel with its arguments by value; their types must be exactly those of the kernel's parameters.
template <class... Args>
void launch(const Stream& stream, FunctionHandle function, const LaunchDims& dims, Args... args) {
  void* pointers[] = {static_cast<void*>(&args)..., nullptr};
  stream.device().launch(function, dims, pointers, stream.get());
}

}  // namespace hf::gpu

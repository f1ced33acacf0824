// CUDA's driver API, opened with dlopen. It runs the same kernels through the same calls as HIP.
#include <map>
#include <mutex>

#include "base/error.h"
#include "gpu/drivers.h"
#include "gpu/native.h"
#include "gpu/places.h"

namespace hf::gpu {
namespace {

// CUdevice_attribute and CUfunction_attribute, CUDA driver API reference.
enum Attribute {
  kMaxThreads = 1,
  kWarpSize = 10,
  kClockRate = 13,
  kProcessors = 16,
  kMajor = 75,
  kMinor = 76,
  kMaxSharedOptIn = 97
};
enum FunctionAttribute { kStaticShared = 1, kMaxDynamicShared = 8 };

class CudaApi final : public NativeApi {
 public:
  explicit CudaApi(const Library& library) : NativeApi(library) {
#define NATIVE(member, hip, cuda, need, ...) bind(member, library, cuda, Need::need);
#include "gpu/native.def"
#undef NATIVE
#define SYMBOL(member, symbol, need, type, ...) bind(member, library, symbol, Need::need);
#include "gpu/cuda.def"
#undef SYMBOL
  }

  void make_current(int device) const override { invoke(*this, set_context, context_of(device)); }

  std::string error_text(int status) const override {
    const char *name = nullptr, *text = nullptr;
    error_name.function(status, &name);
    error_string.function(status, &text);
    return fmt::format("{} ({})", name ? name : "unknown", text ? text : fmt::format("status {}", status));
  }

  // Beyond 48 KiB a kernel must be told that it may.
  void allow_all_lds(FunctionHandle function, const DeviceInfo& info) const override {
    int fixed = 0;
    invoke(*this, function_attribute, &fixed, int{kStaticShared}, function);
    invoke(*this, set_function_attribute, function, int{kMaxDynamicShared}, static_cast<int>(info.lds_bytes) - fixed);
  }

  int attribute(Attribute which, int device) const {
    int value = 0;
    invoke(*this, device_attribute, &value, int{which}, device);
    return value;
  }

#define SYMBOL(member, symbol, need, type, ...) NativeCallOf<type(__VA_ARGS__)>::Type member;
#include "gpu/cuda.def"
#undef SYMBOL

 private:
  // The primary context, shared with any other library of the process; kept for its life.
  void* context_of(int device) const {
    std::lock_guard lock(mutex_);
    void*& context = contexts_[device];
    if (!context) invoke(*this, retain_context, &context, device);
    return context;
  }
  mutable std::mutex mutex_;
  mutable std::map<int, void*> contexts_;
};

class CudaDriver final : public Driver {
 public:
  CudaDriver() : api_(Library::open(cuda_search())) {
    int status = api_.init.function(0);
    if (status != 100) check_status(api_, api_.init.symbol, status);
    count_ = status == 0 ? native_device_count(api_) : 0;
  }

  std::string_view name() const override { return "cuda"; }

  std::string version() const override {
    int v = 0;
    invoke(api_, api_.driver_version, &v);
    return fmt::format("CUDA {}.{}, {}", v / 1000, v % 1000 / 10, api_.library.path());
  }

  int device_count() override { return count_; }

  std::shared_ptr<Device> open(int index) override {
    check_index(index);
    char text[256] = "";
    size_t bytes = 0;
    invoke(api_, api_.device_name, text, 255, index);
    invoke(api_, api_.device_memory, &bytes, index);
    return make_native_device(
        api_, index,
        {.name = text,
         .arch = fmt::format("sm_{}{}", api_.attribute(kMajor, index), api_.attribute(kMinor, index)),
         .wave_size = api_.attribute(kWarpSize, index),
         .compute_units = api_.attribute(kProcessors, index),
         .lds_bytes = api_.attribute(kMaxSharedOptIn, index),
         .max_threads = api_.attribute(kMaxThreads, index),
         .memory_bytes = static_cast<int64_t>(bytes),
         .clock_khz = api_.attribute(kClockRate, index),
         .pci_id = native_pci_id(api_, index),
         .lds_at_launch = true});
  }

 private:
  CudaApi api_;
  int count_ = 0;
};

}  // namespace

std::unique_ptr<Driver> make_cuda_driver() { return std::make_unique<CudaDriver>(); }

}  // namespace hf::gpu

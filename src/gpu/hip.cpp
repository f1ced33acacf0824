// The HIP runtime, opened with dlopen: any ROCm from 5 on, none at build time.
#include <cstring>
#include <vector>

#include "base/error.h"
#include "gpu/drivers.h"
#include "gpu/native.h"
#include "gpu/places.h"

namespace hf::gpu {
namespace {

class HipApi final : public NativeApi {
 public:
  explicit HipApi(const Library& library) : NativeApi(library) {
#define NATIVE(member, hip, cuda, need, ...) bind(member, library, hip, Need::need);
#include "gpu/native.def"
#undef NATIVE
#define SYMBOL(member, symbol, need, type, ...) bind(member, library, symbol, Need::need);
#include "gpu/hip.def"
#undef SYMBOL
  }

  void make_current(int device) const override { invoke(*this, set_device, device); }

  std::string error_text(int status) const override {
    const char *name = error_name.function(status), *text = error_string.function(status);
    return fmt::format("{} ({})", name ? name : "unknown", text ? text : fmt::format("status {}", status));
  }

#define SYMBOL(member, symbol, need, type, ...) NativeCallOf<type(__VA_ARGS__)>::Type member;
#include "gpu/hip.def"
#undef SYMBOL
};

/// hipDeviceProp_t in whichever layout the runtime has.
class Properties {
 public:
  Properties(const HipApi& api, int device) : bytes_(16384), from_rocm6_(api.properties6.function != nullptr) {
    if (from_rocm6_)
      invoke(api, api.properties6, static_cast<void*>(bytes_.data()), device);
    else
      invoke(api, api.properties5, static_cast<void*>(bytes_.data()), device);
  }

#define PROPERTY(member, rocm6, rocm5) \
  const char* member() const { return bytes_.data() + (from_rocm6_ ? rocm6 : rocm5); }
#include "gpu/hip_properties.def"
#undef PROPERTY

 private:
  std::vector<char> bytes_;  // far more than either layout, for those to come
  bool from_rocm6_;
};

template <class T>
T read(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string read_text(const char* at) { return std::string(at, strnlen(at, 256)); }

class HipDriver final : public Driver {
 public:
  HipDriver() : api_(Library::open(hip_search())) {
    int status = api_.init.function(0);
    count_ = status == 0 || status == 100 ? native_device_count(api_) : 0;
    if (status != 100) check_status(api_, api_.init.symbol, status);
  }

  std::string_view name() const override { return "hip"; }

  std::string version() const override {
    int v = 0;
    invoke(api_, api_.runtime_version, &v);
    return fmt::format("HIP {}.{}.{}, {}", v / 10000000, v / 100000 % 100, v % 100000, api_.library.path());
  }

  int device_count() override { return count_; }

  std::shared_ptr<Device> open(int index) override {
    check_index(index);
    Properties p(api_, index);
    return make_native_device(api_, index,
                              {.name = read_text(p.name()),
                               .arch = read_text(p.gcnArchName()),
                               .wave_size = read<int>(p.warpSize()),
                               .compute_units = read<int>(p.multiProcessorCount()),
                               .lds_bytes = static_cast<int64_t>(read<size_t>(p.sharedMemPerBlock())),
                               .max_threads = read<int>(p.maxThreadsPerBlock()),
                               .memory_bytes = static_cast<int64_t>(read<size_t>(p.totalGlobalMem())),
                               .clock_khz = read<int>(p.clockRate()),
                               .pci_id = native_pci_id(api_, index),
                               .lds_at_launch = false});
  }

 private:
  HipApi api_;
  int count_ = 0;
};

}  // namespace

std::unique_ptr<Driver> make_hip_driver() { return std::make_unique<HipDriver>(); }

}  // namespace hf::gpu

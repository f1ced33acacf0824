// The devices that tests of kernels and drivers run on: the emulators always, a GPU where its runtime finds one.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "gpu/loaded_kernel.h"

namespace hf::gpu {

inline std::vector<std::string> all_devices() { return {"emu", "emu:gfx942", "hip", "cuda"}; }

/// "emu:gfx942" as part of a test's name.
inline std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string text = info.param;
  for (char& c : text)
    if (c == ':') c = '_';
  return text;
}

/// A test on the device its parameter names; skipped with what was tried where there is none. Nothing may leak.
class OnDevice : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      device = open_device(GetParam());
    } catch (const Error& e) {
      GTEST_SKIP() << GetParam() << ": " << e.what();
    }
    try {
      compiler_for(device->info().arch);
    } catch (const Error& e) {
      GTEST_SKIP() << GetParam() << ": " << e.what();
    }
    stream = Stream(device);
  }
  void TearDown() override {
    if (!device) return;
    stream.reset();
    EXPECT_TRUE(device->counts().none()) << "something of " << GetParam() << " leaked";
  }

  template <class T>
  DeviceBuffer to_device(const std::vector<T>& values) {
    DeviceBuffer buffer(device, static_cast<int64_t>(values.size() * sizeof(T)));
    device->copy_to_device(buffer.get(), values.data(), buffer.size_bytes(), stream.get());
    stream.synchronize();
    return buffer;
  }
  template <class T>
  std::vector<T> to_host(const DeviceBuffer& buffer) {
    std::vector<T> values(static_cast<size_t>(buffer.size_bytes()) / sizeof(T));
    device->copy_to_host(values.data(), buffer.get(), buffer.size_bytes(), stream.get());
    stream.synchronize();
    return values;
  }

  std::shared_ptr<Device> device;
  Stream stream;
};

#define HF_ON_ALL_DEVICES(Suite) \
  INSTANTIATE_TEST_SUITE_P(Device, Suite, testing::ValuesIn(::hf::gpu::all_devices()), ::hf::gpu::test_name)

}  // namespace hf::gpu

// What the emulator alone promises: it finds mistakes of kernels that a GPU would hide.
#include "gpu/devices.h"
#include "kernel/device_header.h"

namespace hf::gpu {
namespace {

class Emulator : public testing::Test {
 protected:
  std::shared_ptr<Device> device = open_device("emu");
  Stream stream{device};
  Module load(const std::string& kernel) {
    Source s{.name = "emulator", .text = kernel::device_header() + kernel, .entries = {"k"}, .defines = {}};
    return Module(device, compiler("host").compile(s, "emu").bytes);
  }
  std::string error_of(const std::string& kernel) {
    Module module = load(kernel);
    DeviceBuffer p(device, 4096);
    try {
      launch(stream, module.function("k"), {.block = {64, 1, 1}, .lds_bytes = 1024}, static_cast<int*>(p.get()));
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(Emulator, ThreadsThatWaitForeverAreAnError) {
  EXPECT_EQ(error_of("KERNEL(64, 1) k(int* p) { if (thread_x() < 3) barrier(); else shuffle((u32)1, 0); }"),
            "driver error: kernel 'k' block (0, 0, 0): threads wait for each other: 3 at a barrier, 29 at a shuffle");
  // and the emulator goes on
  EXPECT_EQ(error_of("KERNEL(64, 1) k(int* p) { barrier(); p[thread_x()] = 1; }"), "");
}

TEST_F(Emulator, AMissingBarrierShows) {
  Module module = load(R"(KERNEL(64, 1) k(int* p) {
    LDS(lds, 256);
    int* s = (int*)lds;
    s[thread_x()] = thread_x();
    p[block_x() * 64 + thread_x()] = s[63 - thread_x()];
  })");
  DeviceBuffer p(device, 512);
  launch(stream, module.function("k"), {.grid = {2, 1, 1}, .block = {64, 1, 1}, .lds_bytes = 256},
         static_cast<int*>(p.get()));
  auto* got = static_cast<int*>(p.get());
  bool right[2] = {true, true};
  for (int i = 0; i < 128; ++i) right[i / 64] &= got[i] == 63 - i % 64;
  EXPECT_FALSE(right[0] && right[1]);
}

TEST_F(Emulator, FreshMemoryAndLdsAreNaN) {
  DeviceBuffer fresh(device, 64);
  EXPECT_NE(static_cast<float*>(fresh.get())[7], static_cast<float*>(fresh.get())[7]);
  Module module = load("KERNEL(64, 1) k(int* p) { LDS(lds, 256); p[thread_x()] = ((int*)lds)[thread_x()]; }");
  DeviceBuffer p(device, 256);
  launch(stream, module.function("k"), {.block = {64, 1, 1}, .lds_bytes = 256}, static_cast<int*>(p.get()));
  EXPECT_NE(static_cast<float*>(p.get())[63], static_cast<float*>(p.get())[63]);
}

TEST_F(Emulator, CopiesBeyondAnAllocationAreRefused) {
  DeviceBuffer p(device, 100);
  char host[200] = {};
  EXPECT_THROW(device->copy_to_device(p.get(), host, 101, stream.get()), Error);
  EXPECT_THROW(device->copy_to_host(host, p.at(50), 51, stream.get()), Error);
  EXPECT_THROW(device->copy_to_device(host, host + 100, 10, stream.get()), Error);
  EXPECT_THROW(device->fill(p.get(), 0, 101, stream.get()), Error);
}

TEST_F(Emulator, CodeForAnotherWaveSizeIsRefused) {
  Source s{.name = "emulator",
           .text = kernel::device_header() + "KERNEL(64, 1) k(int* p) {}",
           .entries = {"k"},
           .defines = {}};
  std::string code = compiler("host").compile(s, "emu:gfx942").bytes;
  EXPECT_THROW(Module(device, code), Error);
  Module(open_device("emu:gfx90a"), code);
}

TEST(Devices, AreFoundByText) {
  EXPECT_EQ(open_device("emu")->info().arch, "emu");
  EXPECT_EQ(open_device("emu:1")->info().arch, "emu:gfx90a");
  EXPECT_EQ(open_device("emu:gfx1100")->info().wave_size, 32);
  for (const char* bad : {"emu:gfx000", "emu:99", "opencl", "", "emu:"}) EXPECT_THROW(open_device(bad), Error) << bad;
}

}  // namespace
}  // namespace hf::gpu

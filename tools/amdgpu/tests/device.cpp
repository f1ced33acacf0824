// Devices, their properties in both layouts, and which of them a program sees.
#include "tests/hip.h"

namespace amdgpu::tests {
namespace {

class EachDevice : public OnEachArch {};
INSTANTIATE_TEST_SUITE_P(, EachDevice, kArchs, arch_name);
class DeviceKernels : public WithKernels {};

constexpr size_t kSize6 = 1472, kSize5 = 792;  // bytes of hipDeviceProp_t
constexpr unsigned char kUntouched = 0xcc;

TEST_P(EachDevice, PropertiesOfBothLayouts) {
  on_arch([] {
    alignas(16) unsigned char p6[kSize6 + 64], p5[kSize5 + 64];
    memset(p6, kUntouched, sizeof p6);
    memset(p5, kUntouched, sizeof p5);
    EXPECT_OK(hipGetDevicePropertiesR0600(p6, 0));
    EXPECT_OK(hipGetDeviceProperties(p5, 0));
    EXPECT_EQ(p6[kSize6], kUntouched);
    EXPECT_EQ(p5[kSize5], kUntouched);
    const auto *name6 = reinterpret_cast<char*>(p6) + 1160, *name5 = reinterpret_cast<char*>(p5) + 396;
    EXPECT_EQ(std::string(name6).substr(0, arch().size()), arch());
    EXPECT_STREQ(name6, name5);
    EXPECT_EQ(at<int>(p6, 308), wave());
    EXPECT_EQ(at<int>(p5, 276), wave());
    EXPECT_EQ(at<int>(p6, 320), 1024);       // threads of a block
    EXPECT_EQ(at<size_t>(p6, 296), 65536u);  // LDS
    EXPECT_EQ(at<size_t>(p5, 264), 65536u);
    EXPECT_GE(at<int>(p6, 388), 8);  // multiprocessors
    EXPECT_EQ(at<int>(p5, 336), at<int>(p6, 388));
    EXPECT_EQ(at<size_t>(p6, 288), at<size_t>(p5, 256));  // memory
    const int major = arch()[3] == '9' ? 9 : arch()[4] - '0' + 10;
    EXPECT_EQ(at<int>(p6, 360), major);
    EXPECT_EQ(at<int>(p5, 328), major);
  });
}

TEST_P(EachDevice, Attributes) {
  on_arch([] {
    int n = 0, v = 0;
    EXPECT_OK(hipInit(0));
    EXPECT_OK(hipGetDeviceCount(&n));
    EXPECT_EQ(n, 1);
    EXPECT_OK(hipDriverGetVersion(&v));
    EXPECT_EQ(v, 60342131);
    EXPECT_OK(hipDeviceGetAttribute(&v, 87, 0));
    EXPECT_EQ(v, wave());
    EXPECT_OK(hipDeviceGetAttribute(&v, 74, 0));
    EXPECT_EQ(v, 65536);
    EXPECT_EQ(hipDeviceGetAttribute(&v, 5555, 0), error::InvalidValue);
    EXPECT_EQ(hipDeviceGetAttribute(&v, 87, 3), error::InvalidDevice);
    alignas(16) unsigned char p6[kSize6];
    EXPECT_OK(hipGetDevicePropertiesR0600(p6, 0));
    EXPECT_OK(hipDeviceGetAttribute(&v, 63, 0));
    EXPECT_EQ(v, at<int>(p6, 388));
    char name[128];
    EXPECT_OK(hipDeviceGetName(name, sizeof name, 0));
    EXPECT_STREQ(name, reinterpret_cast<char*>(p6));
    EXPECT_EQ(hipDeviceGetName(name, 3, 0), error::InvalidValue);
    EXPECT_OK(hipDeviceGetPCIBusId(name, 32, 0));
    EXPECT_STREQ(name, "0000:03:00.0");
  });
}

TEST_P(EachDevice, Errors) {
  on_arch([] {
    EXPECT_STREQ(hipGetErrorName(error::OutOfMemory), "hipErrorOutOfMemory");
    EXPECT_STREQ(hipGetErrorName(0), "hipSuccess");
    EXPECT_STREQ(hipGetErrorName(12345), "hipErrorUnknown");
    EXPECT_STREQ(hipGetErrorString(error::OutOfMemory), "out of memory");
    int v = 7, can = 1;
    EXPECT_EQ(hipSetDevice(1), error::InvalidDevice);
    EXPECT_EQ(hipGetLastError(), error::InvalidDevice);
    EXPECT_OK(hipGetLastError());
    EXPECT_OK(hipSetDevice(0));
    EXPECT_OK(hipGetDevice(&v));
    EXPECT_EQ(v, 0);
    EXPECT_OK(hipDeviceGet(&v, 0));
    EXPECT_OK(hipDeviceCanAccessPeer(&can, 0, 0));
    EXPECT_EQ(can, 0);
  });
}

void no_device() {
  int n = 7;
  void* p;
  EXPECT_EQ(hipGetDeviceCount(&n), error::NoDevice);
  EXPECT_EQ(n, 0);
  EXPECT_EQ(hipMalloc(&p, 4), error::NoDevice);
  EXPECT_EQ(hipInit(0), error::NoDevice);
  EXPECT_EQ(hipSetDevice(0), error::NoDevice);
  EXPECT_EQ(hipDeviceSynchronize(), error::NoDevice);
}

TEST(Devices, NoneOfAnUnknownArch) { scenario({"AMDEMU_ARCH=gfx1010"}, no_device); }
TEST(Devices, NoneVisible) { scenario({"AMDEMU_ARCH=gfx942", "HIP_VISIBLE_DEVICES=-1"}, no_device); }

TEST(Devices, VisibleOnesAreSelected) {
  scenario({"AMDEMU_ARCH=gfx942,gfx1201", "HIP_VISIBLE_DEVICES=1"}, [] {
    int n;
    EXPECT_OK(hipGetDeviceCount(&n));
    EXPECT_EQ(n, 1);
    char p6[kSize6];
    EXPECT_OK(hipGetDevicePropertiesR0600(p6, 0));
    EXPECT_STREQ(p6 + 1160, "gfx1201");
  });
}

TEST_F(DeviceKernels, TwoDevices) {
  scenario({"AMDEMU_ARCH=gfx942,gfx1100", "AMDEMU_FAULT=error"}, [] {
    int n;
    EXPECT_OK(hipGetDeviceCount(&n));
    EXPECT_EQ(n, 2);
    ModuleHandle other;
    EXPECT_OK(hipSetDevice(0));
    ModuleHandle m0 = load("gfx942");
    EXPECT_EQ(hipModuleLoad(&other, kernel_file("gfx1100").c_str()), error::NoBinaryForGpu);
    EXPECT_OK(hipSetDevice(1));
    ModuleHandle m1 = load("gfx1100");
    EXPECT_EQ(hipModuleLoad(&other, kernel_file("gfx942").c_str()), error::NoBinaryForGpu);

    // The right member of a bundle is taken.
    const std::string bundle = read_file(kernel_file("bundle"));
    ModuleHandle b;
    EXPECT_OK(hipModuleLoadData(&b, bundle.data()));
    int* d1 = device_array<int>(64);
    EXPECT_OK(run(function(b, "fill"), 1, 64, 0, nullptr, d1, 10, 64));
    Stream s1;
    EXPECT_OK(hipStreamCreate(&s1));
    EXPECT_OK(hipSetDevice(0));
    EXPECT_OK(hipModuleLoadData(&b, bundle.data()));
    int* d0 = device_array<int>(64);
    EXPECT_OK(run(function(m0, "fill"), 1, 64, 0, nullptr, d0, 500, 64));
    EXPECT_EQ(read_array(d0, 64)[3], 503);

    // Copies between devices.
    EXPECT_OK(hipMemcpyPeer(d0, 0, d1, 1, 128));
    const auto r = read_array(d0, 64);
    EXPECT_EQ(r[3], 13);
    EXPECT_EQ(r[40], 540);
    EXPECT_OK(hipMemcpyPeerAsync(d0, 0, d1, 1, 256, nullptr));
    EXPECT_OK(hipMemcpy(d1, d0, 256, ByAddress));
    char attributes[32];
    EXPECT_OK(hipPointerGetAttributes(attributes, d1));
    EXPECT_EQ(at<int>(attributes, 4), 1);

    // A module of device 1 on a stream of device 0.
    EXPECT_EQ(run(function(m1, "fill"), 1, 64, 0, nullptr, d0, 1, 64), error::InvalidDevice);

    // Peer access.
    int can = 0;
    EXPECT_OK(hipDeviceCanAccessPeer(&can, 0, 1));
    EXPECT_EQ(can, 1);
    EXPECT_OK(hipDeviceEnablePeerAccess(1, 0));
    EXPECT_EQ(hipDeviceEnablePeerAccess(1, 0), error::PeerAccessAlreadyEnabled);
    EXPECT_OK(run(function(m0, "fill"), 1, 64, 0, nullptr, d1, 7000, 64));
    EXPECT_OK(hipDeviceSynchronize());
    EXPECT_OK(hipSetDevice(1));
    EXPECT_EQ(read_array(d1, 64)[5], 7005);

    // Pinned memory is seen by both.
    void* pinned;
    EXPECT_OK(hipHostMalloc(&pinned, 256, 0));
    EXPECT_OK(run(function(m1, "fill"), 1, 64, 0, s1, static_cast<int*>(pinned), 1, 64));
    EXPECT_OK(hipStreamSynchronize(s1));
    EXPECT_EQ(static_cast<int*>(pinned)[9], 10);

    // Device 1 has no access to device 0: the error sticks to device 1 only.
    EXPECT_OK(run(function(m1, "fill"), 1, 64, 0, nullptr, d0, 1, 64));
    EXPECT_EQ(hipDeviceSynchronize(), error::IllegalAddress);
    EXPECT_EQ(hipMalloc(&pinned, 4), error::IllegalAddress);
    EXPECT_OK(hipSetDevice(0));
    EXPECT_OK(hipDeviceSynchronize());
    EXPECT_OK(hipSetDevice(1));
    EXPECT_OK(hipDeviceReset());
    EXPECT_OK(hipMalloc(&pinned, 4));
  });
}

// The oldest and the newest runtime whose behaviour differs.
TEST_F(DeviceKernels, Rocm7) {
  scenario({"AMDEMU_ARCH=gfx942", "AMDEMU_HIP_VERSION=70051831"}, [] {
    Function f = function(load(arch()), "dynlds");
    int v;
    EXPECT_OK(hipRuntimeGetVersion(&v));
    EXPECT_EQ(v, 70051831);
    EXPECT_OK(hipFuncSetAttribute(f, 8, 32768));
    EXPECT_EQ(hipFuncSetAttribute(f, 8, 70000), error::InvalidValue);
    int* p = device_array<int>(64);
    EXPECT_EQ(run(f, 1, 1025, 0, nullptr, p, p, 1), error::InvalidConfiguration);
  });
}

TEST(Devices, Rocm5) {
  scenario({"AMDEMU_HIP_VERSION=50221153"}, [] {
    char attributes[32];
    int *p = device_array<int>(4), ordinary, v;
    EXPECT_OK(hipPointerGetAttributes(attributes, p));
    EXPECT_EQ(at<int>(attributes, 0), 1);  // hipMemoryTypeDevice was 1
    EXPECT_EQ(hipPointerGetAttributes(attributes, &ordinary), error::InvalidValue);
    EXPECT_OK(hipRuntimeGetVersion(&v));
    EXPECT_EQ(v, 50221153);
  });
}

}  // namespace
}  // namespace amdgpu::tests

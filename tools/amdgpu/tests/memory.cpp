// Allocation, copies, fills, pointer attributes.
#include "tests/hip.h"

namespace amdgpu::tests {
namespace {

class MemoryKernels : public WithKernels {};

std::vector<int> numbers(size_t n) {
  std::vector<int> v(n);
  for (size_t i = 0; i < n; i++) v[i] = static_cast<int>(i) * 7;
  return v;
}

TEST(Memory, AllocationsAreCountedInPages) {
  scenario({}, [] {
    size_t total, before, after;
    EXPECT_OK(hipDeviceTotalMem(&total, 0));
    EXPECT_OK(hipMemGetInfo(&before, &total));
    EXPECT_EQ(before, total);
    char *a = device_array<char>(1000), *b = device_array<char>(1 << 20);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a) & 255, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b) & 255, 0u);
    EXPECT_OK(hipMemGetInfo(&after, &total));
    EXPECT_EQ(before - after, 4096u + (1 << 20));
    EXPECT_OK(hipDeviceReset());
    EXPECT_OK(hipMemGetInfo(&after, &total));
    EXPECT_EQ(before, after);
  });
}

TEST(Memory, IsPoisoned) {
  scenario({}, [] { EXPECT_EQ(read_array(device_array<uint16_t>(16), 16)[3], 0x7ffe); });
  scenario({"AMDEMU_POISON=1234"}, [] { EXPECT_EQ(read_array(device_array<uint16_t>(16), 16)[3], 0x1234); });
  scenario({"AMDEMU_POISON=off"}, [] { EXPECT_EQ(read_array(device_array<uint16_t>(16), 16)[3], 0); });
}

TEST(Memory, Copies) {
  scenario({}, [] {
    char* b = device_array<char>(1 << 16);
    const auto h = numbers(256);
    std::vector<int> g(256);
    EXPECT_OK(hipMemcpy(b, h.data(), 1024, HostToDevice));
    EXPECT_OK(hipMemcpyDtoD(b + 4096, b, 1024));
    EXPECT_EQ(read_array(reinterpret_cast<int*>(b + 4096), 256), h);
    EXPECT_OK(hipMemcpyHtoD(b, const_cast<int*>(h.data()) + 1, 512));
    EXPECT_OK(hipMemcpyDtoH(g.data(), b, 512));
    EXPECT_EQ(g[99], h[100]);
    EXPECT_OK(hipMemcpy(g.data(), b, 512, ByAddress));
    EXPECT_OK(hipMemcpy2D(b, 64, h.data(), 32, 32, 4, HostToDevice));
    g = read_array(reinterpret_cast<int*>(b), 64);
    EXPECT_EQ(g[16], h[8]);
    EXPECT_EQ(g[48], h[24]);
  });
}

TEST(Memory, Fills) {
  scenario({}, [] {
    char* b = device_array<char>(1024);
    EXPECT_OK(hipMemset(b, 0x5a, 100));
    EXPECT_OK(hipMemsetD16(b + 128, 0x1234, 8));
    EXPECT_OK(hipMemsetD32(b + 256, -5, 8));
    EXPECT_OK(hipMemsetD8(b + 512, 9, 3));
    const auto c = read_array(b, 1024);
    EXPECT_EQ(c[99], 0x5a);
    EXPECT_NE(c[100], 0x5a);
    EXPECT_EQ(at<short>(&c[142], 0), 0x1234);
    EXPECT_EQ(at<int>(&c[284], 0), -5);
    EXPECT_EQ(c[514], 9);
  });
}

TEST(Memory, BadCopiesAreRefused) {
  scenario({}, [] {
    char *a = device_array<char>(1000), *b = device_array<char>(4096);
    auto h = numbers(256);
    EXPECT_EQ(hipMemcpy(a, h.data(), 1001, HostToDevice), error::InvalidValue);
    EXPECT_EQ(hipMemcpy(b, h.data(), 10, DeviceToHost), error::InvalidValue);
    EXPECT_EQ(hipMemcpy(h.data(), h.data(), 10, HostToDevice), error::InvalidValue);
    EXPECT_EQ(hipMemcpy(b, h.data(), 10, 9), error::InvalidMemcpyDirection);
    EXPECT_EQ(hipMemcpy(nullptr, h.data(), 10, HostToDevice), error::InvalidValue);
    EXPECT_OK(hipMemcpy(b, h.data(), 0, HostToDevice));
  });
}

TEST(Memory, BadFreesAreRefused) {
  scenario({}, [] {
    char* a = device_array<char>(1000);
    int ordinary[4];
    EXPECT_EQ(hipFree(a + 8), error::InvalidValue);
    EXPECT_EQ(hipFree(reinterpret_cast<void*>(0x1234)), error::InvalidValue);
    EXPECT_EQ(hipFree(ordinary), error::InvalidValue);
    EXPECT_OK(hipFree(nullptr));
    EXPECT_OK(hipFree(a));
    EXPECT_EQ(hipFree(a), error::InvalidValue);
    EXPECT_EQ(hipMemcpy(ordinary, a, 4, DeviceToHost), error::InvalidValue);
    EXPECT_EQ(hipMemset(a, 0, 4), error::InvalidValue);
    void* z = ordinary;
    EXPECT_OK(hipMalloc(&z, 0));
    EXPECT_EQ(z, nullptr);
    EXPECT_EQ(hipMalloc(nullptr, 4), error::InvalidValue);
  });
}

TEST(Memory, PinnedAndAttributes) {
  scenario({}, [] {
    char* b = device_array<char>(64);
    int ordinary[4];
    char attributes[32];
    EXPECT_OK(hipPointerGetAttributes(attributes, b));
    EXPECT_EQ(at<int>(attributes, 0), 2);  // hipMemoryTypeDevice
    EXPECT_EQ(at<int>(attributes, 4), 0);
    EXPECT_EQ(at<void*>(attributes, 8), b);
    EXPECT_OK(hipPointerGetAttributes(attributes, ordinary));
    EXPECT_EQ(at<int>(attributes, 0), 0);
    void *pinned, *device_pointer;
    EXPECT_OK(hipHostMalloc(&pinned, 5000, 0));
    EXPECT_OK(hipHostGetDevicePointer(&device_pointer, pinned, 0));
    EXPECT_EQ(device_pointer, pinned);
    memset(pinned, 3, 5000);
    EXPECT_OK(hipPointerGetAttributes(attributes, pinned));
    EXPECT_EQ(at<int>(attributes, 0), 1);  // hipMemoryTypeHost
    EXPECT_EQ(at<void*>(attributes, 16), pinned);
    EXPECT_EQ(hipFree(pinned), error::InvalidValue);
    EXPECT_EQ(hipHostFree(b), error::InvalidValue);
    EXPECT_EQ(hipHostGetDevicePointer(&device_pointer, ordinary, 0), error::InvalidValue);
  });
}

TEST(Memory, Asynchronous) {
  scenario({}, [] {
    Stream s;
    void* p;
    EXPECT_OK(hipStreamCreate(&s));
    EXPECT_OK(hipMallocAsync(&p, 100, s));
    EXPECT_OK(hipMemsetAsync(p, 0, 100, s));
    EXPECT_OK(hipFreeAsync(p, s));
    EXPECT_OK(hipStreamSynchronize(s));
    EXPECT_EQ(hipFree(p), error::InvalidValue);
    EXPECT_EQ(hipFreeAsync(p, s), error::InvalidValue);
  });
}

TEST(Memory, IsExhausted) {
  scenario({"AMDEMU_ARCH=gfx1100", "AMDEMU_MEMORY_MB=16"}, [] {
    size_t free_bytes, total;
    EXPECT_OK(hipMemGetInfo(&free_bytes, &total));
    EXPECT_EQ(total, 16u << 20);
    void *a = nullptr, *b = &total;
    EXPECT_OK(hipMalloc(&a, 10 << 20));
    EXPECT_EQ(hipMalloc(&b, 7 << 20), error::OutOfMemory);
    EXPECT_EQ(b, nullptr);
    EXPECT_EQ(hipGetLastError(), error::OutOfMemory);
    EXPECT_OK(hipMalloc(&b, 6 << 20));
    EXPECT_OK(hipMemGetInfo(&free_bytes, &total));
    EXPECT_EQ(free_bytes, 0u);
    EXPECT_EQ(hipMalloc(&b, 1), error::OutOfMemory);
    EXPECT_OK(hipFree(a));
    EXPECT_OK(hipMalloc(&a, 9 << 20));
    EXPECT_EQ(hipMalloc(&b, size_t{1} << 60), error::OutOfMemory);
    EXPECT_OK(hipHostMalloc(&b, 32 << 20, 0));  // host memory is not the device's
  });
}

// 12 GiB of which a few pages are touched.
TEST_F(MemoryKernels, MemoryIsCommittedWhenWritten) {
  scenario({"AMDEMU_ARCH=gfx942"}, [] {
    constexpr size_t kBytes = size_t{12} << 30;
    ModuleHandle m = load(arch());
    void* p;
    EXPECT_OK(hipMalloc(&p, kBytes));
    EXPECT_OK(run(function(m, "poke"), 1, 64, 0, nullptr, p, static_cast<long>(kBytes / 4) - 1, 77));
    int v = 0;
    EXPECT_OK(hipMemcpy(&v, static_cast<char*>(p) + kBytes - 4, 4, DeviceToHost));
    EXPECT_EQ(v, 77);
    EXPECT_OK(hipFree(p));
    for (int i = 0; i < 2000; i++) {
      EXPECT_OK(hipMalloc(&p, 3000));
      EXPECT_OK(hipFree(p));
    }
  });
}

}  // namespace
}  // namespace amdgpu::tests

// Modules, kernel arguments, the shape of launches, what kernels see.
#include "tests/hip.h"

namespace amdgpu::tests {
namespace {

class EachLaunch : public OnEachArch {};
INSTANTIATE_TEST_SUITE_P(, EachLaunch, kArchs, arch_name);
class Launch : public WithKernels {};

TEST_P(EachLaunch, Modules) {
  on_arch([] {
    ModuleHandle m = load(arch()), other = nullptr;
    EXPECT_EQ(hipModuleLoad(&other, "/nonexistent.co"), error::FileNotFound);
    char junk[256] = "junk";
    EXPECT_EQ(hipModuleLoadData(&other, junk), error::InvalidImage);
    const char* foreign = arch() == "gfx942" ? "gfx1100" : "gfx942";
    EXPECT_EQ(hipModuleLoad(&other, kernel_file(foreign).c_str()), error::NoBinaryForGpu);
    EXPECT_EQ(other, nullptr);
    const std::string image = read_file(kernel_file(arch()));
    EXPECT_OK(hipModuleLoadDataEx(&other, image.data(), 0, nullptr, nullptr));
    Function f = nullptr;
    EXPECT_EQ(hipModuleGetFunction(&f, m, "nope"), error::NotFound);
    EXPECT_OK(hipModuleUnload(other));
    f = function(m, "noargs");
    EXPECT_OK(hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    EXPECT_OK(hipModuleUnload(m));
    EXPECT_EQ(hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), error::InvalidHandle);
    EXPECT_EQ(hipModuleUnload(m), error::InvalidHandle);
  });
}

// Every byte of a code object flipped or cut off: refused or loaded, never a crash.
TEST_F(Launch, DamagedModules) {
  scenario({"AMDEMU_ARCH=gfx1100"}, [] {
    const std::string good = read_file(kernel_file(arch()));
    std::string bad = good;
    for (size_t i = 0; i < good.size(); i += 1 + i / 64) {
      bad[i] = static_cast<char>(~bad[i]);
      ModuleHandle m = nullptr;
      // Without its magic the image has no size of its own, so the file's is not given.
      FILE* f = tmpfile();
      fwrite(bad.data(), 1, bad.size(), f);
      fflush(f);
      const std::string path = "/proc/self/fd/" + std::to_string(fileno(f));
      if (hipModuleLoad(&m, path.c_str()) == 0) EXPECT_OK(hipModuleUnload(m));
      fclose(f);
      bad[i] = good[i];
    }
  });
}

TEST_P(EachLaunch, ArgumentsByArrayAndByBuffer) {
  on_arch([] {
    constexpr int kCount = 1000;
    ModuleHandle m = load(arch());
    Function axpy = function(m, "axpy");
    std::vector<float> hx(kCount), hy(kCount);
    for (int i = 0; i < kCount; i++) {
      hx[i] = static_cast<float>(i) * 0.5f;
      hy[i] = static_cast<float>(100 - i);
    }
    float *x = device_copy(hx), *y = device_copy(hy);
    auto expect = [&](float factor) {
      const auto r = read_array(y, kCount);
      for (int i = 0; i < kCount; i++) ASSERT_EQ(r[i], hy[i] + factor * hx[i]) << i;
    };
    EXPECT_OK(run(axpy, 4, 256, 0, nullptr, 2.0f, x, y, kCount));
    expect(2);

    struct {
      float a;
      const float* x;
      float* y;
      int n;
    } packed{3.0f, x, y, kCount};
    size_t bytes = sizeof packed;
    void* list[] = {reinterpret_cast<void*>(1), &packed, reinterpret_cast<void*>(2), &bytes,
                    reinterpret_cast<void*>(3)};
    auto launch = [&] { return hipModuleLaunchKernel(axpy, 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, list); };
    EXPECT_OK(launch());
    expect(5);
    bytes = 8;
    EXPECT_EQ(launch(), error::InvalidValue);
    bytes = sizeof packed;
    list[4] = reinterpret_cast<void*>(9);
    EXPECT_EQ(launch(), error::InvalidValue);

    Event start, stop;
    float ms = 0, one = 1;
    int n = kCount;
    EXPECT_OK(hipEventCreate(&start));
    EXPECT_OK(hipEventCreate(&stop));
    void* parameters[] = {&one, &x, &y, &n};
    EXPECT_OK(hipExtModuleLaunchKernel(axpy, 1024, 1, 1, 256, 1, 1, 0, nullptr, parameters, nullptr, start, stop, 0));
    EXPECT_OK(hipEventElapsedTime(&ms, start, stop));
    EXPECT_GT(ms, 0);
    expect(6);

    struct Mixed {
      int a;
      double b;
      float c[3];
      unsigned char d;
    } mixed{7, 2.5, {1, 2, 3.25f}, 200};
    float* o = device_array<float>(8);
    EXPECT_OK(run(function(m, "mixed"), 1, 64, 0, nullptr, mixed, static_cast<short>(-9), static_cast<char>(5), o));
    EXPECT_EQ(read_array(o, 6), (std::vector<float>{7, 2.5f, 3.25f, 200, -9, 5}));
  });
}

TEST_P(EachLaunch, Globals) {
  on_arch([] {
    ModuleHandle m = load(arch());
    void* p;
    size_t bytes;
    float* o = device_array<float>(4);
    EXPECT_OK(hipModuleGetGlobal(&p, &bytes, m, "g_tab"));
    EXPECT_EQ(bytes, 16u);
    float table[4] = {10, 20, 30, 40};
    EXPECT_OK(hipMemcpyHtoD(p, table, 16));
    EXPECT_OK(run(function(m, "globals"), 1, 64, 0, nullptr, o));
    EXPECT_EQ(read_array(o, 4), (std::vector<float>{50, 100, 150, 200}));
    EXPECT_OK(hipModuleGetGlobal(&p, &bytes, m, "g_count"));
    int count;
    EXPECT_OK(hipMemcpyDtoH(&count, p, 4));
    EXPECT_EQ(count, 77);
    EXPECT_EQ(hipModuleGetGlobal(&p, &bytes, m, "nope"), error::NotFound);
  });
}

TEST_P(EachLaunch, LdsScratchIdsAtomics) {
  on_arch([] {
    ModuleHandle m = load(arch());
    std::vector<int> h(256);
    for (int i = 0; i < 256; i++) h[i] = i * 7;
    int *a = device_copy(h), *b = device_array<int>(256);
    EXPECT_OK(run(function(m, "dynlds"), 1, 256, 1024, nullptr, a, b, 256));
    EXPECT_EQ(read_array(b, 256), (std::vector<int>(h.rbegin(), h.rend())));

    EXPECT_OK(run(function(m, "scratch"), 1, 256, 0, nullptr, a, b, 20));
    const auto scratch = read_array(b, 256);
    for (unsigned t = 0; t < 256; t++) {
      unsigned v[32], sum = 0;
      for (unsigned i = 0; i < 32; i++) v[i] = static_cast<unsigned>(h[t]) + i;
      for (unsigned i = 0; i < 20; i++) v[(h[t] >> (i & 7)) & 31] += i * t;
      for (unsigned i = 0; i < 32; i++) sum = sum * 3 + v[i];
      ASSERT_EQ(static_cast<unsigned>(scratch[t]), sum) << t;
    }

    int* id = device_array<int>(24 * 12);
    void* parameters[] = {&id};
    EXPECT_OK(hipModuleLaunchKernel(function(m, "ids"), 3, 2, 2, 2, 3, 4, 0, nullptr, parameters, nullptr));
    const auto ids = read_array(id, 24 * 12);
    for (int block = 0; block < 12; block++)
      for (int t = 0; t < 24; t++)
        ASSERT_EQ(ids[block * 24 + t],
                  block % 3 + block / 3 % 2 * 10 + block / 6 * 100 + t % 2 * 1000 + t / 2 % 3 * 10000 + t / 6 * 100000);

    unsigned* count = device_array<unsigned>(1);
    EXPECT_OK(hipMemset(count, 0, 4));
    EXPECT_OK(run(function(m, "count"), 5, 100, 0, nullptr, count));  // most lanes are inactive
    EXPECT_EQ(read_array(count, 1)[0], 5u * 13);
  });
}

TEST_P(EachLaunch, HostMemory) {
  on_arch([] {
    ModuleHandle m = load(arch());
    void *pinned, *managed;
    EXPECT_OK(hipHostMalloc(&pinned, 400, 0));
    EXPECT_OK(hipMallocManaged(&managed, 400, 1));
    EXPECT_OK(run(function(m, "fill"), 2, 64, 0, nullptr, static_cast<int*>(pinned), 5, 100));
    EXPECT_OK(run(function(m, "fill"), 2, 64, 0, nullptr, static_cast<int*>(managed), 9, 100));
    EXPECT_OK(hipDeviceSynchronize());
    EXPECT_EQ(static_cast<int*>(pinned)[99], 104);
    EXPECT_EQ(static_cast<int*>(managed)[50], 59);
    EXPECT_OK(hipFree(managed));
  });
}

TEST_P(EachLaunch, BadLaunchesAreRefused) {
  on_arch([] {
    ModuleHandle m = load(arch());
    Function fill = function(m, "fill");
    int *p = device_array<int>(256), one = 1;
    void* arguments[] = {&p, &one, &one};
    auto launch = [&](Function f, unsigned gx, unsigned gy, unsigned bx, unsigned by, unsigned lds) {
      return hipModuleLaunchKernel(f, gx, gy, 1, bx, by, 1, lds, nullptr, arguments, nullptr);
    };
    EXPECT_EQ(launch(fill, 1, 1, 1025, 1, 0), error::InvalidValue);
    EXPECT_EQ(launch(fill, 1, 1, 32, 33, 0), error::InvalidValue);
    EXPECT_EQ(launch(fill, 0, 1, 64, 1, 0), error::InvalidValue);
    EXPECT_EQ(launch(fill, 1, 1, 0, 1, 0), error::InvalidValue);
    EXPECT_EQ(launch(fill, 1, 1, 64, 1, 65537), error::InvalidValue);
    EXPECT_EQ(launch(fill, 1, 70000, 64, 1, 0), error::InvalidValue);
    EXPECT_EQ(launch(function(m, "bounded"), 1, 1, 128, 1, 0), error::LaunchFailure);
    EXPECT_EQ(launch(function(m, "ldsoob"), 1, 1, 64, 1, 65536), error::InvalidValue);
    EXPECT_EQ(launch(nullptr, 1, 1, 64, 1, 0), error::InvalidHandle);
    auto with = [&](Stream s, void** parameters, void** extra) {
      return hipModuleLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, s, parameters, extra);
    };
    EXPECT_EQ(with(nullptr, nullptr, nullptr), error::InvalidValue);
    EXPECT_EQ(with(nullptr, arguments, arguments), error::InvalidValue);
    EXPECT_EQ(with(reinterpret_cast<Stream>(0x999), arguments, nullptr), error::InvalidValue);
    EXPECT_OK(launch(fill, 1, 1, 1024, 1, 0));
  });
}

TEST_P(EachLaunch, FunctionAttributesAndOccupancy) {
  on_arch([] {
    ModuleHandle m = load(arch());
    Function axpy = function(m, "axpy");
    int v;
    EXPECT_OK(hipFuncGetAttribute(&v, 0, function(m, "bounded")));
    EXPECT_EQ(v, 64);
    EXPECT_OK(hipFuncGetAttribute(&v, 1, function(m, "ldsoob")));
    EXPECT_EQ(v, 256);
    EXPECT_OK(hipFuncGetAttribute(&v, 4, axpy));
    EXPECT_TRUE(v > 0 && v <= 512) << v;
    EXPECT_OK(hipFuncGetAttribute(&v, 3, function(m, "scratch")));
    EXPECT_GE(v, 128);
    EXPECT_EQ(hipFuncSetAttribute(axpy, 8, 1024), error::InvalidDeviceFunction);  // host functions only, until ROCm 7
    int blocks = 0, grid = 0, block = 0;
    EXPECT_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, axpy, 256, 0));
    EXPECT_TRUE(blocks >= 4 && blocks <= 32) << blocks;
    EXPECT_OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, axpy, 256, 65536));
    EXPECT_EQ(blocks, wave() == 64 ? 1 : 2);
    EXPECT_OK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, axpy, 0, 0));
    EXPECT_TRUE(block >= 64 && block <= 1024) << block;
    EXPECT_GT(grid, 0);
  });
}

TEST_P(EachLaunch, ReversedWavesFindMissingBarriers) {
  std::vector<int> h(256);
  for (int i = 0; i < 256; i++) h[i] = i;
  const std::string on = std::string("AMDEMU_ARCH=") + GetParam();
  scenario({on, "AMDEMU_REVERSE=1"}, [&] {
    ModuleHandle m = load(arch());
    int *a = device_copy(h), *b = device_array<int>(256);
    EXPECT_OK(run(function(m, "dynlds"), 1, 256, 1024, nullptr, a, b, 256));
    EXPECT_EQ(read_array(b, 256)[255], 0);
    EXPECT_OK(run(function(m, "nobarrier"), 1, 256, 1024, nullptr, a, b, 256));
    EXPECT_EQ(read_array(b, 256)[255], 0x7ffe7ffe);  // the last wave ran first and read what was not there yet
  });
  scenario({on}, [&] {
    ModuleHandle m = load(arch());
    int *a = device_copy(h), *b = device_array<int>(256);
    EXPECT_OK(run(function(m, "nobarrier"), 1, 256, 1024, nullptr, a, b, 256));
    EXPECT_EQ(read_array(b, 256)[255], 0);  // hidden by the order in which the waves run
  });
}

}  // namespace
}  // namespace amdgpu::tests

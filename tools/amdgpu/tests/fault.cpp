// Faults of kernels and of the host, injected failures, limits, statistics.
#include <csignal>

#include "tests/hip.h"

namespace amdgpu::tests {
namespace {

class EachFault : public OnEachArch {};
INSTANTIATE_TEST_SUITE_P(, EachFault, kArchs, arch_name);
class Fault : public WithKernels {};

int host_memory[64];

// Does the body end the process with this signal and these words?
void expect_end(int signal_number, const std::vector<const char*>& words, const std::function<void()>& body) {
  const End end = end_of(body);
  EXPECT_EQ(end.signal, signal_number) << end.text;
  for (const char* w : words) EXPECT_NE(end.text.find(w), std::string::npos) << "no '" << w << "' in: " << end.text;
}

void poke(void* p, long index) {
  run(function(load(arch()), "poke"), 1, 64, 0, nullptr, p, index, 1);
  hipDeviceSynchronize();
}

TEST_P(EachFault, FaultsAbortAndSayWhere) {
  on_arch([] {
    expect_end(SIGSEGV, {}, [] { device_array<int>(64)[0] = 1; });  // the host dereferences a device pointer
    expect_end(SIGABRT, {"past the end of the 256-byte device allocation", "kernel poke"},
               [] { poke(device_array<int>(64), 64); });
    expect_end(SIGABRT, {"past the end of the 260-byte"}, [] { poke(device_array<int>(65), 65); });  // a canary
    expect_end(SIGABRT, {"memory access fault"}, [] {
      int *p = device_array<int>(64), *o = device_array<int>(1);
      run(function(load(arch()), "peek"), 1, 64, 0, nullptr, p, -1024L, o);
    });
    expect_end(SIGABRT, {"inside a freed"}, [] {
      int* p = device_array<int>(64);
      hipFree(p);
      poke(p, 0);
    });
    expect_end(SIGABRT, {"memory access fault"}, [] { poke(host_memory, 0); });
    expect_end(SIGABRT, {"null pointer"}, [] { poke(nullptr, 3); });
    expect_end(SIGABRT, {"LDS access out of bounds"},
               [] { run(function(load(arch()), "ldsoob"), 1, 64, 0, nullptr, device_array<int>(64), 16); });
  });
}

TEST_P(EachFault, AnUnknownInstructionIsNamed) {
  on_arch([] {
    const std::string code = compile_offline(
        "extern \"C\" __attribute__((global)) void k() { asm volatile(\"ds_append v0\" ::: \"v0\"); }", "-O1");
    ModuleHandle m;
    ASSERT_EQ(hipModuleLoadData(&m, code.data()), 0);
    expect_end(0, {"cannot emulate: instruction 'ds_append v0' is not emulated (kernel k, "}, [&] {
      EXPECT_EQ(run(function(m, "k"), 1, 64, 0, nullptr), error::NotSupported);
      EXPECT_OK(hipDeviceSynchronize());  // not the device's error
    });
  });
}

void sticky() {
  ModuleHandle m = load(arch());
  int* p = device_array<int>(64);
  Function nothing = function(m, "noargs");
  void* q;
  EXPECT_OK(run(function(m, "poke"), 1, 64, 0, nullptr, p, 100000L, 1));
  EXPECT_EQ(hipDeviceSynchronize(), error::IllegalAddress);
  EXPECT_EQ(hipMalloc(&q, 4), error::IllegalAddress);
  EXPECT_EQ(run(nothing, 1, 64, 0, nullptr), error::IllegalAddress);
  EXPECT_EQ(hipMemcpy(&q, p, 4, DeviceToHost), error::IllegalAddress);
  EXPECT_OK(hipDeviceReset());
  EXPECT_OK(hipMalloc(&q, 4));
  EXPECT_OK(run(function(load(arch()), "noargs"), 1, 64, 0, nullptr));
  EXPECT_OK(hipDeviceSynchronize());
}
TEST_F(Fault, FaultsStickUntilReset) { scenario({"AMDEMU_ARCH=gfx942", "AMDEMU_FAULT=error"}, sticky); }
TEST_F(Fault, FaultsStickUntilResetLate) {
  scenario({"AMDEMU_ARCH=gfx1100", "AMDEMU_FAULT=error", "AMDEMU_ASYNC=1"}, sticky);
}

TEST_F(Fault, FreedMemoryReadsThePattern) {
  scenario({"AMDEMU_ARCH=gfx942", "AMDEMU_FREED=poison"}, [] {
    int *p = device_array<int>(64), *o = device_array<int>(1);
    EXPECT_OK(hipFree(p));
    EXPECT_OK(run(function(load(arch()), "peek"), 1, 64, 0, nullptr, p, 1L, o));
    EXPECT_EQ(read_array(o, 1)[0], 0x7ffe7ffe);
  });
}

TEST_F(Fault, TheNthCallFails) {
  scenario({"AMDEMU_ARCH=gfx942", "AMDEMU_FAIL=hipMalloc:3,hipModuleLaunchKernel:2=702,hipMemcpy:2+"}, [] {
    void* p;
    EXPECT_OK(hipMalloc(&p, 64));
    EXPECT_OK(hipMalloc(&p, 64));
    EXPECT_EQ(hipMalloc(&p, 64), error::OutOfMemory);
    EXPECT_EQ(hipPeekAtLastError(), error::OutOfMemory);
    EXPECT_EQ(hipGetLastError(), error::OutOfMemory);
    EXPECT_OK(hipMalloc(&p, 64));
    EXPECT_OK(hipMemset(p, 0, 64));
    Function fill = function(load(arch()), "fill");
    EXPECT_OK(run(fill, 1, 64, 0, nullptr, p, 1, 16));
    EXPECT_EQ(run(fill, 1, 64, 0, nullptr, p, 2, 16), error::LaunchTimeOut);
    int h[16];
    EXPECT_OK(hipMemcpy(h, p, 64, DeviceToHost));
    EXPECT_EQ(h[0], 1);  // the launch that failed did not run
    EXPECT_EQ(hipMemcpy(h, p, 64, DeviceToHost), error::Unknown);
    EXPECT_EQ(hipMemcpy(h, p, 64, DeviceToHost), error::Unknown);
  });
}

void spin() {
  int* p = device_array<int>(1);
  EXPECT_OK(hipMemset(p, 0, 4));
  EXPECT_OK(run(function(load(arch()), "spin"), 1, 64, 0, nullptr, p));
  EXPECT_EQ(hipDeviceSynchronize(), error::LaunchTimeOut);
}
TEST_F(Fault, EndlessKernelsTimeOut) { scenario({"AMDEMU_ARCH=gfx942", "AMDEMU_TIMEOUT=1"}, spin); }
TEST_F(Fault, InstructionsAreLimited) { scenario({"AMDEMU_ARCH=gfx942", "AMDEMU_MAX_INSTS=5000000"}, spin); }

TEST_F(Fault, Statistics) {
  scenario({"AMDEMU_ARCH=gfx1201", "AMDEMU_STATS=1"}, [] {
    expect_end(0, {"statistics", "fill [gfx1201]"},
               [] { run(function(load(arch()), "fill"), 2, 64, 0, nullptr, device_array<int>(64), 1, 64); });
  });
}

TEST_F(Fault, TraceAndDump) {
  scenario({"AMDEMU_ARCH=gfx1100", "AMDEMU_TRACE=1", "AMDEMU_DUMP=1"}, [] {
    expect_end(0, {"hipModuleLaunchKernel #1 -> 0", "launch fill grid 2 1 1 block 64 1 1", "s_endpgm"},
               [] { run(function(load(arch()), "fill"), 2, 64, 0, nullptr, device_array<int>(64), 1, 64); });
  });
}

}  // namespace
}  // namespace amdgpu::tests

// What every driver must do, case by case; the definition of gpu/driver.h in code.
#include <numeric>
#include <thread>

#include "gpu/devices.h"
#include "gpu/suite_kernels.h"

namespace hf::gpu {
namespace {

class DriverSuite : public OnDevice {
 protected:
  Module suite() { return Module(device, suite_code(device->info().arch)); }
  LaunchDims dims(uint32_t blocks, uint32_t lds_bytes = 0) {
    return {.grid = {blocks, 1, 1}, .block = {256, 1, 1}, .lds_bytes = device->info().lds_at_launch ? lds_bytes : 0};
  }
};

std::vector<float> ramp(size_t n, float step) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = step * static_cast<float>(i);
  return v;
}

template <class F>
Code code_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::Internal;
}

TEST_P(DriverSuite, InfoIsSane) {
  const DeviceInfo& info = device->info();
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.arch.empty());
  EXPECT_TRUE(info.wave_size == 32 || info.wave_size == 64) << info.wave_size;
  EXPECT_GT(info.compute_units, 0);
  EXPECT_GE(info.lds_bytes, 32 << 10);
  EXPECT_GE(info.max_threads, 256);
  MemoryInfo memory = device->memory_info();
  EXPECT_GT(memory.free_bytes, 0);
  EXPECT_LE(memory.free_bytes, memory.total_bytes);
  EXPECT_GE(info.memory_bytes, memory.total_bytes / 2);
}

TEST_P(DriverSuite, OpensByIndexOnlyWhatIsThere) {
  Driver& d = driver(GetParam().substr(0, GetParam().find(':')));
  EXPECT_EQ(code_of([&] { d.open(d.device_count()); }), Code::NotFound);
  EXPECT_EQ(code_of([&] { d.open(-1); }), Code::NotFound);
}

TEST_P(DriverSuite, BytesComeBackAsTheyWent) {
  for (int64_t bytes : {1, 3, 255, 256, 257, 65536, 1000003}) {
    std::vector<uint8_t> in(static_cast<size_t>(bytes)), out(in.size());
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 7 + 3);
    DeviceBuffer a(device, bytes), b(device, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a.get()) % 256, 0u);
    device->copy_to_device(a.get(), in.data(), bytes, stream.get());
    device->copy_on_device(b.get(), a.get(), bytes, stream.get());
    device->copy_to_host(out.data(), b.get(), bytes, stream.get());
    stream.synchronize();
    EXPECT_EQ(in, out) << bytes << " bytes";
  }
}

TEST_P(DriverSuite, FillsABytePattern) {
  DeviceBuffer b = to_device(std::vector<uint8_t>(1000, 1));
  device->fill(b.at(10), 0xab, 100, stream.get());
  std::vector<uint8_t> got = to_host<uint8_t>(b);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i >= 10 && i < 110 ? 0xab : 1) << i;
}

TEST_P(DriverSuite, ZeroBytesAreNoWorkAndNoMemory) {
  EXPECT_EQ(code_of([&] { device->alloc(0); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { device->alloc(-5); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([&] { device->host_alloc(0); }), Code::InvalidArgument);
  device->copy_to_device(nullptr, nullptr, 0, stream.get());
  device->fill(nullptr, 1, 0, stream.get());
  device->free(nullptr);
  device->host_free(nullptr);
  stream.synchronize();
}

TEST_P(DriverSuite, AStreamKeepsItsOrder) {
  Module module = suite();
  FunctionHandle set = module.function("set_all"), twice = module.function("times_two_plus");
  HostBuffer host(device, 4096);
  DeviceBuffer b(device, 4096);
  auto* p = static_cast<int*>(b.get());
  for (int i = 0; i < 20; ++i) {
    launch(stream, set, dims(4), p, i, 1024);
    launch(stream, twice, dims(4), p, 1, 1024);
    launch(stream, twice, dims(4), p, 5, 1024);
  }
  device->copy_to_host(host.get(), b.get(), 4096, stream.get());
  stream.synchronize();
  for (int i = 0; i < 1024; ++i) ASSERT_EQ(host.as<int>()[i], (19 * 2 + 1) * 2 + 5);
}

TEST_P(DriverSuite, AddsVectors) {
  Module module = suite();
  constexpr int n = 10007;
  std::vector<float> a = ramp(n, 0.5f), b = ramp(n, 3);
  DeviceBuffer x = to_device(a), y = to_device(b), z(device, n * 4);
  launch(stream, module.function("vector_add"), dims(40), static_cast<const float*>(x.get()),
         static_cast<const float*>(y.get()), static_cast<float*>(z.get()), n);
  EXPECT_EQ(to_host<float>(z), ramp(n, 3.5f));
}

TEST_P(DriverSuite, GridsAndBlocksHaveDimensions) {
  Module module = suite();
  constexpr int width = 48, height = 32, layers = 3;
  DeviceBuffer p(device, width * height * layers * 4);
  launch(stream, module.function("where"), {.grid = {width / 16, height / 16, layers}, .block = {16, 16, 1}},
         static_cast<int*>(p.get()), width, height);
  std::vector<int> got = to_host<int>(p);
  for (int z = 0; z < layers; ++z)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        ASSERT_EQ(got[static_cast<size_t>((z * height + y) * width + x)], z * 1000000 + y * 1000 + x);
}

TEST_P(DriverSuite, BlocksSumThroughLds) {
  Module module = suite();
  std::vector<int> numbers(256 * 9);
  std::iota(numbers.begin(), numbers.end(), -700);
  DeviceBuffer p = to_device(numbers), sums(device, 9 * 4);
  launch(stream, module.function("block_sum"), dims(9, 1024), static_cast<const int*>(p.get()),
         static_cast<int*>(sums.get()));
  std::vector<int> got = to_host<int>(sums);
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(got[static_cast<size_t>(i)],
              std::accumulate(numbers.begin() + i * 256, numbers.begin() + (i + 1) * 256, 0));
}

TEST_P(DriverSuite, LanesShuffleWithinTheirWave) {
  Module module = suite();
  DeviceBuffer p(device, 512 * 4), wave(device, 4);
  launch(stream, module.function("lanes"), dims(1), static_cast<int*>(p.get()), static_cast<uint32_t*>(wave.get()));
  std::vector<int> got = to_host<int>(p);
  int size = device->info().wave_size;
  EXPECT_EQ(to_host<int>(wave)[0], size);
  for (int t = 0; t < 256; ++t) {
    EXPECT_EQ(got[static_cast<size_t>(t)], t / size * size + (t + 1) % size);
    EXPECT_EQ(got[static_cast<size_t>(256 + t)], t % size);
  }
}

TEST_P(DriverSuite, AtomicsCountAllThreads) {
  Module module = suite();
  DeviceBuffer counter = to_device(std::vector<uint32_t>{7});
  launch(stream, module.function("count_up"), dims(33), static_cast<uint32_t*>(counter.get()));
  EXPECT_EQ(to_host<uint32_t>(counter)[0], 7u + 33 * 256);
}

TEST_P(DriverSuite, ArgumentsOfAllKindsArrive) {
  Module module = suite();
  struct Mixed {
    int a;
    double b;
    float c[3];
    unsigned char d;
  } mixed{7, 2.5, {1, 2, 3.25f}, 200};
  DeviceBuffer out(device, 7 * 8);
  launch(stream, module.function("arguments"), dims(1), static_cast<double*>(out.get()), mixed, static_cast<short>(-9),
         static_cast<unsigned char>(250), int64_t{1} << 40);
  EXPECT_EQ(to_host<double>(out), (std::vector<double>{7, 2.5, 3.25, 200, -9, 250, 0x1p40}));
}

TEST_P(DriverSuite, EventsOrderStreamsAndTellTime) {
  Module module = suite();
  FunctionHandle set = module.function("set_all"), twice = module.function("times_two_plus");
  Stream other(device);
  Event begin(device), half(device), end(device);
  DeviceBuffer b(device, 1024 * 4);
  auto* p = static_cast<int*>(b.get());
  stream.record(begin);
  launch(stream, set, dims(4), p, 21, 1024);
  stream.record(half);
  other.wait(half);
  launch(other, twice, dims(4), p, 3, 1024);
  other.record(end);
  end.synchronize();
  double us = device->elapsed_us(begin.get(), end.get());
  EXPECT_GE(us, 0);
  EXPECT_LT(us, 60e6);
  EXPECT_EQ(to_host<int>(b), std::vector<int>(1024, 45));
}

TEST_P(DriverSuite, AnEventThatWasNotRecordedHasNoTime) {
  Event a(device), b(device);
  stream.record(a);
  stream.synchronize();
  EXPECT_EQ(code_of([&] { device->elapsed_us(a.get(), b.get()); }), Code::Driver);
}

TEST_P(DriverSuite, AMissingFunctionIsNamed) {
  Module module = suite();
  try {
    module.function("no_such_kernel");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Driver);
    EXPECT_NE(std::string(e.what()).find("no_such_kernel"), std::string::npos) << e.what();
  }
}

TEST_P(DriverSuite, WhatIsNoCodeObjectIsRefused) {
  EXPECT_EQ(code_of([&] { Module(device, ""); }), Code::Driver);
  EXPECT_EQ(code_of([&] { Module(device, std::string(4096, 'x')); }), Code::Driver);
}

TEST_P(DriverSuite, LaunchesBeyondTheLimitsAreRefused) {
  Module module = suite();
  FunctionHandle f = module.function("set_all");
  DeviceBuffer b(device, 1024);
  auto* p = static_cast<int*>(b.get());
  auto tries = [&](LaunchDims d) { return code_of([&] { launch(stream, f, d, p, 1, 1); }); };
  EXPECT_EQ(tries({.grid = {1, 1, 1}, .block = {2048, 1, 1}}), Code::Driver);
  EXPECT_EQ(tries({.grid = {1, 1, 1}, .block = {64, 64, 1}}), Code::Driver);
  EXPECT_EQ(tries({.grid = {0, 1, 1}, .block = {64, 1, 1}}), Code::Driver);
  EXPECT_EQ(tries({.grid = {1, 1, 1}, .block = {256, 1, 1}, .lds_bytes = 1 << 20}), Code::Driver);
  launch(stream, f, dims(1), p, 9, 1);  // the device goes on
  EXPECT_EQ(to_host<int>(b)[0], 9);
}

TEST_P(DriverSuite, MemoryBeyondTheDevicesIsOutOfMemory) {
  int64_t total = device->memory_info().total_bytes;
  EXPECT_EQ(code_of([&] { device->alloc(total * 2); }), Code::OutOfMemory);
  EXPECT_EQ(code_of([&] { device->alloc(int64_t{1} << 60); }), Code::OutOfMemory);
  DeviceBuffer still(device, 1024);
  EXPECT_EQ(device->counts().allocations, 1);
  EXPECT_EQ(device->counts().allocated_bytes, 1024);
}

TEST_P(DriverSuite, ASecondFreeIsRefused) {
  void* memory = device->alloc(1000);
  device->free(memory);
  EXPECT_EQ(code_of([&] { device->free(memory); }), Code::Driver);
  int there = 0;
  EXPECT_EQ(code_of([&] { device->free(&there); }), Code::Driver);
  EXPECT_EQ(code_of([&] { device->host_free(&there); }), Code::Driver);
}

TEST_P(DriverSuite, CountsTellWhatIsAlive) {
  {
    DeviceBuffer a(device, 100), b(device, 28);
    HostBuffer h(device, 64);
    Event e(device);
    Module m = suite();
    const Counts& c = device->counts();
    EXPECT_EQ(c.allocations, 2);
    EXPECT_EQ(c.allocated_bytes, 128);
    EXPECT_EQ(c.host_allocations, 1);
    EXPECT_EQ(c.events, 1);
    EXPECT_EQ(c.modules, 1);
    EXPECT_EQ(c.streams, 1);
    DeviceBuffer moved = std::move(a);
    EXPECT_EQ(c.allocations, 2);
    EXPECT_FALSE(a);
    EXPECT_TRUE(moved);
    b = std::move(moved);
    EXPECT_EQ(c.allocations, 1);
  }
  stream.reset();
  EXPECT_TRUE(device->counts().none());
}

TEST_P(DriverSuite, AGraphReplaysWhatWasCaptured) {
  Module module = suite();
  FunctionHandle twice = module.function("times_two_plus");
  HostBuffer in(device, 1024), out(device, 1024);
  DeviceBuffer b(device, 1024);
  auto* p = static_cast<int*>(b.get());
  for (int i = 0; i < 256; ++i) out.as<int>()[i] = -1;
  int addend = 1;
  Graph graph = stream.capture([&] {
    device->copy_to_device(b.get(), in.get(), 1024, stream.get());
    launch(stream, twice, dims(1), p, addend, 256);
    launch(stream, twice, dims(1), p, 10, 256);
    device->copy_to_host(out.get(), b.get(), 1024, stream.get());
  });
  addend = 1000;  // the argument was read when the launch was queued
  stream.synchronize();
  EXPECT_EQ(out.as<int>()[5], -1) << "nothing runs while it is captured";
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 256; ++i) in.as<int>()[i] = i * round;
    graph.launch(stream);
    stream.synchronize();
    for (int i = 0; i < 256; ++i) ASSERT_EQ(out.as<int>()[i], (i * round * 2 + 1) * 2 + 10);
  }
}

TEST_P(DriverSuite, ACaptureSpansStreams) {
  Module module = suite();
  FunctionHandle set = module.function("set_all"), twice = module.function("times_two_plus");
  Stream other(device);
  Event fork(device), join(device);
  DeviceBuffer a(device, 1024), b(device, 1024);
  auto *p = static_cast<int*>(a.get()), *q = static_cast<int*>(b.get());
  Graph graph = stream.capture([&] {
    launch(stream, set, dims(1), p, 4, 256);
    stream.record(fork);
    other.wait(fork);
    launch(other, set, dims(1), q, 6, 256);
    launch(stream, twice, dims(1), p, 1, 256);
    other.record(join);
    stream.wait(join);
    launch(stream, twice, dims(1), q, 2, 256);
  });
  graph.launch(stream);
  EXPECT_EQ(to_host<int>(a), std::vector<int>(256, 9));
  EXPECT_EQ(to_host<int>(b), std::vector<int>(256, 14));
  launch(other, set, dims(1), q, 3, 256);  // the other stream is an ordinary one again
  other.synchronize();
  EXPECT_EQ(to_host<int>(b), std::vector<int>(256, 3));
}

TEST_P(DriverSuite, AnExceptionEndsTheCapture) {
  Module module = suite();
  DeviceBuffer b(device, 1024);
  EXPECT_THROW(stream.capture([&] { throw 1; }), int);
  launch(stream, module.function("set_all"), dims(1), static_cast<int*>(b.get()), 3, 256);
  EXPECT_EQ(to_host<int>(b), std::vector<int>(256, 3));
}

TEST_P(DriverSuite, TwoThreadsUseTwoStreams) {
  Module module = suite();
  FunctionHandle set = module.function("set_all"), twice = module.function("times_two_plus");
  std::vector<int> results[2];
  auto work = [&](int which) {
    Stream own(device);
    DeviceBuffer b(device, 4096);
    auto* p = static_cast<int*>(b.get());
    results[which].resize(1024);
    launch(own, set, dims(4), p, which, 1024);
    for (int i = 0; i < 10; ++i) launch(own, twice, dims(4), p, which, 1024);
    device->copy_to_host(results[which].data(), b.get(), 4096, own.get());
    own.synchronize();
  };
  std::thread a(work, 0), b(work, 1);
  a.join();
  b.join();
  EXPECT_EQ(results[0], std::vector<int>(1024, 0));
  EXPECT_EQ(results[1], std::vector<int>(1024, 2047));
}

HF_ON_ALL_DEVICES(DriverSuite);

}  // namespace
}  // namespace hf::gpu

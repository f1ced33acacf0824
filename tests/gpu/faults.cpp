// Every call that can fail is made to fail once, on every driver: the right code, nothing left behind, and the next try
// works.
#include "gpu/devices.h"
#include "gpu/suite_kernels.h"

namespace hf::gpu {
namespace {

class Faults : public OnDevice {
 protected:
  void TearDown() override {
    for (int i = 0; i < kCallCount; ++i) fail_nth_call(static_cast<Call>(i), 0);
    OnDevice::TearDown();
  }

  // Uses each call of Device at least once; what it makes is gone when it returns or throws.
  int run() {
    Stream s(device), other(device);
    Module module(device, suite_code(device->info().arch));
    FunctionHandle twice = module.function("times_two_plus");
    DeviceBuffer a(device, 1024), b(device, 1024);
    HostBuffer host(device, 1024);
    Event event(device), done(device);
    LaunchDims dims{.grid = {1, 1, 1}, .block = {256, 1, 1}};
    device->fill(a.get(), 0, 1024, s.get());
    launch(s, twice, dims, static_cast<int*>(a.get()), 5, 256);
    s.record(event);
    other.wait(event);
    device->copy_on_device(b.get(), a.get(), 1024, other.get());
    other.record(done);
    done.synchronize();
    Graph graph = s.capture([&] {
      launch(s, twice, dims, static_cast<int*>(b.get()), 1, 256);
      device->copy_to_host(host.get(), b.get(), 1024, s.get());
    });
    graph.launch(s);
    s.synchronize();
    return host.as<int>()[255];
  }
};

TEST_P(Faults, EachCallOnce) {
  for (int i = 0; i < kCallCount; ++i) fail_nth_call(static_cast<Call>(i), 0);
  ASSERT_EQ(run(), 11);
  int made[kCallCount];
  for (int i = 0; i < kCallCount; ++i) made[i] = calls_made(static_cast<Call>(i));
  for (int i = 0; i < kCallCount; ++i) {
    auto call = static_cast<Call>(i);
    EXPECT_GT(made[i], 0) << name(call) << " is not tested";
    for (int n = 1; n <= made[i]; ++n) {
      SCOPED_TRACE(fmt::format("{} number {}", name(call), n));
      fail_nth_call(call, n);
      bool memory = call == Call::Alloc || call == Call::HostAlloc;
      try {
        run();
        ADD_FAILURE() << "did not fail";
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), memory ? Code::OutOfMemory : Code::Driver) << e.what();
      }
      EXPECT_EQ(device->counts().allocations, 0);
      EXPECT_EQ(device->counts().host_allocations, 0);
      EXPECT_EQ(device->counts().modules, 0);
      EXPECT_EQ(device->counts().graphs, 0);
      EXPECT_EQ(device->counts().events, 0);
      EXPECT_EQ(device->counts().streams, 1);
      fail_nth_call(call, 0);
      EXPECT_EQ(run(), 11) << "the device does not recover";
    }
    fail_nth_call(call, 0);
  }
}

HF_ON_ALL_DEVICES(Faults);

}  // namespace
}  // namespace hf::gpu

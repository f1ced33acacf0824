// What a device has made and not yet destroyed, and the test hook that makes its n-th call fail.
#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

namespace hf::gpu {

/// Kinds of calls that tests can make fail. Calls that give something back are not among them: they have no failure
/// that a caller could act on.
enum class Call {
  Alloc,
  HostAlloc,
  StreamCreate,
  Synchronize,
  Copy,
  Fill,
  EventCreate,
  EventRecord,
  EventWait,
  ModuleLoad,
  Function,
  Launch,
  CaptureBegin,
  CaptureEnd,
  GraphLaunch
};
inline constexpr int kCallCount = 15;
std::string_view name(Call call);

/// Live objects of one device.
struct Counts {
  std::atomic<int64_t> allocations = 0, allocated_bytes = 0, host_allocations = 0, streams = 0, events = 0, modules = 0,
                       graphs = 0;
  /// All zero: nothing leaks.
  bool none() const {
    return allocations == 0 && allocated_bytes == 0 && host_allocations == 0 && streams == 0 && events == 0 &&
           modules == 0 && graphs == 0;
  }
};

/// Test hook: the n-th call (from 1) of this kind from now on, on any device, fails as the runtime's own would, once.
/// 0 turns it off.
void fail_nth_call(Call call, int n);
/// Calls of this kind since fail_nth_call() was last given it; for sweeping n over all calls of a run.
int calls_made(Call call);
/// Every function of Device begins with this. Throws OutOfMemory (allocations) or Driver if the hook says so.
void begin_call(Call call);

}  // namespace hf::gpu

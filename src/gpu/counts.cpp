// The test hook: a countdown for each kind of call.
#include "gpu/counts.h"

#include <array>

#include "base/error.h"

namespace hf::gpu {
namespace {

constexpr std::array<std::string_view, kCallCount> kNames = {
    "alloc",    "host_alloc",   "stream_create", "synchronize", "copy",
    "fill",     "event_create", "event_record",  "event_wait",  "module_load",
    "function", "launch",       "capture_begin", "capture_end", "graph_launch"};

struct Hook {
  std::atomic<int> fail_at{0}, made{0};
};
std::array<Hook, kCallCount> hooks;
std::atomic<bool> in_use{false};

}  // namespace

std::string_view name(Call call) { return kNames[static_cast<size_t>(call)]; }

void fail_nth_call(Call call, int n) {
  Hook& hook = hooks[static_cast<size_t>(call)];
  hook.made = 0;
  hook.fail_at = n;
  in_use = true;
}

int calls_made(Call call) { return hooks[static_cast<size_t>(call)].made; }

void begin_call(Call call) {
  if (!in_use.load(std::memory_order_relaxed)) return;
  Hook& hook = hooks[static_cast<size_t>(call)];
  if (++hook.made != hook.fail_at) return;
  bool memory = call == Call::Alloc || call == Call::HostAlloc;
  fail(memory ? Code::OutOfMemory : Code::Driver, "{}: the failure that a test asked for", name(call));
}

}  // namespace hf::gpu

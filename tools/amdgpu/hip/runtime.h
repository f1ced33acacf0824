// What every function of the API goes through, and the state they share.
//
// Work runs inside the call that enqueues it, under one lock; with AMDEMU_ASYNC=1 as late as the API allows.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "device/arena.h"
#include "hip/abi.h"
#include "hip/stream.h"

#define HIP_EXPORT extern "C" __attribute__((visibility("default")))
/// Leaves a function with the error code of an expression, if it is one.
#define HIP_TRY(expression) \
  if (const int status_ = (expression)) return status_

namespace amdgpu {

struct Settings {
  bool async = false, trace = false, fault_aborts = true, statistics = false, strict = true;
  int version = 60342131;

  int major() const { return version / 10000000; }
};

struct Kernel;
struct Module;

struct ModuleHandle {
  std::shared_ptr<Module> module;
};
struct FunctionHandle {
  Kernel* kernel = nullptr;
  std::shared_ptr<Module> module;
};
struct GraphExec {
  std::vector<GraphNode> nodes;
};

/// Bytes copied, and the most device memory that was in use.
struct Totals {
  uint64_t to_device = 0, to_host = 0, within_device = 0, memory_peak = 0;
};

struct Runtime {
  Settings settings;
  Totals totals;
  std::map<Stream*, std::shared_ptr<Stream>> streams;
  std::vector<std::shared_ptr<Stream>> null_streams;  // by device
  std::set<Event*> events;
  std::set<ModuleHandle*> modules;
  std::map<FunctionHandle*, std::unique_ptr<FunctionHandle>> functions;
  std::map<void*, std::shared_ptr<Graph>> graphs;
  std::set<GraphExec*> execs;
  std::vector<std::shared_ptr<Capture>> captures;  // those going on
  uint64_t last_capture = 0;
};
/// Never destroyed: the program may call the API from its own static destructors.
Runtime& runtime();

/// The calling thread's device, last error and capture mode.
struct ThreadState {
  int device = 0, last_error = 0, capture_mode = 0;
};
extern thread_local ThreadState thread_state;

/// Does a call report the device's sticky error in place of running?
enum class Sticky { Report, Ignore };

namespace detail {
std::recursive_mutex& lock();
/// Initialises the library at the first call. An error that the call must return, or -1.
int begin_call(const char* name, Sticky sticky, uint64_t& number);
/// Records the last error.
int end_call(const char* name, int status, uint64_t number);
}  // namespace detail

/// The frame of every API function: the lock, fault injection, sticky errors, the last error, the trace.
template <class F>
hipError_t api(const char* name, F body, Sticky sticky = Sticky::Report) {
  std::lock_guard<std::recursive_mutex> guard(detail::lock());
  uint64_t number;
  int status = detail::begin_call(name, sticky, number);
  if (status < 0) status = body();
  return static_cast<hipError_t>(detail::end_call(name, status, number));
}
/// The frame of functions that work on a device with a sticky error too.
template <class F>
hipError_t api_always(const char* name, F body) {
  return api(name, body, Sticky::Ignore);
}

/// Errors: no device; no device of that number.
int need_device();
int need_device(int device);

/// Prints what AMDEMU_STATS asks for, once.
void print_statistics();

}  // namespace amdgpu

// The frame of the API functions, initialisation, statistics.
#include "hip/runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "device/launch.h"
#include "device/support.h"
#include "hip/fault_injection.h"
#include "isa/decode.h"

namespace amdgpu {

namespace {

bool initialised = false;
double start = 0;

// HIP_VISIBLE_DEVICES: ordinals that select and order the devices of AMDEMU_ARCH.
void select_visible_devices() {
  const char* visible = getenv("HIP_VISIBLE_DEVICES");
  if (!visible) return;
  const std::vector<std::string> all = split(env_text("AMDEMU_ARCH", "gfx942"), ",");
  std::string chosen;
  for (const std::string& ordinal : split(visible, ",")) {
    char* end;
    const long i = strtol(ordinal.c_str(), &end, 10);
    if (end == ordinal.c_str() || i < 0 || static_cast<size_t>(i) >= all.size()) break;
    chosen += (chosen.empty() ? "" : ",") + all[i];
  }
  setenv("AMDEMU_ARCH", chosen.empty() ? "none" : chosen.c_str(), 1);
}

void initialise() {
  if (initialised) return;
  initialised = true;
  start = now();
  Settings& s = runtime().settings;
  s.async = env_int("AMDEMU_ASYNC", 0);
  s.trace = env_int("AMDEMU_TRACE", 0);
  s.statistics = env_int("AMDEMU_STATS", 0);
  s.strict = env_int("AMDEMU_STRICT", 1);
  s.fault_aborts = env_text("AMDEMU_FAULT", "abort") != "error";
  s.version = static_cast<int>(env_int("AMDEMU_HIP_VERSION", s.version));
  select_visible_devices();
  std::string error;
  if (!init_devices(error)) log("%s", error.c_str());
  for (const Device& d : devices()) {
    auto stream = std::make_shared<Stream>();
    stream->device = d.id;
    stream->is_null = true;
    runtime().null_streams.push_back(std::move(stream));
  }
  atexit(print_statistics);
}

void print_kernel(const KernelStatistics& k, const char* name) {
  const double rate = k.seconds > 0 ? static_cast<double>(k.instructions) / k.seconds / 1e6 : 0;
  fprintf(stderr, "amdemu: %9lu %10lu %13lu %9.3f %8.2f  %s\n", static_cast<unsigned long>(k.launches),
          static_cast<unsigned long>(k.groups), static_cast<unsigned long>(k.instructions), k.seconds, rate, name);
}

double megabytes(uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

}  // namespace

thread_local ThreadState thread_state;

Runtime& runtime() {
  static auto& r = *new Runtime;
  return r;
}

std::recursive_mutex& detail::lock() {
  static auto& m = *new std::recursive_mutex;
  return m;
}

int detail::begin_call(const char* name, Sticky sticky, uint64_t& number) {
  initialise();
  int status = injected_failure(name, number);
  const auto device = static_cast<size_t>(thread_state.device);
  if (status < 0 && sticky == Sticky::Report && device < devices().size() && devices()[device].sticky_error)
    status = devices()[device].sticky_error;
  return status;
}

int detail::end_call(const char* name, int status, uint64_t number) {
  if (status && status != error::NotReady) thread_state.last_error = status;
  if (runtime().settings.trace)
    log("[%d] %s #%lu -> %d", thread_state.device, name, static_cast<unsigned long>(number), status);
  return status;
}

int need_device() { return devices().empty() ? error::NoDevice : 0; }

int need_device(int device) {
  HIP_TRY(need_device());
  return device >= 0 && static_cast<size_t>(device) < devices().size() ? 0 : error::InvalidDevice;
}

void print_statistics() {
  bool& wanted = runtime().settings.statistics;
  if (!wanted) return;
  wanted = false;
  const Totals& t = runtime().totals;
  fprintf(stderr, "amdemu: ---- statistics: %.2f s in the process; %lu instructions decoded\n", now() - start,
          static_cast<unsigned long>(decoded_count()));
  fprintf(stderr,
          "amdemu: copies H2D %.2f MB, D2H %.2f MB, D2D %.2f MB; device memory peak %.2f MB, live allocations %ld\n",
          megabytes(t.to_device), megabytes(t.to_host), megabytes(t.within_device), megabytes(t.memory_peak),
          static_cast<long>(live_allocations()));
  std::vector<std::pair<std::string, KernelStatistics>> kernels(kernel_statistics().begin(), kernel_statistics().end());
  std::sort(kernels.begin(), kernels.end(), [](auto& a, auto& b) { return a.second.seconds > b.second.seconds; });
  fprintf(stderr, "amdemu: %9s %10s %13s %9s %8s  kernel\n", "launches", "workgroups", "wave-insts", "seconds",
          "Minst/s");
  KernelStatistics total;
  for (const auto& [name, k] : kernels) {
    print_kernel(k, name.c_str());
    total.launches += k.launches;
    total.instructions += k.instructions;
    total.groups += k.groups;
    total.seconds += k.seconds;
  }
  print_kernel(total, "TOTAL");
}

}  // namespace amdgpu

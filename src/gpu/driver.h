// Driver and Device: all that the engine asks of a GPU runtime. HIP, CUDA and the emulator on the host implement it;
// one test suite (tests/gpu/driver_suite.cpp) is its definition in code.
//
// Rules that hold for every function of Device:
// - Any thread may call, also several at once; two threads must not use one stream, event or module at the same time.
// - A failed call throws Driver with the runtime's own call and error names ("hipModuleLoadData:
// hipErrorInvalidImage"),
//   or OutOfMemory. Nothing is made by a call that throws.
// - Pointers and handles belong to the device that made them. Streams and events of the runtime's default are not used.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/counts.h"

namespace hf::gpu {

// Opaque handles of the runtime; never dereferenced.
using StreamHandle = struct StreamTag*;
using EventHandle = struct EventTag*;
using ModuleHandle = struct ModuleTag*;
using FunctionHandle = struct FunctionTag*;
using GraphHandle = struct GraphTag*;

struct DeviceInfo {
  std::string name;            // "AMD Instinct MI300X"
  std::string arch;            // what compilers call it: "gfx942:sramecc+:xnack-", "sm_90"
  int wave_size = 0;           // lanes of a wave: 64 or 32
  int compute_units = 0;       // CUs, WGPs or SMs, as the runtime counts them
  int64_t lds_bytes = 0;       // the most LDS of one block
  int max_threads = 0;         // of one block
  int64_t memory_bytes = 0;    // all of the device's memory
  int clock_khz = 0;           // peak engine clock; 0 if unknown
  std::string pci_id;          // "0000:c1:00.0"; empty if it has none
  bool lds_at_launch = false;  // the LDS() of a kernel is sized by the launch (CUDA, emu), not by its code (AMD)
};

struct MemoryInfo {
  int64_t free_bytes, total_bytes;
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

/// How a kernel is started: `grid` blocks of `block` threads, and LDS sized by the launch (see lds_at_launch).
struct LaunchDims {
  Dim3 grid, block;
  uint32_t lds_bytes = 0;
};

/// One GPU. Counts what it has made (counts()), so that a test can see a leak; destroying it while things live is a bug
/// of the caller. Test hook: fail_nth_call() of counts.h.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const { return info_; }
  const Counts& counts() const { return counts_; }
  virtual MemoryInfo memory_info() = 0;

  /// Device memory, aligned to 256 bytes or more, contents undefined. Throws OutOfMemory, naming what was asked and
  /// what is free; InvalidArgument unless bytes > 0. The device may still be using memory at free(): synchronise first.
  virtual void* alloc(int64_t bytes) = 0;
  /// Throws Driver for a pointer that alloc() did not return or that was freed already. Null is allowed.
  virtual void free(void* memory) = 0;
  /// Pinned host memory, which copies reach at full speed and asynchronously. Errors as alloc() and free().
  virtual void* host_alloc(int64_t bytes) = 0;
  virtual void host_free(void* memory) = 0;

  /// A queue that executes in order and does not wait for the runtime's default stream.
  virtual StreamHandle stream_create() = 0;
  virtual void stream_destroy(StreamHandle stream) = 0;
  /// Waits until all that was queued has run. Faults of kernels appear here at the latest.
  virtual void stream_synchronize(StreamHandle stream) = 0;

  /// Queued copies and fills. Host memory must stay valid and untouched until the stream has passed them; if it is not
  /// pinned the call may wait. Ranges must lie within one allocation and not overlap.
  virtual void copy_to_device(void* to, const void* from, int64_t bytes, StreamHandle stream) = 0;
  virtual void copy_to_host(void* to, const void* from, int64_t bytes, StreamHandle stream) = 0;
  virtual void copy_on_device(void* to, const void* from, int64_t bytes, StreamHandle stream) = 0;
  virtual void fill(void* to, uint8_t value, int64_t bytes, StreamHandle stream) = 0;

  virtual EventHandle event_create() = 0;
  virtual void event_destroy(EventHandle event) = 0;
  virtual void event_record(EventHandle event, StreamHandle stream) = 0;
  /// What is queued on `stream` from now on waits for what was before the record.
  virtual void event_wait(EventHandle event, StreamHandle stream) = 0;
  virtual void event_synchronize(EventHandle event) = 0;
  /// Time between two recorded events that have both passed. Throws Driver otherwise.
  virtual double elapsed_us(EventHandle from, EventHandle to) = 0;

  /// Loads a code object (compiler.h). Throws Driver if it is not one for this device.
  virtual ModuleHandle module_load(std::string_view code) = 0;
  virtual void module_unload(ModuleHandle module) = 0;
  /// The kernel of this name; lives as long as the module. Throws Driver naming the function if there is none.
  virtual FunctionHandle function(ModuleHandle module, const char* name) = 0;
  /// Queues a kernel. `args` points to one pointer an argument; they are read before the call returns. Throws Driver
  /// for dimensions beyond the device's limits.
  virtual void launch(FunctionHandle function, const LaunchDims& dims, void** args, StreamHandle stream) = 0;

  /// Between the two, work queued on `stream` by this thread is recorded and not run; other streams are drawn in by
  /// event_wait() on a captured event and must be joined back the same way. Only copies between pinned and device
  /// memory, fills, launches and events may be used.
  virtual void capture_begin(StreamHandle stream) = 0;
  /// The recorded work, ready to launch. On failure the capture is over and nothing is left.
  virtual GraphHandle capture_end(StreamHandle stream) = 0;
  virtual void graph_launch(GraphHandle graph, StreamHandle stream) = 0;
  virtual void graph_destroy(GraphHandle graph) = 0;

 protected:
  Device() = default;
  DeviceInfo info_;
  Counts counts_;
};

/// A GPU runtime that was found on this machine.
class Driver {
 public:
  virtual ~Driver() = default;
  /// "hip", "cuda" or "emu".
  virtual std::string_view name() const = 0;
  /// What was found, for reports: "HIP 6.4.43482, /opt/rocm/lib/libamdhip64.so".
  virtual std::string version() const = 0;
  virtual int device_count() = 0;
  /// The device of this index, counted as the runtime counts them (HIP_VISIBLE_DEVICES and CUDA_VISIBLE_DEVICES are the
  /// runtime's business). Throws NotFound outside [0, device_count()).
  virtual std::shared_ptr<Device> open(int index) = 0;
  /// The first device whose architecture has this name ("gfx942"). Throws NotFound, naming those there are.
  std::shared_ptr<Device> open_arch(std::string_view arch);

 protected:
  void check_index(int index);
};

/// The driver of this name. Loaded once a process; a failure is remembered. Throws NotFound with every place that was
/// tried, or Driver if the runtime is there but does not start.
Driver& driver(std::string_view name);
/// All names that driver() knows, in the order of preference.
std::vector<std::string_view> driver_names();
/// A device by its text: "hip", "hip:1", "cuda:0", "emu", "emu:gfx942". Throws InvalidArgument for another driver.
std::shared_ptr<Device> open_device(std::string_view text);

}  // namespace hf::gpu

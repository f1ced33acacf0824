// Backend: what turns nodes of a graph with known shapes into kernels. cpu/ and gpu/ implement it; this folder decides
// what runs where, in which buffers, and runs it. Nothing here knows a device.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "ir/graph.h"

namespace hf::plan {

/// Whose memory a value lies in.
enum class Space : uint8_t { Host, Device };

/// A way for a value to lie in memory that only one backend understands (blocked, padded, on a device, ...).
class LayoutDetail {
 public:
  virtual ~LayoutDetail() = default;
  virtual bool equals(const LayoutDetail& other) const = 0;
  /// Bytes of a buffer in this layout.
  virtual int64_t bytes() const = 0;
  virtual Space space() const { return Space::Host; }
  /// For reports: "nChw16c".
  virtual std::string text() const = 0;
};

/// How a value lies in memory: plain (dense and row-major on the host, as a Tensor), or a backend's own way.
struct Layout {
  std::shared_ptr<const LayoutDetail> detail;  // null: plain

  bool plain() const { return !detail; }
  Space space() const { return detail ? detail->space() : Space::Host; }
  bool operator==(const Layout& o) const {
    return plain() || o.plain() ? plain() == o.plain() : detail == o.detail || detail->equals(*o.detail);
  }
};

/// Compiled work for one node, for fixed shapes and layouts. Immutable: run() may be called from several threads at
/// once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// `inputs` in the node's order (null for absent and absorbed ones), `outputs` likewise (null where not wanted).
  /// `scratch` has the bytes that Prepared asked for, aligned to 64. Throws Error for faults of data or machine.
  virtual void run(std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch) const = 0;
  /// What runs, for reports: "onednn brgconv:avx512_core + relu", "reference".
  virtual std::string text() const = 0;
};

class DeviceRun;

/// Work on a device: queued, not done, when it returns.
class DeviceKernel : public Kernel {
 public:
  /// Device addresses, otherwise as run(). Called by one thread at a time for one DeviceRun.
  virtual void queue(std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch,
                     DeviceRun& run) const = 0;
  void run(std::span<const void* const>, std::span<void* const>, void*) const final {
    check(false, "work on a device is queued");
  }
};

/// What a run on a device holds: memory for the device's part of a plan, a queue, recorded work. One run at a time.
class DeviceRun {
 public:
  virtual ~DeviceRun() = default;
  /// Device memory of the plan's device arena and scratch, and host memory of its transfers; fixed for life.
  virtual std::byte* arena() = 0;
  virtual std::byte* staging() = 0;
  /// Queue a copy between staging memory and device memory.
  virtual void upload(void* device, int64_t staging_offset, int64_t bytes) = 0;
  virtual void download(int64_t staging_offset, const void* device, int64_t bytes) = 0;
  /// Does what `queue(i)`, for i below `count`, queues: now, or as a recording of an earlier call with this number,
  /// whose calls were the same. Waits for nothing.
  virtual void execute(int segment, size_t count, const std::function<void(size_t)>& queue) = 0;
  /// The same, with the device's time for each i, in microseconds. Waits.
  virtual std::vector<double> time_each(size_t count, const std::function<void(size_t)>& queue) = 0;
  /// The device's time for execute(), in microseconds. Waits.
  virtual double time_all(int segment, size_t count, const std::function<void(size_t)>& queue) = 0;
  /// Waits for all that was queued. Throws Driver for faults of kernels.
  virtual void synchronize() = 0;
};

/// What a DeviceRun is made for.
struct DeviceNeeds {
  int64_t arena_bytes = 0, scratch_bytes = 0, staging_bytes = 0;
};

/// A node made ready.
struct Prepared {
  /// Null with alias >= 0: output 0 is input `alias`, unchanged bytes under other extents or, with an output layout,
  /// seen in another order (a transpose that whoever reads it may undo for nothing).
  std::unique_ptr<Kernel> kernel;  // a DeviceKernel from a device's backend
  int alias = -1;
  /// The layouts that the kernel reads and writes; where an input lies otherwise, the plan converts it first.
  /// Missing entries mean plain.
  std::vector<Layout> inputs, outputs;
  /// Inputs (constants) that the kernel took a copy of when it was made and does not want at run time. Missing: false.
  std::vector<bool> absorbed;
  /// Inputs whose buffer output 0 may take over if nobody needs the input later. Same size and layout.
  std::vector<int> in_place;
  int64_t scratch_bytes = 0;
  /// Why kernels that would have been better were refused, for reports; empty if this is the first choice.
  std::string why;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;  // "cpu"
  /// Makes a node ready. All its inputs and outputs have known dtypes and static shapes. `layouts` says how each input
  /// lies now (the kernel may want another way). Thread-safe.
  virtual std::variant<Prepared, Refusal> prepare(const ir::Node& node, std::span<const Layout> layouts) = 0;
  /// A kernel that rewrites a value (input 0 to output 0) from one layout to another, and the scratch that it wants.
  virtual Prepared convert(const ir::Value& value, const Layout& from, const Layout& to) = 0;
  /// Called on the thread of a run before its first kernel.
  virtual void begin_run() {}

  // ---- Backends of devices. Their layouts' space is Device, and so is their kernels' memory.
  virtual Space space() const { return Space::Host; }
  /// The device's layout with the same bytes as a plain tensor: the form in which values come and go.
  virtual Layout transfer_layout(const ir::Value&) const { return {}; }
  /// A constant on the device in this layout, shared by all that ask for the same: its address, and what owns it.
  virtual std::shared_ptr<const void> place_constant(const Tensor&, const Layout&) { return {}; }
  /// Makes all that prepare() and convert() returned since the last call ready to run: compiles, uploads. False if some
  /// of it failed and the plan has to be made anew; the backend then refuses what failed.
  virtual bool finish() { return true; }
  virtual std::unique_ptr<DeviceRun> make_run(const DeviceNeeds&) { return {}; }
};

}  // namespace hf::plan

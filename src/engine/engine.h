// The engine: the plan::Backend of GPUs. Lowers nodes, compiles and uploads what they need, and queues their kernels.
#pragma once
#include <optional>

#include "gpu/driver.h"
#include "kernel/kernel_spec.h"
#include "plan/backend.h"

namespace hf::engine {

struct EngineOptions {
  std::shared_ptr<gpu::Device> device;
  std::string name;              // what reports call the device: "hip:0"
  DType precision = DType::F32;  // what float32 values are stored as: F32, F16, BF16
  bool graphs = true;            // record the work of a plan and replay it
  bool tune = false;             // measure the candidates of each kernel once, and keep what is found
  int64_t memory_limit = 0;      // bytes of device memory that the session may hold; 0: no limit
  int compile_threads = 0;       // 0: as many as the machine has
  /// What nodes are lowered for; unset: the device as it describes itself. That of a package makes sure that the
  /// kernels in it are those that are wanted.
  std::optional<kernel::Target> target;
  std::string packaged_for;  // "input [1, 3, 32, 32] in fp32": what its kernels were compiled for; empty: no package
};

/// What the engine holds now, and the most that it held at once, in bytes of device memory.
struct DeviceMemory {
  int64_t constants_bytes = 0;  // weights
  int64_t runs_bytes = 0;       // arenas and scratch of runs
  int64_t peak_bytes = 0;
};

/// A kernel compiled for a target.
struct CompiledKernel {
  kernel::KernelSpec spec;  // of one of its launches
  std::string code;
  int uses = 0;  // launches of the plans; 0: the self-test
};

class Engine : public plan::Backend {
 public:
  virtual DeviceMemory memory() const = 0;
  /// Kernels compiled or found in the cache so far, and the time that took.
  virtual int kernels_loaded() const = 0;
  /// Of an engine that compiles without a device (offline.h): the kernels of the plans made so far, by family.
  virtual std::vector<CompiledKernel> compiled() const { return {}; }
};

/// Throws Driver, NotFound (no compiler) or Compile if a first small kernel does not compile, run and give the right
/// result on the device.
std::unique_ptr<Engine> make_engine(const EngineOptions& options);

/// A small kernel; what self_test() runs.
kernel::KernelSpec self_test_kernel();
/// Runs it on the device, once a process. Throws as make_engine().
void self_test(const std::shared_ptr<gpu::Device>& device);

/// "AMD Instinct MI300X (gfx942, 304 compute units, 192 GiB)"
std::string describe(const gpu::DeviceInfo& info);

}  // namespace hf::engine

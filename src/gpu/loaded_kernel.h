// A KernelSpec made ready on a device: compiled (or found in the cache), loaded, launched with its arguments.
#pragma once
#include <span>

#include "gpu/compiler.h"
#include "gpu/objects.h"
#include "kernel/kernel_spec.h"

namespace hf::gpu {

/// What lowering is told of a device: the facts of its architecture, and what it says itself.
kernel::Target target_of(const DeviceInfo& info);
/// What the compiler is given for a specification.
Source source_of(const kernel::KernelSpec& spec);

/// The memory that a launch works on: device addresses, in the order of the spec's numbers.
struct LaunchBuffers {
  std::span<void*const> inputs, outputs, packed;
  void* workspace = nullptr;  // spec().workspace_bytes or more
  void* counters = nullptr;   // spec().counters words of zero
};

/// May be launched from any thread; on several streams at once as long as their workspaces differ.
class LoadedKernel {
 public:
  /// Compiles through the cache, and loads. Throws Compile, NotFound (no compiler), Driver.
  LoadedKernel(const std::shared_ptr<Device>& device, kernel::KernelSpec spec);
  /// The same with a loaded code object that source_of(spec) was compiled to.
  LoadedKernel(std::shared_ptr<const Module> module, kernel::KernelSpec spec);

  /// Queues the kernel.
  void launch(const Stream& stream, const LaunchBuffers& buffers) const;
  const kernel::KernelSpec& spec() const { return spec_; }

 private:
  kernel::KernelSpec spec_;
  LaunchDims dims_;
  std::shared_ptr<const Module> module_;
  FunctionHandle function_ = nullptr;
};

}  // namespace hf::gpu

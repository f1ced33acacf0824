// The kernels of a device, or of an architecture: each text is compiled and loaded once, whatever number of nodes and
// plans want it.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>

#include "gpu/loaded_kernel.h"

namespace hf::engine {

/// What the code of a kernel depends on: the device header is the same for all.
std::string code_key(const kernel::KernelSpec& spec);

/// Not thread-safe: the engine locks.
class KernelStore {
 public:
  /// `device`: null to compile only. `packaged_for`: what the kernels in the model's package are for, if there are any:
  /// one that is not among them, and that no compiler is there for, has then failed as if a compiler had refused it.
  KernelStore(std::string arch, std::shared_ptr<gpu::Device> device, int threads, gpu::CompileProgress progress = {},
              std::string packaged_for = "")
      : arch_(std::move(arch)),
        device_(std::move(device)),
        threads_(threads),
        progress_(std::move(progress)),
        packaged_for_(std::move(packaged_for)) {}

  /// Why a kernel of this text could not be made; empty if nothing is known against it.
  std::string failure(const kernel::KernelSpec& spec) const;
  /// Asks for it in the next load().
  void want(const kernel::KernelSpec& spec);
  /// Compiles all that is wanted, at once. False if some failed: failure() tells.
  bool load();
  /// One that load() loaded on the device.
  std::shared_ptr<const gpu::Module> get(const kernel::KernelSpec& spec) const;
  /// One that load() compiled without a device.
  const std::string& code(const kernel::KernelSpec& spec) const;
  int count() const { return static_cast<int>(made_.size()); }

 private:
  struct Made {
    std::shared_ptr<const gpu::Module> module;  // or, without a device:
    std::string code;
  };
  const Made& made(const kernel::KernelSpec& spec) const;
  std::vector<gpu::CodeObject> compile(std::span<const gpu::Source> sources, std::span<const std::string> keys);

  std::string arch_;
  std::shared_ptr<gpu::Device> device_;
  int threads_;
  gpu::CompileProgress progress_;
  std::string packaged_for_;
  std::map<std::string, kernel::KernelSpec> wanted_;
  std::map<std::string, Made> made_;
  std::map<std::string, std::string> failed_;
};

}  // namespace hf::engine

// The kernels of a device: each text is compiled and loaded once, whatever number of nodes and plans want it.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>

#include "gpu/loaded_kernel.h"

namespace hf::engine {

/// Not thread-safe: the engine locks.
class KernelStore {
 public:
  KernelStore(std::shared_ptr<gpu::Device> device, int threads) : device_(std::move(device)), threads_(threads) {}

  /// Why a kernel of this text could not be made; empty if nothing is known against it.
  std::string failure(const kernel::KernelSpec& spec) const;
  /// Asks for it in the next load().
  void want(const kernel::KernelSpec& spec);
  /// Compiles all that is wanted, at once. False if some failed: failure() tells.
  bool load();
  /// One that load() loaded.
  std::shared_ptr<const gpu::Module> get(const kernel::KernelSpec& spec) const;
  int count() const { return static_cast<int>(loaded_.size()); }

 private:
  std::shared_ptr<gpu::Device> device_;
  int threads_;
  std::map<std::string, kernel::KernelSpec> wanted_;
  std::map<std::string, std::shared_ptr<const gpu::Module>> loaded_;
  std::map<std::string, std::string> failed_;
};

}  // namespace hf::engine

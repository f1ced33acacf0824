// Measuring which of a launch's candidates is the fastest, once a device; what was found is kept with the compiled
// kernels.
#pragma once
#include <map>
#include <span>

#include "engine/kernel_store.h"
#include "engine/node_kernel.h"

namespace hf::engine {

/// Not thread-safe: the engine locks.
class Tuner {
 public:
  explicit Tuner(std::shared_ptr<gpu::Device> device) : device_(std::move(device)) {}

  /// The candidate that was measured to be the fastest, or -1 if none of these were measured on such a device yet.
  int known(const kernel::Candidates& candidates);
  /// Measures those that `kernels` has, on made-up contents: the least of several medians of a few launches. Returns
  /// the fastest, and remembers it. `work` says how large the buffers of launch `index` are and holds its packed data.
  int measure(const Work& work, size_t index, const KernelStore& kernels);

 private:
  std::string key_of(const kernel::Candidates& candidates) const;
  double time_us(const gpu::LoadedKernel& kernel, const gpu::LaunchBuffers& buffers);

  std::shared_ptr<gpu::Device> device_;
  std::map<std::string, int> found_;
};

}  // namespace hf::engine

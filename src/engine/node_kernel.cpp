// A lowered node as a kernel of a plan.
#include "engine/node_kernel.h"

#include <algorithm>

#include "engine/device_run.h"

namespace hf::engine {

int64_t Work::workspace_bytes() const {
  int64_t most = 0;
  for (const kernel::KernelSpec& s : specs) most = std::max(most, s.workspace_bytes);
  return most;
}

int Work::counters() const {
  int most = 0;
  for (const kernel::KernelSpec& s : specs) most = std::max(most, s.counters);
  return most;
}

void NodeKernel::queue(std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch,
                       plan::DeviceRun& run) const {
  auto& own = static_cast<EngineRun&>(run);
  std::vector<void*> in, packed;
  for (const void* p : inputs) in.push_back(const_cast<void*>(p));
  for (const auto& p : work_->packed) packed.push_back(const_cast<void*>(p.get()));
  gpu::LaunchBuffers buffers{
      .inputs = in, .outputs = outputs, .packed = packed, .workspace = scratch, .counters = own.counters()};
  for (const gpu::LoadedKernel& launch : work_->launches) launch.launch(own.stream(), buffers);
}

}  // namespace hf::engine

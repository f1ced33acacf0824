// A lowered node as a kernel of a plan.
#pragma once
#include "engine/constants.h"

namespace hf::engine {

/// One buffer of a launch; no bytes: none.
struct BufferNeed {
  int64_t bytes = 0;
  DType stored = DType::Undefined;
};

/// What a node's launches need. It becomes ready in Engine::finish(), after prepare() has returned it.
struct Work {
  std::vector<kernel::KernelSpec> specs;  // one a launch, in order
  std::vector<lower::Packing> packings;
  std::vector<std::vector<Tensor>> constants;  // each packing's inputs
  std::string text;
  /// For tuning: all candidates of each launch, and the node's buffers.
  std::vector<kernel::Candidates> candidates;
  std::vector<BufferNeed> inputs, outputs;

  std::vector<gpu::LoadedKernel> launches;
  std::vector<std::shared_ptr<const void>> packed;

  int64_t workspace_bytes() const;
  int counters() const;
};

class NodeKernel final : public plan::DeviceKernel {
 public:
  explicit NodeKernel(std::shared_ptr<const Work> work) : work_(std::move(work)) {}
  void queue(std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch,
             plan::DeviceRun& run) const override;
  std::string text() const override { return work_->text; }

 private:
  std::shared_ptr<const Work> work_;
};

}  // namespace hf::engine

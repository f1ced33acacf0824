// What the engines with a device and without one share: nodes are lowered for a target, their kernels are compiled
// together, and those that fail are replaced by the next candidates.
#pragma once
#include <mutex>

#include "engine/engine.h"
#include "engine/node_kernel.h"

namespace hf::engine {

class LoweringBackend : public Engine {
 public:
  std::string_view name() const override { return name_; }
  plan::Space space() const override { return plan::Space::Device; }
  std::variant<plan::Prepared, Refusal> prepare(const ir::Node& node, std::span<const plan::Layout> layouts) override;
  plan::Prepared convert(const ir::Value& value, const plan::Layout& from, const plan::Layout& to) override;
  plan::Layout transfer_layout(const ir::Value& value) const override;
  bool finish() override;
  int kernels_loaded() const override;

 protected:
  LoweringBackend(std::string name, DType precision, kernel::Target target, KernelStore kernels)
      : kernels_(std::move(kernels)), name_(std::move(name)), precision_(precision), target_(std::move(target)) {}
  /// Called with the lock held, once for each piece of work whose kernels are compiled.
  virtual void make_ready(Work& work) = 0;
  /// Which of a launch's candidates is to be tried first. With the lock held.
  virtual size_t preferred(const kernel::Candidates&) { return 0; }
  /// With the lock held, when the kernels of all these are there. False if a choice is to be made anew.
  virtual bool settle(std::span<const std::shared_ptr<Work>>) { return true; }

  mutable std::mutex mutex_;
  KernelStore kernels_;

 private:
  std::variant<plan::Prepared, Refusal> prepared(lower::Lowered& lowered, const ir::Node& node);
  Refusal choose(const lower::Lowered& lowered, Work& work);
  plan::Prepared of(std::shared_ptr<Work> work);

  std::string name_;
  DType precision_;
  kernel::Target target_;
  std::vector<std::weak_ptr<Work>> unfinished_;
};

}  // namespace hf::engine

// The engine of a device: constants, kernels and runs on it.
#include <algorithm>

#include "base/settings.h"
#include "engine/device_run.h"
#include "engine/lowering_backend.h"
#include "engine/tuner.h"
#include "kernel/target_facts.h"

namespace hf::engine {
namespace {

kernel::Target target_for(const EngineOptions& options) {
  kernel::Target target = options.target ? *options.target : gpu::target_of(options.device->info());
  if (std::string arch = setting("choose_for"); !arch.empty()) target.arch = arch;
  return target;
}

class GpuEngine final : public LoweringBackend {
 public:
  explicit GpuEngine(const EngineOptions& options)
      : LoweringBackend(options.name, options.precision, target_for(options),
                        KernelStore(options.device->info().arch, options.device, options.compile_threads, {},
                                    options.packaged_for)),
        device_(options.device),
        graphs_(options.graphs),
        book_(std::make_shared<MemoryBook>(device_, options.memory_limit)),
        constants_(device_, book_) {
    if (options.tune) tuner_ = std::make_unique<Tuner>(device_);
  }

  std::shared_ptr<const void> place_constant(const Tensor& tensor, const plan::Layout& layout) override {
    std::lock_guard lock(mutex_);
    return constants_.place(tensor, *lower::device_layout(layout));
  }

  std::unique_ptr<plan::DeviceRun> make_run(const plan::DeviceNeeds& needs) override {
    std::lock_guard lock(mutex_);
    return std::make_unique<EngineRun>(device_, book_, needs, counters_, graphs_);
  }

  DeviceMemory memory() const override { return book_->now(); }

 protected:
  void make_ready(Work& work) override {
    for (const kernel::KernelSpec& s : work.specs) work.launches.emplace_back(kernels_.get(s), s);
    pack(work);
    counters_ = std::max(counters_, work.counters());
    work.packings.clear();  // what they hold is on the device now
    work.constants.clear();
    work.candidates.clear();
  }

  size_t preferred(const kernel::Candidates& candidates) override {
    int known = tuner_ ? tuner_->known(candidates) : 0;
    return known < 0 ? 0 : static_cast<size_t>(known);
  }

  bool settle(std::span<const std::shared_ptr<Work>> works) override {
    if (!tuner_) return true;
    auto each_unknown = [&](auto&& f) {
      for (const auto& work : works)
        for (size_t i = 0; i < work->candidates.size(); ++i)
          if (tuner_->known(work->candidates[i]) < 0) f(*work, i);
    };
    each_unknown([&](Work& work, size_t i) {
      for (const kernel::KernelSpec& s : work.candidates[i]) kernels_.want(s);
    });
    kernels_.load();  // those that fail are not measured
    bool changed = false;
    each_unknown([&](Work& work, size_t i) {
      pack(work);
      changed |= tuner_->measure(work, i, kernels_) > 0;
    });
    return !changed;
  }

 private:
  void pack(Work& work) {
    work.packed.clear();
    for (size_t i = 0; i < work.packings.size(); ++i)
      work.packed.push_back(constants_.pack(work.packings[i], work.constants[i], kernels_));
  }

  std::shared_ptr<gpu::Device> device_;
  std::unique_ptr<Tuner> tuner_;
  bool graphs_;
  std::shared_ptr<MemoryBook> book_;
  Constants constants_;
  int counters_ = 0;
};

}  // namespace

std::string describe(const gpu::DeviceInfo& info) {
  return fmt::format("{} ({}, {} compute units, {:.0f} GiB)", info.name, kernel::plain_arch(info.arch),
                     info.compute_units, static_cast<double>(info.memory_bytes) / (int64_t{1} << 30));
}

std::unique_ptr<Engine> make_engine(const EngineOptions& options) {
  check(options.device != nullptr, "an engine has a device");
  self_test(options.device);
  return std::make_unique<GpuEngine>(options);
}

}  // namespace hf::engine

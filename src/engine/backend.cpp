// The engine of a device: constants, kernels and runs on it.
#include <algorithm>

#include "engine/device_run.h"
#include "engine/lowering_backend.h"
#include "kernel/target_facts.h"

namespace hf::engine {
namespace {

class GpuEngine final : public LoweringBackend {
 public:
  explicit GpuEngine(const EngineOptions& options)
      : LoweringBackend(options.name, options.precision,
                        options.target ? *options.target : gpu::target_of(options.device->info()),
                        KernelStore(options.device->info().arch, options.device, options.compile_threads, {},
                                    options.packaged_for)),
        device_(options.device),
        graphs_(options.graphs),
        book_(std::make_shared<MemoryBook>(device_, options.memory_limit)),
        constants_(device_, book_) {}

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
    for (size_t i = 0; i < work.packings.size(); ++i)
      work.packed.push_back(constants_.pack(work.packings[i], work.constants[i], kernels_));
    counters_ = std::max(counters_, work.counters());
    work.packings.clear();  // what they hold is on the device now
    work.constants.clear();
  }

 private:
  std::shared_ptr<gpu::Device> device_;
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

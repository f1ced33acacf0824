// The engine: lowering, readiness, conversions.
#include <algorithm>

#include "base/log.h"
#include "engine/device_run.h"
#include "engine/node_kernel.h"

namespace hf::engine {
namespace {

using lower::Lowered;
using plan::Layout;
using plan::Prepared;

class GpuEngine final : public Engine {
 public:
  explicit GpuEngine(const EngineOptions& options)
      : options_(options),
        device_(options.device),
        target_(gpu::target_of(device_->info())),
        book_(std::make_shared<MemoryBook>(device_, options.memory_limit)),
        constants_(device_, book_),
        kernels_(device_, options.compile_threads) {}

  std::string_view name() const override { return options_.name; }
  plan::Space space() const override { return plan::Space::Device; }

  std::variant<Prepared, Refusal> prepare(const ir::Node& node, std::span<const Layout> layouts) override {
    if (!node.subgraphs().empty()) return Refusal{"it has subgraphs"};
    lower::Answer answer = lower::lower_node({node, layouts, target_, options_.precision});
    if (auto* refusal = std::get_if<Refusal>(&answer)) return *refusal;
    return prepared(std::get<Lowered>(answer), node);
  }

  Prepared convert(const ir::Value& value, const Layout& from, const Layout& to) override {
    const auto *a = lower::device_layout(from), *b = lower::device_layout(to);
    check(a && b, "the engine converts its own layouts");
    auto work = std::make_shared<Work>();
    work->text = fmt::format("{} to {}", a->text(), b->text());
    auto where = context([&] { return fmt::format("value '{}': {}", value.name, work->text); });
    work->specs.push_back(lower::convert_layout(*a, *b, target_).front());
    return of(std::move(work));
  }

  Layout transfer_layout(const ir::Value& value) const override {
    return lower::device_rows(value.shape.get(), value.dtype);
  }

  std::shared_ptr<const void> place_constant(const Tensor& tensor, const Layout& layout) override {
    std::lock_guard lock(mutex_);
    return constants_.place(tensor, *lower::device_layout(layout));
  }

  bool finish() override {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Work>> works;
    for (auto& weak : unfinished_)
      if (auto work = weak.lock()) works.push_back(std::move(work));
    unfinished_.clear();
    for (const auto& work : works) {
      for (const kernel::KernelSpec& s : work->specs) kernels_.want(s);
      for (const lower::Packing& p : work->packings)
        if (!p.host) kernels_.want(p.kernel);
    }
    if (!kernels_.load()) return false;
    for (const auto& work : works) make_ready(*work);
    return true;
  }

  std::unique_ptr<plan::DeviceRun> make_run(const plan::DeviceNeeds& needs) override {
    std::lock_guard lock(mutex_);
    return std::make_unique<EngineRun>(device_, book_, needs, counters_, options_.graphs);
  }

  DeviceMemory memory() const override { return book_->now(); }
  int kernels_loaded() const override {
    std::lock_guard lock(mutex_);
    return kernels_.count();
  }

 private:
  // The first candidate of each launch against which nothing is known.
  std::variant<Prepared, Refusal> prepared(Lowered& lowered, const ir::Node& node) {
    Prepared p;
    p.inputs = std::move(lowered.inputs);
    p.outputs = std::move(lowered.outputs);
    p.absorbed = std::move(lowered.absorbed);
    p.in_place = std::move(lowered.in_place);
    p.alias = lowered.alias;
    if (lowered.alias >= 0) return p;
    auto work = std::make_shared<Work>();
    work->text = lowered.text;
    {
      std::lock_guard lock(mutex_);
      for (const kernel::Candidates& candidates : lowered.launches) {
        auto usable = std::find_if(candidates.begin(), candidates.end(),
                                   [&](const kernel::KernelSpec& s) { return kernels_.failure(s).empty(); });
        if (usable == candidates.end()) return Refusal{"its kernel failed: " + kernels_.failure(candidates.front())};
        work->specs.push_back(*usable);
      }
      for (const lower::Packing& packing : lowered.packings)
        if (!packing.host && !kernels_.failure(packing.kernel).empty())
          return Refusal{"its packing failed: " + kernels_.failure(packing.kernel)};
    }
    for (const lower::Packing& packing : lowered.packings) {
      std::vector<Tensor> inputs;
      for (int i : packing.inputs) inputs.push_back(node.input(i)->constant);
      if (packing.host)  // it may have looked at any of them
        for (const ir::Value* v : node.inputs())
          if (v && v->is_constant()) inputs.push_back(v->constant);
      work->constants.push_back(std::move(inputs));
    }
    work->packings = std::move(lowered.packings);
    Prepared made = of(std::move(work));
    p.kernel = std::move(made.kernel);
    p.scratch_bytes = made.scratch_bytes;
    return p;
  }

  Prepared of(std::shared_ptr<Work> work) {
    Prepared p;
    p.scratch_bytes = work->workspace_bytes();
    p.kernel = std::make_unique<NodeKernel>(work);
    std::lock_guard lock(mutex_);
    unfinished_.push_back(work);
    return p;
  }

  void make_ready(Work& work) {
    for (const kernel::KernelSpec& s : work.specs) work.launches.emplace_back(kernels_.get(s), s);
    for (size_t i = 0; i < work.packings.size(); ++i)
      work.packed.push_back(constants_.pack(work.packings[i], work.constants[i], kernels_));
    counters_ = std::max(counters_, work.counters());
    work.packings.clear();  // what they hold is on the device now
    work.constants.clear();
  }

  EngineOptions options_;
  std::shared_ptr<gpu::Device> device_;
  kernel::Target target_;
  std::shared_ptr<MemoryBook> book_;
  mutable std::mutex mutex_;
  Constants constants_;
  KernelStore kernels_;
  std::vector<std::weak_ptr<Work>> unfinished_;
  int counters_ = 0;
};

}  // namespace

std::string describe(const gpu::DeviceInfo& info) {
  std::string arch = info.arch.substr(0, info.arch.find(':', 4));
  return fmt::format("{} ({}, {} compute units, {:.0f} GiB)", info.name, arch, info.compute_units,
                     static_cast<double>(info.memory_bytes) / (int64_t{1} << 30));
}

std::unique_ptr<Engine> make_engine(const EngineOptions& options) {
  check(options.device != nullptr, "an engine has a device");
  self_test(options.device);
  return std::make_unique<GpuEngine>(options);
}

}  // namespace hf::engine

// Planning and compiling without a device.
#include "engine/offline.h"

#include "engine/lowering_backend.h"

namespace hf::engine {
namespace {

class OfflineEngine final : public LoweringBackend {
 public:
  explicit OfflineEngine(const OfflineOptions& o)
      : LoweringBackend(o.name, o.precision, o.target,
                        KernelStore(o.target.arch, nullptr, o.compile_threads, o.progress)),
        compile_(o.compile) {
    if (!compile_) return;
    gpu::compile(gpu::source_of(self_test_kernel()), o.target.arch);  // throws here what would fail for every kernel
    kernels_.want(self_test_kernel());
  }

  // Nothing reads it.
  std::shared_ptr<const void> place_constant(const Tensor&, const plan::Layout&) override {
    return std::make_shared<char>();
  }

  bool finish() override { return !compile_ || LoweringBackend::finish(); }

  std::unique_ptr<plan::DeviceRun> make_run(const plan::DeviceNeeds&) override {
    fail(Code::Unsupported, "'{}' is a target without a device: nothing runs on it", name());
  }

  DeviceMemory memory() const override { return {}; }

  std::vector<CompiledKernel> compiled() const override {
    std::lock_guard lock(mutex_);
    std::vector<CompiledKernel> all;
    if (!compile_) return all;
    kernel::KernelSpec first = self_test_kernel();
    all.push_back({first, kernels_.code(first), 0});
    for (const auto& [key, used] : used_) all.push_back({used.spec, kernels_.code(used.spec), used.uses});
    return all;
  }

 protected:
  void make_ready(Work& work) override {
    for (const kernel::KernelSpec& s : work.specs) use(s);
    for (const lower::Packing& p : work.packings)
      if (!p.host) use(p.kernel);
  }

 private:
  struct Used {
    kernel::KernelSpec spec;
    int uses = 0;
  };
  void use(const kernel::KernelSpec& spec) {
    Used& used = used_[spec.family + " " + code_key(spec)];
    used.spec = spec;
    ++used.uses;
  }

  bool compile_;
  std::map<std::string, Used> used_;  // by family, then by what the code depends on
};

}  // namespace

std::unique_ptr<Engine> make_offline_engine(const OfflineOptions& options) {
  return std::make_unique<OfflineEngine>(options);
}

}  // namespace hf::engine

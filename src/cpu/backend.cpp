// The CPU backend: trying the candidates, conversions, threads.
#include "cpu/backend.h"

#include <omp.h>

#include <fstream>

#include "cpu/candidates.h"
#include "cpu/work.h"

namespace hf::cpu {
namespace {

// A kernel for which a team of threads does not pay.
class SingleThreaded final : public plan::Kernel {
 public:
  SingleThreaded(std::unique_ptr<plan::Kernel> kernel, int threads) : kernel_(std::move(kernel)), threads_(threads) {}
  void run(std::span<const void* const> in, std::span<void* const> out, void* scratch) const override {
    struct Restore {
      int threads;
      ~Restore() { omp_set_num_threads(threads); }
    } restore{threads_};
    omp_set_num_threads(1);
    kernel_->run(in, out, scratch);
  }
  std::string text() const override { return kernel_->text(); }

 private:
  std::unique_ptr<plan::Kernel> kernel_;
  int threads_;  // of the run, for the kernels after it
};

class CpuBackend final : public plan::Backend {
 public:
  explicit CpuBackend(const CpuOptions& options) : threads_(options.threads > 0 ? options.threads : usable_cores()) {}

  std::string_view name() const override { return "cpu"; }

  Answer prepare(const ir::Node& node, std::span<const Layout> layouts) override {
    if (!node.subgraphs().empty()) return Refusal{"it has subgraphs"};
    const bool alone = threads_ > 1 && work_ns(node) < kWorthATeamNs;
    Threads team(alone ? 1 : threads_);
    Request request{node, layouts, weights_};
    std::string reasons;
    for (Candidate candidate : candidates_for(node)) {
      Answer answer = attempt(candidate, request);
      auto* refusal = std::get_if<Refusal>(&answer);
      if (!refusal) {
        auto& prepared = std::get<plan::Prepared>(answer);
        prepared.why = reasons;
        if (alone && prepared.kernel)
          prepared.kernel = std::make_unique<SingleThreaded>(std::move(prepared.kernel), threads_);
        return answer;
      }
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", candidate.name, refusal->reason);
    }
    return Refusal{reasons};
  }

  plan::Prepared convert(const ir::Value& value, const Layout& from, const Layout& to) override {
    Threads team(threads_);
    Dims dims = value.shape.get();
    memory::desc source = desc_of(from, dims), target = desc_of(to, dims);
    dnnl::reorder::primitive_desc pd(compat::engine(), source, compat::engine(), target, user_scratchpad());
    auto kernel = std::make_unique<DnnlKernel>("onednn reorder " + std::string(pd.impl_info_str()));
    Call call{dnnl::reorder(pd), {{DNNL_ARG_FROM, source, Arg::Input}, {DNNL_ARG_TO, target, Arg::Output}}};
    kernel->add_scratchpad(call, pd.scratchpad_desc());
    kernel->add(std::move(call));
    plan::Prepared prepared;
    prepared.scratch_bytes = kernel->scratch_bytes();
    prepared.kernel = std::move(kernel);
    return prepared;
  }

  void begin_run() override { omp_set_num_threads(threads_); }
  int threads() const { return threads_; }

 private:
  // Primitives are made for a number of threads: that of the caller's OpenMP setting, which is put back afterwards.
  struct Threads {
    int before = omp_get_max_threads();
    explicit Threads(int count) { omp_set_num_threads(count); }
    ~Threads() { omp_set_num_threads(before); }
  };

  static Answer attempt(const Candidate& candidate, const Request& request) {
    try {
      return candidate.prepare(request);
    } catch (const dnnl::error& e) {
      return Refusal{e.what()};
    }
  }

  int threads_;
  PackedWeights weights_;
};

}  // namespace

bool Request::all_f32() const {
  auto ok = [](const ir::Value* v) { return !v || v->dtype == DType::F32; };
  for (const ir::Value* v : node.inputs())
    if (!ok(v)) return false;
  for (const ir::Value* v : node.outputs())
    if (!ok(v)) return false;
  return true;
}

bool Request::empty() const {
  auto none = [](const ir::Value* v) { return v && v->shape.count() == 0; };
  for (const ir::Value* v : node.outputs())
    if (none(v)) return true;
  return none(node.input(0));
}

std::vector<Dims> Request::epilogue_dims(const Dims& first) const {
  std::vector<Dims> all = {first};
  for (int k = 1; k <= node.epilogue_inputs; ++k) all.push_back(dims(epilogue_input(k)));
  return all;
}

std::string describe(const plan::Backend& backend) {
  const auto* cpu = dynamic_cast<const CpuBackend*>(&backend);
  check(cpu, "the cpu describes its own backend");
  std::string model = "unknown", line;
  for (std::ifstream file("/proc/cpuinfo"); std::getline(file, line);) {
    size_t at = line.find(": ");
    if (line.rfind("model name", 0) != 0 || at == std::string::npos) continue;
    model = line.substr(at + 2);
    break;
  }
  return fmt::format("cpu ({}, {} thread{})", model, cpu->threads(), cpu->threads() == 1 ? "" : "s");
}

std::vector<std::string> kernel_names(std::string_view op, std::string_view domain) {
  if (domain.empty() && (op == "If" || op == "Loop" || op == "Scan")) return {"control flow"};
  ir::Node node;
  node.op = op;
  node.domain = domain;
  std::vector<std::string> names;
  for (const Candidate& c : candidates_for(node)) names.emplace_back(c.name);
  return names;
}

std::unique_ptr<plan::Backend> make_cpu_backend(const CpuOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace hf::cpu

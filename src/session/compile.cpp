// A session for each target, its plans, and their kernels in a package.
#include "session/compile.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "engine/engine.h"
#include "gpu/code_object.h"
#include "gpu/loaded_kernel.h"
#include "kernel/target_facts.h"
#include "session/package.h"
#include "session/random_inputs.h"

namespace hf {
namespace {

using Compiled = std::vector<engine::CompiledKernel>;

KernelReport report_of(const engine::CompiledKernel& kernel, const kernel::TargetFacts& target) {
  const kernel::KernelSpec& spec = kernel.spec;
  KernelReport r{.family = spec.family, .variant = spec.variant, .name = spec.entry, .uses = kernel.uses};
  r.threads = static_cast<int>(spec.block[0] * spec.block[1] * spec.block[2]);
  r.lds_bytes = spec.lds_bytes;
  for (const gpu::KernelFacts& f : gpu::read_code_object(kernel.code)) {
    if (f.name != spec.entry) continue;
    r.vgprs = f.vgprs;
    r.agprs = f.agprs;
    r.sgprs = f.sgprs;
    r.spills = f.spills;
    r.private_bytes = f.private_bytes;
    r.code_bytes = f.code_bytes;
    r.lds_bytes = std::max(r.lds_bytes, f.lds_bytes.value_or(0));
    if (f.vgprs) r.waves = waves_per_simd(target, static_cast<int>(*f.vgprs), r.threads, r.lds_bytes);
  }
  r.matrix = gpu::count_matrix_instructions(kernel.code);
  return r;
}

// Several launches may use kernels of one text in other grids: one code object.
Package::Code code_of(const std::string& target, const std::shared_ptr<const Compiled>& kernels) {
  auto package = std::make_shared<gpu::CodePackage>();
  Package::Code code{.target = kernel::target_named(target), .objects = nullptr};
  package->arch = code.target.arch;
  package->owner = kernels;
  for (const engine::CompiledKernel& k : *kernels) package->objects[gpu::package_key(gpu::source_of(k.spec))] = k.code;
  code.objects = std::move(package);
  return code;
}

class ModelCompiler {
 public:
  explicit ModelCompiler(const CompileRequest& request) : request_(request) {}

  CompileReport run() {
    for (const std::string& target : request_.targets) {
      if (std::count(request_.targets.begin(), request_.targets.end(), target) > 1)
        fail(Code::InvalidArgument, "target '{}' is given twice", target);
      kernel::facts_of(target);  // before hours of work for the targets before it
    }
    for (const std::string& target : request_.targets) compile(target);
    if (!request_.output.empty()) {
      write_package(request_.output, package_);
      report_.file_bytes = static_cast<int64_t>(std::filesystem::file_size(request_.output));
    }
    return std::move(report_);
  }

 private:
  void compile(const std::string& target) {
    auto where = context([&] { return fmt::format("target '{}'", target); });
    auto start = std::chrono::steady_clock::now();
    SessionOptions options = request_.options;
    options.device = "target:" + target;
    options.compile = true;
    if (request_.progress)
      options.compile_progress = [&](size_t done, size_t all) { request_.progress(target, done, all); };
    std::unique_ptr<Session> session = Session::open(request_.model, options);
    TargetReport report{.target = target};
    std::vector<Shapes> shapes;
    request_.for_each_shapes(*session, [&](const Shapes& wanted) {
      plan(*session, wanted, report);
      shapes.push_back(wanted);
    });
    auto kernels = std::make_shared<const Compiled>(session->compiled());
    for (const engine::CompiledKernel& k : *kernels) report.kernels.push_back(report_of(k, kernel::facts_of(target)));
    std::vector<Package::Code> code = std::move(package_.code);
    package_ = session->files();
    package_.code = std::move(code);
    package_.code.push_back(code_of(target, kernels));
    package_.shapes = std::move(shapes);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report_.targets.push_back(std::move(report));
  }

  static void plan(const Session& session, const Shapes& shapes, TargetReport& report) {
    auto plan = session.plan_for(random_inputs(session, shapes));
    report.nodes += static_cast<int>(plan->placements.size());
    for (const plan::Placement& p : plan->placements) report.on_cpu += p.backend == "cpu";
    report.split |= !plan->breakers.empty();
  }

  const CompileRequest& request_;
  Package package_;
  CompileReport report_;
};

}  // namespace

CompileReport compile_model(const CompileRequest& request) { return ModelCompiler(request).run(); }

}  // namespace hf

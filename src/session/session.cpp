// Session: the layers in order.
#include "session/session.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <mutex>

#include "base/error.h"
#include "base/log.h"
#include "cpu/backend.h"
#include "engine/engine.h"
#include "engine/offline.h"
#include "kernel/target_facts.h"
#include "load/model.h"
#include "passes/pass.h"
#include "plan/executor.h"
#include "session/devices.h"
#include "session/open_package.h"

namespace hf {

struct Session::State {
  explicit State(const SessionOptions& o) : options(o) {}

  ir::Model model;
  SessionOptions options;
  std::shared_ptr<const Package> package;  // that it was opened from
  Package files;                           // with options.compile
  std::vector<Port> inputs, outputs;
  std::unique_ptr<plan::Backend> cpu;
  ChosenDevice device;
  std::unique_ptr<engine::Engine> gpu;  // null: the cpu alone
  std::mutex reported_mutex;
  std::set<std::string> reported;  // nodes left to the cpu
  std::unique_ptr<plan::Executor> executor;
  std::atomic<int> plans_dumped{0};
};

namespace {

passes::PassOptions pass_options(const SessionOptions& o, bool gpu) {
  passes::PassOptions p;
  p.optimize = o.optimize;
  p.disable = o.disable_passes;
  p.dump_dir = o.dump_passes;
  p.verify = o.verify_passes;
  p.gpu = gpu;
  return p;
}

void check_pass_names(const SessionOptions& o) {
  for (const std::string& name : o.disable_passes) {
    std::string known;
    bool found = false;
    for (const passes::Pass& p : passes::pipeline()) {
      found |= p.name == name;
      known += (known.empty() ? "" : ", ") + std::string(p.name);
    }
    if (!found) fail(Code::InvalidArgument, "there is no pass '{}' to disable; the passes are {}", name, known);
  }
}

// Says which nodes of a plan the GPU left to the cpu, each once a session.
void report_fallback(const plan::Plan& plan, Fallback fallback, std::mutex& mutex, std::set<std::string>& reported) {
  if (fallback == Fallback::Allow) return;
  std::string first;
  int count = 0;
  std::lock_guard lock(mutex);
  for (const plan::Placement& p : plan.placements) {
    if (p.backend != "cpu" || !reported.insert(p.op + "/" + p.node).second) continue;
    if (++count <= 3) first += fmt::format("{}'{}' ({}: {})", count == 1 ? "" : ", ", p.node, p.op, p.reason);
  }
  if (!count) return;
  std::string more = count > 3 ? fmt::format(" and {} more (hipforge inspect shows all)", count - 3) : "";
  if (fallback == Fallback::Error)
    fail(Code::Unsupported,
         "the device does not take {} of the nodes: {}{}; --fallback warn or allow runs them on the cpu", count, first,
         more);
  log::warn("session", "{} node{} run on the cpu: {}{}", count, count == 1 ? "" : "s", first, more);
}

std::string declared(const Port& p) { return fmt::format("{} {}", name(p.dtype), p.shape.text()); }

// One input against what the model declares; symbols get their extents.
void check_input(const Port& port, const Tensor& t, std::map<std::string, int64_t>& symbols) {
  auto wrong = [&](const char* what) {
    fail(Code::InvalidArgument, "input '{}': wrong {}: got {}, wanted {}", port.name, what, t.text(), declared(port));
  };
  if (!t.defined()) fail(Code::InvalidArgument, "input '{}' is an empty tensor handle", port.name);
  if (t.dtype() != port.dtype) wrong("dtype");
  if (!port.shape.ranked()) return;
  if (port.shape.rank() != t.rank()) wrong("rank");
  for (int i = 0; i < t.rank(); ++i) {
    const ir::Dim& d = port.shape[i];
    if (d.known() && d.value != t.dims()[i]) wrong("shape");
    if (d.known() || d.symbol.empty()) continue;
    auto [it, fresh] = symbols.emplace(d.symbol, t.dims()[i]);
    // Exporters give one name to extents that differ; what needs them equal says so when it runs.
    if (!fresh && it->second != t.dims()[i])
      log::warn("session", "input '{}': extent '{}' is {} here and {} in an earlier one", port.name, d.symbol,
                t.dims()[i], it->second);
  }
}

// The executor's arguments, in the graph's order.
std::vector<Tensor> ordered(const ir::Graph& g, const std::vector<Port>& ports, const NamedTensors& given) {
  for (const auto& entry : given) {
    bool known = std::any_of(ports.begin(), ports.end(), [&](const Port& p) { return p.name == entry.first; });
    if (known) continue;
    std::string names;
    for (const Port& p : ports) names += (names.empty() ? "'" : ", '") + p.name + "'";
    fail(Code::NotFound, "the model has no input '{}'; its inputs are {}", entry.first, names.empty() ? "none" : names);
  }
  std::vector<Tensor> tensors;
  std::map<std::string, int64_t> symbols;
  for (size_t i = 0; i < ports.size(); ++i) {
    auto it = given.find(ports[i].name);
    if (it == given.end() && !ports[i].optional)
      fail(Code::InvalidArgument, "input '{}' ({}) is missing", ports[i].name, declared(ports[i]));
    tensors.push_back(it == given.end() ? g.inputs()[i]->default_value : it->second);
    check_input(ports[i], tensors.back(), symbols);
  }
  return tensors;
}

std::vector<size_t> chosen(const std::vector<Port>& ports, std::span<const std::string> names) {
  std::vector<size_t> out;
  for (const std::string& wanted : names) {
    auto it = std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.name == wanted; });
    if (it == ports.end()) fail(Code::NotFound, "the model has no output '{}'", wanted);
    out.push_back(static_cast<size_t>(it - ports.begin()));
  }
  return out;
}

class Recorder final : public plan::Observer {
 public:
  explicit Recorder(std::vector<StepTime>& steps) : steps_(steps) {}
  void step_done(const std::string& label, const std::string& op, const std::string& kernel, double us) override {
    steps_.push_back({label, op, kernel, us});
  }

 private:
  std::vector<StepTime>& steps_;
};

std::unique_ptr<engine::Engine> engine_of(const ChosenDevice& chosen, const SessionOptions& o,
                                          const PackagedKernels& kernels) {
  return engine::make_engine({.device = chosen.device,
                              .name = chosen.text,
                              .precision = o.precision,
                              .graphs = o.graphs,
                              .tune = o.tune,
                              .memory_limit = o.memory_limit,
                              .target = kernels.code ? std::optional(kernels.code->target) : std::nullopt,
                              .packaged_for = kernels.made_for});
}

std::unique_ptr<engine::Engine> make_gpu(const ChosenDevice& chosen, const SessionOptions& o, const Package* package) {
  if (chosen.device) {
    PackagedKernels kernels;
    if (package) kernels = kernels_for(*package, chosen.device->info());
    if (kernels.why_not.empty()) return engine_of(chosen, o, kernels);
    log::info("session", "{}: they are compiled", kernels.why_not);
    auto where = context([&] { return kernels.why_not; });
    return engine_of(chosen, o, {});
  }
  if (chosen.target.empty()) return nullptr;
  return engine::make_offline_engine({.target = kernel::target_named(chosen.target),
                                      .name = chosen.text,
                                      .precision = o.precision,
                                      .compile = o.compile,
                                      .progress = o.compile_progress});
}

void check_runs(const ChosenDevice& chosen) {
  if (!chosen.target.empty())
    fail(Code::Unsupported, "'{}' is a target without a device: it is for inspect and compile, nothing runs on it",
         chosen.text);
}

}  // namespace

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

std::unique_ptr<Session> Session::open(const std::filesystem::path& path, const SessionOptions& options) {
  std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  auto state = std::make_unique<State>(options);
  if (is_package(file->bytes())) {
    ir::Model model = load_package(path, file, state->package);
    if (options.compile) state->files = *state->package;
    return make(std::move(state), std::move(model));
  }
  load::LoadOptions load_options;
  if (options.compile) {
    state->files.name = path.filename().string();
    state->files.model = {file->bytes(), file};
    load_options.external_read = &state->files.external;
  }
  ir::Model model = load::load_file(path, load_options);
  return make(std::move(state), std::move(model));
}

std::unique_ptr<Session> Session::open_bytes(std::span<const std::byte> bytes, const SessionOptions& options) {
  return make(std::make_unique<State>(options), load::load_bytes(bytes));
}

std::unique_ptr<Session> Session::make(std::unique_ptr<State> state, ir::Model model) {
  State* s = state.get();
  const SessionOptions& options = s->options;
  check_pass_names(options);
  if (s->options.precision == DType::Undefined) s->options.precision = s->package ? s->package->precision : DType::F32;
  if (s->package) offer_kernels(*s->package);
  s->device = choose_device(options.device);
  s->model = std::move(model);
  ir::Graph& g = *s->model.graph;
  for (const ir::Value* v : g.inputs()) {
    if (v->kind != ir::TypeKind::Tensor)
      fail(Code::Unsupported, "input '{}' is no tensor; sequences, maps and optionals are not supported", v->name);
    s->inputs.push_back({v->name, v->dtype, v->shape, v->default_value.defined()});
  }
  std::vector<std::string> output_names;
  for (const ir::Value* v : g.outputs()) output_names.push_back(v->name);
  passes::PassOptions at_load = pass_options(options, s->device.is_gpu());
  if (!at_load.dump_dir.empty()) at_load.dump_dir += "/load";
  passes::run_pipeline(g, passes::Stage::Load, at_load);
  for (size_t i = 0; i < output_names.size(); ++i)
    s->outputs.push_back({output_names[i], g.outputs()[i]->dtype, g.outputs()[i]->shape});

  cpu::CpuOptions cpu_options;
  cpu_options.threads = options.threads;
  s->cpu = cpu::make_cpu_backend(cpu_options);
  plan::ExecutorOptions e;
  e.backends = {s->cpu.get()};
  s->gpu = make_gpu(s->device, options, s->package.get());
  if (s->gpu) e.backends.insert(e.backends.begin(), s->gpu.get());
  e.max_plans = options.max_plans;
  e.specialize = [s](ir::Graph& graph) {
    passes::PassOptions p = pass_options(s->options, s->device.is_gpu());
    if (!p.dump_dir.empty()) p.dump_dir += fmt::format("/plan{}", s->plans_dumped.load());
    passes::run_pipeline(graph, passes::Stage::Plan, p);
  };
  e.on_plan = [s](const plan::Plan& plan) {
    if (s->gpu) report_fallback(plan, s->options.fallback, s->reported_mutex, s->reported);
    int index = s->plans_dumped++;
    if (s->options.dump_plan.empty()) return;
    std::filesystem::create_directories(s->options.dump_plan);
    std::ofstream(fmt::format("{}/plan{}.txt", s->options.dump_plan, index)) << plan::to_text(plan);
  };
  s->executor = std::make_unique<plan::Executor>(g, e);
  return std::unique_ptr<Session>(new Session(std::move(state)));
}

const std::vector<Port>& Session::inputs() const { return state_->inputs; }
const std::vector<Port>& Session::outputs() const { return state_->outputs; }
const ir::Model& Session::model() const { return state_->model; }
std::string Session::device() const { return state_->gpu ? describe(state_->device) : cpu::describe(*state_->cpu); }

DType Session::precision() const { return state_->gpu ? state_->options.precision : DType::F32; }
const Package* Session::package() const { return state_->package.get(); }

std::vector<engine::CompiledKernel> Session::compiled() const {
  return state_->gpu ? state_->gpu->compiled() : std::vector<engine::CompiledKernel>();
}

Package Session::files() const {
  Package p = state_->files;
  p.code.clear();
  p.shapes.clear();
  p.kernels = kernels_name();
  p.precision = state_->options.precision;
  return p;
}

std::vector<Tensor> Session::run(const NamedTensors& inputs, std::span<const std::string> outputs) const {
  check_runs(state_->device);
  std::vector<size_t> wanted = chosen(state_->outputs, outputs);
  std::vector<Tensor> results = state_->executor->run(ordered(*state_->model.graph, state_->inputs, inputs));
  if (outputs.empty()) return results;
  std::vector<Tensor> picked;
  for (size_t i : wanted) picked.push_back(results[i]);
  return picked;
}

std::vector<double> Session::replay(const NamedTensors& inputs, int count) const {
  check_runs(state_->device);
  return state_->executor->replay(ordered(*state_->model.graph, state_->inputs, inputs), count);
}

std::vector<Tensor> Session::profile(const NamedTensors& inputs, std::vector<StepTime>& steps) const {
  check_runs(state_->device);
  Recorder recorder(steps);
  return state_->executor->run(ordered(*state_->model.graph, state_->inputs, inputs), &recorder);
}

std::shared_ptr<const plan::Plan> Session::plan_for(const NamedTensors& inputs) const {
  return state_->executor->plan_for(ordered(*state_->model.graph, state_->inputs, inputs));
}

MemoryReport Session::memory() const {
  MemoryReport r;
  for (const auto& v : state_->model.graph->values())
    if (v->is_constant()) r.weights_bytes += v->constant.size_bytes();
  r.arena_bytes = state_->executor->arena_bytes();
  if (state_->gpu) {
    engine::DeviceMemory m = state_->gpu->memory();
    r.device_weights_bytes = m.constants_bytes;
    r.device_arena_bytes = m.runs_bytes;
    r.device_peak_bytes = m.peak_bytes;
  }
  return r;
}

}  // namespace hf

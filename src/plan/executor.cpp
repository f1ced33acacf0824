// Executor: plans by input signature, arenas by concurrent run, and the parts of a graph that only a run can shape.
#include "plan/executor.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

namespace hf::plan {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;
using Values = std::unordered_map<const Value*, Tensor>;

constexpr size_t kPlansAtOnce = 4;  // of a subgraph or tail; a further signature is planned when it comes a second time

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, Free>;

std::string signature_of(std::span<const Tensor> inputs) {
  std::string s;
  for (const Tensor& t : inputs) {
    s += static_cast<char>('A' + static_cast<int>(t.dtype()));
    for (int64_t d : t.dims()) s += std::to_string(d) + ",";
    s += ';';
  }
  return s;
}

}  // namespace

// What one run holds.
struct Executor::RunMemory {
  Memory arena;
  std::unique_ptr<DeviceRun> device;
};

// A plan and what its runs share.
struct Executor::Entry {
  std::string signature;
  std::unique_ptr<Plan> plan;
  std::unique_ptr<Executor> tail;

  std::mutex mutex;
  std::vector<RunMemory> arenas;  // free ones
  int64_t arena_count = 0;
  std::map<const Graph*, std::unique_ptr<Executor>> children;

  int64_t bytes() const { return plan->arena_bytes + plan->scratch_bytes; }

  RunMemory take_arena() {
    {
      std::lock_guard lock(mutex);
      if (!arenas.empty()) {
        RunMemory m = std::move(arenas.back());
        arenas.pop_back();
        return m;
      }
    }
    size_t wanted = static_cast<size_t>((bytes() + 127) / 64 * 64);
    RunMemory m{Memory(!may_allocate(bytes()) ? nullptr : std::aligned_alloc(64, wanted)), nullptr};
    if (!m.arena) fail(Code::OutOfMemory, "an arena of {} bytes could not be allocated", bytes());
    if (!plan->segments.empty()) m.device = plan->device_backend->make_run(plan->device);
    std::lock_guard lock(mutex);
    ++arena_count;
    return m;
  }
  void give_arena(RunMemory m) {
    std::lock_guard lock(mutex);
    arenas.push_back(std::move(m));
  }
  Executor& child(const Graph& graph, const ExecutorOptions& options) {
    std::lock_guard lock(mutex);
    auto& e = children[&graph];
    if (!e) e = std::make_unique<Executor>(graph, options);
    return *e;
  }
};

// Runs subgraphs for the control flow operators: of a plan's graph, or of a graph that runs unplanned.
class Executor::Runner final : public ops::SubgraphRunner {
 public:
  Runner(Executor& executor, Entry* entry) : executor_(executor), entry_(entry) {}
  std::vector<Tensor> run(const Graph& graph, std::span<const Tensor> inputs,
                          std::span<const Tensor> captures) override {
    Executor& e = entry_ ? entry_->child(graph, executor_.options_) : executor_.child(graph);
    std::vector<Tensor> all(inputs.begin(), inputs.end());
    all.insert(all.end(), captures.begin(), captures.end());
    return e.run_as_subgraph(all);
  }

 private:
  Executor& executor_;
  Entry* entry_;
};

Executor::Executor(const Graph& graph, const ExecutorOptions& options) : graph_(graph), options_(options) {}
Executor::~Executor() = default;

Executor& Executor::child(const Graph& graph) {
  std::lock_guard lock(mutex_);
  auto& e = children_[&graph];
  if (!e) e = std::make_unique<Executor>(graph, options_);
  return *e;
}

int64_t Executor::arena_bytes() const {
  std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const auto& e : entries_) {
    std::lock_guard entry_lock(e->mutex);
    bytes += e->bytes() * e->arena_count;
    if (e->tail) bytes += e->tail->arena_bytes();
    for (const auto& [graph, child] : e->children) bytes += child->arena_bytes();
  }
  return bytes;
}

std::shared_ptr<Executor::Entry> Executor::entry_for(std::span<const Tensor> inputs, bool as_subgraph) {
  std::string signature = signature_of(inputs);
  std::lock_guard lock(mutex_);
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if ((*it)->signature != signature) continue;
    entries_.splice(entries_.begin(), entries_, it);
    return entries_.front();
  }
  if (as_subgraph && entries_.size() >= kPlansAtOnce && ++seen_[signature] == 1) {
    if (seen_.size() > 4096) seen_.clear();
    return nullptr;
  }
  auto entry = std::make_shared<Entry>();
  entry->signature = signature;
  std::unique_ptr<Graph> g = graph_.clone();
  size_t i = 0;
  for (Value* v : g->inputs()) v->dtype = inputs[i].dtype(), v->shape = inputs[i].dims(), ++i;
  for (Value* v : g->captures()) v->dtype = inputs[i].dtype(), v->shape = inputs[i].dims(), ++i;
  if (options_.specialize) options_.specialize(*g);
  entry->plan = make_plan(std::move(g), options_.backends);
  if (entry->plan->tail) entry->tail = std::make_unique<Executor>(*entry->plan->tail, options_);
  if (options_.on_plan) options_.on_plan(*entry->plan);
  entries_.push_front(entry);
  if (entries_.size() > options_.max_plans) entries_.pop_back();
  return entry;
}

std::shared_ptr<const Plan> Executor::plan_for(std::span<const Tensor> inputs) {
  std::shared_ptr<Entry> entry = entry_for(inputs, false);
  return {entry, entry->plan.get()};
}

std::vector<Tensor> Executor::run(std::span<const Tensor> inputs, Observer* observer) {
  std::shared_ptr<Entry> entry = entry_for(inputs, false);
  return run_entry(*entry, inputs, observer);
}

std::vector<double> Executor::replay(std::span<const Tensor> inputs, int count) {
  std::shared_ptr<Entry> entry = entry_for(inputs, false);
  std::vector<double> us(static_cast<size_t>(count));
  run_entry(*entry, inputs, nullptr, &us);
  return us;
}

std::vector<Tensor> Executor::run_as_subgraph(std::span<const Tensor> inputs) {
  std::shared_ptr<Entry> entry = entry_for(inputs, true);
  return entry ? run_entry(*entry, inputs, nullptr) : run_unplanned(inputs);
}

// The steps of one run.
class Executor::StepRunner {
 public:
  StepRunner(const Plan& plan, RunMemory& memory, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
             Observer* observer)
      : plan_(plan),
        arena_(static_cast<std::byte*>(memory.arena.get())),
        device_(memory.device.get()),
        inputs_(inputs),
        outputs_(outputs),
        observer_(observer) {}

  const void* address(const Place& p) const {
    switch (p.kind) {
      case Place::Arena: return arena_ + p.offset;
      case Place::Constant: return plan_.constants[static_cast<size_t>(p.offset)].raw();
      case Place::Input: return inputs_[static_cast<size_t>(p.offset)].raw();
      case Place::Output: return outputs_[static_cast<size_t>(p.offset)].raw();
      case Place::DeviceArena: return device_->arena() + p.offset;
      case Place::DeviceConstant: return plan_.device_constants[static_cast<size_t>(p.offset)].get();
      default: return nullptr;
    }
  }

  void run_all() {
    auto segment = plan_.segments.begin();
    for (size_t i = 0; i < plan_.steps.size();) {
      if (segment != plan_.segments.end() && segment->first == i) {
        run_segment(*segment);
        i = segment++->last;
      } else {
        run_on_host(plan_.steps[i++]);
      }
    }
  }

  // The device's time for all segments once more, without copies.
  double time_segments() {
    double us = 0;
    for (const Plan::Segment& s : plan_.segments) {
      auto kernels = kernels_of(s);
      us += device_->time_all(index_of(s), kernels.size(), [&](size_t k) { queue(*kernels[k]); });
    }
    return us;
  }

 private:
  static auto about(const Step& s) {
    return context([&s] { return fmt::format("node '{}' ({})", s.label, s.node ? s.node->op : "reorder"); });
  }

  void addresses_of(const Step& s) {
    in_.clear();
    out_.clear();
    for (const Place& p : s.inputs) in_.push_back(address(p));
    for (const Place& p : s.outputs) out_.push_back(const_cast<void*>(address(p)));
  }

  void report(const Step& s, double us) {
    if (observer_) observer_->step_done(s.label, s.node ? s.node->op : "reorder", s.kernel->text(), us);
  }

  void run_on_host(const Step& s) {
    auto where = about(s);
    addresses_of(s);
    auto start = std::chrono::steady_clock::now();
    s.kernel->run(in_, out_, arena_ + plan_.arena_bytes);
    report(s, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }

  int index_of(const Plan::Segment& s) const { return static_cast<int>(&s - plan_.segments.data()); }

  std::vector<const Step*> kernels_of(const Plan::Segment& s) const {
    std::vector<const Step*> kernels;
    for (size_t i = s.first; i < s.last; ++i)
      if (plan_.steps[i].kind == Step::Device) kernels.push_back(&plan_.steps[i]);
    return kernels;
  }

  void queue(const Step& s) {
    auto where = about(s);
    addresses_of(s);
    static_cast<const DeviceKernel&>(*s.kernel).queue(in_, out_, device_->arena() + plan_.device.arena_bytes, *device_);
  }

  void run_segment(const Plan::Segment& s) {
    for (size_t i = s.first; i < s.last; ++i) {
      const Step& step = plan_.steps[i];
      if (step.kind != Step::Upload || !step.bytes) continue;
      std::memcpy(device_->staging() + step.staging, address(step.inputs[0]), static_cast<size_t>(step.bytes));
      device_->upload(const_cast<void*>(address(step.outputs[0])), step.staging, step.bytes);
    }
    auto kernels = kernels_of(s);
    auto queue_one = [&](size_t k) { queue(*kernels[k]); };
    if (observer_) {
      std::vector<double> us = device_->time_each(kernels.size(), queue_one);
      for (size_t k = 0; k < kernels.size(); ++k) report(*kernels[k], us[k]);
    } else if (!kernels.empty()) {
      device_->execute(index_of(s), kernels.size(), queue_one);
    }
    for (size_t i = s.first; i < s.last; ++i)
      if (const Step& step = plan_.steps[i]; step.kind == Step::Download && step.bytes)
        device_->download(step.staging, address(step.inputs[0]), step.bytes);
    device_->synchronize();
    for (size_t i = s.first; i < s.last; ++i)
      if (const Step& step = plan_.steps[i]; step.kind == Step::Download && step.bytes)
        std::memcpy(const_cast<void*>(address(step.outputs[0])), device_->staging() + step.staging,
                    static_cast<size_t>(step.bytes));
  }

  const Plan& plan_;
  std::byte* arena_;
  DeviceRun* device_;
  std::span<const Tensor> inputs_, outputs_;
  Observer* observer_;
  std::vector<const void*> in_;
  std::vector<void*> out_;
};

Executor::RunMemory Executor::take_memory(Entry& entry) {
  try {
    return entry.take_arena();
  } catch (const Error& e) {
    if (e.code() != Code::OutOfMemory) throw;
  }
  // What runs of other shapes left for the next run of theirs goes first.
  {
    std::lock_guard lock(mutex_);
    for (const auto& other : entries_) {
      std::lock_guard entry_lock(other->mutex);
      other->arena_count -= static_cast<int64_t>(other->arenas.size());
      other->arenas.clear();
    }
  }
  return entry.take_arena();
}

std::vector<Tensor> Executor::run_entry(Entry& entry, std::span<const Tensor> inputs, Observer* observer,
                                        std::vector<double>* replays) {
  const Plan& plan = *entry.plan;
  const Graph& g = *plan.graph;
  struct Lease {  // the arena goes back whatever happens
    Entry& entry;
    RunMemory memory;
    ~Lease() { entry.give_arena(std::move(memory)); }
  } lease{entry, take_memory(entry)};
  auto* arena = static_cast<std::byte*>(lease.memory.arena.get());

  std::vector<Tensor> outputs(plan.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (plan.outputs[i].place.kind == Place::Output && plan.outputs[i].place.offset == static_cast<int64_t>(i))
      outputs[i] = Tensor(plan.outputs[i].dtype, plan.outputs[i].dims);
  for (Backend* b : options_.backends) b->begin_run();
  StepRunner steps(plan, lease.memory, inputs, outputs, observer);
  steps.run_all();
  if (replays)
    for (double& us : *replays) us = steps.time_segments();
  auto address = [&](const Place& p) { return steps.address(p); };
  auto tensor_at = [&](const OutputSource& source) {  // a view; whoever keeps it clones it
    if (source.place.kind == Place::Input)
      return inputs[static_cast<size_t>(source.place.offset)].reshaped(source.dims);
    return Tensor::view(source.dtype, source.dims, address(source.place));
  };

  // What the data shapes: breakers on tensors, then the tail under its own plan.
  Values values;
  std::vector<Tensor> tail_outputs;
  if (!plan.breakers.empty()) {
    for (size_t i = 0; i < plan.live_out.size(); ++i) values[plan.live_out[i]] = tensor_at(plan.live_places[i]);
    size_t k = 0;
    for (const Value* v : g.inputs()) values.try_emplace(v, inputs[k++]);
    for (const Value* v : g.captures()) values.try_emplace(v, inputs[k++]);
    Runner runner(*this, &entry);
    for (const Node* n : plan.breakers) {
      std::vector<const Tensor*> args;
      for (const Value* v : n->inputs()) args.push_back(!v ? nullptr : v->is_constant() ? &v->constant : &values.at(v));
      auto start = std::chrono::steady_clock::now();
      std::vector<Tensor> results = ops::evaluate(*n, args, &runner);
      if (observer) {
        std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
        observer->step_done(n->name, n->op, "reference", took.count());
      }
      for (size_t i = 0; i < results.size(); ++i)
        if (n->output(static_cast<int>(i))) values[n->output(static_cast<int>(i))] = std::move(results[i]);
    }
    if (entry.tail) {
      std::vector<Tensor> tail_inputs;
      for (const Value* v : plan.tail_inputs) tail_inputs.push_back(values.at(v));
      tail_outputs = entry.tail->run_as_subgraph(tail_inputs);
    }
  }

  auto in_arena = [&](const Tensor& t) { return t.raw() >= arena && t.raw() < arena + entry.bytes() + 64; };
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value* v = g.outputs()[i];
    if (outputs[i].defined()) continue;
    if (!plan.tail_outputs.empty() && plan.tail_outputs[i] >= 0)
      outputs[i] = tail_outputs[static_cast<size_t>(plan.tail_outputs[i])];
    else if (plan.outputs[i].place.kind == Place::Dynamic)
      outputs[i] = v->is_constant() ? v->constant.clone() : values.count(v) ? values.at(v) : Tensor();
    else if (plan.outputs[i].place.kind == Place::Input)
      outputs[i] = tensor_at(plan.outputs[i]);
    else
      outputs[i] = tensor_at(plan.outputs[i]).clone();
    if (!outputs[i].defined() && v->is_graph_input()) {  // a string input that is an output
      for (size_t k = 0; k < g.inputs().size(); ++k)
        if (g.inputs()[k] == v) outputs[i] = inputs[k];
    }
    if (outputs[i].defined() && outputs[i].dtype() != DType::String && in_arena(outputs[i]))
      outputs[i] = outputs[i].clone();
  }
  for (size_t i = 0; i < outputs.size(); ++i) check(outputs[i].defined(), "every output of a plan is made");
  return outputs;
}

std::vector<Tensor> Executor::run_unplanned(std::span<const Tensor> inputs) {
  Values values;
  size_t k = 0;
  for (const Value* v : graph_.inputs()) values[v] = inputs[k++];
  for (const Value* v : graph_.captures()) values[v] = inputs[k++];
  Runner runner(*this, nullptr);
  for (const Node* n = graph_.first(); n; n = n->next()) {
    std::vector<const Tensor*> args;
    for (const Value* v : n->inputs()) args.push_back(!v ? nullptr : v->is_constant() ? &v->constant : &values.at(v));
    std::vector<Tensor> results = ops::evaluate(*n, args, &runner);
    for (size_t i = 0; i < results.size(); ++i)
      if (n->output(static_cast<int>(i))) values[n->output(static_cast<int>(i))] = std::move(results[i]);
  }
  std::vector<Tensor> outputs;
  for (const Value* v : graph_.outputs()) outputs.push_back(v->is_constant() ? v->constant : values.at(v));
  return outputs;
}

}  // namespace hf::plan

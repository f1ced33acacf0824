// Executor: runs a graph for whatever input shapes come, with a plan for each.
#pragma once
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ops/op.h"
#include "plan/plan.h"

namespace hf::plan {

/// What happens around a step, for profiles. Called on the running thread.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void step_done(const std::string& label, const std::string& op, const std::string& kernel, double us) = 0;
};

struct ExecutorOptions {
  std::vector<Backend*> backends;  // in order of preference; must outlive the executor
  /// Brings a graph, whose inputs have just got static shapes, into the form that is planned: inference, folding,
  /// fusion.
  std::function<void(ir::Graph&)> specialize;
  size_t max_plans = 32;  // of one graph; the least recently used goes
  /// Called with each new plan (dumps, reports). May be null.
  std::function<void(const Plan&)> on_plan;
};

/// Runs one graph. Thread-safe: concurrent runs share plans and have an arena each.
class Executor {
 public:
  /// `graph` must outlive the executor. Its inputs, then its captures, are what run() takes.
  Executor(const ir::Graph& graph, const ExecutorOptions& options);
  ~Executor();

  /// `inputs` are the graph's inputs and then its captures, all defined, of the declared dtypes (the caller has
  /// checked). Returns the graph's outputs; they share no storage with the arena.
  std::vector<Tensor> run(std::span<const Tensor> inputs, Observer* observer = nullptr);
  /// The plan for these input shapes, made if need be (with only dtypes and dims of `inputs` mattering).
  std::shared_ptr<const Plan> plan_for(std::span<const Tensor> inputs);
  /// Runs once, then lets the device do its part `count` times more, without copies: its times in microseconds. Zeros
  /// where a plan has no part on a device.
  std::vector<double> replay(std::span<const Tensor> inputs, int count);
  /// Bytes of all arenas that exist now.
  int64_t arena_bytes() const;

 private:
  struct Entry;
  struct RunMemory;
  class Runner;
  class StepRunner;
  std::shared_ptr<Entry> entry_for(std::span<const Tensor> inputs, bool as_subgraph);
  std::vector<Tensor> run_entry(Entry& entry, std::span<const Tensor> inputs, Observer* observer,
                                std::vector<double>* replays = nullptr);
  RunMemory take_memory(Entry& entry);
  std::vector<Tensor> run_unplanned(std::span<const Tensor> inputs);
  std::vector<Tensor> run_as_subgraph(std::span<const Tensor> inputs);
  Executor& child(const ir::Graph& graph);

  const ir::Graph& graph_;
  ExecutorOptions options_;
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<Entry>> entries_;  // most recently used first
  std::map<std::string, int> seen_;            // signatures met unplanned
  std::map<const ir::Graph*, std::unique_ptr<Executor>> children_;
};

}  // namespace hf::plan

// Session: a loaded model made ready for a device. The library's front door, and the only place that calls the layers
// in order: load, passes, plan, backends.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "ir/graph.h"
#include "plan/plan.h"

namespace hf {

struct SessionOptions {
  /// "auto" (the best device present; today the cpu) or "cpu". InvalidArgument for a name that is none, Unsupported for
  /// one that this build has no backend for.
  std::string device = "auto";
  /// Threads of a run on the cpu; 0: as many as there are physical cores that this process may use.
  int threads = 0;
  /// False: only what running needs (shape inference and shape arithmetic).
  bool optimize = true;
  /// Passes to skip, by name (see passes/pipeline.cpp).
  std::set<std::string> disable_passes;
  /// Folders for the graph after each pass, and for each plan, as text. Empty: none.
  std::string dump_passes, dump_plan;
  /// Check the IR's invariants after each pass.
  bool verify_passes = false;
  /// Plans kept, one for each set of input shapes met; the least recently used goes.
  size_t max_plans = 32;
};

/// An input or output of the model.
struct Port {
  std::string name;
  DType dtype;
  ir::Shape shape;        // as declared: extents may be symbols or unknown
  bool optional = false;  // an input that has a default
};

using NamedTensors = std::map<std::string, Tensor>;

/// What happened in a step, for profiles.
struct StepTime {
  std::string label, op, kernel;
  double us;
};

struct MemoryReport {
  int64_t weights_bytes = 0;  // constants of the model
  int64_t arena_bytes = 0;    // of all plans' arenas that exist now
};

/// Thread-safe: run() may be called from several threads at once; runs of the same shapes share a plan.
class Session {
 public:
  /// Throws NotFound, Io, InvalidModel, Unsupported or InvalidArgument.
  static std::unique_ptr<Session> open(const std::filesystem::path& path, const SessionOptions& options = {});
  static std::unique_ptr<Session> open_bytes(std::span<const std::byte> bytes, const SessionOptions& options = {});
  ~Session();

  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  /// The model as loaded and prepared (the graph after the load-time passes).
  const ir::Model& model() const;
  /// The device in words: "cpu (2 threads, avx512_core)".
  std::string device() const;

  /// Runs the model. Every input without a default must be given. Returns the outputs named (all when none are), in
  /// that order. Throws InvalidArgument for a missing input, a wrong dtype, rank or extent, NotFound for an unknown
  /// name.
  std::vector<Tensor> run(const NamedTensors& inputs, std::span<const std::string> outputs = {}) const;
  /// The same, with the time of each step.
  std::vector<Tensor> profile(const NamedTensors& inputs, std::vector<StepTime>& steps) const;

  /// The plan for these inputs' shapes, for reports; made if need be. Valid while the pointer is held.
  std::shared_ptr<const plan::Plan> plan_for(const NamedTensors& inputs) const;
  MemoryReport memory() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  static std::unique_ptr<Session> make(ir::Model model, const SessionOptions& options);
  std::unique_ptr<State> state_;
};

}  // namespace hf

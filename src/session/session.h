// Session: a loaded model made ready for a device. The library's front door, and the only place that calls the layers
// in order: load, passes, plan, backends.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "ir/graph.h"
#include "plan/plan.h"

namespace hf {

struct Package;
namespace engine {
struct CompiledKernel;
}

enum class Fallback : uint8_t { Error, Warn, Allow };

struct SessionOptions {
  /// "auto" (the first GPU of hip or cuda, else the cpu), "cpu", "hip[:N]", "cuda[:N]", "emu[:ARCH]" (kernels of the
  /// GPU on the host, for tests) or "target:ARCH" (a GPU that is not there, for plans and compiling: run() is
  /// Unsupported). InvalidArgument for a name that is none, NotFound with all that was tried for a device that is not
  /// there.
  std::string device = "auto";
  /// What float32 values are stored as on a GPU: F32, F16 or BF16; Undefined: what an .hfp file was compiled for, else
  /// F32. Arithmetic is float32 but for the products of
  /// matrices and convolutions; inputs and outputs keep their types. The cpu computes in F32 whatever this says.
  DType precision = DType::Undefined;
  /// What happens when a GPU leaves nodes to the cpu: Unsupported naming them, a warning once, or nothing.
  Fallback fallback = Fallback::Warn;
  /// Record the GPU's work once and replay it.
  bool graphs = true;
  /// Measure the candidates of each of the GPU's kernels when a plan is made, and keep what is found beside the
  /// compiled kernels. Makes the first run of a shape slower by seconds.
  bool tune = false;
  /// Bytes of device memory that the session may hold; 0: all there is. OutOfMemory beyond it.
  int64_t memory_limit = 0;
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
  /// On a target: compile the kernels of each plan, and tell how far it is.
  bool compile = false;
  std::function<void(size_t done, size_t all)> compile_progress;
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
  int64_t arena_bytes = 0;    // of all plans' arenas that exist now, on the host
  // On the GPU, zero without one: weights, the arenas of runs, and the most there was at once.
  int64_t device_weights_bytes = 0, device_arena_bytes = 0, device_peak_bytes = 0;
};

/// Thread-safe: run() may be called from several threads at once; runs of the same shapes share a plan.
class Session {
 public:
  /// Opens an ONNX file, or an .hfp file (package.h), whatever its name is. Throws NotFound, Io, InvalidModel,
  /// Unsupported or InvalidArgument.
  static std::unique_ptr<Session> open(const std::filesystem::path& path, const SessionOptions& options = {});
  static std::unique_ptr<Session> open_bytes(std::span<const std::byte> bytes, const SessionOptions& options = {});
  ~Session();

  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  /// The model as loaded and prepared (the graph after the load-time passes).
  const ir::Model& model() const;
  /// The device in words: "cpu (2 threads, avx512_core)", "hip:0 AMD Instinct MI300X (gfx942, ...)".
  std::string device() const;

  /// What float32 values are stored as: SessionOptions::precision on a GPU, F32 on the cpu.
  DType precision() const;
  /// What the model was opened from; null if that was no .hfp file.
  const Package* package() const;

  /// Runs the model. Every input without a default must be given. Returns the outputs named (all when none are), in
  /// that order. Throws InvalidArgument for a missing input, a wrong dtype, rank or extent, NotFound for an unknown
  /// name.
  std::vector<Tensor> run(const NamedTensors& inputs, std::span<const std::string> outputs = {}) const;
  /// Runs once, then lets the GPU repeat its part `count` times, without copies to and from the host: its times in
  /// microseconds. Zeros on the cpu. Errors as run().
  std::vector<double> replay(const NamedTensors& inputs, int count) const;
  /// The same, with the time of each step.
  std::vector<Tensor> profile(const NamedTensors& inputs, std::vector<StepTime>& steps) const;

  /// The plan for these inputs' shapes, for reports; made if need be. Valid while the pointer is held.
  std::shared_ptr<const plan::Plan> plan_for(const NamedTensors& inputs) const;
  MemoryReport memory() const;

  // ---- With SessionOptions::compile, for compile.h: the kernels of the plans made so far, and the model's files as a
  // package without kernels.
  std::vector<engine::CompiledKernel> compiled() const;
  Package files() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  static std::unique_ptr<Session> make(std::unique_ptr<State> state, ir::Model model);
  std::unique_ptr<State> state_;
};

}  // namespace hf

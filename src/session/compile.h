// Compiling a model for GPUs that are not there, into an .hfp file; and what the compiled kernels look like.
#pragma once
#include <optional>

#include "session/session.h"

namespace hf {

struct CompileRequest {
  std::filesystem::path model;       // ONNX, or .hfp
  std::filesystem::path output;      // the .hfp file; empty: none is written
  std::vector<std::string> targets;  // "gfx942", "sm_90", "emu:gfx942"
  SessionOptions options;            // its device does not matter
  /// Calls `plan` for each set of input shapes to compile for; the session has the model's inputs.
  std::function<void(const Session& session, const std::function<void(const std::map<std::string, Dims>&)>& plan)>
      for_each_shapes;
  /// How far a target is. May be null.
  std::function<void(const std::string& target, size_t done, size_t all)> progress;
};

/// A compiled kernel. Absent numbers: the code object does not say, or there is no disassembler.
struct KernelReport {
  std::string family, variant, name;
  int uses = 0;  // launches of the plans; 0: the first kernel of a process, a test of the device
  int threads = 0;
  int64_t lds_bytes = 0;
  std::optional<int64_t> vgprs, agprs, sgprs, spills, private_bytes, code_bytes;
  std::optional<int> waves;   // that a SIMD holds at once (NVIDIA: a quarter of an SM)
  std::optional<int> matrix;  // instructions that multiply matrices
};

struct TargetReport {
  std::string target;
  int nodes = 0, on_cpu = 0;  // of all plans
  bool split = false;         // data decides shapes: what follows is not compiled
  double seconds = 0;
  std::vector<KernelReport> kernels;  // by family
};

struct CompileReport {
  std::vector<TargetReport> targets;
  int64_t file_bytes = 0;  // of the output
};

/// Throws as Session::open(), and NotFound without a compiler for a target.
CompileReport compile_model(const CompileRequest& request);

}  // namespace hf

// An engine for a target that is not there: plans and compiles as for a device, and runs nothing.
#pragma once
#include "engine/engine.h"
#include "gpu/compiler.h"

namespace hf::engine {

struct OfflineOptions {
  kernel::Target target;
  std::string name;              // what reports call it: "target:gfx942"
  DType precision = DType::F32;  // as EngineOptions
  bool compile = false;          // compile the kernels of each plan; else only say where nodes would run
  int compile_threads = 0;
  gpu::CompileProgress progress;
};

/// A backend whose plans cannot be run: make_run() throws Unsupported. With `compile`, finish() throws NotFound if
/// there is no compiler for the target, and compiled() has the kernels.
std::unique_ptr<Engine> make_offline_engine(const OfflineOptions& options);

}  // namespace hf::engine

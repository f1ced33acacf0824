// One operator on a device, against its reference on the host.
#pragma once
#include <cstdlib>
#include <map>
#include <set>

#include "cpu/backend.h"
#include "engine/engine.h"
#include "ops/case.h"
#include "plan/executor.h"

namespace hf::lower {

using ops::OpCase;

/// The device of these tests: HIPFORGE_TEST_DEVICE ("hip:0", also where the GPU is an emulated one), else emu.
inline std::string tested_device() {
  const char* chosen = std::getenv("HIPFORGE_TEST_DEVICE");
  return chosen ? chosen : "emu";
}

struct OnDevice {
  std::string device = tested_device();
  DType precision = DType::F32;
  std::set<int> constants = {};                           // inputs that are constants of the model
  std::shared_ptr<const ir::Program> epilogue = nullptr;  // elementwise work on output 0 ...
  std::vector<Tensor> epilogue_operands = {};             // ... and its operands (inputs at run time)
  bool stays_on_cpu = false;                              // the device is to refuse it
};

/// The engine of a device and a precision; one for all tests of the process.
inline engine::Engine& engine_for(const OnDevice& how) {
  static std::map<std::string, std::unique_ptr<engine::Engine>> engines;
  auto& e = engines[how.device + std::string(name(how.precision))];
  if (!e)
    e = engine::make_engine({.device = gpu::open_device(how.device), .name = how.device, .precision = how.precision});
  return *e;
}

/// Runs the case on the device, three times (launched, recorded, replayed), and compares with `expected`, or with the
/// reference where that is undefined; the case's tolerance counts. Every node must run on the device.
inline void check_on_device(OpCase c, const OnDevice& how = {}) {
  SCOPED_TRACE(c.name);
  ir::Graph g;
  std::vector<ir::Value*> values, operands;
  std::vector<Tensor> given;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const Tensor& t = c.inputs[i];
    if (!t.defined()) {
      values.push_back(nullptr);
    } else if (how.constants.contains(static_cast<int>(i))) {
      values.push_back(g.add_constant(fmt::format("c{}", i), t));
    } else {
      values.push_back(g.add_input(fmt::format("x{}", i), t.dtype(), t.dims()));
      given.push_back(t);
    }
  }
  ir::Node* n = g.add_node(c.op, values, static_cast<int>(c.expected.size()), nullptr, c.domain);
  n->name = c.name;
  n->attrs = c.attrs;
  ops::bind(g, *n, c.opset);
  ops::infer_node(*n);
  for (const Tensor& t : how.epilogue_operands) {
    operands.push_back(g.add_input(fmt::format("e{}", operands.size()), t.dtype(), t.dims()));
    given.push_back(t);
  }
  if (how.epilogue) ops::attach_epilogue(g, *n, how.epilogue, operands);
  for (ir::Value* v : n->outputs())
    if (v) g.add_output(v);

  std::vector<const Tensor*> arguments;
  for (ir::Value* v : n->inputs()) {
    if (v && !v->is_constant()) {
      // The same value twice is one input.
      size_t k = 0;
      for (ir::Value* input : g.inputs()) {
        if (input == v) break;
        ++k;
      }
      arguments.push_back(&given[k]);
    } else {
      arguments.push_back(v ? &v->constant : nullptr);
    }
  }
  std::vector<Tensor> reference = ops::evaluate(*n, arguments);

  auto cpu = cpu::make_cpu_backend();
  plan::ExecutorOptions options;
  options.backends = {&engine_for(how), cpu.get()};
  plan::Executor executor(g, options);
  auto plan = executor.plan_for(given);
  for (const plan::Placement& p : plan->placements) {
    if (how.stays_on_cpu)
      EXPECT_EQ(p.backend, "cpu") << p.kernel;
    else
      EXPECT_EQ(p.backend, how.device) << p.op << ": " << p.reason;
  }
  for (int round = 0; round < 3; ++round) {
    std::vector<Tensor> got = executor.run(given);
    ASSERT_EQ(got.size(), c.expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      ops::expect_equal(got[i], c.expected[i].defined() ? c.expected[i] : reference[i], c.tolerance,
                        fmt::format("output {} in round {}", i, round));
  }
}

/// Random values in [low, high).
inline Tensor random_tensor(const Dims& dims, float low = -1, float high = 1, unsigned seed = 1) {
  Tensor t(DType::F32, dims);
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (int64_t i = 0; i < t.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    t.data<float>()[i] = low + (high - low) * static_cast<float>(state >> 40) * 0x1p-24f;
  }
  return t;
}

}  // namespace hf::lower

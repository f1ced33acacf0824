// Every call of the device fails once during a whole life of an engine: one clear error, nothing left, the next try
// works.
#include <gtest/gtest.h>

#include <cstring>

#include "cpu/backend.h"
#include "engine/engine.h"
#include "ops/op.h"
#include "plan/executor.h"

namespace hf::engine {
namespace {

using gpu::Call;

// Two products on the device, one on the cpu between (float64), so that there are two segments.
struct Life {
  std::shared_ptr<gpu::Device> device = gpu::open_device("emu");
  ir::Graph graph;
  std::vector<Tensor> inputs = {Tensor(DType::F32, {8, 16}), Tensor(DType::F32, {16, 8})};

  Life() {
    for (Tensor& t : inputs)
      for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = static_cast<float>(i % 7) - 3;
    ir::Value *x = graph.add_input("x", DType::F32, Dims{8, 16}), *y = graph.add_input("y", DType::F32, Dims{16, 8});
    auto op = [&](const char* name, std::vector<ir::Value*> in, ir::Attrs attrs = {}) {
      return ops::add_op(graph, name, std::move(in), std::move(attrs))->output();
    };
    ir::Value* z = op("MatMul", {x, y});
    ir::Value* det = op("Det", {z});
    graph.add_output(op("MatMul", {z, z}));
    graph.add_output(det);
  }

  std::vector<Tensor> run(int64_t limit = 0) {
    auto engine = make_engine({.device = device, .name = "emu", .memory_limit = limit});
    auto cpu = cpu::make_cpu_backend();
    plan::ExecutorOptions options;
    options.backends = {engine.get(), cpu.get()};
    plan::Executor executor(graph, options);
    std::vector<Tensor> out;
    for (int i = 0; i < 3; ++i) out = executor.run(inputs);
    return out;
  }
};

class EngineFaults : public testing::Test {
 protected:
  void TearDown() override {
    for (int i = 0; i < gpu::kCallCount; ++i) gpu::fail_nth_call(static_cast<Call>(i), 0);
  }
};

TEST_F(EngineFaults, EachCallOnce) {
  Life life;
  life.run();  // the self-test of a device runs once a process
  for (int i = 0; i < gpu::kCallCount; ++i) gpu::fail_nth_call(static_cast<Call>(i), 0);
  std::vector<Tensor> wanted = life.run();
  int made[gpu::kCallCount];
  for (int i = 0; i < gpu::kCallCount; ++i) made[i] = gpu::calls_made(static_cast<Call>(i));
  for (int i = 0; i < gpu::kCallCount; ++i) {
    auto call = static_cast<Call>(i);
    bool memory = call == Call::Alloc || call == Call::HostAlloc;
    // Work that cannot be recorded is launched; memory is asked for again when idle runs have given theirs.
    bool recording = call == Call::CaptureBegin || call == Call::CaptureEnd;
    // Some launches are recorded; the last synchronisation is of a run that is being given up.
    bool perhaps = memory || call == Call::Launch || call == Call::Synchronize;
    for (int n = 1; n <= made[i]; ++n) {
      SCOPED_TRACE(fmt::format("{} number {}", gpu::name(call), n));
      gpu::fail_nth_call(call, n);
      try {
        std::vector<Tensor> got = life.run();
        EXPECT_TRUE(recording || perhaps) << "did not fail";
        for (size_t k = 0; k < got.size(); ++k)
          EXPECT_EQ(0, std::memcmp(got[k].raw(), wanted[k].raw(), static_cast<size_t>(got[k].size_bytes())));
      } catch (const Error& e) {
        EXPECT_FALSE(recording) << e.what();
        EXPECT_EQ(e.code(), memory ? Code::OutOfMemory : Code::Driver) << e.what();
      }
      EXPECT_TRUE(life.device->counts().none()) << "something leaked";
      gpu::fail_nth_call(call, 0);
    }
  }
}

TEST_F(EngineFaults, AMemoryLimitSaysWhatNeedsHowMuch) {
  Life life;
  try {
    life.run(100);
    ADD_FAILURE() << "did not fail";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::OutOfMemory);
    EXPECT_NE(std::string(e.what()).find("the limit is 100"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(life.device->counts().none());
  EXPECT_EQ(life.run(1 << 20).size(), 2u);
}

}  // namespace
}  // namespace hf::engine

// Sessions on a GPU, played by the emulator: results, reports, threads, memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "base/error.h"
#include "session/random_inputs.h"
#include "session/session.h"

namespace hf {
namespace {

std::string model(const std::string& name) {
  return std::string(HIPFORGE_SOURCE_DIR) + "/tests/models/small/" + name + "/model.onnx";
}

SessionOptions on_emu(DType precision = DType::F32) {
  SessionOptions o;
  o.device = "emu";
  o.precision = precision;
  o.fallback = Fallback::Allow;
  return o;
}

// The norm of the difference beside the norm of what is wanted.
double difference(const Tensor& got, const Tensor& wanted) {
  EXPECT_EQ(got.dims(), wanted.dims());
  EXPECT_EQ(got.dtype(), wanted.dtype());
  double delta = 0, norm = 0;
  for (int64_t i = 0; i < wanted.size(); ++i) {
    delta += std::pow(got.data<float>()[i] - wanted.data<float>()[i], 2);
    norm += std::pow(wanted.data<float>()[i], 2);
  }
  return std::sqrt(delta / norm);
}

}  // namespace

TEST(SessionOnDevice, GivesWhatTheCpuGives) {
  for (auto [precision, most] : {std::pair(DType::F32, 1e-4), {DType::F16, 1e-2}, {DType::BF16, 8e-2}}) {
    auto here = Session::open(model("resnet"), {.device = "cpu"}),
         there = Session::open(model("resnet"), on_emu(precision));
    NamedTensors inputs = random_inputs(*here, input_shapes(*here, {}, 2));
    EXPECT_LT(difference(there->run(inputs)[0], here->run(inputs)[0]), most) << name(precision);
    MemoryReport memory = there->memory();
    EXPECT_GT(memory.device_weights_bytes, 0);
    EXPECT_GT(memory.device_arena_bytes, 0);
    EXPECT_GE(memory.device_peak_bytes, memory.device_weights_bytes + memory.device_arena_bytes);
    EXPECT_EQ(there->device().rfind("emu ", 0), 0u) << there->device();
  }
}

TEST(SessionOnDevice, RecordedWorkAndLaunchesAgreeAndAreTimed) {
  SessionOptions launched = on_emu();
  launched.graphs = false;
  auto a = Session::open(model("resnet"), on_emu()), b = Session::open(model("resnet"), launched);
  NamedTensors inputs = random_inputs(*a, input_shapes(*a, {}, 1));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(difference(a->run(inputs)[0], b->run(inputs)[0]), 0);
  std::vector<double> times = a->replay(inputs, 3);
  ASSERT_EQ(times.size(), 3u);
  for (double us : times) EXPECT_GT(us, 0);
  std::vector<StepTime> steps;
  a->profile(inputs, steps);
  EXPECT_FALSE(steps.empty());
}

TEST(SessionOnDevice, ThreadsAndSessionsShareADevice) {
  auto one = Session::open(model("resnet"), on_emu()), two = Session::open(model("resnet"), on_emu());
  std::vector<NamedTensors> inputs;
  std::vector<Tensor> wanted;
  for (int batch : {1, 2, 3}) {
    inputs.push_back(random_inputs(*one, input_shapes(*one, {}, batch)));
    wanted.push_back(one->run(inputs.back())[0]);
  }
  int64_t shared = one->memory().device_weights_bytes;
  two->run(inputs[0]);
  EXPECT_LT(two->memory().device_weights_bytes, shared / 10) << "equal weights are uploaded once";
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 6; ++i) {
        size_t k = (i + static_cast<size_t>(t)) % inputs.size();
        if (difference((t % 2 ? one : two)->run(inputs[k])[0], wanted[k]) != 0) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(SessionOnDevice, ManyShapesStayWithinTheKeptPlans) {
  SessionOptions options = on_emu();
  options.max_plans = 4;
  auto session = Session::open(model("resnet"), options);
  int64_t most = 0;
  for (int round = 0; round < 3; ++round) {
    for (int batch = 1; batch <= 8; ++batch) session->run(random_inputs(*session, input_shapes(*session, {}, batch)));
    MemoryReport memory = session->memory();
    if (round == 0) most = memory.device_peak_bytes;
    EXPECT_EQ(memory.device_peak_bytes, most) << "round " << round;
  }
}

TEST(SessionOnDevice, WhatItLeavesToTheCpuIsAnErrorIfSoAsked) {
  SessionOptions strict = on_emu();
  strict.fallback = Fallback::Error;
  // Control flow is the host's.
  auto session = Session::open(model("voice_if"), strict);
  try {
    session->run(random_inputs(*session, input_shapes(*session, {}, 1)));
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Unsupported);
    EXPECT_NE(std::string(e.what()).find("If"), std::string::npos) << e.what();
  }
}

TEST(SessionOnDevice, AMemoryLimitIsKept) {
  SessionOptions small = on_emu();
  small.memory_limit = 1000;
  auto session = Session::open(model("resnet"), small);
  try {
    session->run(random_inputs(*session, input_shapes(*session, {}, 1)));
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::OutOfMemory);
  }
}

TEST(SessionOnDevice, AutoTakesTheCpuWhereThereIsNoDevice) {
  auto session = Session::open(model("resnet"));
  NamedTensors inputs = random_inputs(*session, input_shapes(*session, {}, 1));
  EXPECT_EQ(session->run(inputs).size(), session->outputs().size());
  EXPECT_FALSE(session->device().empty());
}

}  // namespace hf

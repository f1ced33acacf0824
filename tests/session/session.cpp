// The front door: opening, running, refusing, and runs from several threads.
#include "session/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "base/error.h"
#include "session/inspect.h"
#include "session/random_inputs.h"

namespace hf {
namespace {

std::string model(const std::string& name) {
  return std::string(HIPFORGE_SOURCE_DIR) + "/tests/models/small/" + name + "/model.onnx";
}

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.dims() == b.dims() &&
         std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.size_bytes())) == 0;
}

Code code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return Code{};
}

}  // namespace

TEST(Session, RunsFromAFileAndFromBytesAlike) {
  auto session = Session::open(model("resnet"));
  std::ifstream file(model("resnet"), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  auto other = Session::open_bytes(std::as_bytes(std::span(bytes)));
  NamedTensors inputs = random_inputs(*session, input_shapes(*session, {}, 3));
  std::vector<Tensor> a = session->run(inputs), b = other->run(inputs);
  ASSERT_EQ(a.size(), session->outputs().size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same(a[i], b[i]));
  EXPECT_EQ(a[0].dims()[0], 3);
}

TEST(Session, ChosenOutputsComeInTheOrderAskedFor) {
  auto session = Session::open(model("gpt2_past"));
  ASSERT_GE(session->outputs().size(), 2u);
  auto shapes = input_shapes(*session, {{"T", Dims{2}}});
  NamedTensors inputs = random_inputs(*session, shapes);
  std::vector<Tensor> all = session->run(inputs);
  std::vector<std::string> names = {session->outputs()[1].name, session->outputs()[0].name};
  std::vector<Tensor> two = session->run(inputs, names);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_TRUE(same(two[0], all[1]));
  EXPECT_TRUE(same(two[1], all[0]));
}

TEST(Session, RefusesWhatDoesNotFitTheModel) {
  auto session = Session::open(model("resnet"));
  const Port& port = session->inputs()[0];
  NamedTensors good = random_inputs(*session, input_shapes(*session, {}));
  auto with = [&](const std::string& name, Tensor t) { return code_of([&, t] { session->run({{name, t}}); }); };
  EXPECT_EQ(with("nothing", good[port.name]), Code::NotFound);
  EXPECT_EQ(code_of([&] { session->run({}); }), Code::InvalidArgument);
  EXPECT_EQ(with(port.name, Tensor(DType::F64, good[port.name].dims())), Code::InvalidArgument);
  EXPECT_EQ(with(port.name, Tensor(DType::F32, {1, 2})), Code::InvalidArgument);
  EXPECT_EQ(with(port.name, Tensor()), Code::InvalidArgument);
  std::vector<std::string> unknown = {"no such output"};
  EXPECT_EQ(code_of([&] { session->run(good, unknown); }), Code::NotFound);
  EXPECT_EQ(code_of([] { Session::open("/no/such/file.onnx"); }), Code::NotFound);
  EXPECT_EQ(code_of([] { Session::open(model("resnet"), {.device = "emu:gfx1"}); }), Code::NotFound);
  EXPECT_EQ(code_of([] { Session::open(model("resnet"), {.device = "abacus"}); }), Code::InvalidArgument);
  EXPECT_EQ(code_of([] { Session::open(model("resnet"), {.disable_passes = {"no such pass"}}); }),
            Code::InvalidArgument);
}

// Each thread with shapes of its own, some of them shared, while plans come and go.
TEST(Session, RunsFromSeveralThreadsGiveWhatOneGives) {
  struct Model {
    const char* name;
    int64_t batches;  // the largest
    ShapeOverrides shapes = {};
  };
  const Model models[] = {
      {"resnet", 3}, {"bert_dynamo", 3}, {"voice_if", 1}, {"yolov8_nms", 1, {{"H", Dims{64}}, {"W", Dims{64}}}}};
  for (const auto& [name, batches, shapes] : models) {
    auto session = Session::open(model(name), {.threads = 1, .max_plans = 2});
    std::vector<NamedTensors> inputs;
    std::vector<std::vector<Tensor>> wanted;
    for (int64_t batch : {1, 2, 3}) {
      inputs.push_back(random_inputs(*session, input_shapes(*session, shapes, std::min(batch, batches)),
                                     static_cast<uint64_t>(batch)));
      wanted.push_back(session->run(inputs.back()));
    }
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 8; ++i) {
          size_t k = static_cast<size_t>((t + i) % 3);
          std::vector<Tensor> got = session->run(inputs[k]);
          for (size_t o = 0; o < got.size(); ++o) wrong += !same(got[o], wanted[k][o]);
        }
      });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0) << name;
  }
}

TEST(Session, OptimisedAndNotAgree) {
  for (const char* name : {"resnet", "mobilenet_v2", "bert", "gpt2", "densenet"}) {
    auto plain = Session::open(model(name), {.optimize = false}), fused = Session::open(model(name));
    NamedTensors inputs = random_inputs(*plain, input_shapes(*plain, {}, 2), 5);
    std::vector<Tensor> a = plain->run(inputs), b = fused->run(inputs);
    double top = 0, error = 0;
    for (int64_t i = 0; i < a[0].size(); ++i) {
      top = std::max<double>(top, std::fabs(a[0].data<float>()[i]));
      error = std::max<double>(error, std::fabs(a[0].data<float>()[i] - b[0].data<float>()[i]));
    }
    EXPECT_LE(error, 2e-4 * top) << name;
  }
}

TEST(Session, TheReportCountsWhatTheModelHolds) {
  auto session = Session::open(model("resnet"));
  Inspection found = inspect(*session, input_shapes(*session, {}));
  EXPECT_GT(found.macs, 0);
  EXPECT_GT(found.parameters, 0);
  EXPECT_EQ(found.parameter_bytes, found.parameters * 4);
  EXPECT_GT(found.arena_bytes, 0);
  EXPECT_FALSE(found.placements.empty());
  for (const plan::Placement& p : found.placements) EXPECT_EQ(p.backend, "cpu") << p.node;
  Inspection twice = inspect(*session, input_shapes(*session, {}, 2));
  EXPECT_EQ(twice.macs, 2 * found.macs);
}

}  // namespace hf

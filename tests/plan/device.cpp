// Plans over a host and a device: where values lie, what is copied when. The device is memory of the host.
#include <gtest/gtest.h>

#include <cstring>

#include "ops/op.h"
#include "plan/executor.h"

namespace hf::plan {
namespace {

struct Far final : LayoutDetail {
  explicit Far(int64_t count) : size(count) {}
  int64_t size;
  bool equals(const LayoutDetail& o) const override { return dynamic_cast<const Far*>(&o) != nullptr; }
  int64_t bytes() const override { return size; }
  Space space() const override { return Space::Device; }
  std::string text() const override { return "far"; }
};

struct FarRun final : DeviceRun {
  explicit FarRun(const DeviceNeeds& needs)
      : memory(static_cast<size_t>(needs.arena_bytes + needs.scratch_bytes)),
        pinned(static_cast<size_t>(needs.staging_bytes)) {}
  std::vector<std::byte> memory, pinned;
  std::byte* arena() override { return memory.data(); }
  std::byte* staging() override { return pinned.data(); }
  void upload(void* to, int64_t at, int64_t bytes) override {
    std::memcpy(to, &pinned[static_cast<size_t>(at)], static_cast<size_t>(bytes));
  }
  void download(int64_t at, const void* from, int64_t bytes) override {
    std::memcpy(&pinned[static_cast<size_t>(at)], from, static_cast<size_t>(bytes));
  }
  void execute(int, size_t count, const std::function<void(size_t)>& queue) override {
    for (size_t i = 0; i < count; ++i) queue(i);
  }
  std::vector<double> time_each(size_t count, const std::function<void(size_t)>& queue) override {
    execute(0, count, queue);
    return std::vector<double>(count, 1);
  }
  double time_all(int segment, size_t count, const std::function<void(size_t)>& queue) override {
    execute(segment, count, queue);
    return static_cast<double>(count);
  }
  void synchronize() override {}
};

struct FarNeg final : DeviceKernel {
  int64_t count;
  explicit FarNeg(int64_t n) : count(n) {}
  void queue(std::span<const void* const> in, std::span<void* const> out, void*, DeviceRun&) const override {
    for (int64_t i = 0; i < count; ++i) static_cast<float*>(out[0])[i] = -static_cast<const float*>(in[0])[i];
  }
  std::string text() const override { return "far neg"; }
};

// Takes Neg.
struct FarBackend final : Backend {
  int failures = 0;  // of finish()
  std::string_view name() const override { return "far"; }
  Space space() const override { return Space::Device; }
  Layout transfer_layout(const ir::Value& v) const override {
    return {std::make_shared<Far>(storage_bytes(v.dtype, v.shape.get().count()))};
  }
  std::variant<Prepared, Refusal> prepare(const ir::Node& n, std::span<const Layout>) override {
    if (!n.is("Neg")) return Refusal{"it is no Neg"};
    Prepared p;
    p.inputs = {transfer_layout(*n.input(0))};
    p.outputs = {transfer_layout(*n.output())};
    p.in_place = {0};
    p.kernel = std::make_unique<FarNeg>(n.output()->shape.get().count());
    return p;
  }
  Prepared convert(const ir::Value&, const Layout&, const Layout&) override { fail(Code::Internal, "one layout only"); }
  bool finish() override { return failures-- <= 0; }
  std::unique_ptr<DeviceRun> make_run(const DeviceNeeds& needs) override { return std::make_unique<FarRun>(needs); }
};

struct Reference final : Kernel {
  const ir::Node& node;
  explicit Reference(const ir::Node& n) : node(n) {}
  void run(std::span<const void* const> in, std::span<void* const> out, void*) const override {
    std::vector<Tensor> tensors;
    std::vector<const Tensor*> args;
    for (size_t i = 0; i < in.size(); ++i)
      tensors.push_back(
          Tensor::view(node.input(static_cast<int>(i))->dtype, node.input(static_cast<int>(i))->shape.get(), in[i]));
    for (const Tensor& t : tensors) args.push_back(&t);
    Tensor made = ops::evaluate(node, args)[0];
    std::memcpy(out[0], made.raw(), static_cast<size_t>(made.size_bytes()));
  }
  std::string text() const override { return "reference"; }
};

struct Near final : Backend {
  std::string_view name() const override { return "cpu"; }
  std::variant<Prepared, Refusal> prepare(const ir::Node& n, std::span<const Layout> layouts) override {
    for (const Layout& l : layouts) EXPECT_TRUE(l.plain());
    Prepared p;
    if (n.is("Flatten"))
      p.alias = 0;
    else
      p.kernel = std::make_unique<Reference>(n);
    return p;
  }
  Prepared convert(const ir::Value&, const Layout&, const Layout&) override { fail(Code::Internal, "one layout only"); }
};

struct Devices : testing::Test {
  ir::Graph g;
  ir::Value* x = g.add_input("x", DType::F32, Dims{2, 3});
  FarBackend far;
  Near near;
  ir::Value* op(const char* name, std::vector<ir::Value*> in) { return ops::add_op(g, name, std::move(in))->output(); }
  // The outputs for x = 0, 1, 2, ... and the plan's text.
  std::vector<Tensor> run() {
    ExecutorOptions options;
    options.backends = {&far, &near};
    Executor executor(g, options);
    Tensor in(DType::F32, {2, 3});
    for (int i = 0; i < 6; ++i) in.data<float>()[i] = static_cast<float>(i);
    std::vector<Tensor> inputs = {in};
    auto plan = executor.plan_for(inputs);
    segments = plan->segments.size();
    text = to_text(*plan);
    executor.run(inputs);
    return executor.run(inputs);
  }
  size_t segments = 0;
  std::string text;
};

TEST_F(Devices, ValuesAreCopiedOnceEachWay) {
  ir::Value *a = op("Neg", {x}), *b = op("Neg", {a}), *c = op("Abs", {a});
  g.add_output(op("Add", {b, c}));
  g.add_output(a);
  auto out = run();
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(out[0].data<float>()[i], 2.f * static_cast<float>(i));
    EXPECT_EQ(out[1].data<float>()[i], -static_cast<float>(i));
  }
  EXPECT_EQ(segments, 2u) << text;  // Abs waits for a, and Add for b
  size_t copies = 0;
  for (size_t at = text.find("copy of"); at != text.npos; at = text.find("copy of", at + 1)) ++copies;
  EXPECT_EQ(copies, 3u) << text;
}

TEST_F(Devices, WhatCameDownAndGoesUpAgainWaitsForItsSegment) {
  g.add_output(op("Neg", {op("Flatten", {op("Neg", {x})})}));
  auto out = run();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(out[0].data<float>()[i], static_cast<float>(i));
  EXPECT_EQ(segments, 2u) << text;
}

// Compress makes shapes that only its data tells: everything that it and its followers read is on the host by then,
// each in memory of its own.
TEST_F(Devices, WhatIsReadAfterTheLastStepSharesNoMemory) {
  ir::Value *a = op("Neg", {x}), *b = op("Neg", {a}), *c = op("Neg", {op("Neg", {a})});
  Tensor some(DType::Bool, {6});
  for (int i = 0; i < 6; ++i) some.data<uint8_t>()[i] = i != 0;
  ir::Value* picked = op("Compress", {b, g.add_constant("some", some)});
  g.add_output(op("Mul", {picked, op("Compress", {c, g.add_constant("some", some)})}));
  g.add_output(op("Compress", {a, g.add_constant("some", some)}));
  auto out = run();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(out[0].data<float>()[i], -static_cast<float>((i + 1) * (i + 1))) << text;
    EXPECT_EQ(out[1].data<float>()[i], -static_cast<float>(i + 1)) << text;
  }
}

TEST_F(Devices, ThePlanIsMadeAnewUntilTheBackendIsReady) {
  far.failures = 2;
  g.add_output(op("Neg", {x}));
  auto out = run();
  EXPECT_EQ(out[0].data<float>()[5], -5.f);
  EXPECT_LT(far.failures, 0);
}

TEST_F(Devices, AnInputThatIsAnOutputStaysOnTheHost) {
  g.add_output(x);
  g.add_output(op("Neg", {x}));
  auto out = run();
  EXPECT_EQ(out[0].data<float>()[4], 4.f);
  EXPECT_EQ(out[1].data<float>()[4], -4.f);
}

}  // namespace
}  // namespace hf::plan

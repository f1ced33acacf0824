// Planning and running with a backend made for the test: reference kernels, in-place Relu, aliased Reshape, and Neg in
// a layout of its own (elements backwards), so that conversions are needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "passes/graphs.h"
#include "plan/executor.h"

namespace hf {
namespace {

using ir::Value;
using plan::Layout;

class Backwards final : public plan::LayoutDetail {
 public:
  explicit Backwards(int64_t bytes) : bytes_(bytes) {}
  bool equals(const LayoutDetail& other) const override { return dynamic_cast<const Backwards*>(&other) != nullptr; }
  int64_t bytes() const override { return bytes_; }
  std::string text() const override { return "backwards"; }

 private:
  int64_t bytes_;
};

class ReferenceKernel final : public plan::Kernel {
 public:
  explicit ReferenceKernel(const ir::Node& n) : node_(n) {}
  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void*) const override {
    std::vector<Tensor> held;
    std::vector<const Tensor*> args;
    held.reserve(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Value* v = node_.inputs()[i];
      held.push_back(v ? Tensor::view(v->dtype, v->shape.get(), inputs[i]) : Tensor());
      args.push_back(v ? &held.back() : nullptr);
    }
    std::vector<Tensor> results = ops::evaluate(node_, args);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i]) std::memcpy(outputs[i], results[i].raw(), static_cast<size_t>(results[i].size_bytes()));
  }
  std::string text() const override { return "reference"; }

 private:
  const ir::Node& node_;
};

class Reverse final : public plan::Kernel {
 public:
  explicit Reverse(int64_t count) : count_(count) {}
  void run(std::span<const void* const> in, std::span<void* const> out, void*) const override {
    const auto* x = static_cast<const float*>(in[0]);
    std::reverse_copy(x, x + count_, static_cast<float*>(out[0]));
  }
  std::string text() const override { return "reverse"; }

 private:
  int64_t count_;
};

class TestBackend final : public plan::Backend {
 public:
  std::string_view name() const override { return "test"; }
  std::variant<plan::Prepared, Refusal> prepare(const ir::Node& n, std::span<const Layout>) override {
    if (n.is("Exp")) return Refusal{"no Exp here"};
    plan::Prepared p;
    if (n.is("Reshape")) {
      p.alias = 0;
      p.absorbed = {false, true};
      return p;
    }
    p.kernel = std::make_unique<ReferenceKernel>(n);
    if (n.is("Relu") || n.is("Add")) p.in_place = {0};
    if (n.is("Neg")) {
      auto backwards = std::make_shared<Backwards>(storage_bytes(n.output()->dtype, n.output()->shape.get().count()));
      p.inputs = {Layout{backwards}};
      p.outputs = {Layout{backwards}};
    }
    return p;
  }
  plan::Prepared convert(const Value& v, const Layout&, const Layout&) override {
    plan::Prepared p;
    p.kernel = std::make_unique<Reverse>(v.shape.get().count());
    return p;
  }
};

// Runs the graph planned and plainly, several times and from two threads, and expects the same.
void expect_same(TestGraph& t) {
  TestBackend backend;
  plan::ExecutorOptions options;
  options.backends = {&backend};
  options.specialize = [](ir::Graph& g) {
    passes::PassOptions p;
    p.optimize = false;
    passes::run_pipeline(g, passes::Stage::Plan, p);
  };
  plan::Executor executor(*t.graph, options);
  std::vector<Tensor> inputs;
  for (const Value* v : t.graph->inputs()) inputs.push_back(t.random(v->shape.get()));
  std::vector<Tensor> wanted = evaluate_graph(*t.graph, inputs);
  auto run = [&] {
    for (int i = 0; i < 3; ++i) {
      std::vector<Tensor> got = executor.run(inputs);
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t k = 0; k < got.size(); ++k) {
        ASSERT_EQ(got[k].dims(), wanted[k].dims());
        EXPECT_EQ(std::memcmp(got[k].raw(), wanted[k].raw(), static_cast<size_t>(wanted[k].size_bytes())), 0) << k;
      }
    }
  };
  std::thread other(run);
  run();
  other.join();
}

}  // namespace

TEST(Arena, BuffersThatLiveTogetherNeverOverlap) {
  std::mt19937 rng(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<plan::Lifetime> buffers(40);
    int64_t all = 0;
    for (auto& b : buffers) {
      b.bytes = static_cast<int64_t>(rng() % 1000);
      b.first = static_cast<int>(rng() % 20);
      b.last = b.first + static_cast<int>(rng() % 5);
      all += (b.bytes + 63) / 64 * 64;
    }
    int64_t total = plan::assign_offsets(buffers);
    EXPECT_LE(total, all);
    for (size_t i = 0; i < buffers.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const auto &a = buffers[i], &b = buffers[j];
        bool together = a.first <= b.last && b.first <= a.last;
        bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
        EXPECT_TRUE(!together || apart || !a.bytes || !b.bytes);
        EXPECT_EQ(a.offset % 64, 0);
      }
  }
}

TEST(Plan, ChainsInPlaceAliasesAndOutputs) {
  TestGraph t;
  Value* x = t.input({4, 6});
  Value* a = t.op("Relu", {x});
  Value* b = t.op("Reshape", {a, t.ints({6, 4})});
  Value* c = t.op("Relu", {b});
  t.output(c);
  t.output(a);                                    // both outputs share bytes with an alias between them
  t.output(x);                                    // an input that is an output
  t.output(t.constant({3}));                      // a constant that is one
  t.output(c);                                    // the same value twice
  t.output(t.op("Add", {c, t.op("Relu", {c})}));  // an in-place candidate that is still needed
  expect_same(t);
}

TEST(Plan, AValueIsNotOverwrittenWhileAnAliasOfItIsRead) {
  TestGraph t;
  Value* x = t.op("Tanh", {t.input({2, 2})});
  Value* y = t.op("Reshape", {x, t.ints({4})});
  Value* z = t.op("Relu", {x});
  t.output(t.op("Concat", {t.op("Reshape", {z, t.ints({4})}), y}, {{"axis", int64_t{0}}}));
  expect_same(t);
}

TEST(Plan, LayoutsAreConvertedWhereTheyDiffer) {
  TestGraph t;
  Value* x = t.input({3, 5});
  Value* a = t.op("Neg", {t.op("Neg", {x})});
  t.output(t.op("Add", {a, t.op("Relu", {a})}));
  t.output(a);
  expect_same(t);
}

TEST(Plan, ANodeThatNobodyTakesIsUnsupportedWithTheReason) {
  TestGraph t;
  t.output(t.op("Exp", {t.input({2})}));
  TestBackend backend;
  plan::Backend* backends[] = {&backend};
  try {
    plan::make_plan(t.graph->clone(), backends);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Unsupported);
    EXPECT_NE(std::string(e.what()).find("test: no Exp here"), std::string::npos) << e.what();
  }
}

TEST(Plan, DataDependentShapesSplitIt) {
  TestGraph t;
  Value* x = t.input({3, 4});
  Value* positive = t.op("Relu", {x});
  Value* where = t.op("NonZero", {positive});                                        // breaker
  Value* rows = t.op("Transpose", {where}, {{"perm", std::vector<int64_t>{1, 0}}});  // tail
  t.output(t.op("GatherND", {x, rows}));
  t.output(positive);
  t.output(t.op("Neg", {positive}));
  TestBackend backend;
  plan::Backend* backends[] = {&backend};
  auto plan = plan::make_plan(t.graph->clone(), backends);
  EXPECT_EQ(plan->breakers.size(), 1u);
  ASSERT_TRUE(plan->tail);
  EXPECT_EQ(operators(*plan->tail), "Transpose GatherND");
  expect_same(t);
}

TEST(Plan, AKnownShapeThatABreakerMadeIsATensorOfTheRun) {
  TestGraph t;
  Value* x = t.op("Relu", {t.input({6})});
  Value* sorted = t.op("Unique", {x});                               // breaker: its output's shape is unknown
  Value* first = t.op("Slice", {sorted, t.ints({0}), t.ints({1})});  // tail
  Value* size = t.op("Shape", {sorted});                             // tail, of known shape [1]
  t.output(t.op("Concat", {t.op("Shape", {first}), size, t.ints({3})}, {{"axis", int64_t{0}}}));
  t.output(size);
  expect_same(t);
}

TEST(Executor, KeepsAPlanForEachShapeUpToTheLimit) {
  TestGraph t;
  Value* x = t.graph->add_input("x", DType::F32, ir::Shape::unknown_of_rank(1));
  t.output(t.op("Relu", {x}));
  TestBackend backend;
  int made = 0;
  plan::ExecutorOptions options;
  options.backends = {&backend};
  options.specialize = [](ir::Graph& g) { passes::run_pipeline(g, passes::Stage::Plan, {}); };
  options.max_plans = 2;
  options.on_plan = [&](const plan::Plan&) { ++made; };
  plan::Executor executor(*t.graph, options);
  for (int64_t n : {1, 2, 1, 2, 3, 2, 1}) {
    std::vector<Tensor> in = {t.random({n})};
    EXPECT_EQ(executor.run(in)[0].dims(), Dims({n}));
  }
  EXPECT_EQ(made, 4);  // 1, 2, 3, and 1 again
}

}  // namespace hf

// If, Loop and Scan, with subgraphs run node by node.
#include <map>

#include "ops/case.h"

namespace hf::ops {
namespace {

using ir::Graph;
using ir::Value;
using Ints = std::vector<int64_t>;

class Runner final : public SubgraphRunner {
 public:
  int runs = 0;
  std::vector<Tensor> run(const Graph& g, std::span<const Tensor> inputs, std::span<const Tensor> captures) override {
    ++runs;
    std::map<const Value*, Tensor> values;
    for (size_t i = 0; i < inputs.size(); ++i) values[g.inputs().at(i)] = inputs[i];
    for (size_t i = 0; i < captures.size(); ++i) values[g.captures().at(i)] = captures[i];
    auto at = [&](const Value* v) -> const Tensor* {
      return !v ? nullptr : v->is_constant() ? &v->constant : &values[v];
    };
    for (const Node* n = g.first(); n; n = n->next()) {
      std::vector<const Tensor*> in;
      for (const Value* v : n->inputs()) in.push_back(at(v));
      std::vector<Tensor> out = evaluate(*n, in, this);
      for (size_t i = 0; i < out.size(); ++i) values[n->outputs()[i]] = out[i];
    }
    std::vector<Tensor> results;
    for (const Value* v : g.outputs()) results.push_back(*at(v));
    return results;
  }
};

// A graph of one control flow node. Captured values are inputs of the node after its own.
struct Control {
  Graph g;
  Node* node;

  Control(const std::string& op, ir::Attrs attrs, std::vector<Value*> (*inputs)(Graph&), int outputs, int captures = 0,
          int opset = 28) {
    node = g.add_node(op, inputs(g), outputs);
    node->name = op;
    node->attrs = std::move(attrs);
    node->captures = captures;
    bind(g, *node, opset);
  }
  std::string shape(int i = 0) { return node->output(i)->shape.text(); }
};

std::vector<Tensor> run(Control& c, const std::vector<Tensor>& inputs, Runner& runner) {
  std::vector<const Tensor*> in;
  for (const Tensor& t : inputs) in.push_back(t.defined() ? &t : nullptr);
  return evaluate(*c.node, in, &runner);
}

// it, cond, s -> s + one < limit, s + one, s + one; `one` and `limit` are captures.
std::shared_ptr<Graph> counting_body() {
  auto g = std::make_shared<Graph>();
  g->add_input("it");
  g->add_input("cond");
  Value *s = g->add_input("s", DType::F32), *one = g->add_capture("one", DType::F32),
        *limit = g->add_capture("lim", DType::F32);
  Value* sum = add_op(*g, "Add", {s, one})->output();
  g->add_output(add_op(*g, "Less", {sum, limit})->output());
  g->add_output(sum);
  g->add_output(add_op(*g, "Identity", {sum})->output());
  return g;
}

std::vector<Value*> counting_inputs(Graph& g) {
  return {g.add_input("m", DType::I64, Dims{}), g.add_input("c", DType::Bool, Dims{}),
          g.add_input("s", DType::F32, Dims{1}), g.add_input("one", DType::F32, Dims{1}),
          g.add_input("limit", DType::F32, Dims{1})};
}

Tensor f(std::initializer_list<float> v) { return tensor<float>({static_cast<int64_t>(v.size())}, v); }
Tensor trips(int64_t n) { return Tensor::scalar(n); }
const Tensor kTrue = Tensor::scalar(true), kFalse = Tensor::scalar(false);

// it, cond, s -> cond, Concat(s, s), s
std::shared_ptr<Graph> doubling_body() {
  auto g = std::make_shared<Graph>();
  g->add_input("it");
  Value* cond = g->add_input("cond", DType::Bool);
  Value* s = g->add_input("s", DType::F32);
  g->add_output(add_op(*g, "Identity", {cond})->output());
  g->add_output(add_op(*g, "Concat", {s, s}, {{"axis", int64_t{0}}})->output());
  return g;
}

// state, x -> state + x, state + x
std::shared_ptr<Graph> summing_body() {
  auto g = std::make_shared<Graph>();
  Value *s = g->add_input("s", DType::F32), *x = g->add_input("x", DType::F32);
  Value* sum = add_op(*g, "Add", {s, x})->output();
  g->add_output(sum);
  g->add_output(add_op(*g, "Identity", {sum})->output());
  return g;
}

}  // namespace

TEST(Loop, EndsByTripsOrCondition) {
  Control c("Loop", {{"body", counting_body()}}, counting_inputs, 2, 2);
  infer_node(*c.node);
  EXPECT_EQ(c.shape(0), "[1]");
  EXPECT_EQ(c.shape(1), "[?, 1]");
  Runner runner;
  auto loop = [&](Tensor m, Tensor cond) { return run(c, {m, cond, f({0}), f({1}), f({3})}, runner); };
  std::vector<Tensor> out = loop(trips(INT64_MAX), kTrue);
  expect_equal(out[0], f({3}), 0, "until the condition fails");
  expect_equal(out[1], tensor<float>({3, 1}, {1, 2, 3}), 0, "scan");
  expect_equal(loop(trips(2), kTrue)[0], f({2}), 0, "trips");
  expect_equal(loop(trips(5), {})[0], f({5}), 0, "without a condition the body's is ignored");
  expect_equal(loop({}, kTrue)[0], f({3}), 0, "without trips");
  expect_equal(loop({}, {})[0], f({3}), 0, "without both the body's condition counts");
  runner.runs = 0;
  for (Tensor m : {trips(0), trips(-5)}) expect_equal(loop(m, kTrue)[1], tensor<float>({0, 1}, {}), 0, "no trip");
  expect_equal(loop(trips(3), kFalse)[0], f({0}), 0, "the condition fails at once");
  EXPECT_EQ(runner.runs, 0);
}

TEST(Loop, WithoutEndIsEndedByTheLimitOfMemory) {
  Control c("Loop", {{"body", counting_body()}}, counting_inputs, 2, 2);
  infer_node(*c.node);
  Runner runner;
  const int64_t before = tensor_limit();
  set_tensor_limit(100'000);
  Code code = Code::Internal;
  try {
    run(c, {trips(INT64_MAX), kTrue, f({0}), f({1}), f({1e9f})}, runner);
  } catch (const Error& e) {
    code = e.code();
  }
  set_tensor_limit(before);
  EXPECT_EQ(code, Code::OutOfMemory);
  EXPECT_LT(runner.runs, 1000);  // of the 25,000 results of 4 bytes, each held in a tensor of its own
}

TEST(Loop, CarriesShapesThatChange) {
  Control c(
      "Loop", {{"body", doubling_body()}},
      [](Graph& g) -> std::vector<Value*> {
        return {g.add_input("m", DType::I64, Dims{}), nullptr, g.add_input("s", DType::F32, Dims{2})};
      },
      1);
  infer_node(*c.node);
  EXPECT_EQ(c.shape(), "[?]");
  Runner runner;
  expect_equal(run(c, {trips(2), {}, f({1, 2})}, runner)[0], f({1, 2, 1, 2, 1, 2, 1, 2}), 0, "doubled twice");
}

TEST(Loop, RefusesABodyThatDoesNotFit) {
  Control c(
      "Loop", {{"body", doubling_body()}},
      [](Graph& g) -> std::vector<Value*> { return {g.add_input("m", DType::I64, Dims{})}; }, 1);
  EXPECT_THROW(infer_node(*c.node), Error);
}

TEST(If, RunsTheBranchTaken) {
  auto then_branch = std::make_shared<Graph>(), else_branch = std::make_shared<Graph>();
  Value *x = then_branch->add_capture("x", DType::F32), *y = else_branch->add_capture("y", DType::F32);
  then_branch->add_output(add_op(*then_branch, "Identity", {x})->output());
  else_branch->add_output(
      add_op(*else_branch, "Unsqueeze", {y, else_branch->add_constant("a", Tensor::ints(Ints{0}))})->output());
  Control c(
      "If", {{"then_branch", then_branch}, {"else_branch", else_branch}},
      [](Graph& g) -> std::vector<Value*> {  // the else branch's capture comes first
        return {g.add_input("c", DType::Bool, Dims{}), g.add_input("y", DType::F32, Dims{2}),
                g.add_input("x", DType::F32, Dims{3})};
      },
      1, 2);
  infer_node(*c.node);
  EXPECT_EQ(c.shape(), "[...]");  // the ranks differ
  Runner runner;
  expect_equal(run(c, {kTrue, f({7, 8}), f({1, 2, 3})}, runner)[0], f({1, 2, 3}), 0, "then");
  expect_equal(run(c, {kFalse, f({7, 8}), f({1, 2, 3})}, runner)[0], tensor<float>({1, 2}, {7, 8}), 0, "else");
}

// As exporters write "squeeze if the axis is 1".
TEST(If, ABranchThatCouldNotRunIsNoFault) {
  auto then_branch = std::make_shared<Graph>(), else_branch = std::make_shared<Graph>();
  Value *x = then_branch->add_capture("x", DType::F32), *y = else_branch->add_capture("y", DType::F32);
  then_branch->add_output(
      add_op(*then_branch, "Squeeze", {x, then_branch->add_constant("a", Tensor::ints(Ints{0}))})->output());
  else_branch->add_output(add_op(*else_branch, "Identity", {y})->output());
  Control c(
      "If", {{"then_branch", then_branch}, {"else_branch", else_branch}},
      [](Graph& g) -> std::vector<Value*> {
        Value* v = g.add_input("v", DType::F32, Dims{2});
        return {g.add_input("c", DType::Bool, Dims{}), v, v};
      },
      1, 2);
  infer_node(*c.node);
  EXPECT_EQ(c.node->output()->dtype, DType::F32);
  Runner runner;
  expect_equal(run(c, {kFalse, f({7, 8}), f({7, 8})}, runner)[0], f({7, 8}), 0, "else");
  EXPECT_THROW(run(c, {kTrue, f({7, 8}), f({7, 8})}, runner), Error);
}

TEST(Scan, SumsAlongAnAxis) {
  Control c(
      "Scan",
      {{"body", summing_body()},
       {"num_scan_inputs", int64_t{1}},
       {"scan_input_axes", Ints{1}},
       {"scan_output_axes", Ints{-1}}},
      [](Graph& g) -> std::vector<Value*> {
        return {g.add_input("s", DType::F32, Dims{2}), g.add_input("x", DType::F32, Shape({2, Dim::named("t")}))};
      },
      2);
  infer_node(*c.node);
  EXPECT_EQ(c.shape(0), "[2]");
  EXPECT_EQ(c.shape(1), "[2, t]");
  Runner runner;
  std::vector<Tensor> out = run(c, {f({0, 10}), tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6})}, runner);
  expect_equal(out[0], f({6, 25}), 0, "state");
  expect_equal(out[1], tensor<float>({2, 3}, {1, 3, 6, 14, 19, 25}), 0, "collected");
}

TEST(Scan, Backwards) {
  Control c(
      "Scan",
      {{"body", summing_body()},
       {"num_scan_inputs", int64_t{1}},
       {"scan_input_directions", Ints{1}},
       {"scan_output_directions", Ints{1}}},
      [](Graph& g) -> std::vector<Value*> {
        return {g.add_input("s", DType::F32, Dims{}), g.add_input("x", DType::F32, Dims{3})};
      },
      2);
  infer_node(*c.node);
  Runner runner;
  expect_equal(run(c, {Tensor::scalar(0.0f), f({1, 2, 4})}, runner)[1], f({7, 6, 4}), 0, "collected");
}

TEST(Scan, BatchesOfOpset8) {
  Control c(
      "Scan", {{"body", summing_body()}, {"num_scan_inputs", int64_t{1}}},
      [](Graph& g) -> std::vector<Value*> {
        return {g.add_input("n", DType::I64, Dims{2}), g.add_input("s", DType::F32, Shape(Dims{2, 1})),
                g.add_input("x", DType::F32, Shape(Dims{2, 3, 1}))};
      },
      2, 0, 8);
  infer_node(*c.node);
  EXPECT_EQ(c.shape(0), "[2, 1]");
  EXPECT_EQ(c.shape(1), "[2, 3, 1]");
  Runner runner;
  std::vector<Tensor> out =
      run(c, {Tensor::ints(Ints{3, 2}), tensor<float>({2, 1}, {0, 10}), tensor<float>({2, 3, 1}, {1, 2, 3, 4, 5, 6})},
          runner);
  expect_equal(out[0], tensor<float>({2, 1}, {6, 19}), 0, "states");
  expect_equal(out[1], tensor<float>({2, 3, 1}, {1, 3, 6, 14, 19, 0}), 0, "collected, padded");
}

TEST(Control, DeepLoopsAreInferredInReasonableTime) {
  std::shared_ptr<Graph> body = doubling_body();
  for (int i = 0; i < 60; ++i) {
    auto outer = std::make_shared<Graph>();
    Value* it = outer->add_input("it", DType::I64, Dims{});
    Value* cond = outer->add_input("cond", DType::Bool, Dims{});
    Value* s = outer->add_input("s", DType::F32);
    Node* n = outer->add_node("Loop", {it, cond, s}, 1);
    n->attrs = {{"body", body}};
    bind(*outer, *n, 28);
    outer->add_output(add_op(*outer, "Identity", {cond})->output());
    outer->add_output(n->output());
    body = outer;
  }
  Control c(
      "Loop", {{"body", body}},
      [](Graph& g) -> std::vector<Value*> {
        return {g.add_input("m", DType::I64, Dims{}), nullptr, g.add_input("s", DType::F32, Dims{2})};
      },
      1);
  infer_node(*c.node);
  EXPECT_EQ(c.node->output()->dtype, DType::F32);
}

}  // namespace hf::ops

// onnxruntime's own operators become standard ones when they are bound; values from their formulas in numpy.
#include <map>

#include "ops/case.h"

namespace hf::ops {
namespace {

Tensor floats(std::initializer_list<float> v) { return tensor<float>({static_cast<int64_t>(v.size())}, v); }

// Binds one node with its outputs as the graph's, and evaluates all that it became.
std::map<int, Tensor> run_all(const std::string& op, const std::string& domain, ir::Attrs attrs,
                              const std::vector<Tensor>& inputs, int outputs, std::initializer_list<int> used) {
  ir::Graph g;
  std::vector<ir::Value*> values;
  for (const Tensor& t : inputs) values.push_back(t.defined() ? g.add_constant("x", t) : nullptr);
  Node* n = g.add_node(op, values, outputs, nullptr, domain);
  n->name = op;
  n->attrs = std::move(attrs);
  std::map<int, ir::Value*> wanted;
  for (int i : used) g.add_output(wanted[i] = n->output(i));
  bind(g, *n, domain.empty() ? 28 : 1);
  ir::verify(g);
  std::map<const ir::Value*, Tensor> known;
  for (Node* node : g.nodes()) {
    EXPECT_EQ(node->domain, "");
    infer_node(*node);
    std::vector<const Tensor*> in;
    for (ir::Value* v : node->inputs()) in.push_back(!v ? nullptr : v->is_constant() ? &v->constant : &known[v]);
    std::vector<Tensor> out = evaluate(*node, in);
    for (size_t i = 0; i < out.size(); ++i) known[node->output(static_cast<int>(i))] = out[i];
  }
  std::map<int, Tensor> results;
  for (auto [i, v] : wanted) results[i] = known[v];
  return results;
}

constexpr const char* kMicrosoft = "com.microsoft";

}  // namespace

TEST(Microsoft, Gelus) {
  const Tensor x = floats({-1, 0.5f}), bias = floats({0.5f});
  auto expect = [](const std::string& op, const std::vector<Tensor>& in, std::initializer_list<float> wanted) {
    expect_equal(run_all(op, kMicrosoft, {}, in, 1, {0})[0], floats(wanted), 1e-6, op);
  };
  expect("Gelu", {x}, {-0.15865525f, 0.34573123f});
  expect("BiasGelu", {x, bias}, {-0.15426877f, 0.84134475f});
  expect("FastGelu", {x}, {-0.158808f, 0.34571401f});
  expect("FastGelu", {x, bias}, {-0.15428599f, 0.841192f});
  expect("QuickGelu", {x}, {-0.15420423f, 0.35038719f});
}

TEST(Microsoft, Normalisations) {
  const Tensor x = tensor<float>({1, 2}, {1, 2}), skip = tensor<float>({1, 2}, {0, 3}), gamma = floats({1, 2}),
               bias = floats({0, 1});
  auto got = run_all("SkipLayerNormalization", kMicrosoft, {}, {x, skip, gamma, Tensor(), bias}, 4, {0, 3});
  expect_equal(got[3], tensor<float>({1, 2}, {1, 6}), 1e-6, "sum");
  expect_equal(got[0], tensor<float>({1, 2}, {-1, 2}), 1e-6, "layer");
  got = run_all("SkipLayerNormalization", kMicrosoft, {{"epsilon", 1.0f}}, {x, skip, gamma, bias}, 1, {0});
  expect_equal(got[0], tensor<float>({1, 2}, {-0.89442719f, 2.78885438f}), 1e-6, "with beta");
  got = run_all("SkipSimplifiedLayerNormalization", kMicrosoft, {}, {x, skip, gamma}, 4, {0, 3});
  expect_equal(got[0], tensor<float>({1, 2}, {0.2773501f, 2.7735010f}), 1e-6, "rms");
  got = run_all("SimplifiedLayerNormalization", "", {}, {x, gamma}, 1, {0});
  expect_equal(got[0], tensor<float>({1, 2}, {0.63245427f, 2.5298171f}), 1e-6, "simplified");
  EXPECT_THROW(run_all("SkipLayerNormalization", kMicrosoft, {}, {x, skip, gamma}, 3, {0, 1}), Error);
}

}  // namespace hf::ops

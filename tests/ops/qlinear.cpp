// com.microsoft's quantised operators, run as the graphs that they become. Values by hand.
#include <map>

#include "ops/case.h"

namespace hf::ops {
namespace {

// Binds the case's node, then evaluates all that it became.
Tensor run_parts(const OpCase& c) {
  ir::Graph g;
  std::vector<ir::Value*> inputs;
  for (const Tensor& t : c.inputs) inputs.push_back(t.defined() ? g.add_constant("x", t) : nullptr);
  Node* node = g.add_node(c.op, inputs, 1, nullptr, c.domain);
  node->name = c.name;
  node->attrs = c.attrs;
  ir::Value* y = node->output();
  g.add_output(y);
  bind(g, *node, 1);
  ir::verify(g);
  std::map<const ir::Value*, Tensor> values;
  for (Node* n : g.nodes()) {
    infer_node(*n);
    std::vector<const Tensor*> in;
    for (ir::Value* v : n->inputs()) in.push_back(!v ? nullptr : v->is_constant() ? &v->constant : &values.at(v));
    std::vector<Tensor> out = evaluate(*n, in);
    for (size_t i = 0; i < out.size(); ++i)
      if (n->outputs()[i]) values[n->outputs()[i]] = out[i];
  }
  return values.at(y);
}

const Tensor kOne = tensor<float>({}, {1}), kHalf = tensor<float>({}, {0.5f}), kZero = tensor<uint8_t>({}, {0});

}  // namespace

TEST(QLinear, Cases) {
  const Tensor a = tensor<uint8_t>({1, 2}, {2, 4}), b = tensor<uint8_t>({1, 2}, {10, 20}),
               three = tensor<uint8_t>({}, {3});
  const OpCase cases[] = {
      {.name = "1 + 10, 2 + 20, from zero point 3",
       .op = "QLinearAdd",
       .inputs = {a, kHalf, kZero, b, kOne, kZero, kOne, three},
       .expected = {tensor<uint8_t>({1, 2}, {14, 25})}},
      {.name = "product",
       .op = "QLinearMul",
       .inputs = {a, kHalf, {}, b, kOne, {}, kOne},
       .expected = {tensor<uint8_t>({1, 2}, {10, 40})}},
      {.name = "half",
       .op = "QLinearSigmoid",
       .inputs = {three, kOne, three, tensor<float>({}, {0.25f})},
       .expected = {tensor<uint8_t>({}, {2})}},
      {.name = "negative",
       .op = "QLinearLeakyRelu",
       .attrs = {{"alpha", 0.5f}},
       .inputs = {kZero, kOne, tensor<uint8_t>({}, {8}), kOne, three},
       .expected = {tensor<uint8_t>({}, {0})}},
      {.name = "concat",
       .op = "QLinearConcat",
       .attrs = {{"axis", int64_t{1}}},
       .inputs = {kOne, kZero, a, kHalf, kZero, b, kOne, kZero},
       .expected = {tensor<uint8_t>({1, 4}, {1, 2, 10, 20})}},
      {.name = "pool",
       .op = "QLinearGlobalAveragePool",
       .inputs = {tensor<uint8_t>({1, 1, 2}, {2, 4}), kOne, kZero, kHalf, kZero},
       .expected = {tensor<uint8_t>({1, 1, 1}, {6})}},
      {.name = "pool",
       .op = "QLinearAveragePool",
       .attrs = {{"kernel_shape", std::vector<int64_t>{2}}},
       .inputs = {tensor<uint8_t>({1, 1, 3}, {2, 4, 6}), kOne, kZero, kOne, kZero},
       .expected = {tensor<uint8_t>({1, 1, 2}, {3, 5})}},
      {.name = "gemm",
       .op = "QGemm",
       .attrs = {{"transB", int64_t{1}}},  // (1, 2) . (10, 20) and c = 6 / 2
       .inputs = {a, kHalf, kZero, b, kOne, kZero, tensor<int32_t>({1}, {6}), kOne, three},
       .expected = {tensor<uint8_t>({1, 1}, {56})}},
      {.name = "gemm to float",
       .op = "QGemm",
       .attrs = {{"transB", int64_t{1}}, {"alpha", 2.0f}},
       .inputs = {a, kHalf, kZero, b, kOne, kZero},
       .expected = {tensor<float>({1, 1}, {100})}},
      {.name = "integers to float",
       .op = "MatMulIntegerToFloat",  // ((2 - 3) * 10 + (4 - 3) * 20) * 0.5 + 1
       .inputs = {a, tensor<uint8_t>({2, 1}, {10, 20}), kHalf, kOne, three, {}, kOne},
       .expected = {tensor<float>({1, 1}, {6})}},
      {.name = "dynamic",
       .op = "DynamicQuantizeMatMul",  // 0 and 255 are exact at a scale of 1
       .inputs = {tensor<float>({1, 2}, {0, 255}), tensor<int8_t>({2, 1}, {1, 2}), kHalf, {}, kOne},
       .expected = {tensor<float>({1, 1}, {256})}},
      {.name = "the same in another domain",
       .op = "QuantizeLinear",
       .inputs = {tensor<float>({1}, {7}), kOne, three},
       .expected = {tensor<uint8_t>({1}, {10})}},
  };
  for (OpCase c : cases) {
    c.domain = "com.microsoft";
    expect_equal(run_parts(c), c.expected[0], 1e-5, c.op + " " + c.name);
  }
}

}  // namespace hf::ops

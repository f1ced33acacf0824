// Normalisations: values from numpy in double, by the formulas of the standard.
#include <algorithm>

#include "ops/case.h"

namespace hf::ops {
namespace {

Tensor floats(std::initializer_list<float> v) { return tensor<float>({static_cast<int64_t>(v.size())}, v); }
const Tensor kX = tensor<float>({2, 3, 2}, {1, 2, 4, -1, 0, 3, 5, 5, -2, 7, 1, 0});
const Tensor kScale = floats({1, 2, 0.5f}), kBias = floats({0, 1, -1}), kMean = floats({1, 2, 3}),
             kVar = floats({4, 1, 0.25f});
Tensor like_x(std::initializer_list<float> v) { return tensor<float>({2, 3, 2}, v); }

}  // namespace

TEST(Normalize, Batch) {
  const Tensor wanted = like_x({0, 0.4999994f, 4.99998f, -4.99997f, -3.99994f, -1, 1.999998f, 1.999998f, -6.99996f,
                                10.99995f, -2.99996f, -3.99994f});
  const Tensor trained = like_x({-1.26025f, -0.7001389f, 2.088662f, -0.6329926f, -1.408247f, -0.1835061f, 0.9801945f,
                                 0.9801945f, -1.177323f, 3.721654f, -1, -1.408247f});
  const Tensor running_mean = floats({1.225f, 2, 2.8f}), running_var = floats({3.91875f, 2.25f, 0.375f});
  const std::vector<Tensor> inputs = {kX, kScale, kBias, kMean, kVar};
  check_case({.name = "inference", .op = "BatchNormalization", .inputs = inputs, .expected = {wanted}});
  check_case({.name = "opset 7", .op = "BatchNormalization", .opset = 7, .inputs = inputs, .expected = {wanted}});
  check_case({.name = "training",
              .op = "BatchNormalization",
              .attrs = {{"training_mode", int64_t{1}}},
              .inputs = inputs,
              .expected = {trained, running_mean, running_var}});
  // Outputs that nothing reads do not make an old node train.
  check_case({.name = "idle outputs",
              .op = "BatchNormalization",
              .opset = 9,
              .inputs = inputs,
              .expected = {wanted, Tensor(), Tensor(), Tensor(), Tensor()}});
  check_case({.name = "every element on its own",
              .op = "BatchNormalization",
              .opset = 8,
              .attrs = {{"spatial", int64_t{0}}, {"epsilon", 0.0f}},
              .inputs = {tensor<float>({2, 1, 2}, {1, 2, 3, 4}), tensor<float>({1, 2}, {1, 10}),
                         tensor<float>({1, 2}, {0, 0}), tensor<float>({1, 2}, {1, 2}), tensor<float>({1, 2}, {1, 4})},
              .expected = {tensor<float>({2, 1, 2}, {0, 0, 2, 10})}});
  EXPECT_THROW(
      run_case({.op = "BatchNormalization", .inputs = {kX, kScale, floats({1}), kMean, kVar}, .expected = {Tensor()}}),
      Error);
}

TEST(Normalize, OldBatchTrainsWhenItsStatisticsAreUsed) {
  ir::Graph g;
  std::vector<ir::Value*> inputs;
  std::vector<const Tensor*> values;
  for (const Tensor* t : {&kX, &kScale, &kBias, &kMean, &kVar})
    inputs.push_back(g.add_constant("x", *t)), values.push_back(t);
  Node* n = g.add_node("BatchNormalization", inputs, 5);
  bind(g, *n, 9);
  infer_node(*n);
  g.add_output(n->output(3));
  std::vector<Tensor> got = evaluate(*n, values);
  expect_equal(got[1], floats({1.225f, 2, 2.8f}), 1e-6, "mean");
  expect_equal(got[3], floats({3.25f, 2, 1}), 1e-6, "saved mean");
  expect_equal(got[4], floats({3.1875f, 13.5f, 1.5f}), 1e-6, "saved variance");
}

TEST(Normalize, Layer) {
  const Tensor each = like_x({-0.49998f, 2.49994f, 1.499999f, -3.499998f, -0.4999978f, 2.499993f, 0.5f, -0.5f,
                              -0.4999998f, 2.499999f, 1.49998f, -3.49994f});
  const Tensor whole = like_x({-0.2927695f, 0.2927695f, 2.927695f, -2.927695f, -0.4391543f, 0.4391543f, 0.7298001f,
                               0.7298001f, -2.9192f, 2.710686f, -0.2606429f, -0.4170286f});
  check_case({.name = "last axis",
              .op = "LayerNormalization",
              .inputs = {kX, floats({1, 3}), floats({0.5f, -0.5f})},
              .expected = {each}});
  check_case({.name = "two axes, a broadcast scale, all outputs",
              .op = "LayerNormalization",
              .attrs = {{"axis", int64_t{1}}},
              .inputs = {kX, kScale.reshaped({3, 1})},
              .expected = {whole, tensor<float>({2, 1, 1}, {1.5f, 2.666667f}),
                           tensor<float>({2, 1, 1}, {0.585539f, 0.3127715f})}});
  check_case({.name = "rms",
              .op = "RMSNormalization",
              .inputs = {kX, floats({1, 3})},
              .expected = {like_x({0.6324543f, 3.794726f, 1.371988f, -1.028991f, 0, 4.242636f, 0.9999998f, 2.999999f,
                                   -0.3885143f, 4.0794f, 1.414199f, 0})}});
  EXPECT_THROW(run_case({.op = "LayerNormalization",
                         .attrs = {{"axis", int64_t{3}}},
                         .inputs = {kX, kScale},
                         .expected = {Tensor()}}),
               Error);
  EXPECT_THROW(run_case({.op = "LayerNormalization", .inputs = {kX, kScale}, .expected = {Tensor()}}), Error);
}

TEST(Normalize, ALargeMeanDoesNotEatTheVariance) {
  Tensor x(DType::F32, {1, 1024}), wanted(DType::F32, {1, 1024});
  for (int i = 0; i < 1024; ++i)
    x.data<float>()[i] = i % 2 ? 4097.0f : 4095.0f, wanted.data<float>()[i] = i % 2 ? 1.0f : -1.0f;
  Tensor one(DType::F32, {1024});
  std::fill_n(one.data<float>(), 1024, 1.0f);
  check_case({.name = "layer", .op = "LayerNormalization", .inputs = {x, one}, .expected = {wanted}});
}

TEST(Normalize, GroupAndInstance) {
  const Tensor x = tensor<float>({1, 4, 2}, {1, 2, 4, -1, 0, 3, 5, 5});
  check_case({.name = "instance",
              .op = "InstanceNormalization",
              .inputs = {kX, kScale, kBias},
              .expected = {like_x({-0.99998f, 0.99998f, 2.999998f, -0.9999984f, -1.499999f, -0.5000011f, 0, 0,
                                   -0.9999995f, 3, -0.50001f, -1.49999f})}});
  check_case({.name = "scale by channel",
              .op = "GroupNormalization",
              .attrs = {{"num_groups", int64_t{2}}},
              .inputs = {x, floats({1, 2, 3, 4}), floats({0, 1, 0, 1})},
              .expected = {tensor<float>({1, 4, 2}, {-0.2773497f, 0.2773497f, 3.773497f, -1.773497f, -4.764603f,
                                                     -0.3665079f, 4.42074f, 4.42074f})}});
  check_case({.name = "scale by group",
              .op = "GroupNormalization",
              .opset = 18,
              .attrs = {{"num_groups", int64_t{2}}},
              .inputs = {x, floats({1, 2}), floats({0, 1})},
              .expected = {tensor<float>({1, 4, 2}, {-0.2773497f, 0.2773497f, 1.386748f, -1.386748f, -2.176402f,
                                                     0.7556614f, 2.71037f, 2.71037f})}});
  EXPECT_THROW(run_case({.op = "GroupNormalization",
                         .attrs = {{"num_groups", int64_t{3}}},
                         .inputs = {x, floats({1, 2, 3, 4}), floats({0, 1, 0, 1})},
                         .expected = {Tensor()}}),
               Error);
  EXPECT_THROW(run_case({.op = "GroupNormalization",
                         .attrs = {{"num_groups", int64_t{2}}},
                         .inputs = {x, floats({1, 2}), floats({0, 1})},
                         .expected = {Tensor()}}),
               Error);
}

TEST(Normalize, Others) {
  const OpCase cases[] = {
      {.name = "lrn",
       .op = "LRN",
       .attrs = {{"size", int64_t{3}}, {"alpha", 0.5f}},
       .inputs = {kX},
       .expected = {like_x({0.3650208f, 1.269401f, 1.460083f, -0.40536f, 0, 1.437622f, 1.332086f, 0.7165821f,
                            -0.5216949f, 1.003215f, 0.6347006f, 0})}},
      {.name = "lrn of an even size",
       .op = "LRN",
       .attrs = {{"size", int64_t{2}}, {"alpha", 0.5f}, {"bias", 2.0f}},
       .inputs = {kX},
       .expected = {like_x({0.2529822f, 0.8262614f, 1.04339f, -0.3236612f, 0, 1.013514f, 0.9426787f, 0.5189848f,
                            -0.8262614f, 0.9544142f, 0.5443311f, 0})}},
      {.name = "lrn wider than the channels",
       .op = "LRN",
       .attrs = {{"size", INT64_MAX}, {"alpha", 0.0f}},
       .inputs = {kX},
       .expected = {kX}},
      {.name = "l2",
       .op = "LpNormalization",
       .attrs = {{"axis", int64_t{1}}},
       .inputs = {kX},
       .expected = {like_x({0.2425356f, 0.5345225f, 0.9701425f, -0.2672612f, 0, 0.8017837f, 0.9128709f, 0.5812382f,
                            -0.3651484f, 0.8137335f, 0.1825742f, 0})}},
      {.name = "l1",
       .op = "LpNormalization",
       .attrs = {{"p", int64_t{1}}},
       .inputs = {kX},
       .expected = {like_x({0.3333333f, 0.6666667f, 0.8f, -0.2f, 0, 1, 0.5f, 0.5f, -0.2222222f, 0.7777778f, 1, 0})}},
      {.name = "a zero norm", .op = "LpNormalization", .inputs = {floats({0, 0})}, .expected = {floats({0, 0})}},
      {.name = "mean and variance",
       .op = "MeanVarianceNormalization",
       .attrs = {{"axes", std::vector<int64_t>{0, 2}}},
       .inputs = {kX},
       .expected = {like_x({-1.260252f, -0.70014f, 0.5443311f, -0.8164966f, -0.8164966f, 1.632993f, 0.9801961f,
                            0.9801961f, -1.088662f, 1.360828f, 0, -0.8164966f})}},
      {.name = "its default axes",
       .op = "MeanVarianceNormalization",
       .inputs = {kX.reshaped({2, 3, 1, 2})},
       .expected = {like_x({-1.260252f, -0.70014f, 0.5443311f, -0.8164966f, -0.8164966f, 1.632993f, 0.9801961f,
                            0.9801961f, -1.088662f, 1.360828f, 0, -0.8164966f})
                        .reshaped({2, 3, 1, 2})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

}  // namespace hf::ops

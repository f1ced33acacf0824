// Conv, ConvTranspose and their integer and fused forms. Values by torch in float64 unless a comment says otherwise.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {
namespace {

Tensor quarter(const Dims& dims) { return wave(dims, 0, 0.25f); }

std::vector<int64_t> ints(std::initializer_list<int64_t> v) { return v; }

}  // namespace

TEST(Conv, Cases) {
  const OpCase cases[] = {
      {.name = "groups, strides, dilations and uneven pads",
       .op = "Conv",
       .attrs = {{"group", int64_t{2}},
                 {"strides", ints({2, 1})},
                 {"dilations", ints({1, 2})},
                 {"pads", ints({1, 1, 2, 0})}},
       .inputs = {quarter({1, 4, 5, 4}), quarter({4, 2, 3, 2}), quarter({4})},
       .expected = {tensor<float>(
           {1, 4, 3, 3}, {-1.8125f, -3.8125f, 1.125f,  1.25f,    -4.5f,    0.1875f, -0.0625f, -2.9375f, -3,
                          0.5625f,  1.25f,    -0.25f,  -1.3125f, 1,        3.25f,   2.1875f,  -0.1875f, 1.5625f,
                          -0.875f,  -1.125f,  0.5625f, -1.0625f, -3.0625f, 2.25f,   2.375f,   -3.4375f, -1.25f,
                          -0.0625f, 1.5f,     -0.5f,   0.5625f,  0.5f,     2.6875f, 0.3125f,  2.375f,   3.625f})}},
      {.name = "three spatial axes",
       .op = "Conv",
       .attrs = {{"strides", ints({2, 2, 2})}, {"pads", ints({1, 1, 1, 1, 1, 1})}},
       .inputs = {quarter({2, 1, 3, 3, 2}), quarter({2, 1, 2, 2, 2})},
       .expected = {tensor<float>(
           {2, 2, 2, 2, 2},
           {0,        0.5f,    0.375f,  -0.4375f, 1.25f,    -0.5f, -1.75f, 0.75f,    -0.3125f, 0.625f,  0.3125f,
            -0.3125f, -1.125f, -0.625f, -1.25f,   0.9375f,  0,     -1,     -0.5625f, 0.4375f,  -0.625f, 0.125f,
            1.5625f,  0.125f,  0,       -1.25f,   -0.6875f, 0.5f,  0.375f, 0.625f,   -0.8125f, -0.5f})}},
      {.name = "one tap needs no gathering",
       .op = "Conv",  // by hand
       .inputs = {tensor<float>({1, 2, 2}, {1, 2, 3, 4}), tensor<float>({1, 2, 1}, {10, 1})},
       .expected = {tensor<float>({1, 1, 2}, {13, 24})}},
      {.name = "an odd pad goes to the end",
       .op = "Conv",
       .attrs = {{"auto_pad", std::string("SAME_UPPER")}},  // by hand
       .inputs = {tensor<float>({1, 1, 3}, {1, 2, 3}), tensor<float>({1, 1, 2}, {10, 1})},
       .expected = {tensor<float>({1, 1, 3}, {12, 23, 30})}},
      {.name = "or to the beginning",
       .op = "Conv",
       .attrs = {{"auto_pad", std::string("SAME_LOWER")}},  // by hand
       .inputs = {tensor<float>({1, 1, 3}, {1, 2, 3}), tensor<float>({1, 1, 2}, {10, 1})},
       .expected = {tensor<float>({1, 1, 3}, {1, 12, 23})}},
      {.name = "no batch",
       .op = "Conv",
       .inputs = {quarter({0, 1, 3}), quarter({2, 1, 2})},
       .expected = {tensor<float>({0, 2, 2}, {})}},
      {.name = "int8 with a zero point a filter",
       .op = "ConvInteger",  // by hand
       .inputs = {tensor<uint8_t>({1, 1, 3}, {2, 3, 4}), tensor<int8_t>({2, 1, 2}, {1, 2, 3, 4}),
                  tensor<uint8_t>({}, {1}), tensor<int8_t>({2}, {0, 1})},
       .expected = {tensor<int32_t>({1, 2, 2}, {5, 8, 8, 13})}},
      {.name = "requantised",
       .op = "QLinearConv",  // by hand: 0.5 rounds to even, 126.5 + 200 saturates
       .inputs = {tensor<uint8_t>({1, 1, 3}, {1, 2, 253}), tensor<float>({}, {0.5f}), tensor<uint8_t>({}, {0}),
                  tensor<uint8_t>({1, 1, 1}, {1}), tensor<float>({}, {1}), tensor<uint8_t>({}, {0}),
                  tensor<float>({}, {1}), tensor<uint8_t>({}, {200}), tensor<int32_t>({1}, {0})},
       .expected = {tensor<uint8_t>({1, 1, 3}, {200, 201, 255})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(ConvTranspose, Cases) {
  const OpCase cases[] = {
      {.name = "groups, stride, dilation, output padding",
       .op = "ConvTranspose",
       .attrs = {{"group", int64_t{2}},
                 {"strides", ints({2})},
                 {"dilations", ints({2})},
                 {"pads", ints({1, 1})},
                 {"output_padding", ints({1})}},
       .inputs = {quarter({1, 2, 3}), quarter({2, 2, 3}), quarter({4})},
       .expected = {tensor<float>(
           {1, 4, 8}, {-1.25f,  -2.5f, -1.25f, 0.25f,  -1.25f, -1.75f,   -1.25f, -1,     0.5f,  0.8125f, 0.5f,
                       0.9375f, 0.5f,  0,      0.5f,   0.875f, -0.5f,    -0.25f, -0.5f,  -2.5f, -0.5f,   -0.75f,
                       -0.5f,   0.25f, 1.25f,  1.125f, 1.25f,  -0.9375f, 1.25f,  1.125f, 1.25f, 2.1875f})}},
      {.name = "two axes",
       .op = "ConvTranspose",
       .attrs = {{"strides", ints({1, 2})}, {"pads", ints({1, 0, 1, 0})}},
       .inputs = {quarter({1, 2, 2, 3}), quarter({2, 1, 3, 2})},
       .expected = {tensor<float>({1, 1, 2, 6}, {-1.1875f, -0.1875f, -0.8125f, 0.75f, 0.9375f, -1.75f, -1.9375f,
                                                 1.8125f, 0.25f, -0.25f, 1.75f, -0.25f})}},
      {.name = "an output shape larger than all reach ends in bias",
       .op = "ConvTranspose",  // by hand
       .attrs = {{"output_shape", ints({4})}},
       .inputs = {tensor<float>({1, 1, 2}, {1, 2}), tensor<float>({1, 1, 2}, {1, 10}), tensor<float>({1}, {5})},
       .expected = {tensor<float>({1, 1, 4}, {6, 17, 25, 5})}},
      {.name = "an odd total pad of output_shape goes to the beginning",
       .op = "ConvTranspose",  // by hand
       .attrs = {{"output_shape", ints({4})}, {"strides", ints({2})}},
       .inputs = {tensor<float>({1, 1, 2}, {1, 2}), tensor<float>({1, 1, 3}, {1, 1, 1})},
       .expected = {tensor<float>({1, 1, 4}, {1, 3, 2, 2})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Conv, FusedFormsComeApart) {
  ir::Graph g;
  ir::Value* x = g.add_input("x", DType::F32, Dims{1, 1, 3});
  ir::Value* w = g.add_constant("w", quarter({1, 1, 2}));
  ir::Value* z = g.add_input("z", DType::F32, Dims{1, 1, 2});
  Node* n = g.add_node("FusedConv", {x, w, nullptr, z}, 1, nullptr, "com.microsoft");
  n->name = "fused";
  n->attrs = {{"activation", std::string("LeakyRelu")}, {"activation_params", std::vector<float>{0.5f}}};
  ir::Value* y = n->output();
  bind(g, *n, 17);
  ir::verify(g);
  ASSERT_EQ(g.node_count(), 3);
  EXPECT_EQ(y->producer()->op, "LeakyRelu");
  EXPECT_EQ(y->producer()->f("alpha"), 0.5f);
  EXPECT_EQ(y->producer()->input(0)->producer()->op, "Add");
  EXPECT_EQ(g.first()->op, "Conv");
  EXPECT_EQ(g.first()->inputs().size(), 2u);
}

TEST(Conv, KeepsSymbolsOfExtentsThatStay) {
  ir::Graph g;
  ir::Value* x = g.add_input("x", DType::F32, std::vector<Dim>{Dim::named("batch"), 3, Dim::named("height"), 8});
  ir::Value* w = g.add_constant("w", quarter({4, 3, 3, 3}));
  Node* same = add_op(g, "Conv", {x, w}, {{"pads", ints({1, 1, 1, 1})}});
  EXPECT_EQ(same->output()->shape.text(), "[batch, 4, height, 8]");
  Node* halved = add_op(g, "Conv", {x, w}, {{"auto_pad", std::string("SAME_UPPER")}, {"strides", ints({2, 2})}});
  EXPECT_EQ(halved->output()->shape.text(), "[batch, 4, ?, 4]");
}

TEST(Conv, RefusesWhatDoesNotFit) {
  const Tensor x = quarter({1, 3, 4}), w = quarter({2, 3, 2});
  const OpCase cases[] = {
      {.name = "channels", .op = "Conv", .inputs = {x, quarter({2, 2, 2})}, .expected = {Tensor()}},
      {.name = "groups", .op = "Conv", .attrs = {{"group", int64_t{0}}}, .inputs = {x, w}, .expected = {Tensor()}},
      {.name = "bias", .op = "Conv", .inputs = {x, w, quarter({3})}, .expected = {Tensor()}},
      {.name = "kernel",
       .op = "Conv",
       .attrs = {{"kernel_shape", ints({3})}},
       .inputs = {x, w},
       .expected = {Tensor()}},
      {.name = "strides", .op = "Conv", .attrs = {{"strides", ints({0})}}, .inputs = {x, w}, .expected = {Tensor()}},
      {.name = "pads", .op = "Conv", .attrs = {{"pads", ints({1})}}, .inputs = {x, w}, .expected = {Tensor()}},
      {.name = "rank", .op = "Conv", .inputs = {quarter({1, 3}), w}, .expected = {Tensor()}},
      {.name = "auto_pad",
       .op = "Conv",
       .attrs = {{"auto_pad", std::string("SAME")}},
       .inputs = {x, w},
       .expected = {Tensor()}},
      {.name = "output",
       .op = "ConvTranspose",
       .attrs = {{"output_shape", ints({1, 2, 3, 4})}},
       .inputs = {x, quarter({3, 1, 2})},
       .expected = {Tensor()}},
  };
  for (const OpCase& c : cases) EXPECT_THROW(run_case(c), Error) << c.name;
}

}  // namespace hf::ops

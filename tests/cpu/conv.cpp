// Convolutions: shapes, groups, epilogues.
#include <thread>

#include "cpu/harness.h"

namespace hf::cpu {
namespace {

using Ints = std::vector<int64_t>;

struct ConvCase {
  std::string name;
  Dims x, w;
  Ints strides = {}, pads = {}, dilations = {};
  int64_t group = 1;
  bool bias = true, constant = true;
  std::string auto_pad = "NOTSET";
};

ir::Attrs attrs_of(const ConvCase& c) {
  ir::Attrs attrs{{"group", c.group}, {"auto_pad", c.auto_pad}};
  if (!c.strides.empty()) attrs["strides"] = c.strides;
  if (!c.pads.empty()) attrs["pads"] = c.pads;
  if (!c.dilations.empty()) attrs["dilations"] = c.dilations;
  return attrs;
}

OneNode conv_node(const ConvCase& c, const char* op = "Conv") {
  int64_t out = std::string(op) == "Conv" ? c.w[0] : c.w[1] * c.group;
  std::vector<Tensor> in = {random_tensor(c.x, 1), random_tensor(c.w, 2), c.bias ? random_tensor({out}, 3) : Tensor()};
  return OneNode(op, in, {false, c.constant, c.constant}, attrs_of(c));
}

const ConvCase kConv[] = {
    {"3x3", {1, 3, 17, 19}, {8, 3, 3, 3}, {}, {1, 1, 1, 1}},
    {"stem", {2, 3, 33, 31}, {16, 3, 7, 7}, {2, 2}, {3, 3, 3, 3}},
    {"1x1, 64 channels", {1, 64, 7, 7}, {32, 64, 1, 1}},
    {"odd channels", {2, 17, 9, 8}, {5, 17, 3, 3}, {}, {1, 1, 1, 1}},
    {"no bias", {1, 16, 8, 8}, {16, 16, 3, 3}, {}, {}, {}, 1, false},
    {"pads differ", {1, 5, 9, 8}, {7, 5, 3, 2}, {2, 1}, {0, 1, 2, 0}},
    {"dilated", {1, 8, 15, 15}, {8, 8, 3, 3}, {}, {2, 2, 2, 2}, {2, 2}},
    {"depthwise", {2, 24, 14, 14}, {24, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {}, 24},
    {"depthwise, multiplier 2", {1, 6, 9, 9}, {12, 1, 3, 3}, {}, {}, {}, 6},
    {"groups", {1, 12, 9, 9}, {18, 4, 3, 3}, {}, {1, 1, 1, 1}, {}, 3},
    {"1-d", {2, 6, 50}, {4, 6, 5}, {2}, {2, 2}},
    {"3-d", {1, 4, 6, 7, 8}, {6, 4, 3, 3, 3}, {}, {1, 1, 1, 1, 1, 1}},
    {"weights at run time", {1, 16, 8, 8}, {24, 16, 3, 3}, {}, {}, {}, 1, true, false},
    {"same lower", {1, 4, 10, 11}, {4, 4, 4, 3}, {3, 2}, {}, {}, 1, true, true, "SAME_LOWER"},
    {"stride cut short", {1, 4, 10, 10}, {4, 4, 1, 1}, {2, 2}},
    {"one output row", {1, 32, 3, 3}, {16, 32, 3, 3}},
};

const ConvCase kTransposed[] = {
    {"2x2 by 2", {1, 8, 5, 6}, {8, 4, 2, 2}, {2, 2}},
    {"3x3 odd", {2, 5, 7, 7}, {5, 3, 3, 3}, {2, 1}, {1, 1, 0, 1}},
    {"grouped", {1, 6, 5, 5}, {6, 2, 3, 3}, {}, {}, {}, 3},
    {"1-d", {1, 4, 9}, {4, 6, 4}, {2}, {1, 1}},
    {"dilated", {1, 4, 5, 5}, {4, 4, 3, 3}, {}, {}, {2, 2}, 1, false},
};

TEST(Conv, MatchesTheReference) {
  for (const ConvCase& c : kConv) check_node(conv_node(c), c.name, "onednn conv", 1e-4);
}

TEST(ConvTranspose, MatchesTheReference) {
  for (const ConvCase& c : kTransposed) check_node(conv_node(c, "ConvTranspose"), c.name, "onednn deconv", 1e-4);
}

struct EpilogueCase {
  std::string name;
  ir::Program program;
  std::vector<Tensor> operands;
  std::vector<bool> constant = {};
};

std::vector<EpilogueCase> epilogues(const Dims& out) {
  int64_t n = out[0], c = out[1];
  Tensor full = random_tensor(out, 7, 0.1f), channel = random_tensor({c, 1, 1}, 8), scalar = Tensor::scalar(0.3f);
  std::vector<EpilogueCase> all;
  for (const char* op :
       {"Relu", "Sigmoid", "Tanh", "HardSwish", "Abs", "Exp", "Erf", "Softplus", "Mish", "Neg", "Sqrt"})
    all.push_back({op, {1, {step(op, {0})}}, {}});
  all.push_back({"LeakyRelu", {1, {step("LeakyRelu", {0}, {0.1f})}}, {}});
  all.push_back({"Elu", {1, {step("Elu", {0}, {0.7f})}}, {}});
  all.push_back({"HardSigmoid", {1, {step("HardSigmoid", {0}, {0.2f, 0.4f})}}, {}});
  all.push_back({"Swish", {1, {step("Swish", {0}, {1.f})}}, {}});
  all.push_back({"Gelu", {1, {step("Gelu", {0}, {0.f})}}, {}});
  all.push_back({"Gelu by tanh", {1, {step("Gelu", {0}, {1.f})}}, {}});
  all.push_back({"DivideBy", {1, {step("DivideBy", {0}, {3.f})}}, {}});
  all.push_back({"Clip", {3, {step("Clip", {0, 1, 2})}}, {Tensor::scalar(-0.2f), Tensor::scalar(0.4f)}, {true, true}});
  all.push_back({"Clip at run time", {3, {step("Clip", {0, 1, 2})}}, {Tensor::scalar(-0.2f), Tensor::scalar(0.4f)}});
  all.push_back({"residual, Relu", {2, {step("Add", {0, 1}), step("Relu", {2})}}, {full}});
  all.push_back({"residual first", {2, {step("Add", {1, 0})}}, {full}});
  all.push_back({"constant residual", {2, {step("Add", {1, 0})}}, {full}, {true}});
  all.push_back({"residual after Relu", {2, {step("Relu", {0}), step("Add", {2, 1})}}, {full}});
  all.push_back({"two residuals",
                 {3, {step("Add", {0, 1}), step("Add", {3, 2}), step("Relu", {4})}},
                 {full, random_tensor(out, 9)}});
  all.push_back({"scale and shift", {3, {step("Mul", {0, 1}), step("Add", {3, 2})}}, {channel, channel}});
  all.push_back({"constant channels", {2, {step("Mul", {0, 1})}}, {channel}, {true}});
  all.push_back({"scalars", {2, {step("Mul", {0, 1}), step("Sub", {2, 1}), step("Div", {3, 1})}}, {scalar}, {true}});
  all.push_back({"scalar at run time", {2, {step("Mul", {0, 1})}}, {scalar}});
  all.push_back({"subtracted from", {2, {step("Sub", {1, 0})}}, {full}});
  all.push_back({"gate of an image", {2, {step("Mul", {0, 1})}}, {random_tensor({n, c, 1, 1}, 4)}});
  all.push_back({"column", {2, {step("Mul", {0, 1})}}, {random_tensor({out[3]}, 5)}});
  all.push_back({"no chain", {1, {step("Sigmoid", {0}), step("Mul", {0, 1})}}, {}});
  all.push_back({"used twice", {1, {step("Mul", {0, 0})}}, {}});
  return all;
}

TEST(Conv, Epilogues) {
  const ConvCase shapes[] = {{"16", {2, 16, 6, 5}, {32, 16, 3, 3}, {}, {1, 1, 1, 1}},
                             {"odd", {2, 5, 6, 5}, {17, 5, 3, 3}, {}, {1, 1, 1, 1}},
                             {"depthwise", {2, 24, 6, 5}, {24, 1, 3, 3}, {}, {1, 1, 1, 1}, {}, 24}};
  for (const ConvCase& c : shapes)
    for (EpilogueCase& e : epilogues({2, c.w[0], 6, 5})) {
      OneNode one = conv_node(c);
      one.epilogue(e.program, e.operands, e.constant);
      check_node(one, c.name + ", " + e.name, e.name == "Sqrt" || e.name == "Log" ? "" : "onednn conv", 1e-4);
    }
}

TEST(ConvTranspose, Epilogues) {
  for (EpilogueCase& e : epilogues({2, 12, 6, 8})) {
    OneNode one = conv_node({"t", {2, 8, 3, 4}, {8, 12, 2, 2}, {2, 2}}, "ConvTranspose");
    one.epilogue(e.program, e.operands, e.constant);
    check_node(one, e.name, "onednn deconv", 1e-4);
  }
}

TEST(Conv, PackedWeightsAreShared) {
  OneNode a = conv_node(kConv[3]), b = conv_node(kConv[3]);
  Ready first(test_backend(), a), second(test_backend(), b);
  if (first.text().find("gemm") == std::string::npos) EXPECT_TRUE(first.prepared.absorbed[1]) << first.text();
  ops::expect_equal(first.run()[0], second.run()[0], 0, "the same");
}

TEST(Conv, OneKernelInTwoThreads) {
  OneNode one = conv_node({"3x3", {1, 32, 20, 20}, {32, 32, 3, 3}, {}, {1, 1, 1, 1}});
  one.epilogue({2, {step("Add", {0, 1}), step("Erf", {2})}}, {random_tensor({1, 32, 20, 20}, 9)});
  Ready ready(test_backend(), one);
  Tensor wanted = one.reference()[0];
  auto work = [&] {
    test_backend().begin_run();
    for (int i = 0; i < 20; ++i) ops::expect_equal(ready.run()[0], wanted, 1e-4, "in a thread");
  };
  std::thread other(work);
  work();
  other.join();
}

// The output of one convolution, as it lies, is what the next one and a chain after it take.
TEST(Conv, LayoutsAreCarried) {
  ConvCase c{"1x1", {1, 64, 14, 14}, {64, 64, 1, 1}};
  OneNode conv = conv_node(c);
  Ready first(test_backend(), conv);
  Ready second(test_backend(), conv, {first.prepared.outputs[0]});
  EXPECT_EQ(second.prepared.inputs[0], first.prepared.outputs[0]);
  OneNode chain("Add", {random_tensor(c.x, 1), random_tensor({64, 1, 1}, 2)}, {});
  Ready third(test_backend(), chain, {first.prepared.outputs[0]});
  EXPECT_EQ(third.prepared.outputs[0], first.prepared.outputs[0]);
  ops::expect_equal(third.run()[0], chain.reference()[0], 1e-6, "chain");
}

}  // namespace
}  // namespace hf::cpu

// Normalisations on a device.
#include "lower/channels_last.h"

namespace hf::lower {
namespace {

OpCase norm(std::string name, std::string op, std::vector<Dims> inputs, ir::Attrs attrs = {}, size_t outputs = 1) {
  OpCase c{.name = std::move(name), .op = std::move(op), .attrs = std::move(attrs), .tolerance = 2e-5f};
  for (const Dims& d : inputs) c.inputs.push_back(random_tensor(d, -1, 2, static_cast<unsigned>(c.inputs.size() + 1)));
  c.expected.resize(outputs);
  return c;
}

TEST(LayerNorm, AxesAndParameters) {
  check_on_device(norm("last axis", "LayerNormalization", {{4, 6, 24}, {24}, {24}}));
  check_on_device(norm("no bias", "LayerNormalization", {{4, 6, 24}, {24}}));
  check_on_device(norm("two axes", "LayerNormalization", {{4, 6, 10}, {6, 10}, {6, 10}}, {{"axis", int64_t{1}}}));
  check_on_device(norm("one number", "LayerNormalization", {{4, 6, 10}, {1}, {1}}));
  check_on_device(norm("three outputs", "LayerNormalization", {{4, 6, 24}, {24}, {24}}, {}, 3));
  check_on_device(norm("constants", "LayerNormalization", {{4, 6, 24}, {24}, {24}}), {.constants = {1, 2}});
}
TEST(LayerNorm, ParametersThatRepeatOverRowsStayOnTheCpu) {
  check_on_device(norm("a scale a row", "LayerNormalization", {{4, 6, 10}, {6, 1}, {6, 1}}, {{"axis", int64_t{1}}}),
                  {.stays_on_cpu = true});
}
TEST(LayerNorm, SmallFloats) {
  for (DType precision : {DType::F16, DType::BF16}) {
    OpCase c = norm("small floats", "LayerNormalization", {{40, 96}, {96}, {96}});
    c.tolerance = precision == DType::F16 ? 1e-2f : 6e-2f;
    check_on_device(c, {.precision = precision, .constants = {1, 2}});
  }
}
TEST(LayerNorm, Epilogue) {
  auto program = std::make_shared<ir::Program>();
  program->inputs = 2;
  program->steps = {{.op = "Add", .args = {0, 1}}, {.op = "Relu", .args = {2}}};
  check_on_device(norm("sum", "LayerNormalization", {{4, 6, 24}, {24}, {24}}),
                  {.epilogue = program, .epilogue_operands = {random_tensor({4, 6, 24}, -1, 1, 9)}});
  check_on_device(norm("a value a row, without bias", "LayerNormalization", {{4, 6, 24}, {24}}),
                  {.epilogue = program, .epilogue_operands = {random_tensor({4, 6, 1}, -1, 1, 9)}});
}

TEST(RmsNorm, LastAxes) {
  OpCase c = norm("rms", "RMSNormalization", {{4, 6, 40}, {40}});
  c.opset = 23;
  check_on_device(c);
  c = norm("rms of two axes", "RMSNormalization", {{4, 6, 40}, {6, 40}}, {{"axis", int64_t{-2}}});
  c.opset = 23;
  check_on_device(c);
}

TEST(GroupNorm, Rows) {
  check_on_device(norm("groups", "GroupNormalization", {{2, 12, 5, 7}, {12}, {12}}, {{"num_groups", int64_t{3}}}));
  OpCase old = norm("a scale a group", "GroupNormalization", {{2, 12, 5, 7}, {3}, {3}}, {{"num_groups", int64_t{3}}});
  old.opset = 18;
  check_on_device(old);
}
TEST(InstanceNorm, Rows) {
  check_on_device(norm("instances", "InstanceNormalization", {{2, 5, 6, 7}, {5}, {5}}));
  check_on_device(norm("long", "InstanceNormalization", {{1, 3, 150, 150}, {3}, {3}}));
}

TEST(GroupNorm, ChannelsLast) {
  check_channels_last(norm("groups", "GroupNormalization", {{2, 24, 5, 7}, {24}, {24}}, {{"num_groups", int64_t{3}}}),
                      true);
  check_channels_last(norm("padded", "GroupNormalization", {{2, 9, 20, 7}, {9}, {9}}, {{"num_groups", int64_t{3}}}),
                      true);
  OpCase old = norm("a scale a group", "GroupNormalization", {{2, 12, 5, 7}, {3}, {3}}, {{"num_groups", int64_t{3}}});
  old.opset = 18;
  check_channels_last(old, true);
  check_channels_last(norm("instances", "InstanceNormalization", {{2, 5, 6, 7}, {5}, {5}}), true);
}

TEST(LpNorm, LastAxis) {
  for (int64_t p : {1, 2}) check_on_device(norm("lp", "LpNormalization", {{4, 30}}, {{"p", p}}));
}
TEST(LpNorm, OtherAxes) {
  for (int64_t axis : {0, 1, 2})
    check_on_device(norm(fmt::format("axis {}", axis), "LpNormalization", {{4, 5, 6}}, {{"axis", axis}}));
}
TEST(LpNorm, ChannelsLast) {
  OpCase c = norm("over channels", "LpNormalization", {{2, 13, 5, 6}}, {{"axis", int64_t{1}}});
  check_channels_last(c, true);
}
TEST(MeanVariance, TrailingAxes) {
  check_on_device(
      norm("mean and variance", "MeanVarianceNormalization", {{2, 3, 6, 7}}, {{"axes", std::vector<int64_t>{2, 3}}}));
  check_on_device(
      norm("over channels", "MeanVarianceNormalization", {{2, 3, 6, 7}}, {{"axes", std::vector<int64_t>{1}}}));
  check_on_device(norm("over one image", "MeanVarianceNormalization", {{1, 1, 6, 7}}));
}

}  // namespace
}  // namespace hf::lower

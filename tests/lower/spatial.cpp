// Convolutions, pools and resizing on a device.
#include "lower/on_device.h"

namespace hf::lower {
namespace {

using Ints = std::vector<int64_t>;

OpCase conv(std::string name, const Dims& x, const Dims& w, ir::Attrs attrs, std::string op = "Conv") {
  const int64_t group = attrs.contains("group") ? std::get<int64_t>(attrs["group"]) : 1;
  const int64_t filters = op == "Conv" ? w[0] : w[1] * group;
  return {.name = std::move(name),
          .op = std::move(op),
          .attrs = std::move(attrs),
          .inputs = {random_tensor(x, -1, 1, 1), random_tensor(w, -1, 1, 2), random_tensor({filters}, -1, 1, 3)},
          .expected = {Tensor()},
          .tolerance = 2e-5f};
}
const OnDevice kConstant{.constants = {1, 2}};

TEST(Depthwise, OneRowAndTwo) {
  check_on_device(conv("2-D", {2, 11, 9, 7}, {11, 1, 3, 3}, {{"group", int64_t{11}}, {"pads", Ints{1, 1, 1, 1}}}),
                  kConstant);
  check_on_device(conv("1-D", {2, 8, 20}, {8, 1, 5}, {{"group", int64_t{8}}, {"auto_pad", std::string("SAME_UPPER")}}),
                  kConstant);
  check_on_device(
      conv("two filters a channel", {1, 6, 7, 7}, {12, 1, 3, 3}, {{"group", int64_t{6}}, {"strides", Ints{2, 1}}}),
      kConstant);
}
TEST(Depthwise, Half) {
  OpCase c = conv("f16", {1, 16, 9, 9}, {16, 1, 5, 5}, {{"group", int64_t{16}}, {"dilations", Ints{2, 1}}});
  c.tolerance = 2e-2f;
  check_on_device(c, {.precision = DType::F16, .constants = {1, 2}});
}
TEST(Depthwise, Epilogue) {
  auto program = std::make_shared<ir::Program>();
  program->inputs = 3;
  program->steps = {{"Relu", {0}, {}}, {"Mul", {3, 1}, {}}, {"Add", {4, 2}, {}}};
  OnDevice how{.constants = {1, 2},
               .epilogue = program,
               .epilogue_operands = {random_tensor({2, 10, 1, 1}), random_tensor({2, 10, 5, 5})}};
  check_on_device(conv("epilogue", {2, 10, 5, 5}, {10, 1, 3, 3}, {{"group", int64_t{10}}, {"pads", Ints{1, 1, 1, 1}}}),
                  how);
}

TEST(DirectConv, RanksAndGroups) {
  check_on_device(conv("1-D", {2, 6, 30}, {10, 3, 5}, {{"group", int64_t{2}}, {"strides", Ints{2}}}), kConstant);
  check_on_device(conv("3-D", {1, 3, 5, 6, 7}, {4, 3, 2, 3, 3}, {{"pads", Ints{0, 1, 1, 1, 1, 1}}}), kConstant);
  check_on_device(
      conv("3-D groups", {1, 4, 5, 6, 7}, {4, 2, 2, 1, 3}, {{"group", int64_t{2}}, {"dilations", Ints{2, 1, 2}}}),
      kConstant);
}
TEST(DirectConv, WeightsThatAreNoConstants) {
  check_on_device(conv("all at run time", {2, 4, 6, 5}, {6, 2, 3, 3}, {{"group", int64_t{2}}}));
  check_on_device(conv("the bias at run time", {2, 4, 6, 5}, {6, 4, 3, 3}, {}), {.constants = {1}});
}
TEST(DirectConv, Transposed) {
  for (int64_t kernel : {2, 3, 4})
    check_on_device(conv(fmt::format("kernel {}", kernel), {2, 8, 5, 6}, {8, 6, kernel, kernel},
                         {{"strides", Ints{2, 2}}}, "ConvTranspose"),
                    kConstant);
  check_on_device(
      conv("padding", {1, 4, 5, 6}, {4, 3, 3, 3},
           {{"strides", Ints{2, 3}}, {"pads", Ints{1, 0, 1, 2}}, {"output_padding", Ints{1, 2}}, {"group", int64_t{2}}},
           "ConvTranspose"),
      kConstant);
  check_on_device(
      conv("shape", {1, 4, 7}, {4, 3, 5}, {{"strides", Ints{3}}, {"output_shape", Ints{20}}}, "ConvTranspose"),
      kConstant);
  check_on_device(conv("3-D", {1, 2, 3, 3, 3}, {2, 2, 2, 3, 1}, {{"strides", Ints{2, 1, 2}}}, "ConvTranspose"));
}

OpCase pool(std::string op, const Dims& x, ir::Attrs attrs) {
  return {.name = op,
          .op = op,
          .attrs = std::move(attrs),
          .inputs = {random_tensor(x, -1, 1, 1)},
          .expected = {Tensor()},
          .tolerance = 1e-5f};
}
TEST(Pool, RowMajor) {
  const ir::Attrs attrs = {
      {"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 0, 1, 1}}, {"ceil_mode", int64_t{1}}};
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) check_on_device(pool(op, {2, 5, 8, 9}, attrs));
  check_on_device(pool("AveragePool", {2, 5, 9},
                       {{"kernel_shape", Ints{4}}, {"count_include_pad", int64_t{1}}, {"pads", Ints{2, 1}}}));
  check_on_device(pool("MaxPool", {1, 2, 4, 5, 6}, {{"kernel_shape", Ints{2, 3, 2}}, {"dilations", Ints{1, 2, 3}}}));
}
TEST(Pool, IndicesStayOnTheCpu) {
  OpCase c = pool("MaxPool", {1, 2, 6, 6}, {{"kernel_shape", Ints{2, 2}}});
  c.expected.emplace_back();
  check_on_device(c, {.stays_on_cpu = true});
}

OpCase resize(std::string name, const Dims& x, std::initializer_list<float> scales, ir::Attrs attrs) {
  return {.name = std::move(name),
          .op = "Resize",
          .attrs = std::move(attrs),
          .inputs = {random_tensor(x), Tensor(), Tensor::of<float>({static_cast<int64_t>(scales.size())}, scales)},
          .expected = {Tensor()},
          .tolerance = 1e-5f};
}
TEST(Resize, Modes) {
  const OnDevice how{.constants = {1, 2, 3}};
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* at : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"})
      check_on_device(resize(fmt::format("{} {}", mode, at), {2, 3, 5, 6}, {1, 1, 2.5f, 0.7f},
                             {{"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(at)}}),
                      how);
  check_on_device(resize("antialias", {1, 2, 12, 13}, {1, 1, 0.3f, 0.6f},
                         {{"mode", std::string("cubic")}, {"antialias", int64_t{1}}}),
                  how);
  check_on_device(resize("a volume", {1, 2, 3, 4, 5}, {1, 1, 2, 2, 2}, {{"mode", std::string("linear")}}), how);
}
TEST(Resize, ACropWithFiller) {
  OpCase c = resize("crop", {1, 2, 5, 6}, {1, 1, 1.5f, 1.5f},
                    {{"mode", std::string("linear")},
                     {"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                     {"extrapolation_value", 7.f}});
  c.inputs[1] = Tensor::of<float>({8}, {0, 0, 0.2f, -0.3f, 1, 1, 1.4f, 0.9f});
  check_on_device(c, {.constants = {1, 2}});
}

TEST(GridSample, ModesAndPadding) {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (int64_t align : {0, 1})
        check_on_device(
            {.name = fmt::format("{} {} {}", mode, padding, align),
             .op = "GridSample",
             .attrs = {{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}, {"align_corners", align}},
             .inputs = {random_tensor({2, 5, 4, 6}), random_tensor({2, 3, 8, 2}, -2.5f, 2.5f, 2)},
             .expected = {Tensor()},
             .tolerance = 2e-5f});
  check_on_device({.name = "a volume",
                   .op = "GridSample",
                   .inputs = {random_tensor({1, 3, 3, 4, 6}), random_tensor({1, 2, 3, 4, 3}, -1.2f, 1.2f, 2)},
                   .expected = {Tensor()},
                   .tolerance = 2e-5f});
}

}  // namespace
}  // namespace hf::lower

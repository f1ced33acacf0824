// Convolutions and products with constants on a device.
#include "lower/on_device.h"

namespace hf::lower {
namespace {

using Ints = std::vector<int64_t>;
const OnDevice kConstant{.constants = {1, 2}};

OpCase conv(std::string name, const Dims& x, const Dims& w, ir::Attrs attrs, bool bias = true) {
  return {.name = std::move(name),
          .op = "Conv",
          .attrs = std::move(attrs),
          .inputs = {random_tensor(x, -1, 1, 1), random_tensor(w, -1, 1, 2),
                     bias ? random_tensor({w[0]}, -1, 1, 3) : Tensor()},
          .expected = {Tensor()},
          .tolerance = 2e-5f};
}

TEST(Conv, PadsStridesDilationsGroups) {
  check_on_device(conv("3x3", {2, 16, 9, 7}, {24, 16, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}), kConstant);
  check_on_device(conv("uneven", {2, 11, 9, 12}, {13, 11, 3, 2},
                       {{"pads", Ints{0, 1, 2, 0}}, {"strides", Ints{2, 3}}, {"dilations", Ints{2, 1}}}, false),
                  kConstant);
  check_on_device(conv("same", {1, 8, 10, 9}, {8, 8, 4, 3}, {{"auto_pad", std::string("SAME_LOWER")}}), kConstant);
  check_on_device(conv("groups", {1, 12, 5, 5}, {18, 4, 3, 3}, {{"group", int64_t{3}}}), kConstant);
  check_on_device(conv("1-D", {2, 20, 33}, {30, 20, 5}, {{"strides", Ints{2}}, {"pads", Ints{2, 2}}}), kConstant);
}
TEST(Conv, ImagesInEveryPrecision) {
  for (DType precision : {DType::F32, DType::F16, DType::BF16}) {
    OpCase c = conv("image", {2, 3, 16, 18}, {20, 3, 7, 7}, {{"pads", Ints{3, 3, 3, 3}}, {"strides", Ints{2, 2}}});
    c.tolerance = precision == DType::F32 ? 2e-5f : precision == DType::F16 ? 2e-2f : 2e-1f;
    check_on_device(c, {.precision = precision, .constants = {1, 2}});
  }
}
TEST(Conv, Epilogue) {
  auto program = std::make_shared<ir::Program>();
  program->inputs = 3;
  program->steps = {{"Relu", {0}, {}}, {"Mul", {3, 1}, {}}, {"Add", {4, 2}, {}}};
  OnDevice how{.constants = {1, 2},
               .epilogue = program,
               .epilogue_operands = {random_tensor({2, 10, 1, 1}), random_tensor({2, 10, 5, 5})}};
  check_on_device(conv("epilogue", {2, 12, 5, 5}, {10, 12, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}), how);
}

TEST(Conv, Shortcut) {
  for (DType precision : {DType::F32, DType::F16}) {
    OpCase c = conv("shortcut", {2, 16, 5, 4}, {24, 16, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}, {"strides2", Ints{2, 3}}});
    c.op = "ConvShortcut", c.domain = "hipforge", c.opset = 1;
    Tensor bias = c.inputs[2];
    c.inputs.resize(2);
    c.inputs.push_back(random_tensor({2, 12, 10, 11}, -1, 1, 4));
    c.inputs.push_back(random_tensor({24, 12, 1, 1}, -1, 1, 5));
    c.tolerance = precision == DType::F32 ? 2e-5f : 2e-2f;
    check_on_device(c, {.precision = precision, .constants = {1, 3}});
    c.inputs.push_back(Tensor());
    c.inputs.push_back(bias);
    check_on_device(c, {.precision = precision, .constants = {1, 3, 5}});
    c.inputs[4] = random_tensor({24}, -1, 1, 6);
    check_on_device(c, {.precision = precision, .constants = {1, 3, 4, 5}});
  }
}

OpCase product(std::string name, std::string op, const Dims& a, const Dims& b, ir::Attrs attrs = {}, Tensor c = {}) {
  return {.name = std::move(name),
          .op = op,
          .domain = op == "FusedMatMul" ? "com.microsoft" : "",
          .opset = op == "FusedMatMul" ? 1 : OpCase{}.opset,
          .attrs = std::move(attrs),
          .inputs = c.defined() ? std::vector<Tensor>{random_tensor(a, -1, 1, 1), random_tensor(b, -1, 1, 2), c}
                                : std::vector<Tensor>{random_tensor(a, -1, 1, 1), random_tensor(b, -1, 1, 2)},
          .expected = {Tensor()},
          .tolerance = 2e-5f};
}

TEST(ConstantProduct, RowsOfAnyRank) {
  check_on_device(product("rows", "MatMul", {20, 16}, {16, 24}), kConstant);
  check_on_device(product("batches", "MatMul", {2, 3, 7, 12}, {12, 9}), kConstant);
  check_on_device(product("nothing is a vector", "MatMul", {2, 9, 13}, {13, 7}), kConstant);
  check_on_device(product("turned", "FusedMatMul", {9, 16}, {24, 16}, {{"transB", int64_t{1}}, {"alpha", 0.5f}}),
                  kConstant);
}
TEST(ConstantProduct, Gemm) {
  ir::Attrs scaled = {{"alpha", 0.5f}, {"beta", -2.f}, {"transB", int64_t{1}}};
  check_on_device(product("bias", "Gemm", {9, 16}, {24, 16}, scaled, random_tensor({24})), kConstant);
  check_on_device(product("scalar", "Gemm", {9, 13}, {24, 13}, scaled, random_tensor({1})), kConstant);
  check_on_device(product("column", "Gemm", {9, 16}, {24, 16}, scaled, random_tensor({9, 1})), kConstant);
  check_on_device(product("c at run time", "Gemm", {9, 16}, {16, 11}, {}, random_tensor({9, 11})), {.constants = {1}});
}
TEST(ConstantProduct, SmallFloatsAndEpilogue) {
  auto program = std::make_shared<ir::Program>();
  program->inputs = 2;
  program->steps = {{"Add", {0, 1}, {}}, {"Relu", {2}, {}}};
  for (DType precision : {DType::F16, DType::BF16}) {
    OpCase c = product("small", "Gemm", {40, 30}, {30, 70}, {}, random_tensor({40, 70}));
    c.tolerance = precision == DType::F16 ? 1e-2f : 1e-1f;
    check_on_device(
        c, {.precision = precision, .constants = {1}, .epilogue = program, .epilogue_operands = {random_tensor({70})}});
  }
}

}  // namespace
}  // namespace hf::lower

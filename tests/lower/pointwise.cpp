// Elementwise operators, casts and separate epilogues on a device.
#include "ops/pointwise.h"

#include "lower/on_device.h"

namespace hf::lower {
namespace {

Tensor integers(DType t, const Dims& dims, int64_t low, int64_t high) {
  Tensor out(t, dims);
  std::vector<int64_t> v(static_cast<size_t>(out.size()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = low + static_cast<int64_t>(i * 7919 % static_cast<size_t>(high - low + 1));
  write_elements(v.data(), out);
  return out;
}

TEST(Pointwise, EveryRowOfReals) {
  for (const ops::PointwiseOp& row : ops::pointwise_rows()) {
    if (row.name == "DivideBy" || row.name == "Where" || row.elements == ops::Elements::Integer ||
        row.elements == ops::Elements::Bool)
      continue;
    OpCase c{.name = std::string(row.name),
             .op = std::string(row.name),
             .opset = 28,
             .expected = {Tensor()},
             .tolerance = 2e-6f};
    bool positive = row.name == "Log" || row.name == "Sqrt" || row.name == "Acosh" || row.name == "Pow";
    bool unit = row.name.starts_with("A") && row.name != "Abs" && row.name != "Add" && !positive;
    for (int i = 0; i < row.arity; ++i)
      c.inputs.push_back(row.name == "Clip" && i ? random_tensor({}, i - 1.5f, i - 1.0f, static_cast<unsigned>(i))
                                                 : random_tensor(i == 1 ? Dims{1, 37} : Dims{3, 37},
                                                                 positive ? 1.1f
                                                                 : unit   ? -0.9f
                                                                          : -4,
                                                                 unit ? 0.9f : 4, static_cast<unsigned>(i + 1)));
    if (row.name == "Mod") c.attrs = {{"fmod", int64_t{1}}};
    check_on_device(c);
  }
}

TEST(Pointwise, Integers) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Equal", "Less", "GreaterOrEqual", "Pow"})
    for (DType t : {DType::I64, DType::I32, DType::I8, DType::U8})
      check_on_device({.name = fmt::format("{} of {}", op, name(t)),
                       .op = op,
                       .opset = 28,
                       .inputs = {integers(t, {4, 9}, t == DType::U8 ? 0 : -20, 20),
                                  integers(t, {9}, t == DType::U8 || op[0] == 'P' ? 1 : -3, 5)},
                       .expected = {Tensor()}});
  for (const char* op : {"And", "Or", "Xor"})
    check_on_device({.name = op,
                     .op = op,
                     .opset = 28,
                     .inputs = {integers(DType::Bool, {4, 9}, 0, 1), integers(DType::Bool, {4, 1}, 0, 1)},
                     .expected = {Tensor()}});
  for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"})
    check_on_device({.name = op,
                     .op = op,
                     .opset = 28,
                     .inputs = {integers(DType::I32, {4, 9}, -50, 50), integers(DType::I32, {4, 1}, -9, 9)},
                     .expected = {Tensor()}});
  check_on_device(
      {.name = "Not", .op = "Not", .opset = 28, .inputs = {integers(DType::Bool, {7}, 0, 1)}, .expected = {Tensor()}});
  check_on_device({.name = "BitwiseNot",
                   .op = "BitwiseNot",
                   .opset = 28,
                   .inputs = {integers(DType::U8, {7}, 0, 200)},
                   .expected = {Tensor()}});
  check_on_device({.name = "BitShift",
                   .op = "BitShift",
                   .opset = 28,
                   .attrs = {{"direction", std::string("RIGHT")}},
                   .inputs = {integers(DType::U32, {30}, 0, 4000), integers(DType::U32, {30}, 0, 9)},
                   .expected = {Tensor()}});
}

TEST(Pointwise, Where) {
  for (DType t : {DType::F32, DType::I64, DType::Bool})
    check_on_device({.name = "of " + std::string(name(t)),
                     .op = "Where",
                     .opset = 28,
                     .inputs = {integers(DType::Bool, {4, 1, 5}, 0, 1),
                                integers(t, {3, 5}, 0, t == DType::Bool ? 1 : 90), integers(t, {4, 3, 1}, 0, 1)},
                     .expected = {Tensor()}});
}

TEST(Pointwise, Variadic) {
  for (const char* op : {"Sum", "Mean", "Max", "Min"})
    check_on_device({.name = op,
                     .op = op,
                     .opset = 28,
                     .inputs = {random_tensor({4, 6}), random_tensor({6}, -1, 1, 2), random_tensor({4, 1}, -1, 1, 3)},
                     .expected = {Tensor()},
                     .tolerance = 1e-6f});
  check_on_device({.name = "Clip without a lower bound",
                   .op = "Clip",
                   .opset = 28,
                   .inputs = {random_tensor({4, 6}), Tensor(), random_tensor({})},
                   .expected = {Tensor()}});
}

TEST(Pointwise, Casts) {
  for (DType from : {DType::F32, DType::I64, DType::I32, DType::U8, DType::Bool, DType::F16, DType::BF16})
    for (DType to : {DType::F32, DType::I64, DType::I8, DType::U8, DType::Bool, DType::F16, DType::BF16}) {
      Tensor x = integers(from, {37}, from == DType::Bool || from == DType::U8 ? 0 : -9, from == DType::Bool ? 1 : 100);
      check_on_device({.name = fmt::format("{} to {}", name(from), name(to)),
                       .op = "Cast",
                       .opset = 28,
                       .attrs = {{"to", static_cast<int64_t>(to)}},
                       .inputs = {x},
                       .expected = {Tensor()}});
    }
  check_on_device({.name = "like",
                   .op = "CastLike",
                   .opset = 28,
                   .inputs = {random_tensor({5}, -9, 9), integers(DType::I32, {2}, 0, 1)},
                   .expected = {Tensor()}});
}

std::shared_ptr<const ir::Program> scale_and_relu() {
  auto program = std::make_shared<ir::Program>();
  program->inputs = 2;
  program->steps = {{.op = "Mul", .args = {0, 1}}, {.op = "Relu", .args = {2}}};
  return program;
}

TEST(Pointwise, WithAnEpilogue) {
  check_on_device({.name = "of Add",
                   .op = "Add",
                   .opset = 28,
                   .inputs = {random_tensor({4, 6}), random_tensor({6}, -1, 1, 2)},
                   .expected = {Tensor()}},
                  {.epilogue = scale_and_relu(), .epilogue_operands = {random_tensor({4, 1}, -2, 2, 3)}});
  check_on_device({.name = "of Cast",
                   .op = "Cast",
                   .opset = 28,
                   .attrs = {{"to", int64_t{1}}},
                   .inputs = {integers(DType::I64, {4, 6}, -5, 5)},
                   .expected = {Tensor()}},
                  {.epilogue = scale_and_relu(), .epilogue_operands = {random_tensor({4, 1}, -2, 2, 3)}});
}

// No row of these takes an epilogue.
TEST(LowerNode, EpiloguesOfTheirOwn) {
  for (DType precision : {DType::F32, DType::F16}) {
    OpCase c{.name = "softmax",
             .op = "Softmax",
             .opset = 28,
             .inputs = {random_tensor({4, 6})},
             .expected = {Tensor()},
             .tolerance = 2e-3f};
    check_on_device(
        c,
        {.precision = precision, .epilogue = scale_and_relu(), .epilogue_operands = {random_tensor({4, 1}, -2, 2, 3)}});
    c.name = c.op = "Identity";
    check_on_device(
        c,
        {.precision = precision, .epilogue = scale_and_relu(), .epilogue_operands = {random_tensor({4, 1}, -2, 2, 3)}});
  }
}

// The transposed value is the input's bytes, seen as channels last.
TEST(LowerNode, EpilogueOfAnAlias) {
  check_on_device({.name = "to channels first",
                   .op = "Transpose",
                   .opset = 28,
                   .attrs = {{"perm", std::vector<int64_t>{0, 3, 1, 2}}},
                   .inputs = {random_tensor({2, 5, 6, 8})},
                   .expected = {Tensor()},
                   .tolerance = 1e-6f},
                  {.epilogue = scale_and_relu(), .epilogue_operands = {random_tensor({8, 1, 1}, -2, 2, 3)}});
}

}  // namespace
}  // namespace hf::lower

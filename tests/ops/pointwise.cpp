// Elementwise operators: values by hand or from numpy 1.26, broadcasting, integer rules, programs.
#include "ops/pointwise.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ops/case.h"

namespace hf::ops {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

Tensor floats(std::initializer_list<float> v) { return tensor<float>({static_cast<int64_t>(v.size())}, v); }
template <class T>
Tensor list(std::initializer_list<T> v) {
  return tensor<T>({static_cast<int64_t>(v.size())}, v);
}
Tensor bools(std::initializer_list<uint8_t> v) {
  Tensor t(DType::Bool, {static_cast<int64_t>(v.size())});
  std::copy(v.begin(), v.end(), t.data<uint8_t>());
  return t;
}
Tensor texts(const Dims& dims, std::vector<std::string> v) {
  Tensor t(DType::String, dims);
  t.strings() = std::move(v);
  return t;
}
Tensor as(DType dtype, const Tensor& from) {
  Tensor t(dtype, from.dims());
  write_elements(ReadAs<float>(from).data(), t);
  return t;
}

}  // namespace

TEST(Pointwise, Unary) {
  const Tensor x = floats({-2, -0.5f, 0, 0.5f, 2});
  struct Row {
    std::string op;
    std::initializer_list<float> wanted;
    ir::Attrs attrs = {};
  };
  const Row rows[] = {
      {"Abs", {2, 0.5f, 0, 0.5f, 2}},
      {"Neg", {2, 0.5f, 0, -0.5f, -2}},
      {"Ceil", {-2, 0, 0, 1, 2}},
      {"Floor", {-2, -1, 0, 0, 2}},
      {"Round", {-2, 0, 0, 0, 2}},
      {"Sign", {-1, -1, 0, 1, 1}},
      {"Relu", {0, 0, 0, 0.5f, 2}},
      {"Reciprocal", {-0.5f, -2, kInf, 2, 0.5f}},
      {"Sqrt", {kNan, kNan, 0, 0.70710678f, 1.41421356f}},
      {"Exp", {0.13533528f, 0.60653066f, 1, 1.64872127f, 7.3890561f}},
      {"Log", {kNan, kNan, -kInf, -0.69314718f, 0.69314718f}},
      {"Sin", {-0.90929743f, -0.47942554f, 0, 0.47942554f, 0.90929743f}},
      {"Cos", {-0.41614684f, 0.87758256f, 1, 0.87758256f, -0.41614684f}},
      {"Tan", {2.18503986f, -0.54630249f, 0, 0.54630249f, -2.18503986f}},
      {"Asin", {kNan, -0.52359878f, 0, 0.52359878f, kNan}},
      {"Acos", {kNan, 2.0943951f, 1.57079633f, 1.04719755f, kNan}},
      {"Atan", {-1.10714872f, -0.46364761f, 0, 0.46364761f, 1.10714872f}},
      {"Sinh", {-3.62686041f, -0.52109531f, 0, 0.52109531f, 3.62686041f}},
      {"Cosh", {3.76219569f, 1.12762597f, 1, 1.12762597f, 3.76219569f}},
      {"Tanh", {-0.96402758f, -0.46211716f, 0, 0.46211716f, 0.96402758f}},
      {"Asinh", {-1.44363548f, -0.48121183f, 0, 0.48121183f, 1.44363548f}},
      {"Acosh", {kNan, kNan, kNan, kNan, 1.3169579f}},
      {"Atanh", {kNan, -0.54930614f, 0, 0.54930614f, kNan}},
      {"Erf", {-0.99532227f, -0.52049988f, 0, 0.52049988f, 0.99532227f}},
      {"Sigmoid", {0.11920292f, 0.37754067f, 0.5f, 0.62245933f, 0.88079708f}},
      {"Softplus", {0.12692801f, 0.47407698f, 0.69314718f, 0.97407698f, 2.12692801f}},
      {"Softsign", {-0.66666667f, -0.33333333f, 0, 0.33333333f, 0.66666667f}},
      {"HardSigmoid", {0.1f, 0.4f, 0.5f, 0.6f, 0.9f}},
      {"HardSwish", {-0.33333333f, -0.20833333f, 0, 0.29166667f, 1.66666667f}},
      {"Mish", {-0.25250148f, -0.22074423f, 0, 0.37524524f, 1.94395897f}},
      {"Swish", {-0.0359724f, -0.13447071f, 0, 0.36552929f, 1.9640276f}, {{"alpha", 2.0f}}},
      {"LeakyRelu", {-0.02f, -0.005f, 0, 0.5f, 2}},
      {"Elu", {-1.72932943f, -0.78693868f, 0, 0.5f, 2}, {{"alpha", 2.0f}}},
      {"Celu", {-1.26424112f, -0.44239843f, 0, 0.5f, 2}, {{"alpha", 2.0f}}},
      {"Selu", {-1.52016618f, -0.69175819f, 0, 0.52535051f, 2.10140204f}},
      {"ThresholdedRelu", {0, 0, 0, 0, 2}},
      {"Shrink", {-1, 0, 0, 0, 1}, {{"bias", 1.0f}}},
      {"Gelu", {-0.04550026f, -0.15426877f, 0, 0.34573123f, 1.95449974f}},
      {"Gelu", {-0.04540231f, -0.15428599f, 0, 0.34571401f, 1.95459769f}, {{"approximate", std::string("tanh")}}},
  };
  for (const Row& r : rows)
    check_case(
        {.name = r.op, .op = r.op, .attrs = r.attrs, .inputs = {x}, .expected = {floats(r.wanted)}, .tolerance = 2e-6});
}

TEST(Pointwise, SwiGLU) {
  check_case({.name = "swiglu",
              .op = "SwiGLU",
              .attrs = {{"alpha", 2.0f}},
              .inputs = {floats({-2, 0.5f}), floats({10, -2})},
              .expected = {floats({-0.359724f, -0.73105858f})}});
}

TEST(Pointwise, NanGoesThrough) {
  const Tensor x = floats({kNan}), zero = floats({0});
  for (const char* op : {"Relu", "Abs", "LeakyRelu", "Elu", "Sigmoid", "Softplus", "HardSigmoid", "Mish"})
    check_case({.name = op, .op = op, .inputs = {x}, .expected = {x}});
  for (const char* op : {"Max", "Min", "Add"}) {
    check_case({.name = op, .op = op, .inputs = {x, zero}, .expected = {x}});
    check_case({.name = op, .op = op, .inputs = {zero, x}, .expected = {x}});
  }
  check_case(
      {.name = "clip", .op = "Clip", .inputs = {x, tensor<float>({}, {0}), tensor<float>({}, {1})}, .expected = {x}});
}

TEST(Pointwise, LargeArguments) {
  check_case(
      {.name = "softplus", .op = "Softplus", .inputs = {floats({1000, -1000})}, .expected = {floats({1000, 0})}});
  check_case({.name = "mish", .op = "Mish", .inputs = {floats({1000, -1000})}, .expected = {floats({1000, 0})}});
  check_case({.name = "sigmoid", .op = "Sigmoid", .inputs = {floats({1000, -1000})}, .expected = {floats({1, 0})}});
  check_case({.name = "round",
              .op = "Round",
              .inputs = {floats({0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 8388609})},
              .expected = {floats({0, 2, 2, 0, -2, 8388609})}});
}

TEST(Pointwise, Tests) {
  const Tensor x = floats({-kInf, kInf, kNan, 1});
  const OpCase cases[] = {
      {.name = "nan", .op = "IsNaN", .inputs = {x}, .expected = {bools({0, 0, 1, 0})}},
      {.name = "inf", .op = "IsInf", .inputs = {x}, .expected = {bools({1, 1, 0, 0})}},
      {.name = "only positive",
       .op = "IsInf",
       .attrs = {{"detect_negative", int64_t{0}}},
       .inputs = {x},
       .expected = {bools({0, 1, 0, 0})}},
      {.name = "only negative, float16",
       .op = "IsInf",
       .attrs = {{"detect_positive", int64_t{0}}},
       .inputs = {as(DType::F16, x)},
       .expected = {bools({1, 0, 0, 0})}},
      {.name = "less", .op = "Less", .inputs = {x, floats({0})}, .expected = {bools({1, 0, 0, 0})}},
      {.name = "at least",
       .op = "GreaterOrEqual",
       .inputs = {list<int64_t>({1, 2, 3}), list<int64_t>({2})},
       .expected = {bools({0, 1, 1})}},
      {.name = "64 bits are compared as such",
       .op = "Less",
       .inputs = {list<int64_t>({INT64_MAX - 1}), list<int64_t>({INT64_MAX})},
       .expected = {bools({1})}},
      {.name = "unsigned",
       .op = "Greater",
       .inputs = {list<uint64_t>({UINT64_MAX}), list<uint64_t>({1})},
       .expected = {bools({1})}},
      {.name = "equal", .op = "Equal", .inputs = {bools({0, 1, 1}), bools({0, 0, 1})}, .expected = {bools({1, 0, 1})}},
      {.name = "texts",
       .op = "Equal",
       .inputs = {texts({2}, {"a", "b"}), texts({1}, {"b"})},
       .expected = {bools({0, 1})}},
      {.name = "and",
       .op = "And",
       .inputs = {bools({0, 0, 1, 1}), bools({0, 1, 0, 1})},
       .expected = {bools({0, 0, 0, 1})}},
      {.name = "or",
       .op = "Or",
       .inputs = {bools({0, 0, 1, 1}), bools({0, 1, 0, 1})},
       .expected = {bools({0, 1, 1, 1})}},
      {.name = "xor",
       .op = "Xor",
       .inputs = {bools({0, 0, 1, 1}), bools({0, 1, 0, 1})},
       .expected = {bools({0, 1, 1, 0})}},
      {.name = "not", .op = "Not", .inputs = {bools({0, 1})}, .expected = {bools({1, 0})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Pointwise, Integers) {
  const OpCase cases[] = {
      {.name = "add wraps",
       .op = "Add",
       .inputs = {list<int8_t>({127, -128}), list<int8_t>({1, -1})},
       .expected = {list<int8_t>({-128, 127})}},
      {.name = "sub wraps",
       .op = "Sub",
       .inputs = {list<uint8_t>({0}), list<uint8_t>({1})},
       .expected = {list<uint8_t>({255})}},
      {.name = "mul wraps",
       .op = "Mul",
       .inputs = {list<int64_t>({INT64_MAX}), list<int64_t>({2})},
       .expected = {list<int64_t>({-2})}},
      {.name = "abs",
       .op = "Abs",
       .inputs = {list<int64_t>({INT64_MIN, -3})},
       .expected = {list<int64_t>({INT64_MIN, 3})}},
      {.name = "div truncates and never traps",
       .op = "Div",
       .inputs = {list<int64_t>({-7, 7, INT64_MIN, 5}), list<int64_t>({2, -2, -1, 0})},
       .expected = {list<int64_t>({-3, -3, INT64_MIN, 0})}},
      {.name = "div int32",
       .op = "Div",
       .inputs = {list<int32_t>({INT32_MIN}), list<int32_t>({-1})},
       .expected = {list<int32_t>({INT32_MIN})}},
      {.name = "div uint64",
       .op = "Div",
       .inputs = {list<uint64_t>({UINT64_MAX, 1}), list<uint64_t>({2, 0})},
       .expected = {list<uint64_t>({INT64_MAX, 0})}},
      {.name = "mod has the sign of the divisor",
       .op = "Mod",
       .inputs = {list<int32_t>({-4, 7, 5, 4, -7, 8, 1}), list<int32_t>({2, -3, 8, -2, 3, 5, 0})},
       .expected = {list<int32_t>({0, -2, 5, 0, 2, 3, 0})}},
      {.name = "fmod has that of the dividend",
       .op = "Mod",
       .attrs = {{"fmod", int64_t{1}}},
       .inputs = {list<int32_t>({-4, 7, -7, INT32_MIN}), list<int32_t>({3, -3, 3, -1})},
       .expected = {list<int32_t>({-1, 1, -1, 0})}},
      {.name = "fmod of floats",
       .op = "Mod",
       .attrs = {{"fmod", int64_t{1}}},
       .inputs = {floats({-4.3f, 7.2f, 5}), floats({2.1f, -3.4f, kInf})},
       .expected = {floats({-0.1f, 0.4f, 5})}},
      {.name = "mod of floats",
       .op = "Mod",
       .inputs = {floats({-4.3f, 7.2f, 5, -1}), floats({2.1f, -3.4f, kInf, kInf})},
       .expected = {floats({2, -3, 5, kInf})}},
      {.name = "shift left",
       .op = "BitShift",
       .attrs = {{"direction", std::string("LEFT")}},
       .inputs = {list<uint8_t>({16, 4, 1, 1}), list<uint8_t>({1, 7, 3, 200})},
       .expected = {list<uint8_t>({32, 0, 8, 0})}},
      {.name = "shift right keeps the sign",
       .op = "BitShift",
       .attrs = {{"direction", std::string("RIGHT")}},
       .inputs = {list<int8_t>({-16, 16, -1, 1, -5}), list<int8_t>({2, 2, 100, 100, -1})},
       .expected = {list<int8_t>({-4, 4, -1, 0, -1})}},
      {.name = "shift of uint64",
       .op = "BitShift",
       .attrs = {{"direction", std::string("RIGHT")}},
       .inputs = {list<uint64_t>({UINT64_MAX, 5}), list<uint64_t>({63, 64})},
       .expected = {list<uint64_t>({1, 0})}},
      {.name = "not",
       .op = "BitwiseNot",
       .inputs = {list<uint16_t>({0, 1})},
       .expected = {list<uint16_t>({65535, 65534})}},
      {.name = "xor",
       .op = "BitwiseXor",
       .inputs = {list<int32_t>({12, -1}), list<int32_t>({10})},
       .expected = {list<int32_t>({6, -11})}},
      {.name = "pow int",
       .op = "Pow",
       .inputs = {list<int32_t>({2, -3, 2, -1}), list<int32_t>({10, 3, -1, -3})},
       .expected = {list<int32_t>({1024, -27, 0, -1})}},
      {.name = "pow int by float",
       .op = "Pow",
       .inputs = {list<int64_t>({1, 2, 3}), floats({4, 5.5f, 6})},
       .expected = {list<int64_t>({1, 45, 729})}},
      {.name = "pow float by int",
       .op = "Pow",
       .inputs = {floats({1.5f, 2, 3}), list<int64_t>({2, -1, 0})},
       .expected = {floats({2.25f, 0.5f, 1})}},
      {.name = "shrink",
       .op = "Shrink",
       .attrs = {{"lambd", 1.5f}, {"bias", 1.5f}},
       .inputs = {list<int32_t>({-2, 0, 1, 4})},
       .expected = {list<int32_t>({0, 0, 0, 2})}},
      {.name = "prelu",
       .op = "PRelu",
       .inputs = {list<int32_t>({-2, 3}), list<int32_t>({5})},
       .expected = {list<int32_t>({-10, 3})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Pointwise, Broadcasting) {
  const Tensor x = tensor<float>({2, 3, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const OpCase cases[] = {
      {.name = "channels",
       .op = "Add",
       .inputs = {x, tensor<float>({1, 3, 1, 1}, {10, 20, 30})},
       .expected = {tensor<float>({2, 3, 1, 2}, {10, 11, 22, 23, 34, 35, 16, 17, 28, 29, 40, 41})}},
      {.name = "last",
       .op = "Sub",
       .inputs = {floats({1, 2}), x},
       .expected = {tensor<float>({2, 3, 1, 2}, {1, 1, -1, -1, -3, -3, -5, -5, -7, -7, -9, -9})}},
      {.name = "both ways",
       .op = "Mul",
       .inputs = {tensor<float>({3, 1}, {1, 2, 3}), tensor<float>({2}, {1, 10})},
       .expected = {tensor<float>({3, 2}, {1, 10, 2, 20, 3, 30})}},
      {.name = "empty",
       .op = "Add",
       .inputs = {tensor<float>({0, 2}, {}), floats({1, 2})},
       .expected = {tensor<float>({0, 2}, {})}},
      {.name = "scalars",
       .op = "Div",
       .inputs = {tensor<float>({}, {1}), tensor<float>({}, {4})},
       .expected = {tensor<float>({}, {0.25f})}},
      {.name = "doubles",
       .op = "Add",
       .inputs = {tensor<double>({2, 1}, {1, 2}), tensor<double>({1}, {1e-12})},
       .expected = {tensor<double>({2, 1}, {1 + 1e-12, 2 + 1e-12})},
       .tolerance = 1e-15},
      {.name = "halves",
       .op = "Mul",
       .inputs = {as(DType::F16, x), as(DType::F16, tensor<float>({}, {2}))},
       .expected = {as(DType::F16, tensor<float>({2, 3, 1, 2}, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}))}},
      {.name = "where",
       .op = "Where",
       .inputs = {bools({1, 0}), tensor<int64_t>({2, 1}, {1, 2}), tensor<int64_t>({}, {9})},
       .expected = {tensor<int64_t>({2, 2}, {1, 9, 2, 9})}},
      {.name = "where of texts",
       .op = "Where",
       .inputs = {bools({1, 0}), texts({2}, {"a", "b"}), texts({1}, {"c"})},
       .expected = {texts({2}, {"a", "c"})}},
  };
  for (const OpCase& c : cases) check_case(c);
  EXPECT_THROW(run_case({.op = "Add", .inputs = {floats({1, 2}), floats({1, 2, 3})}, .expected = {Tensor()}}), Error);
  EXPECT_THROW(run_case({.op = "Add", .inputs = {floats({1}), list<int32_t>({1})}, .expected = {Tensor()}}), Error);
  EXPECT_THROW(run_case({.op = "Exp", .inputs = {list<int32_t>({1})}, .expected = {Tensor()}}), Error);
}

TEST(Pointwise, VariadicAndClip) {
  const Tensor x = floats({1, 5}), y = floats({3}), z = floats({2, 2});
  const Tensor low = tensor<float>({}, {2}), high = tensor<float>({}, {4});
  const OpCase cases[] = {
      {.name = "max", .op = "Max", .inputs = {x, y, z}, .expected = {floats({3, 5})}},
      {.name = "min", .op = "Min", .inputs = {x, y, z}, .expected = {floats({1, 2})}},
      {.name = "sum", .op = "Sum", .inputs = {x, y, z}, .expected = {floats({6, 10})}},
      {.name = "mean", .op = "Mean", .inputs = {x, y, z}, .expected = {floats({2, 10.0f / 3})}},
      {.name = "mean of one", .op = "Mean", .inputs = {x}, .expected = {x}},
      {.name = "min of integers",
       .op = "Min",
       .inputs = {list<uint64_t>({UINT64_MAX}), list<uint64_t>({7})},
       .expected = {list<uint64_t>({7})}},
      {.name = "clip", .op = "Clip", .inputs = {x, low, high}, .expected = {floats({2, 4})}},
      {.name = "clip below", .op = "Clip", .inputs = {x, low}, .expected = {floats({2, 5})}},
      {.name = "clip above", .op = "Clip", .inputs = {x, Tensor(), high}, .expected = {floats({1, 4})}},
      {.name = "clip nothing", .op = "Clip", .inputs = {x}, .expected = {x}},
      {.name = "clip where min > max gives max", .op = "Clip", .inputs = {x, high, low}, .expected = {floats({2, 2})}},
      {.name = "clip a scalar by one-element bounds",
       .op = "Clip",
       .inputs = {tensor<float>({}, {9}), floats({1}), floats({2})},
       .expected = {tensor<float>({}, {2})}},
      {.name = "clip of opset 6",
       .op = "Clip",
       .opset = 7,
       .attrs = {{"max", 4.0f}},
       .inputs = {x},
       .expected = {floats({1, 4})}},
      {.name = "clip of opset 6 in half",
       .op = "Clip",
       .opset = 7,
       .attrs = {{"min", 2.0f}},
       .inputs = {as(DType::F16, x)},
       .expected = {as(DType::F16, floats({2, 5}))}},
      {.name = "clip of integers",
       .op = "Clip",
       .inputs = {list<int8_t>({-5, 5}), tensor<int8_t>({}, {-1}), tensor<int8_t>({}, {3})},
       .expected = {list<int8_t>({-1, 3})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Pointwise, SymbolicShapesBroadcast) {
  ir::Graph g;
  ir::Value* x = g.add_input("x", DType::F32, ir::Shape(std::vector<Dim>{Dim::named("batch"), 3, 4}));
  ir::Value* y = g.add_input("y", DType::F32, ir::Shape(Dims{1, 4}));
  EXPECT_EQ(add_op(g, "Add", {x, y})->output()->type_text(), "float32 [batch, 3, 4]");
  EXPECT_EQ(add_op(g, "Mul", {g.add_input("z"), y})->output()->dtype, DType::F32);
  EXPECT_EQ(add_op(g, "Less", {x, y})->output()->type_text(), "bool [batch, 3, 4]");
}

// A program on more elements than one block, with every kind of broadcast: against plain arithmetic.
TEST(Pointwise, Programs) {
  const int64_t n = 5, c = 7, h = 131;
  Tensor x(DType::F32, {n, c, h}), channel(DType::F32, {1, c, 1}), row(DType::F32, {h}), one(DType::F32, {1}),
      out(DType::F32, {n, c, h});
  auto fill = [](Tensor& t, float by) {
    for (int64_t i = 0; i < t.size(); ++i) t.data<float>()[i] = by * static_cast<float>(i % 97) - 1;
  };
  fill(x, 0.5f), fill(channel, 0.25f), fill(row, 2), fill(one, 1);
  const ir::Program p{4, {{"Mul", {0, 1}, {}}, {"Add", {4, 2}, {}}, {"LeakyRelu", {5}, {0.5f}}, {"Sub", {6, 3}, {}}}};
  const Tensor* inputs[] = {&x, &channel, &row, &one};
  run_program(p, inputs, out);
  for (int64_t i = 0; i < out.size(); ++i) {
    float v = x.data<float>()[i] * channel.data<float>()[i / h % c] + row.data<float>()[i % h];
    ASSERT_FLOAT_EQ(out.data<float>()[i], (v < 0 ? v * 0.5f : v) - one.data<float>()[0]) << i;
  }
  Tensor half = as(DType::BF16, x), rounded(DType::BF16, x.dims());
  const Tensor* mixed[] = {&half, &channel, &row, &one};
  run_program(p, mixed, rounded);
  expect_equal(rounded, as(DType::BF16, out), 0.02, "bfloat16");
}

TEST(Pointwise, BroadcastCopy) {
  Tensor out(DType::I4, {2, 3});
  broadcast_copy(as(DType::I4, tensor<float>({2, 1}, {-8, 7})), out);
  expect_equal(out, as(DType::I4, tensor<float>({2, 3}, {-8, -8, -8, 7, 7, 7})), 0, "int4");
  Tensor words(DType::String, {2, 2});
  broadcast_copy(texts({2}, {"a", "b"}), words);
  EXPECT_EQ(words.strings(), (std::vector<std::string>{"a", "b", "a", "b"}));
}

TEST(Pointwise, RowsAreSortedAndOperatorsAreFound) {
  for (const PointwiseOp& row : pointwise_rows()) {
    EXPECT_EQ(find_pointwise(row.name), &row) << row.name;
    EXPECT_EQ(find_op(row.name, "") != nullptr, row.name != "DivideBy") << row.name;
  }
  EXPECT_EQ(find_pointwise("Conv"), nullptr);
  EXPECT_NE(find_op("Mean", ""), nullptr);
}

}  // namespace hf::ops

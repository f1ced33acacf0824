// Reshape, Flatten, Squeeze, Unsqueeze.
#include <algorithm>

#include "ops/case.h"

namespace hf::ops {
namespace {

using Ints = std::vector<int64_t>;

Tensor ints(Ints v) { return Tensor::ints(v); }
Tensor zeros(const Dims& d) {
  Tensor t(DType::F32, d);
  std::fill_n(t.data<float>(), t.size(), 0.0f);
  return t;
}

// The shape inferred for an input of this shape, as text.
std::string inferred(const std::string& op, Shape in, const Tensor& second, int64_t allow_zero = 0) {
  ir::Graph g;
  ir::Value* x = g.add_input("x", DType::F32, std::move(in));
  ir::Attrs attrs;
  if (op == "Reshape") attrs["allowzero"] = allow_zero;
  return add_op(g, op, {x, g.add_constant("s", second)}, attrs)->output()->shape.text();
}

Dim n() { return Dim::named("n"); }

}  // namespace

TEST(Reshape, Cases) {
  const OpCase cases[] = {
      {.name = "inferred extent",
       .op = "Reshape",
       .inputs = {tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}), ints({3, -1})},
       .expected = {tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6})}},
      {.name = "0 copies",
       .op = "Reshape",
       .opset = 13,
       .inputs = {zeros({2, 2, 3, 2}), ints({-1, 0, 0})},
       .expected = {zeros({4, 2, 3})}},
      {.name = "0 is 0",
       .op = "Reshape",
       .attrs = {{"allowzero", int64_t{1}}},
       .inputs = {zeros({0, 3}), ints({3, 0})},
       .expected = {zeros({3, 0})}},
      {.name = "to a scalar", .op = "Reshape", .inputs = {zeros({1, 1}), ints({})}, .expected = {zeros({})}},
      {.name = "flatten",
       .op = "Flatten",
       .attrs = {{"axis", int64_t{-1}}},
       .inputs = {zeros({2, 3, 4})},
       .expected = {zeros({6, 4})}},
      {.name = "flatten at the end",
       .op = "Flatten",
       .attrs = {{"axis", int64_t{3}}},
       .inputs = {zeros({2, 3, 4})},
       .expected = {zeros({24, 1})}},
      {.name = "squeeze all", .op = "Squeeze", .inputs = {zeros({1, 3, 1})}, .expected = {zeros({3})}},
      {.name = "squeeze, attribute",
       .op = "Squeeze",
       .opset = 11,
       .attrs = {{"axes", Ints{-1}}},
       .inputs = {zeros({1, 3, 1})},
       .expected = {zeros({1, 3})}},
      {.name = "unsqueeze, attribute",
       .op = "Unsqueeze",
       .opset = 11,
       .attrs = {{"axes", Ints{0, 2}}},
       .inputs = {zeros({3})},
       .expected = {zeros({1, 3, 1})}},
      {.name = "unsqueeze, any order",
       .op = "Unsqueeze",
       .inputs = {zeros({3, 4, 5}), ints({-1, 0})},
       .expected = {zeros({1, 3, 4, 5, 1})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Reshape, KeepsWhatIsKnown) {
  EXPECT_EQ(inferred("Reshape", Shape({n(), 16, 7, 7}), ints({0, -1})), "[n, 784]");
  EXPECT_EQ(inferred("Reshape", Shape({n(), 16, 7, 7}), ints({-1, 784})), "[n, 784]");
  EXPECT_EQ(inferred("Reshape", Shape({n(), Dim(), 64}), ints({0, 0, 4, -1})), "[n, ?, 4, 16]");
  EXPECT_EQ(inferred("Reshape", Shape({n(), Dim(), 64}), ints({-1, 64})), "[?, 64]");
  EXPECT_EQ(inferred("Reshape", Shape(), ints({2, -1})), "[2, ?]");
  EXPECT_EQ(inferred("Unsqueeze", Shape({n(), 3}), ints({-1})), "[n, 3, 1]");
  EXPECT_EQ(inferred("Squeeze", Shape({n(), 1, 3}), ints({1})), "[n, 3]");
}

// [n, t, 768] with a shape computed of its extents, as exporters write it.
TEST(Reshape, FollowsShapeArithmetic) {
  ir::Graph g;
  ir::Value* x = g.add_input("x", DType::F32, Shape({n(), Dim::named("t"), 768}));
  ir::Value* shape = add_op(g, "Shape", {x})->output();
  ir::Value *zero = g.add_constant("0", ints({0})), *last = g.add_constant("2", Tensor::scalar(int64_t{2}));
  auto part = [&](int64_t i) {
    ir::Value* at = g.add_constant("i", Tensor::scalar(i));
    return add_op(g, "Unsqueeze", {add_op(g, "Gather", {shape, at})->output(), zero})->output();
  };
  auto reshaped = [&](std::vector<ir::Value*> parts) {
    ir::Value* to = add_op(g, "Concat", parts, {{"axis", int64_t{0}}})->output();
    return add_op(g, "Reshape", {x, to})->output()->shape.text();
  };
  auto number = [&](int64_t v) { return g.add_constant("n", ints({v})); };
  EXPECT_EQ(reshaped({part(0), part(1), number(12), number(64)}), "[n, t, 12, 64]");
  EXPECT_EQ(reshaped({part(0), number(-1), number(12), number(64)}), "[n, t, 12, 64]");
  EXPECT_EQ(reshaped({number(-1), part(2)}), "[?, 768]");
  ir::Value* heads =
      add_op(g, "Div", {add_op(g, "Gather", {shape, last})->output(), g.add_constant("c", Tensor::scalar(int64_t{64}))})
          ->output();
  EXPECT_EQ(reshaped({part(0), part(1), number(-1), add_op(g, "Unsqueeze", {heads, zero})->output()}),
            "[n, t, 64, 12]");
  ir::Value* first = add_op(g, "Slice", {shape, zero, number(-1)})->output();
  EXPECT_EQ(reshaped({first, number(-1)}), "[n, t, 768]");
  EXPECT_EQ(reshaped({g.add_input("u", DType::I64, Shape(Dims{1})), number(-1)}), "[?, ?]");
}

TEST(Reshape, Refuses) {
  const OpCase cases[] = {
      {.name = "other count", .op = "Reshape", .inputs = {zeros({2, 3}), ints({4, 2})}, .expected = {Tensor()}},
      {.name = "no divisor", .op = "Reshape", .inputs = {zeros({2, 3}), ints({4, -1})}, .expected = {Tensor()}},
      {.name = "floats", .op = "Reshape", .inputs = {zeros({2, 3}), zeros({2})}, .expected = {Tensor()}},
      {.name = "two -1", .op = "Reshape", .inputs = {zeros({2, 3}), ints({-1, -1})}, .expected = {Tensor()}},
      {.name = "-2", .op = "Reshape", .inputs = {zeros({2, 3}), ints({-2, 3})}, .expected = {Tensor()}},
      {.name = "0 of nothing", .op = "Reshape", .inputs = {zeros({2}), ints({2, 0})}, .expected = {Tensor()}},
      {.name = "0 with -1",
       .op = "Reshape",
       .attrs = {{"allowzero", int64_t{1}}},
       .inputs = {zeros({0, 3}), ints({0, -1})},
       .expected = {Tensor()}},
      {.name = "over 2^64",
       .op = "Reshape",
       .inputs = {zeros({2, 3}), ints({INT64_MAX, 4, -1})},
       .expected = {Tensor()}},
      {.name = "not 1", .op = "Squeeze", .inputs = {zeros({2, 3}), ints({0})}, .expected = {Tensor()}},
      {.name = "twice", .op = "Unsqueeze", .inputs = {zeros({2, 3}), ints({0, -4})}, .expected = {Tensor()}},
      {.name = "outside", .op = "Unsqueeze", .inputs = {zeros({2, 3}), ints({3})}, .expected = {Tensor()}},
      {.name = "no axes", .op = "Unsqueeze", .inputs = {zeros({2, 3})}, .expected = {Tensor()}},
  };
  for (const OpCase& c : cases) EXPECT_THROW(run_case(c), Error) << c.name;
}

}  // namespace hf::ops

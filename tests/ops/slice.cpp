// Slice, by the standard's clamping; expected values are numpy's.
#include "ops/case.h"

namespace hf::ops {
namespace {

using Ints = std::vector<int64_t>;
Tensor ints(Ints v) { return Tensor::ints(v); }

const Tensor kTen = tensor<int64_t>({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
const Tensor kMatrix = tensor<int64_t>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});

Ints sliced(int64_t start, int64_t end, int64_t step) {
  return to_ints(run_case({.name = "slice",
                           .op = "Slice",
                           .inputs = {kTen, ints({start}), ints({end}), ints({0}), ints({step})},
                           .expected = {Tensor()}})
                     .at(0));
}

}  // namespace

TEST(Slice, OneAxis) {
  EXPECT_EQ(sliced(9, 0, -1), (Ints{9, 8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(sliced(9, 0, -3), (Ints{9, 6, 3}));
  EXPECT_EQ(sliced(-1, INT64_MAX, -1), Ints{});
  EXPECT_EQ(sliced(INT64_MAX, INT64_MIN, -4), (Ints{9, 5, 1}));
  EXPECT_EQ(sliced(INT64_MIN, INT64_MAX, 4), (Ints{0, 4, 8}));
  EXPECT_EQ(sliced(2, -3, 2), (Ints{2, 4, 6}));
  EXPECT_EQ(sliced(5, INT64_MIN, INT64_MIN), Ints{5});
  EXPECT_EQ(sliced(5, INT64_MAX, INT64_MAX), Ints{5});
  EXPECT_EQ(sliced(7, 3, 1), Ints{});
}

TEST(Slice, Cases) {
  const OpCase cases[] = {
      {.name = "axes and steps",
       .op = "Slice",
       .inputs = {kMatrix, ints({1, 0}), ints({2, 3}), ints({0, 1}), ints({1, 2})},
       .expected = {tensor<int64_t>({1, 2}, {5, 7})}},
      {.name = "attributes",
       .op = "Slice",
       .opset = 9,
       .attrs = {{"starts", Ints{0, 1}}, {"ends", Ints{-1, 1000}}},
       .inputs = {kMatrix},
       .expected = {tensor<int64_t>({1, 3}, {2, 3, 4})}},
      {.name = "attributes with axes",
       .op = "Slice",
       .opset = 7,
       .attrs = {{"starts", Ints{1}}, {"ends", Ints{3}}, {"axes", Ints{1}}},
       .inputs = {kMatrix},
       .expected = {tensor<int64_t>({2, 2}, {2, 3, 6, 7})}},
      {.name = "both reversed",
       .op = "Slice",
       .inputs = {kMatrix, ints({-1, -1}), ints({-9, -9}), ints({0, 1}), ints({-1, -2})},
       .expected = {tensor<int64_t>({2, 2}, {8, 6, 4, 2})}},
      {.name = "of nothing",
       .op = "Slice",
       .inputs = {tensor<int64_t>({0}, {}), ints({0}), ints({5}), ints({0}), ints({-1})},
       .expected = {tensor<int64_t>({0}, {})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Slice, KeepsWhatIsKnown) {
  ir::Graph g;
  ir::Value* x = g.add_input("x", DType::F32, Shape({Dim::named("n"), 8, Dim()}));
  ir::Value* i = g.add_input("i", DType::I64, Shape({Dim(1)}));
  ir::Value *zero = g.add_constant("z", ints({0})), *one = g.add_constant("a", ints({1})),
            *end = g.add_constant("e", ints({INT64_MAX}));
  EXPECT_EQ(add_op(g, "Slice", {x, one, end, one})->output()->shape.text(), "[n, 7, ?]");
  EXPECT_EQ(add_op(g, "Slice", {x, zero, end, zero})->output()->shape.text(), "[n, 8, ?]");
  EXPECT_EQ(add_op(g, "Slice", {x, i, end, one})->output()->shape.text(), "[n, ?, ?]");
  EXPECT_EQ(add_op(g, "Slice", {x, zero, i})->output()->shape.text(), "[?, 8, ?]");
}

TEST(Slice, Refuses) {
  const OpCase cases[] = {
      {.name = "step 0",
       .op = "Slice",
       .inputs = {kTen, ints({0}), ints({1}), ints({0}), ints({0})},
       .expected = {Tensor()}},
      {.name = "lists", .op = "Slice", .inputs = {kTen, ints({0, 1}), ints({1})}, .expected = {Tensor()}},
      {.name = "axis", .op = "Slice", .inputs = {kTen, ints({0}), ints({1}), ints({1})}, .expected = {Tensor()}},
      {.name = "twice",
       .op = "Slice",
       .inputs = {kMatrix, ints({0, 0}), ints({1, 1}), ints({1, -1})},
       .expected = {Tensor()}},
      {.name = "no ends", .op = "Slice", .inputs = {kTen, ints({0})}, .expected = {Tensor()}},
  };
  for (const OpCase& c : cases) EXPECT_THROW(run_case(c), Error) << c.name;
}

}  // namespace hf::ops

// Concat and Split; Expand and Tile.
#include "ops/case.h"

namespace hf::ops {
namespace {

using Ints = std::vector<int64_t>;
Tensor ints(Ints v) { return Tensor::ints(v); }

const Tensor kSeven = tensor<int64_t>({7}, {1, 2, 3, 4, 5, 6, 7});
const Tensor kTwoByFour = tensor<int64_t>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});

Tensor nibbles(std::initializer_list<int64_t> v) {
  Tensor t(DType::U4, {static_cast<int64_t>(v.size())});
  write_elements(std::vector<int64_t>(v).data(), t);
  return t;
}

}  // namespace

TEST(Concat, Cases) {
  const OpCase cases[] = {
      {.name = "last axis",
       .op = "Concat",
       .attrs = {{"axis", int64_t{-1}}},
       .inputs = {tensor<int64_t>({2, 1}, {1, 2}), tensor<int64_t>({2, 2}, {3, 4, 5, 6}), tensor<int64_t>({2, 0}, {})},
       .expected = {tensor<int64_t>({2, 3}, {1, 3, 4, 2, 5, 6})}},
      {.name = "first axis",
       .op = "Concat",
       .attrs = {{"axis", int64_t{0}}},
       .inputs = {tensor<float>({1, 2}, {1, 2}), tensor<float>({2, 2}, {3, 4, 5, 6})},
       .expected = {tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6})}},
      {.name = "half bytes",
       .op = "Concat",
       .attrs = {{"axis", int64_t{0}}},
       .inputs = {nibbles({1, 2, 3}), nibbles({4, 5})},
       .expected = {nibbles({1, 2, 3, 4, 5})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Concat, KeepsWhatIsKnown) {
  ir::Graph g;
  ir::Value* a = g.add_input("a", DType::F32, Shape({Dim::named("n"), 3, Dim()}));
  ir::Value* b = g.add_input("b", DType::F32, Shape({Dim(), 4, 7}));
  EXPECT_EQ(add_op(g, "Concat", {a, b}, {{"axis", int64_t{1}}})->output()->shape.text(), "[n, 7, 7]");
}

TEST(Split, Cases) {
  const Tensor left = tensor<int64_t>({2, 2}, {1, 2, 5, 6}), right = tensor<int64_t>({2, 2}, {3, 4, 7, 8});
  const Tensor parts[] = {tensor<int64_t>({3}, {1, 2, 3}), tensor<int64_t>({3}, {4, 5, 6}), tensor<int64_t>({1}, {7})};
  const OpCase cases[] = {
      {.name = "equal",
       .op = "Split",
       .opset = 13,
       .attrs = {{"axis", int64_t{1}}},
       .inputs = {kTwoByFour},
       .expected = {left, right}},
      {.name = "sizes, attribute",
       .op = "Split",
       .opset = 11,
       .attrs = {{"split", Ints{3, 3, 1}}},
       .inputs = {kSeven},
       .expected = {parts[0], parts[1], parts[2]}},
      {.name = "sizes, input",
       .op = "Split",
       .inputs = {kSeven, ints({3, 3, 1})},
       .expected = {parts[0], parts[1], parts[2]}},
      {.name = "uneven",
       .op = "Split",
       .attrs = {{"num_outputs", int64_t{3}}},
       .inputs = {kSeven},
       .expected = {parts[0], parts[1], parts[2]}},
      {.name = "an empty part",
       .op = "Split",
       .inputs = {kSeven, ints({0, 7})},
       .expected = {tensor<int64_t>({0}, {}), kSeven}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Split, Refuses) {
  const OpCase cases[] = {
      {.name = "uneven", .op = "Split", .opset = 13, .inputs = {kSeven}, .expected = {Tensor(), Tensor()}},
      {.name = "sum", .op = "Split", .inputs = {kSeven, ints({3, 3})}, .expected = {Tensor(), Tensor()}},
      {.name = "negative", .op = "Split", .inputs = {kSeven, ints({8, -1})}, .expected = {Tensor(), Tensor()}},
      {.name = "number", .op = "Split", .inputs = {kSeven, ints({7})}, .expected = {Tensor(), Tensor()}},
      {.name = "overflow",
       .op = "Split",
       .inputs = {kSeven, ints({INT64_MAX, INT64_MAX})},
       .expected = {Tensor(), Tensor()}},
  };
  for (const OpCase& c : cases) EXPECT_THROW(run_case(c), Error) << c.name;
}

TEST(Expand, Cases) {
  const OpCase cases[] = {
      {.name = "rows",
       .op = "Expand",
       .inputs = {tensor<int64_t>({2, 1}, {1, 2}), ints({2, 3})},
       .expected = {tensor<int64_t>({2, 3}, {1, 1, 1, 2, 2, 2})}},
      {.name = "the input's extent wins over 1",
       .op = "Expand",
       .inputs = {tensor<int64_t>({2, 1}, {1, 2}), ints({2, 1, 1})},
       .expected = {tensor<int64_t>({2, 2, 1}, {1, 2, 1, 2})}},
      {.name = "a scalar",
       .op = "Expand",
       .inputs = {tensor<int64_t>({}, {5}), ints({3})},
       .expected = {tensor<int64_t>({3}, {5, 5, 5})}},
      {.name = "nothing",
       .op = "Expand",
       .inputs = {tensor<int64_t>({1}, {5}), ints({0})},
       .expected = {tensor<int64_t>({0}, {})}},
      {.name = "tiles",
       .op = "Tile",
       .inputs = {tensor<int64_t>({2, 2}, {1, 2, 3, 4}), ints({2, 2})},
       .expected = {tensor<int64_t>({4, 4}, {1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4})}},
      {.name = "no tiles",
       .op = "Tile",
       .inputs = {tensor<int64_t>({2}, {1, 2}), ints({0})},
       .expected = {tensor<int64_t>({0}, {})}},
  };
  for (const OpCase& c : cases) check_case(c);
  EXPECT_THROW(run_case({.name = "misfit",
                         .op = "Expand",
                         .inputs = {tensor<int64_t>({2}, {1, 2}), ints({3})},
                         .expected = {Tensor()}}),
               Error);
  EXPECT_THROW(run_case({.name = "huge",
                         .op = "Tile",
                         .inputs = {tensor<int64_t>({2}, {1, 2}), ints({INT64_MAX})},
                         .expected = {Tensor()}}),
               Error);
  EXPECT_THROW(run_case({.name = "large",
                         .op = "Tile",
                         .inputs = {tensor<int64_t>({2}, {1, 2}), ints({1LL << 50})},
                         .expected = {Tensor()}}),
               Error);
}

}  // namespace hf::ops

// TopK, Unique, NonMaxSuppression, ReverseSequence, Trilu, Col2Im.
#include <algorithm>
#include <cmath>

#include "ops/case.h"

namespace hf::ops {
namespace {

using Ints = std::vector<int64_t>;
Tensor ints(Ints v) { return Tensor::ints(v); }
const Tensor kNans = tensor<float>({6}, {1, NAN, 3, 2, NAN, 0});
const Tensor kDoubled = tensor<float>({6}, {2, 1, 1, 3, 4, 3});

}  // namespace

TEST(TopK, Cases) {
  const OpCase cases[] = {
      {.name = "NaN is greatest",
       .op = "TopK",
       .inputs = {kNans, ints({3})},
       .expected = {tensor<float>({3}, {NAN, NAN, 3}), ints({1, 4, 2})}},
      {.name = "NaN is last of the smallest",
       .op = "TopK",
       .attrs = {{"largest", int64_t{0}}},
       .inputs = {kNans, ints({5})},
       .expected = {tensor<float>({5}, {0, 1, 2, 3, NAN}), ints({5, 0, 3, 2, 1})}},
      {.name = "ties",
       .op = "TopK",
       .inputs = {tensor<float>({4}, {0, 1, 2, 2}), ints({3})},
       .expected = {tensor<float>({3}, {2, 2, 1}), ints({2, 3, 1})}},
      {.name = "columns, attribute",
       .op = "TopK",
       .opset = 9,
       .attrs = {{"k", int64_t{1}}, {"axis", int64_t{0}}},
       .inputs = {tensor<float>({2, 2}, {1, 4, 3, 2})},
       .expected = {tensor<float>({1, 2}, {3, 4}), tensor<int64_t>({1, 2}, {1, 0})}},
      {.name = "uint64",
       .op = "TopK",
       .inputs = {tensor<uint64_t>({2}, {1, UINT64_MAX}), ints({1})},
       .expected = {Tensor(), ints({1})}},
      {.name = "none", .op = "TopK", .inputs = {kNans, ints({0})}, .expected = {tensor<float>({0}, {}), ints({})}},
  };
  for (const OpCase& c : cases) check_case(c);
  for (int64_t k : {int64_t{7}, int64_t{-1}})
    EXPECT_THROW(run_case({.name = "k", .op = "TopK", .inputs = {kNans, ints({k})}, .expected = {Tensor(), Tensor()}}),
                 Error);
}

TEST(TopK, SmallAndLargeKAgreeOnALongRow) {
  Tensor x(DType::I64, {1000});
  for (int64_t i = 0; i < 1000; ++i) x.data<int64_t>()[i] = i * 7919 % 500;  // each value twice
  auto top = [&](int64_t k) {
    return to_ints(
        run_case({.name = "k", .op = "TopK", .inputs = {x, ints({k})}, .expected = {Tensor(), Tensor()}}).at(1));
  };
  const Ints few = top(20), all = top(1000);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
  for (size_t i = 0; i < 1000; i += 2) {
    EXPECT_EQ(x.data<int64_t>()[all[i]], 499 - static_cast<int64_t>(i / 2));
    EXPECT_LT(all[i], all[i + 1]);
  }
}

TEST(Unique, Cases) {
  Tensor words(DType::String, {3}), two(DType::String, {2});
  words.strings() = {"b", "a", "b"};
  two.strings() = {"a", "b"};
  const OpCase cases[] = {
      {.name = "sorted",
       .op = "Unique",
       .inputs = {kDoubled},
       .expected = {tensor<float>({4}, {1, 2, 3, 4}), ints({1, 0, 3, 4}), ints({1, 0, 0, 2, 3, 2}),
                    ints({2, 1, 2, 1})}},
      {.name = "as they come",
       .op = "Unique",
       .attrs = {{"sorted", int64_t{0}}},
       .inputs = {kDoubled},
       .expected = {tensor<float>({4}, {2, 1, 3, 4}), ints({0, 1, 3, 4}), ints({0, 1, 1, 2, 3, 2}),
                    ints({1, 2, 2, 1})}},
      {.name = "rows",
       .op = "Unique",
       .attrs = {{"axis", int64_t{0}}},
       .inputs = {tensor<int64_t>({3, 3}, {1, 0, 0, 1, 0, 0, 2, 3, 4})},
       .expected = {tensor<int64_t>({2, 3}, {1, 0, 0, 2, 3, 4}), ints({0, 2}), ints({0, 0, 1}), ints({2, 1})}},
      {.name = "middle axis",
       .op = "Unique",
       .attrs = {{"axis", int64_t{-2}}},
       .inputs = {tensor<int64_t>({2, 4, 2}, {1, 1, 0, 1, 2, 1, 0, 1, 1, 1, 0, 1, 2, 1, 0, 1})},
       .expected = {tensor<int64_t>({2, 3, 2}, {0, 1, 1, 1, 2, 1, 0, 1, 1, 1, 2, 1}), ints({1, 0, 2}),
                    ints({1, 0, 2, 0}), ints({2, 1, 1})}},
      {.name = "strings",
       .op = "Unique",
       .inputs = {words},
       .expected = {two, ints({1, 0}), ints({1, 0, 1}), ints({1, 2})}},
      {.name = "nothing",
       .op = "Unique",
       .inputs = {tensor<float>({0}, {})},
       .expected = {tensor<float>({0}, {}), ints({}), ints({}), ints({})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(NonMaxSuppression, Cases) {
  const Tensor boxes = tensor<float>(
      {1, 6, 4}, {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, -0.1f, 1, 0.9f, 0, 10, 1, 11, 0, 10.1f, 1, 11.1f, 0, 100, 1, 101});
  const Tensor centred = tensor<float>({1, 3, 4}, {0.5f, 0.5f, 1, 1, 0.5f, 0.6f, 1, 1, 0.5f, 10.5f, 1, 1});
  const Tensor scores = tensor<float>({1, 1, 6}, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f});
  const Tensor three = tensor<float>({1, 1, 3}, {0.9f, 0.95f, 0.95f});
  const Tensor half = tensor<float>({1}, {0.5f});
  const OpCase cases[] = {
      {.name = "suppressed",
       .op = "NonMaxSuppression",
       .inputs = {boxes, scores, ints({3}), half, tensor<float>({1}, {0})},
       .expected = {tensor<int64_t>({3, 3}, {0, 0, 3, 0, 0, 0, 0, 0, 5})}},
      {.name = "limited",
       .op = "NonMaxSuppression",
       .inputs = {boxes, scores, ints({2}), half},
       .expected = {tensor<int64_t>({2, 3}, {0, 0, 3, 0, 0, 0})}},
      {.name = "by score",
       .op = "NonMaxSuppression",
       .inputs = {boxes, scores, ints({3}), half, tensor<float>({1}, {0.4f})},
       .expected = {tensor<int64_t>({2, 3}, {0, 0, 3, 0, 0, 0})}},
      {.name = "no number means none",
       .op = "NonMaxSuppression",
       .inputs = {boxes, scores},
       .expected = {tensor<int64_t>({0, 3}, {})}},
      {.name = "centred, equal scores",
       .op = "NonMaxSuppression",
       .attrs = {{"center_point_box", int64_t{1}}},
       .inputs = {centred, three, ints({3}), half},
       .expected = {tensor<int64_t>({2, 3}, {0, 0, 1, 0, 0, 2})}},
  };
  for (const OpCase& c : cases) check_case(c);
  EXPECT_THROW(run_case({.name = "threshold",
                         .op = "NonMaxSuppression",
                         .inputs = {boxes, scores, ints({3}), tensor<float>({1}, {1.5f})},
                         .expected = {Tensor()}}),
               Error);
  EXPECT_THROW(
      run_case(
          {.name = "counts", .op = "NonMaxSuppression", .inputs = {boxes, three, ints({3})}, .expected = {Tensor()}}),
      Error);
}

TEST(Rearrange, Cases) {
  const Tensor sixteen = tensor<float>({4, 4}, {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15});
  const Tensor nine = tensor<int64_t>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const OpCase cases[] = {
      {.name = "time first",
       .op = "ReverseSequence",
       .inputs = {sixteen, ints({4, 3, 2, 0})},
       .expected = {tensor<float>({4, 4}, {3, 6, 9, 12, 2, 5, 8, 13, 1, 4, 10, 14, 0, 7, 11, 15})}},
      {.name = "batch first",
       .op = "ReverseSequence",
       .attrs = {{"batch_axis", int64_t{0}}, {"time_axis", int64_t{1}}},
       .inputs = {tensor<int64_t>({2, 3}, {1, 2, 3, 4, 5, 6}), ints({2, 3})},
       .expected = {tensor<int64_t>({2, 3}, {2, 1, 3, 6, 5, 4})}},
      {.name = "upper",
       .op = "Trilu",
       .inputs = {nine},
       .expected = {tensor<int64_t>({3, 3}, {1, 2, 3, 0, 5, 6, 0, 0, 9})}},
      {.name = "upper, k 1",
       .op = "Trilu",
       .inputs = {nine, ints({1})},
       .expected = {tensor<int64_t>({3, 3}, {0, 2, 3, 0, 0, 6, 0, 0, 0})}},
      {.name = "lower, k -1",
       .op = "Trilu",
       .attrs = {{"upper", int64_t{0}}},
       .inputs = {nine, ints({-1})},
       .expected = {tensor<int64_t>({3, 3}, {0, 0, 0, 4, 0, 0, 7, 8, 0})}},
      {.name = "lower, all",
       .op = "Trilu",
       .attrs = {{"upper", int64_t{0}}},
       .inputs = {nine, ints({INT64_MAX})},
       .expected = {nine}},
      {.name = "upper, all", .op = "Trilu", .inputs = {nine, ints({INT64_MIN})}, .expected = {nine}},
  };
  for (const OpCase& c : cases) check_case(c);
  for (int64_t n : {int64_t{-1}, int64_t{5}})
    EXPECT_THROW(run_case({.name = "length",
                           .op = "ReverseSequence",
                           .inputs = {sixteen, ints({1, 1, 1, n})},
                           .expected = {Tensor()}}),
                 Error);
}

TEST(Col2Im, AddsWhatOverlaps) {
  Tensor ones(DType::F32, {1, 4, 4});
  std::fill_n(ones.data<float>(), 16, 1.0f);
  check_case({.name = "2x2 blocks of a 3x3 image",
              .op = "Col2Im",
              .inputs = {ones, ints({3, 3}), ints({2, 2})},
              .expected = {tensor<float>({1, 1, 3, 3}, {1, 2, 1, 2, 4, 2, 1, 2, 1})}});
  check_case({.name = "padded by 1, in steps of 2",
              .op = "Col2Im",
              .attrs = {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}},
              .inputs = {ones, ints({2, 2}), ints({2, 2})},
              .expected = {tensor<float>({1, 1, 2, 2}, {1, 1, 1, 1})}});
  EXPECT_THROW(
      run_case(
          {.name = "blocks", .op = "Col2Im", .inputs = {ones, ints({4, 4}), ints({2, 2})}, .expected = {Tensor()}}),
      Error);
}

}  // namespace hf::ops

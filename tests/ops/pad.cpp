// Pad and CenterCropPad; expected values are numpy.pad's.
#include "ops/case.h"

namespace hf::ops {
namespace {

using Ints = std::vector<int64_t>;
Tensor ints(Ints v) { return Tensor::ints(v); }
const Tensor kThree = tensor<int64_t>({3}, {1, 2, 3});
const Tensor kMatrix = tensor<int64_t>({3, 2}, {1, 2, 3, 4, 5, 6});

Ints padded(const std::string& mode, int64_t begin, int64_t end, const Tensor& x = kThree) {
  return to_ints(run_case({.name = mode,
                           .op = "Pad",
                           .attrs = {{"mode", mode}},
                           .inputs = {x, ints({begin, end})},
                           .expected = {Tensor()}})
                     .at(0));
}

}  // namespace

TEST(Pad, Modes) {
  EXPECT_EQ(padded("constant", 1, 2), (Ints{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(padded("edge", 2, 1), (Ints{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(padded("reflect", 2, 1), (Ints{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(padded("reflect", 5, 6), (Ints{2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(padded("wrap", 4, 5), (Ints{3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(padded("reflect", 2, 1, tensor<int64_t>({1}, {9})), (Ints{9, 9, 9, 9}));
}

TEST(Pad, NegativePadsCrop) {
  EXPECT_EQ(padded("constant", -1, 0), (Ints{2, 3}));
  EXPECT_EQ(padded("constant", -2, 3), (Ints{3, 0, 0, 0}));
  EXPECT_EQ(padded("constant", -4, 3), (Ints{0, 0}));
  EXPECT_EQ(padded("constant", 3, -5), Ints{0});
  EXPECT_EQ(padded("reflect", -1, 2), (Ints{2, 3, 2, 3}));  // of what is left, [2, 3]
  EXPECT_EQ(padded("edge", -3, 0), Ints{});
}

TEST(Pad, Cases) {
  const OpCase cases[] = {
      {.name = "rows reflected",
       .op = "Pad",
       .attrs = {{"mode", std::string("reflect")}},
       .inputs = {kMatrix, ints({1, 0, 0, 0})},
       .expected = {tensor<int64_t>({4, 2}, {3, 4, 1, 2, 3, 4, 5, 6})}},
      {.name = "both axes",
       .op = "Pad",
       .attrs = {{"mode", std::string("edge")}},
       .inputs = {kMatrix, ints({0, 1, 1, 0})},
       .expected = {tensor<int64_t>({4, 3}, {1, 1, 2, 3, 3, 4, 5, 5, 6, 5, 5, 6})}},
      {.name = "axes",
       .op = "Pad",
       .inputs = {kMatrix, ints({0, 1}), tensor<int64_t>({}, {7}), ints({-1})},
       .expected = {tensor<int64_t>({3, 3}, {1, 2, 7, 3, 4, 7, 5, 6, 7})}},
      {.name = "attributes",
       .op = "Pad",
       .opset = 7,
       .attrs = {{"pads", Ints{0, 1}}, {"value", 2.5f}},
       .inputs = {tensor<float>({1}, {1})},
       .expected = {tensor<float>({2}, {1, 2.5f})}},
      {.name = "crop and pad",
       .op = "CenterCropPad",
       .inputs = {tensor<int64_t>({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), ints({5, 2})},
       .expected = {tensor<int64_t>({5, 2}, {0, 0, 2, 3, 7, 8, 0, 0, 0, 0})}},
      {.name = "one axis",
       .op = "CenterCropPad",
       .attrs = {{"axes", Ints{-1}}},
       .inputs = {kMatrix, ints({1})},
       .expected = {tensor<int64_t>({3, 1}, {1, 3, 5})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Pad, Refuses) {
  for (Ints pads : {Ints{1}, {-2, -2}, {INT64_MIN, INT64_MAX}, {INT64_MAX, INT64_MAX}, {1, 1, 1, 1}})
    EXPECT_THROW(run_case({.name = "pads", .op = "Pad", .inputs = {kThree, ints(pads)}, .expected = {Tensor()}}),
                 Error);
  EXPECT_THROW(padded("mirror", 1, 1), Error);
  EXPECT_THROW(padded("edge", 1, 1, tensor<int64_t>({0}, {})), Error);
}

}  // namespace hf::ops

// Strided copies against one element at a time, for every dtype; Transpose, which is one of them.
#include "ops/movement.h"

#include <algorithm>
#include <numeric>

#include "ops/case.h"

namespace hf::ops {
namespace {

Tensor counting(DType dtype, const Dims& dims) {
  Tensor t(dtype, dims);
  if (dtype == DType::String) {
    for (int64_t i = 0; i < t.size(); ++i)
      t.strings()[static_cast<size_t>(i)] = "a string over the inline size " + std::to_string(i);
  } else if (bits(dtype) >= 8) {
    auto* bytes = static_cast<uint8_t*>(t.raw());
    for (int64_t i = 0; i < t.size_bytes(); ++i) bytes[i] = static_cast<uint8_t>(i * 37 + i / 256);
  } else {
    auto* bytes = static_cast<uint8_t*>(t.raw());
    for (int64_t i = 0; i < t.size_bytes(); ++i) bytes[i] = static_cast<uint8_t>(i * 151 + 7);
  }
  return t;
}

// Element i as text, whatever its dtype.
std::string element(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::String) return t.strings()[static_cast<size_t>(i)];
  const int width = bits(t.dtype());
  const auto* bytes = static_cast<const char*>(t.raw());
  if (width >= 8) return {bytes + i * width / 8, static_cast<size_t>(width / 8)};
  return std::to_string((static_cast<uint8_t>(bytes[i * width / 8]) >> (i * width % 8)) & ((1 << width) - 1));
}

void check_transpose(DType dtype, const Dims& dims, const std::vector<int64_t>& perm) {
  const Tensor x = counting(dtype, dims);
  const OpCase c{.name = std::string(name(dtype)),
                 .op = "Transpose",
                 .attrs = {{"perm", perm}},
                 .inputs = {x},
                 .expected = {Tensor()}};
  const Tensor y = run_case(c).at(0);
  const Dims from = dims.strides(), to = y.dims().strides();
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t at = 0;
    for (size_t k = 0; k < perm.size(); ++k) {
      const int axis = static_cast<int>(perm[k]);
      at += i / from[axis] % dims[axis] * to[static_cast<int>(k)];
    }
    ASSERT_EQ(element(y, at), element(x, i)) << name(dtype) << " " << dims.text() << " element " << i;
  }
}

}  // namespace

TEST(Transpose, EveryDtypeAndOrder) {
  for (DType t : {DType::U8, DType::F16, DType::F32, DType::I64, DType::C128, DType::I4, DType::U2, DType::String}) {
    check_transpose(t, {37, 41}, {1, 0});
    check_transpose(t, {2, 3, 5, 7}, {0, 2, 1, 3});
    std::vector<int64_t> perm = {0, 1, 2, 3};
    do check_transpose(t, {3, 1, 18, 5}, perm);
    while (std::next_permutation(perm.begin(), perm.end()));
  }
  check_transpose(DType::F32, {4, 33, 130, 17}, {0, 2, 3, 1});
  check_transpose(DType::F32, {4, 33, 130, 17}, {3, 1, 0, 2});
}

TEST(Transpose, ReversesWithoutPerm) {
  check_case({.name = "reversed",
              .op = "Transpose",
              .inputs = {tensor<float>({2, 1, 3}, {1, 2, 3, 4, 5, 6})},
              .expected = {tensor<float>({3, 1, 2}, {1, 4, 2, 5, 3, 6})}});
}

TEST(Transpose, RefusesWhatIsNoPermutation) {
  for (std::vector<int64_t> perm : {std::vector<int64_t>{0, 0}, {0}, {0, 2}, {-1, 0}})
    EXPECT_THROW(run_case({.name = "perm",
                           .op = "Transpose",
                           .attrs = {{"perm", perm}},
                           .inputs = {tensor<float>({1, 2}, {1, 2})},
                           .expected = {Tensor()}}),
                 Error);
}

TEST(Movement, RepeatsAndReverses) {
  const Tensor x = tensor<int64_t>({3}, {1, 2, 3});
  Tensor y(DType::I64, {2, 3});
  const CopyAxis reversed[] = {{2, 0, 3}, {3, -1, 1}};
  copy_strided(x, 2, y, 0, reversed);
  EXPECT_EQ(to_ints(y), (std::vector<int64_t>{3, 2, 1, 3, 2, 1}));
  fill(y, tensor<int64_t>({}, {7}));
  EXPECT_EQ(to_ints(y), std::vector<int64_t>(6, 7));
  fill(y);
  EXPECT_EQ(to_ints(y), std::vector<int64_t>(6, 0));
}

TEST(Movement, WritesOnlyItsElementsOfAByte) {
  Tensor x(DType::U4, {1}), y(DType::U4, {3});
  fill(x);
  static_cast<uint8_t*>(x.raw())[0] = 0x5;
  static_cast<uint8_t*>(y.raw())[0] = 0xab;
  static_cast<uint8_t*>(y.raw())[1] = 0x0c;
  const CopyAxis one[] = {{1, 1, 1}};
  copy_strided(x, 0, y, 1, one);
  EXPECT_EQ(to_ints(y), (std::vector<int64_t>{0xb, 0x5, 0xc}));
}

TEST(Movement, NeverLeavesItsTensors) {
  const Tensor x = tensor<int64_t>({3}, {1, 2, 3});
  Tensor y(DType::I64, {3});
  const CopyAxis four[] = {{4, 0, 1}}, back[] = {{3, -1, 1}}, none[] = {{0, 9, 9}};
  EXPECT_THROW(copy_strided(x, 0, y, 0, four), Error);
  EXPECT_THROW(copy_strided(x, 1, y, 0, back), Error);
  copy_strided(x, 7, y, 7, none);
}

}  // namespace hf::ops

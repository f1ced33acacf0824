// Cast, CastLike and BitCast; texts as onnxruntime 1.32 prints and reads them.
#include <algorithm>
#include <limits>

#include "ops/case.h"

namespace hf::ops {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

Tensor floats(std::initializer_list<float> v) { return tensor<float>({static_cast<int64_t>(v.size())}, v); }
Tensor texts(std::vector<std::string> v) {
  Tensor t(DType::String, {static_cast<int64_t>(v.size())});
  t.strings() = std::move(v);
  return t;
}
// A tensor of 8-bit elements by their codes.
Tensor codes(DType dtype, std::initializer_list<uint8_t> v) {
  Tensor t(dtype, {static_cast<int64_t>(v.size())});
  std::copy(v.begin(), v.end(), static_cast<uint8_t*>(t.raw()));
  return t;
}
ir::Attrs to(DType t, ir::Attrs more = {}) {
  more["to"] = static_cast<int64_t>(t);
  return more;
}
void expect_codes(const OpCase& c, std::initializer_list<int> wanted) {
  Tensor got = run_case(c)[0];
  const auto* p = static_cast<const uint8_t*>(got.raw());
  EXPECT_EQ(std::vector<int>(p, p + wanted.size()), std::vector<int>(wanted)) << c.name;
}

}  // namespace

TEST(Cast, Numbers) {
  const OpCase cases[] = {
      {.name = "toward zero",
       .op = "Cast",
       .attrs = to(DType::I32),
       .inputs = {floats({-1.7f, 1.7f, 0.5f})},
       .expected = {tensor<int32_t>({3}, {-1, 1, 0})}},
      {.name = "low bits",
       .op = "Cast",
       .attrs = to(DType::I8),
       .inputs = {tensor<int16_t>({2}, {200, -200})},
       .expected = {tensor<int8_t>({2}, {-56, 56})}},
      {.name = "out of range as through int64",
       .op = "Cast",
       .attrs = to(DType::I8),
       .inputs = {floats({200.7f, -200.5f, 300})},
       .expected = {tensor<int8_t>({3}, {-56, 56, 44})}},
      {.name = "bool is not zero",
       .op = "Cast",
       .attrs = to(DType::Bool),
       .inputs = {floats({0, -0.0f, 0.25f, kNan})},
       .expected = {codes(DType::Bool, {0, 0, 1, 1})}},
      {.name = "from bool",
       .op = "Cast",
       .attrs = to(DType::F32),
       .inputs = {codes(DType::Bool, {0, 1})},
       .expected = {floats({0, 1})}},
      {.name = "64 bits are exact",
       .op = "Cast",
       .attrs = to(DType::U64),
       .inputs = {tensor<int64_t>({1}, {INT64_MAX})},
       .expected = {tensor<uint64_t>({1}, {INT64_MAX})}},
      {.name = "half overflows",
       .op = "Cast",
       .opset = 9,
       .attrs = to(DType::F32),
       .inputs = {tensor<Half>({2}, {{0x7c00}, {0x3800}})},
       .expected = {floats({kInf, 0.5f})}},
      {.name = "int4",
       .op = "Cast",
       .attrs = to(DType::I32),
       .inputs = {codes(DType::I4, {0x18, 0xff}).reshaped({2})},
       .expected = {tensor<int32_t>({2}, {-8, 1})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Cast, LargeTensorsInBlocks) {
  Tensor x(DType::I32, {5000}), wanted(DType::F64, {5000});
  for (int i = 0; i < 5000; ++i) x.data<int32_t>()[i] = i * 3, wanted.data<double>()[i] = i * 3;
  check_case(
      {.name = "blocks", .op = "Cast", .attrs = to(DType::F64), .inputs = {x}, .expected = {wanted}, .tolerance = 0});
}

// The tables of ONNX's Cast-19 and Cast-24.
TEST(Cast, SmallFloats) {
  const Tensor x = floats({0, 1, 448, 480, kInf, -kInf});
  expect_codes({.name = "e4m3", .op = "Cast", .attrs = to(DType::F8E4M3FN), .inputs = {x}, .expected = {Tensor()}},
               {0, 0x38, 0x7e, 0x7e, 0x7e, 0xfe});
  expect_codes({.name = "e4m3 not saturated",
                .op = "Cast",
                .attrs = to(DType::F8E4M3FN, {{"saturate", int64_t{0}}}),
                .inputs = {x},
                .expected = {Tensor()}},
               {0, 0x38, 0x7e, 0x7f, 0x7f, 0xff});
  expect_codes({.name = "e5m2 not saturated",
                .op = "Cast",
                .attrs = to(DType::F8E5M2, {{"saturate", int64_t{0}}}),
                .inputs = {floats({kInf, 1e6f, 1})},
                .expected = {Tensor()}},
               {0x7c, 0x7c, 0x3c});
  const Tensor powers = floats({1, 1.25f, 1.5f, 2, kInf, 0});
  expect_codes({.name = "up", .op = "Cast", .attrs = to(DType::F8E8M0), .inputs = {powers}, .expected = {Tensor()}},
               {127, 128, 128, 128, 254, 0});
  expect_codes({.name = "down",
                .op = "Cast",
                .attrs = to(DType::F8E8M0, {{"round_mode", std::string("down")}}),
                .inputs = {powers},
                .expected = {Tensor()}},
               {127, 127, 127, 128, 254, 0});
  expect_codes({.name = "nearest",
                .op = "Cast",
                .attrs = to(DType::F8E8M0, {{"round_mode", std::string("nearest")}, {"saturate", int64_t{0}}}),
                .inputs = {powers},
                .expected = {Tensor()}},
               {127, 127, 128, 128, 255, 255});
  expect_codes({.name = "text",
                .op = "Cast",
                .attrs = to(DType::F8E4M3FN),
                .inputs = {texts({"1", "1e9"})},
                .expected = {Tensor()}},
               {0x38, 0x7e});
}

TEST(Cast, Float4) {
  // 6 is the greatest, ties go to even: 5 becomes 4; NaN becomes -0.
  const Tensor got = run_case(
      {.op = "Cast", .attrs = to(DType::F4E2M1), .inputs = {floats({9, -0.4f, 5, kNan})}, .expected = {Tensor()}})[0];
  EXPECT_EQ(static_cast<const uint8_t*>(got.raw())[0], 0x97);
  EXPECT_EQ(static_cast<const uint8_t*>(got.raw())[1], 0x86);
}

TEST(Cast, Texts) {
  const OpCase cases[] = {
      {.name = "print floats",
       .op = "Cast",
       .attrs = to(DType::String),
       .inputs = {floats({1, 0.1f, 1e20f, kInf, -kInf, kNan, 123456.79f})},
       .expected = {texts({"1", "0.1", "1e+20", "INF", "-INF", "NaN", "123456.79"})}},
      {.name = "print halves",
       .op = "Cast",
       .attrs = to(DType::String),
       .inputs = {tensor<Half>({1}, {{0x2e66}})},
       .expected = {texts({"0.099976"})}},
      {.name = "print integers",
       .op = "Cast",
       .attrs = to(DType::String),
       .inputs = {tensor<uint64_t>({2}, {UINT64_MAX, 0})},
       .expected = {texts({"18446744073709551615", "0"})}},
      {.name = "print bools",
       .op = "Cast",
       .attrs = to(DType::String),
       .inputs = {codes(DType::Bool, {1, 0})},
       .expected = {texts({"1", "0"})}},
      {.name = "read floats",
       .op = "Cast",
       .attrs = to(DType::F32),
       .inputs = {texts({"3.14", "+1e-5", " 1E8 ", "+INF", "-inf", "NaN", "1e39", "1e-400", "-1e999"})},
       .expected = {floats({3.14f, 1e-5f, 1e8f, kInf, -kInf, kNan, kInf, 0, -kInf})}},
      {.name = "read integers",
       .op = "Cast",
       .attrs = to(DType::I64),
       .inputs = {texts({"9223372036854775807", "-3", "100.5"})},
       .expected = {tensor<int64_t>({3}, {INT64_MAX, -3, 100})}},
      {.name = "read bytes",
       .op = "Cast",
       .attrs = to(DType::U8),
       .inputs = {texts({"300"})},
       .expected = {tensor<uint8_t>({1}, {44})}},
  };
  for (const OpCase& c : cases) check_case(c);
  for (const char* bad : {"", "abc", "1x", "--1", "+-1", "0x10"})
    EXPECT_THROW(run_case({.op = "Cast", .attrs = to(DType::F32), .inputs = {texts({bad})}, .expected = {Tensor()}}),
                 Error)
        << bad;
}

TEST(Cast, LikeAndBits) {
  check_case({.name = "like",
              .op = "CastLike",
              .opset = 15,
              .inputs = {floats({1.5f}), tensor<int64_t>({0}, {})},
              .expected = {tensor<int64_t>({1}, {1})}});
  check_case({.name = "bits",
              .op = "BitCast",
              .attrs = to(DType::I32),
              .inputs = {floats({1, -0.0f})},
              .expected = {tensor<int32_t>({2}, {0x3f800000, INT32_MIN})}});
  EXPECT_THROW(run_case({.op = "BitCast", .attrs = to(DType::I16), .inputs = {floats({1})}, .expected = {Tensor()}}),
               Error);
  EXPECT_THROW(
      run_case({.op = "Cast", .attrs = {{"to", int64_t{99}}}, .inputs = {floats({1})}, .expected = {Tensor()}}), Error);
}

}  // namespace hf::ops

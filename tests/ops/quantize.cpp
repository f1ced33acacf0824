// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. Values by hand.
#include "ops/case.h"

namespace hf::ops {
namespace {

// A tensor of any dtype, written as numbers.
Tensor numbers(DType dtype, const Dims& dims, std::initializer_list<float> values) {
  Tensor t(dtype, dims);
  write_elements(values.begin(), t);
  return t;
}

}  // namespace

TEST(QuantizeLinear, Cases) {
  const Tensor one = tensor<float>({}, {1});
  const OpCase cases[] = {
      {.name = "ties to even, saturation, no number",
       .op = "QuantizeLinear",
       .opset = 10,
       .inputs = {tensor<float>({8}, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 200, -INFINITY, 127.5f}), one,
                  tensor<int8_t>({}, {0})},
       .expected = {tensor<int8_t>({8}, {0, 2, 2, 0, -2, 127, -128, 127})},
       .tolerance = 0},
      {.name = "the zero point is added after rounding",
       .op = "QuantizeLinear",
       .inputs = {tensor<float>({3}, {0.5f, 1.5f, -300}), one, tensor<uint8_t>({}, {1})},
       .expected = {tensor<uint8_t>({3}, {1, 3, 0})},
       .tolerance = 0},
      {.name = "uint8 unless said otherwise",
       .op = "QuantizeLinear",
       .inputs = {tensor<float>({1}, {7}), tensor<float>({}, {2})},
       .expected = {tensor<uint8_t>({1}, {4})},
       .tolerance = 0},
      {.name = "along an axis",
       .op = "QuantizeLinear",
       .opset = 13,
       .attrs = {{"axis", int64_t{-2}}},
       .inputs = {tensor<float>({1, 2, 2}, {2, 4, 20, 40}), tensor<float>({2}, {2, 10}), tensor<uint8_t>({2}, {0, 1})},
       .expected = {tensor<uint8_t>({1, 2, 2}, {1, 2, 3, 5})},
       .tolerance = 0},
      {.name = "in blocks, the last one short",
       .op = "QuantizeLinear",
       .opset = 21,
       .attrs = {{"block_size", int64_t{2}}},
       .inputs = {tensor<float>({1, 3, 2}, {2, 4, 6, 8, 10, 12}), tensor<float>({1, 2, 2}, {1, 2, 5, 6}),
                  tensor<uint8_t>({1, 2, 2}, {0, 1, 2, 3})},
       .expected = {tensor<uint8_t>({1, 3, 2}, {2, 3, 6, 5, 4, 5})},
       .tolerance = 0},
      {.name = "int4",
       .op = "QuantizeLinear",
       .opset = 21,
       .attrs = {{"output_dtype", static_cast<int64_t>(DType::I4)}},
       .inputs = {tensor<float>({3}, {-100, 3, 100}), one},
       .expected = {numbers(DType::I4, {3}, {-8, 3, 7})},
       .tolerance = 0},
      {.name = "uint16",
       .op = "QuantizeLinear",
       .opset = 21,
       .inputs = {tensor<float>({2}, {70000, 5}), one, tensor<uint16_t>({}, {9})},
       .expected = {tensor<uint16_t>({2}, {65535, 14})},
       .tolerance = 0},
      {.name = "float8 saturates",
       .op = "QuantizeLinear",
       .opset = 19,
       .inputs = {tensor<float>({2}, {1000, 3}), tensor<float>({}, {2}), numbers(DType::F8E4M3FN, {}, {0})},
       .expected = {numbers(DType::F8E4M3FN, {2}, {448, 1.5f})},
       .tolerance = 0},
      {.name = "or not",
       .op = "QuantizeLinear",
       .opset = 19,
       .attrs = {{"saturate", int64_t{0}}},
       .inputs = {tensor<float>({2}, {1000, 3}), one, numbers(DType::F8E5M2, {}, {0})},
       .expected = {numbers(DType::F8E5M2, {2}, {1024, 3})},
       .tolerance = 0},
      {.name = "integers",
       .op = "QuantizeLinear",
       .inputs = {tensor<int32_t>({2}, {5, 300}), tensor<float>({}, {2})},
       .expected = {tensor<uint8_t>({2}, {2, 150})},
       .tolerance = 0},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(DequantizeLinear, Cases) {
  const OpCase cases[] = {
      {.name = "one scale",
       .op = "DequantizeLinear",
       .opset = 10,
       .inputs = {tensor<uint8_t>({3}, {0, 3, 255}), tensor<float>({}, {0.5f}), tensor<uint8_t>({}, {3})},
       .expected = {tensor<float>({3}, {-1.5f, 0, 126})}},
      {.name = "along a negative axis",
       .op = "DequantizeLinear",
       .attrs = {{"axis", int64_t{-2}}},
       .inputs = {tensor<int8_t>({1, 2, 3}, {0, 1, 2, 3, 4, 5}), tensor<float>({2}, {1, 10})},
       .expected = {tensor<float>({1, 2, 3}, {0, 1, 2, 30, 40, 50})}},
      {.name = "in blocks",
       .op = "DequantizeLinear",
       .attrs = {{"block_size", int64_t{2}}},
       .inputs = {tensor<uint8_t>({1, 4}, {9, 9, 9, 9}), tensor<float>({1, 2}, {1, 2}),
                  tensor<uint8_t>({1, 2}, {1, 2})},
       .expected = {tensor<float>({1, 4}, {8, 8, 14, 14})}},
      {.name = "int32",
       .op = "DequantizeLinear",
       .inputs = {tensor<int32_t>({2}, {-6, 8}), tensor<float>({1}, {0.25f})},
       .expected = {tensor<float>({2}, {-1.5f, 2})}},
      {.name = "int4",
       .op = "DequantizeLinear",
       .inputs = {numbers(DType::I4, {3}, {-8, 0, 7}), tensor<float>({}, {2}), numbers(DType::I4, {}, {1})},
       .expected = {tensor<float>({3}, {-18, -2, 12})}},
      {.name = "the output's type is the scale's, or as said",
       .op = "DequantizeLinear",
       .attrs = {{"output_dtype", static_cast<int64_t>(DType::F16)}},
       .inputs = {tensor<int8_t>({1}, {3}), tensor<float>({}, {2})},
       .expected = {numbers(DType::F16, {1}, {6})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(DynamicQuantizeLinear, Cases) {
  const OpCase cases[] = {
      {.name = "the range holds zero",
       .op = "DynamicQuantizeLinear",
       .inputs = {tensor<float>({3}, {-51, 0, 204})},
       .expected = {tensor<uint8_t>({3}, {0, 51, 255}), tensor<float>({}, {1}), tensor<uint8_t>({}, {51})}},
      {.name = "zeros",
       .op = "DynamicQuantizeLinear",
       .inputs = {tensor<float>({2}, {0, 0})},
       .expected = {tensor<uint8_t>({2}, {0, 0}), tensor<float>({}, {1}), tensor<uint8_t>({}, {0})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(QuantizeLinear, RefusesWhatDoesNotFit) {
  const Tensor x = tensor<float>({2, 2}, {1, 2, 3, 4});
  const OpCase cases[] = {
      {.name = "scale", .op = "QuantizeLinear", .inputs = {x, tensor<float>({3}, {1, 1, 1})}, .expected = {Tensor()}},
      {.name = "zero point",
       .op = "QuantizeLinear",
       .inputs = {x, tensor<float>({}, {1}), tensor<uint8_t>({2}, {1, 1})},
       .expected = {Tensor()}},
      {.name = "axis",
       .op = "QuantizeLinear",
       .attrs = {{"axis", int64_t{2}}},
       .inputs = {x, tensor<float>({2}, {1, 1})},
       .expected = {Tensor()}},
      {.name = "blocks",
       .op = "QuantizeLinear",
       .attrs = {{"block_size", int64_t{3}}},
       .inputs = {x, tensor<float>({2, 2}, {1, 1, 1, 1})},
       .expected = {Tensor()}},
      {.name = "type",
       .op = "QuantizeLinear",
       .attrs = {{"output_dtype", int64_t{1}}},
       .inputs = {x, tensor<float>({}, {1})},
       .expected = {Tensor()}},
      {.name = "no type",
       .op = "DequantizeLinear",
       .attrs = {{"output_dtype", int64_t{99}}},
       .inputs = {tensor<int8_t>({1}, {1}), tensor<float>({}, {1})},
       .expected = {Tensor()}},
  };
  for (const OpCase& c : cases) EXPECT_THROW(run_case(c), Error) << c.name;
}

}  // namespace hf::ops

// Gemm, MatMul and their integer and fused forms.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {
namespace {

Tensor quarter(const Dims& dims) { return wave(dims, 0, 0.25f); }

}  // namespace

TEST(Gemm, Cases) {
  const Tensor a = tensor<float>({2, 2}, {1, 2, 3, 4}), b = tensor<float>({2, 2}, {1, 10, 100, 1000});
  const OpCase cases[] = {
      {.name = "alpha, beta, transA and a column of C",
       .op = "Gemm",  // by numpy
       .attrs = {{"alpha", 0.5f}, {"beta", 2.0f}, {"transA", int64_t{1}}},
       .inputs = {quarter({3, 2}), quarter({3, 2}), quarter({2, 1})},
       .expected = {tensor<float>({2, 2}, {-1.5625f, -3.21875f, 0.28125f, 2.1875f})}},
      {.name = "plain", .op = "Gemm", .inputs = {a, b}, .expected = {tensor<float>({2, 2}, {201, 2010, 403, 4030})}},
      {.name = "transB and a row of C",
       .op = "Gemm",
       .opset = 7,
       .attrs = {{"transB", int64_t{1}}},
       .inputs = {a, b, tensor<float>({2}, {1, 2})},
       .expected = {tensor<float>({2, 2}, {22, 2102, 44, 4302})}},
      {.name = "a scalar C",
       .op = "Gemm",
       .inputs = {a, b, tensor<float>({}, {-1})},
       .expected = {tensor<float>({2, 2}, {200, 2009, 402, 4029})}},
      {.name = "integers",
       .op = "Gemm",
       .inputs = {tensor<int32_t>({1, 2}, {1 << 30, 3}), tensor<int32_t>({2, 1}, {4, 5}), tensor<int32_t>({1, 1}, {7})},
       .expected = {tensor<int32_t>({1, 1}, {22})}},  // 2^32 wraps to 0
      {.name = "nothing to sum",
       .op = "Gemm",
       .inputs = {tensor<float>({1, 0}, {}), tensor<float>({0, 2}, {})},
       .expected = {tensor<float>({1, 2}, {0, 0})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(MatMul, Cases) {
  const Tensor row = tensor<float>({2}, {1, 2}), square = tensor<float>({2, 2}, {1, 2, 3, 4});
  const OpCase cases[] = {
      {.name = "batches broadcast both ways",
       .op = "MatMul",
       .inputs = {quarter({2, 1, 2, 3}), quarter({2, 3, 2})},  // by numpy
       .expected = {tensor<float>({2, 2, 2, 2}, {1.1875f, 0.375f, -1.875f, 1.5f, -1.625f, 1, 1.1875f, 1.125f, -1.5f,
                                                 1.25f, -1.125f, 1, 1.25f, 1.25f, 1.3125f, 1.375f})}},
      {.name = "vector by vector", .op = "MatMul", .inputs = {row, row}, .expected = {tensor<float>({}, {5})}},
      {.name = "vector by matrix", .op = "MatMul", .inputs = {row, square}, .expected = {tensor<float>({2}, {7, 10})}},
      {.name = "matrix by vector", .op = "MatMul", .inputs = {square, row}, .expected = {tensor<float>({2}, {5, 11})}},
      {.name = "64-bit integers",
       .op = "MatMul",
       .inputs = {tensor<int64_t>({1, 1}, {1LL << 40}), tensor<int64_t>({1, 1}, {3})},
       .expected = {tensor<int64_t>({1, 1}, {3LL << 40})}},
      {.name = "transposed, scaled",
       .op = "FusedMatMul",
       .domain = "com.microsoft",
       .attrs = {{"alpha", 2.0f}, {"transA", int64_t{1}}, {"transB", int64_t{1}}},
       .inputs = {square, square},
       .expected = {tensor<float>({2, 2}, {14, 30, 20, 44})}},
      {.name = "batch behind the rows",
       .op = "FusedMatMul",
       .domain = "com.microsoft",
       .attrs = {{"transBatchA", int64_t{1}}},
       .inputs = {tensor<float>({1, 2, 1}, {2, 3}), tensor<float>({2, 1, 1}, {5, 7})},
       .expected = {tensor<float>({2, 1, 1}, {10, 21})}},
      {.name = "zero points",
       .op = "MatMulInteger",
       .inputs = {tensor<uint8_t>({2, 2}, {1, 2, 3, 4}), tensor<int8_t>({2, 1}, {-1, 3}), tensor<uint8_t>({}, {1}),
                  tensor<int8_t>({1}, {1})},
       .expected = {tensor<int32_t>({2, 1}, {2, 2})}},
      {.name = "requantised",
       .op = "QLinearMatMul",  // 11 * 0.5 / 2 + 3 = 5.75
       .inputs = {tensor<uint8_t>({1, 2}, {1, 2}), tensor<float>({}, {0.5f}), tensor<uint8_t>({}, {0}),
                  tensor<uint8_t>({2, 1}, {3, 4}), tensor<float>({}, {1}), tensor<uint8_t>({}, {0}),
                  tensor<float>({}, {2}), tensor<uint8_t>({}, {3})},
       .expected = {tensor<uint8_t>({1, 1}, {6})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

// Larger than every tile and strip of the loops: element (i, j) of the product is i * j * k for these factors.
TEST(MatMul, LargerThanATile) {
  const int64_t m = 37, k = 5, n = 1030;
  Tensor a(DType::F32, {m, k}), b(DType::F32, {k, n}), y(DType::F32, {m, n});
  for (int64_t i = 0; i < m * k; ++i) a.data<float>()[i] = static_cast<float>(i / k);
  for (int64_t i = 0; i < k * n; ++i) b.data<float>()[i] = static_cast<float>(i % n);
  for (int64_t i = 0; i < m * n; ++i) y.data<float>()[i] = static_cast<float>(i / n * (i % n) * k);
  check_case({.name = "large", .op = "MatMul", .inputs = {a, b}, .expected = {y}});
}

TEST(MatMul, RefusesWhatDoesNotFit) {
  const OpCase cases[] = {
      {.name = "inner", .op = "MatMul", .inputs = {quarter({2, 3}), quarter({2, 3})}, .expected = {Tensor()}},
      {.name = "batch", .op = "MatMul", .inputs = {quarter({2, 1, 1}), quarter({3, 1, 1})}, .expected = {Tensor()}},
      {.name = "scalar", .op = "MatMul", .inputs = {quarter({}), quarter({1})}, .expected = {Tensor()}},
      {.name = "rank", .op = "Gemm", .inputs = {quarter({2}), quarter({2, 2})}, .expected = {Tensor()}},
      {.name = "C", .op = "Gemm", .inputs = {quarter({2, 2}), quarter({2, 2}), quarter({3})}, .expected = {Tensor()}},
  };
  for (const OpCase& c : cases) EXPECT_THROW(run_case(c), Error) << c.name;
}

}  // namespace hf::ops

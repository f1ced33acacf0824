// MatMulNBits. Expected values: numpy, which onnxruntime 1.32 confirms.
#include <algorithm>

#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {

TEST(MatMulNBits, Cases) {
  const OpCase cases[] = {
      {.name = "4 bits",
       .op = "MatMulNBits",
       .domain = "com.microsoft",
       .attrs = {{"K", int64_t{32}}, {"N", int64_t{2}}, {"bits", int64_t{4}}, {"block_size", int64_t{16}}},
       .inputs = {wave({2, 32}, 1),
                  tensor<uint8_t>({2, 2, 8}, {163, 129, 111, 77, 43, 9, 231, 197, 163, 129, 111, 77, 43, 9, 231, 197,
                                              163, 129, 111, 77, 43, 9, 231, 197, 163, 129, 111, 77, 43, 9, 231, 197}),
                  wave({2, 2}, 2, 0.25f)},
       .expected = {tensor<float>({2, 2}, {8.875f, 10, 1.59375f, -6.375f})}},
      {.name = "4 bits, a block that is not full, packed zero points, bias",
       .op = "MatMulNBits",
       .domain = "com.microsoft",
       .attrs = {{"K", int64_t{24}}, {"N", int64_t{2}}, {"bits", int64_t{4}}, {"block_size", int64_t{16}}},
       .inputs = {wave({1, 2, 24}, 1),
                  tensor<uint8_t>({2, 2, 8}, {163, 129, 111, 77, 43, 9, 231, 197, 163, 129, 111, 77, 43, 9, 231, 197,
                                              163, 129, 111, 77, 43, 9, 231, 197, 163, 129, 111, 77, 43, 9, 231, 197}),
                  wave({2, 2}, 2, 0.25f), tensor<uint8_t>({2, 1}, {97, 11}), Tensor(), wave({2}, 5)},
       .expected = {tensor<float>({1, 2, 2}, {13.03125f, 7.5f, -2.59375f, -3.875f})}},
      {.name = "8 bits, zero points as numbers",
       .op = "MatMulNBits",
       .domain = "com.microsoft",
       .attrs = {{"K", int64_t{16}}, {"N", int64_t{2}}, {"bits", int64_t{8}}, {"block_size", int64_t{16}}},
       .inputs = {wave({2, 16}, 1), tensor<uint8_t>({2, 1, 16}, {3,   10,  17,  24,  31,  38,  45,  52,  59,  66,  73,
                                                                 80,  87,  94,  101, 108, 115, 122, 129, 136, 143, 150,
                                                                 157, 164, 171, 178, 185, 192, 199, 206, 213, 220}),
                  wave({2, 1}, 2, 0.25f), wave({2, 1}, 4)},
       .expected = {tensor<float>({2, 2}, {10.82812f, -84.57422f, -14.98438f, 117.8789f})}},
      {.name = "2 bits",
       .op = "MatMulNBits",
       .domain = "com.microsoft",
       .attrs = {{"K", int64_t{16}}, {"N", int64_t{2}}, {"bits", int64_t{2}}, {"block_size", int64_t{16}}},
       .inputs = {wave({2, 16}, 1), tensor<uint8_t>({2, 1, 4}, {27, 27, 27, 27, 27, 27, 27, 27}),
                  wave({2, 1}, 2, 0.25f), tensor<uint8_t>({2, 1}, {1, 2})},
       .expected = {tensor<float>({2, 2}, {0.34375f, -0.5625f, -0.53125f, 0.9375f})}},
      {.name = "g_idx",
       .op = "MatMulNBits",
       .domain = "com.microsoft",
       .attrs = {{"K", int64_t{32}}, {"N", int64_t{1}}, {"bits", int64_t{4}}, {"block_size", int64_t{16}}},
       .inputs = {wave({2, 32}, 1),
                  tensor<uint8_t>({1, 2, 8}, {163, 129, 111, 77, 43, 9, 231, 197, 163, 129, 111, 77, 43, 9, 231, 197}),
                  wave({1, 2}, 2, 0.25f), Tensor(),
                  tensor<int32_t>({32}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                         0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})},
       .expected = {tensor<float>({2, 1}, {-9.625f, 3.71875f})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(MatMulNBits, AProjectionLeftOutIsZero) {
  const ir::Attrs attrs = {{"K", int64_t{16}}, {"N", int64_t{2}}, {"block_size", int64_t{16}}};
  check_case({.name = "empty",
              .op = "MatMulNBits",
              .domain = "com.microsoft",
              .attrs = attrs,
              .inputs = {wave({1, 16}, 1), Tensor(DType::U8, {0, 1, 8}), Tensor(DType::F32, {0, 1}), Tensor(), Tensor(),
                         tensor<float>({2}, {3, 4})},
              .expected = {tensor<float>({1, 2}, {3, 4})}});
}

TEST(MatMulNBits, Refuses) {
  const Tensor a = wave({1, 16}, 1), s = wave({2, 1}, 1), none;
  Tensor b(DType::U8, {2, 1, 8});
  std::fill_n(b.data<uint8_t>(), 16, uint8_t{0});
  const ir::Attrs attrs = {{"K", int64_t{16}}, {"N", int64_t{2}}, {"block_size", int64_t{16}}};
  auto with = [&](const char* name, int64_t v) {
    ir::Attrs changed = attrs;
    changed[name] = v;
    return changed;
  };
  const OpCase cases[] = {
      {.name = "bits", .op = "MatMulNBits", .attrs = with("bits", 3), .inputs = {a, b, s}},
      {.name = "block", .op = "MatMulNBits", .attrs = with("block_size", 24), .inputs = {a, b, s}},
      {.name = "N", .op = "MatMulNBits", .attrs = with("N", 3), .inputs = {a, b, s}},
      {.name = "K", .op = "MatMulNBits", .attrs = with("K", int64_t{1} << 40), .inputs = {a, b, s}},
      {.name = "scales", .op = "MatMulNBits", .attrs = attrs, .inputs = {a, b, wave({1, 1}, 1)}},
      {.name = "g_idx",
       .op = "MatMulNBits",
       .attrs = attrs,
       .inputs = {a, b, s, none, Tensor::ints(std::vector<int64_t>(16, 1))}},
  };
  for (OpCase c : cases) {
    c.domain = "com.microsoft";
    c.expected = {Tensor()};
    EXPECT_THROW(run_case(c), Error) << c.name;
  }
}

}  // namespace hf::ops

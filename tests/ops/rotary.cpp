// RotaryEmbedding. Expected values: onnx.reference 1.23 and, for com.microsoft, onnxruntime 1.32.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {

TEST(Rotary, Cases) {
  const OpCase cases[] = {
      {.name = "halves",
       .op = "RotaryEmbedding",
       .opset = 23,
       .attrs = {{"num_heads", int64_t{2}}},
       .inputs = {wave({1, 2, 4}, 1), wave({3, 1}, 2), wave({3, 1}, 3), tensor<int64_t>({1, 2}, {2, 0})},
       .expected = {tensor<float>({1, 2, 4}, {0.1875f, 0.4375f, -0.125f, -0.25f, 0.0625f, 0.25f, -0.25f, -0.203125f})}},
      {.name = "interleaved, 4-D",
       .op = "RotaryEmbedding",
       .opset = 23,
       .attrs = {{"interleaved", int64_t{1}}},
       .inputs = {wave({1, 2, 2, 4}, 1), wave({1, 2, 2}, 2), wave({1, 2, 2}, 3)},
       .expected = {tensor<float>(
           {1, 2, 2, 4}, {-0.34375f, -0.046875f, -0.046875f, 0.140625f, 0.25f, -0.25f, -0.140625f, -0.1875f, 0.296875f,
                          -0.140625f, -0.09375f, 0.09375f, 0.375f, -0.25f, -0.1875f, -0.140625f})}},
      {.name = "a part of the head",
       .op = "RotaryEmbedding",
       .opset = 23,
       .attrs = {{"rotary_embedding_dim", int64_t{4}}},
       .inputs = {wave({1, 1, 2, 6}, 1), wave({1, 2, 2}, 2), wave({1, 2, 2}, 3)},
       .expected = {tensor<float>({1, 1, 2, 6}, {-0.09375f, -0.234375f, -0.109375f, 0.140625f, 0.5f, 0, -0.3125f,
                                                 0.234375f, 0.1875f, 0.140625f, 0.25f, -0.25f})}},
      {.name = "com.microsoft, positions",
       .op = "RotaryEmbedding",
       .domain = "com.microsoft",
       .inputs = {wave({2, 2, 8}, 1), tensor<int64_t>({2, 2}, {0, 3, 1, 2}), wave({4, 2}, 2), wave({4, 2}, 3)},
       .expected = {tensor<float>(
           {2, 2, 8}, {-0.09375f,  -0.234375f, -0.109375f, 0.140625f, 0.3125f,   -0,         0.1875f,   -0.140625f,
                       -0.046875f, 0.328125f,  -0.0625f,   0.3125f,   0.015625f, 0.046875f,  0.203125f, -0.34375f,
                       0.1875f,    0.046875f,  0.1875f,    -0.1875f,  -0.4375f,  -0.234375f, 0.1875f,   0.09375f,
                       0,          -0.140625f, -0.265625f, 0.234375f, 0.234375f, -0.25f,     0.125f,    -0.46875f})}},
      {.name = "com.microsoft, a start",
       .op = "RotaryEmbedding",
       .domain = "com.microsoft",
       .attrs = {{"interleaved", int64_t{1}}},
       .inputs = {wave({2, 2, 8}, 1), tensor<int64_t>({1}, {1}), wave({4, 2}, 2), wave({4, 2}, 3)},
       .expected = {tensor<float>(
           {2, 2, 8}, {0.1875f,    0.4375f,   0.140625f, 0.046875f, 0.25f,      -0.25f,     -0.140625f, -0.1875f,
                       -0.015625f, 0.328125f, -0.0625f,  -0.25f,    -0.296875f, -0.140625f, 0.171875f,  0.421875f,
                       -0.25f,     -0.25f,    0.046875f, 0.140625f, -0.1875f,   0.4375f,    -0.234375f, -0.09375f,
                       -0.109375f, 0.171875f, 0.1875f,   -0.3125f,  0.296875f,  -0.125f,    -0.4375f,   -0.15625f})}},
      {.name = "com.microsoft, part of a 4-D head",
       .op = "RotaryEmbedding",
       .domain = "com.microsoft",
       .attrs = {{"rotary_embedding_dim", int64_t{4}}, {"num_heads", int64_t{2}}, {"scale", 0.5f}},
       .inputs = {wave({1, 2, 2, 6}, 1), tensor<int64_t>({1, 2}, {0, 3}), wave({4, 2}, 2), wave({4, 2}, 3)},
       .expected = {tensor<float>(
           {1, 2, 2, 6}, {-0.09375f,  -0.234375f, -0.109375f, 0.140625f, 0.5f,      0,          0.09375f,  -0.390625f,
                          -0.109375f, 0.296875f,  0.25f,      -0.25f,    0.265625f, -0.046875f, 0.265625f, -0.1875f,
                          0,          -0.5f,      0.109375f,  0.140625f, 0.171875f, -0.125f,    -0.25f,    0.625f})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Rotary, Refuses) {
  const Tensor x = wave({1, 2, 4}, 1), c = wave({3, 1}, 2);
  const ir::Attrs heads = {{"num_heads", int64_t{2}}};
  const OpCase cases[] = {
      {.name = "position",
       .op = "RotaryEmbedding",
       .attrs = heads,
       .inputs = {x, c, c, tensor<int64_t>({1, 2}, {0, 3})}},
      {.name = "no heads", .op = "RotaryEmbedding", .inputs = {x, c, c, tensor<int64_t>({1, 2}, {0, 1})}},
      {.name = "angles",
       .op = "RotaryEmbedding",
       .attrs = heads,
       .inputs = {x, wave({3, 2}, 2), wave({3, 2}, 2), tensor<int64_t>({1, 2}, {0, 1})}},
      {.name = "caches without positions", .op = "RotaryEmbedding", .attrs = heads, .inputs = {x, c, c}},
  };
  for (OpCase r : cases) {
    r.expected = {Tensor()};
    EXPECT_THROW(run_case(r), Error) << r.name;
  }
}

}  // namespace hf::ops

// MultiHeadAttention. Expected values: onnxruntime 1.32.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {

TEST(MultiHeadAttention, Cases) {
  const OpCase cases[] = {
      {.name = "plain",
       .op = "MultiHeadAttention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}},
       .inputs = {wave({2, 2, 4}, 1, 0.5f), wave({2, 3, 4}, 2, 0.5f), wave({2, 3, 2}, 3, 0.5f)},
       .expected = {tensor<float>(
           {2, 2, 2}, {-1.99445f, 0.930055f, 0.3034275f, 0.3605952f, 2.404155f, 0.5f, 2.349854f, 0.5002934f})}},
      {.name = "bias and scale",
       .op = "MultiHeadAttention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}, {"scale", 0.9f}},
       .inputs = {wave({2, 2, 4}, 1, 0.5f), wave({2, 3, 4}, 2, 0.5f), wave({2, 3, 2}, 3, 0.5f), wave({10}, 4)},
       .expected = {tensor<float>(
           {2, 2, 2}, {-2.374901f, 1.937057f, -0.1851644f, 1.792598f, 1.857142f, 0.7495043f, 1.672667f, 0.9998995f})}},
      {.name = "lengths",
       .op = "MultiHeadAttention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}, {"mask_filter_value", -3.0f}},
       .inputs = {wave({2, 2, 4}, 1, 0.5f), wave({2, 3, 4}, 2, 0.5f), wave({2, 3, 2}, 3, 0.5f), Tensor(),
                  tensor<int32_t>({2}, {2, 0})},
       .expected = {tensor<float>(
           {2, 2, 2}, {-1.996498f, 1.262091f, 1.673478f, 1.018521f, 2.404155f, 0.5f, 2.349854f, 0.5002934f})}},
      {.name = "key padding",
       .op = "MultiHeadAttention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}},
       .inputs = {wave({2, 2, 4}, 1, 0.5f), wave({2, 3, 4}, 2, 0.5f), wave({2, 3, 2}, 3, 0.5f), Tensor(),
                  tensor<int32_t>({2, 3}, {1, 0, 1, 0, 1, 1})},
       .expected = {tensor<float>(
           {2, 2, 2}, {0.4260998f, -1.031302f, 0.3255962f, -1.139801f, 2.452408f, 1.969919f, 2.365562f, 0.5018122f})}},
      {.name = "mask of queries",
       .op = "MultiHeadAttention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}},
       .inputs = {wave({2, 2, 4}, 1, 0.5f), wave({2, 3, 4}, 2, 0.5f), wave({2, 3, 2}, 3, 0.5f), Tensor(),
                  tensor<int32_t>({2, 2, 3}, {1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0})},
       .expected = {tensor<float>(
           {2, 2, 2}, {0.4260998f, -1.031302f, -0.5212491f, 0.4712667f, 2.404155f, 0.5f, 2.349801f, 0.5002935f})}},
      {.name = "attention bias, causal",
       .op = "MultiHeadAttention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}},
       .inputs = {wave({2, 2, 4}, 1, 0.5f), wave({2, 2, 4}, 2, 0.5f), wave({2, 2, 2}, 3, 0.5f), Tensor(), Tensor(),
                  wave({1, 2, 2, 2}, 5)},
       .expected = {tensor<float>({2, 2, 2}, {2, 0, 1.930523f, 1.279605f, -0.5f, -2.5f, -0.4690123f, -1.753331f})}},
      {.name = "past",
       .op = "MultiHeadAttention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}},
       .inputs = {wave({1, 2, 4}, 1, 0.5f), wave({1, 2, 4}, 2, 0.5f), wave({1, 2, 4}, 3, 0.5f), Tensor(), Tensor(),
                  Tensor(), wave({1, 2, 1, 2}, 5), wave({1, 2, 1, 2}, 6)},
       .expected = {tensor<float>({1, 2, 4}, {0.4606833f, -0.2199024f, -0.9171324f, 0.9327836f, 1.44817f, -0.122131f,
                                              0.4879739f, 0.0174616f}),
                    tensor<float>({1, 2, 3, 2},
                                  {-0.125f, -0.625f, 0.5f, -1.5f, -2, 1.5f, 0.25f, -0.25f, 2, 0, -0.5f, -2.5f}),
                    tensor<float>({1, 2, 3, 2}, {0.25f, -0.25f, 2, 0, -0.5f, -2.5f, 0.625f, 0.125f, -2, 1.5f, 1, -1})}},
      {.name = "a cache",
       .op = "MultiHeadAttention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}},
       .inputs = {wave({1, 2, 4}, 1, 0.5f), wave({1, 2, 3, 2}, 2, 0.5f), wave({1, 2, 3, 2}, 3, 0.5f), wave({12}, 4)},
       .expected = {tensor<float>({1, 2, 4}, {-0.5006249f, -2.496883f, 1.146826f, -0.7394145f, -1.499631f, 1.248884f,
                                              1.166182f, -0.5434688f})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

// No oracle takes packed operands on a CPU; unpacked they are the plain form.
TEST(MultiHeadAttention, Packed) {
  const ir::Attrs attrs = {{"num_heads", int64_t{2}}};
  auto unpacked = [](const Tensor& t, int64_t which) {  // [1, rows, 2 heads, parts, 2] to [1, rows, 4]
    const Dims& d = t.dims();
    Tensor u(DType::F32, {1, d[1], 4});
    for (int64_t i = 0; i < u.size(); ++i) u.data<float>()[i] = t.data<float>()[(i / 2 * d[3] + which) * 2 + i % 2];
    return u;
  };
  const Tensor all = wave({1, 3, 2, 3, 2}, 1, 0.5f), two = wave({1, 3, 2, 2, 2}, 2, 0.5f), q = wave({1, 2, 4}, 3, 0.5f);
  const Tensor bias = wave({12}, 4);
  auto run = [&](std::vector<Tensor> inputs) {
    return run_case({.name = "packed",
                     .op = "MultiHeadAttention",
                     .domain = "com.microsoft",
                     .attrs = attrs,
                     .inputs = std::move(inputs),
                     .expected = {Tensor()}})[0];
  };
  expect_equal(run({all, Tensor(), Tensor(), bias}), run({unpacked(all, 0), unpacked(all, 1), unpacked(all, 2), bias}),
               1e-6, "query, key and value");
  expect_equal(run({q, two}), run({q, unpacked(two, 0), unpacked(two, 1)}), 1e-6, "key and value");
}

TEST(MultiHeadAttention, Refuses) {
  const ir::Attrs attrs = {{"num_heads", int64_t{2}}};
  const Tensor q = wave({1, 2, 4}, 1), none;
  const OpCase cases[] = {
      {.name = "heads", .op = "MultiHeadAttention", .attrs = {{"num_heads", int64_t{3}}}, .inputs = {q, q, q}},
      {.name = "no key", .op = "MultiHeadAttention", .attrs = attrs, .inputs = {q}},
      {.name = "no value", .op = "MultiHeadAttention", .attrs = attrs, .inputs = {q, q}},
      {.name = "bias", .op = "MultiHeadAttention", .attrs = attrs, .inputs = {q, q, q, wave({8}, 1)}},
      {.name = "mask",
       .op = "MultiHeadAttention",
       .attrs = attrs,
       .inputs = {q, q, q, none, tensor<int32_t>({3}, {1, 1, 1})}},
      {.name = "attention bias",
       .op = "MultiHeadAttention",
       .attrs = attrs,
       .inputs = {q, q, q, none, none, wave({1, 3, 2, 2}, 1)}},
      {.name = "past_key alone",
       .op = "MultiHeadAttention",
       .attrs = attrs,
       .inputs = {q, q, q, none, none, none, wave({1, 2, 1, 2}, 1)}},
  };
  for (OpCase c : cases) {
    c.domain = "com.microsoft";
    c.expected = {Tensor()};
    EXPECT_THROW(run_case(c), Error) << c.name;
  }
}

}  // namespace hf::ops

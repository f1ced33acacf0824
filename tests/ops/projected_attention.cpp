// Attention of com.microsoft. Expected values: onnxruntime 1.32.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {

TEST(ProjectedAttention, Cases) {
  const OpCase cases[] = {
      {.name = "plain",
       .op = "Attention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}},
       .inputs = {wave({2, 2, 3}, 1, 0.5f), wave({3, 12}, 2), wave({12}, 3)},
       .expected = {tensor<float>({2, 2, 4}, {-0.1083809f, 1.863295f, -0.9514706f, -0.3634804f, -0.1068822f, 1.864494f,
                                              -0.9520968f, -0.3638979f, -0.7303812f, 1.365695f, -1.327724f, -0.6143163f,
                                              -0.728878f, 1.366898f, -1.328354f, -0.6147358f}),
                    tensor<float>({2, 2, 2, 2, 2},
                                  {1.25f,    -1.625f, 1.375f,  -1.4375f, -1.0625f, 0.875f,   -0.8125f, 1.1875f,
                                   1.5f,     -1.25f,  1.625f,  -1.0625f, -0.5625f, 1.5f,     -0.3125f, 1.8125f,
                                   0.0625f,  2,       -0.25f,  1.75f,    -0.875f,  -0.3125f, -1.0625f, -0.4375f,
                                   -0.5625f, 1.5f,    -0.875f, 1.25f,    -1.25f,   -0.5625f, -1.4375f, -0.6875f})}},
      {.name = "causal, no bias",
       .op = "Attention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}},
       .inputs = {wave({2, 2, 3}, 1, 0.5f), wave({3, 12}, 2)},
       .expected = {tensor<float>(
           {2, 2, 4}, {-0.5625f, 1.875f, -0.5f, -0.8125f, -0.7284481f, 1.742241f, -0.5773477f, -0.8640651f, -1.1875f,
                       1.375f, -0.875f, -1.0625f, -1.350435f, 1.244652f, -0.9536058f, -1.114904f})}},
      {.name = "ends",
       .op = "Attention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}},
       .inputs = {wave({2, 2, 3}, 1, 0.5f), wave({3, 12}, 2), wave({12}, 3), tensor<int32_t>({2}, {1, 2})},
       .expected = {tensor<float>(
           {2, 2, 4}, {0.0625f, 2, -0.875f, -0.3125f, 0.0625f, 2, -0.875f, -0.3125f, -0.7303812f, 1.365695f, -1.327724f,
                       -0.6143163f, -0.728878f, 1.366898f, -1.328354f, -0.6147358f})}},
      {.name = "ends and starts",
       .op = "Attention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}},
       .inputs = {wave({2, 2, 3}, 1, 0.5f), wave({3, 12}, 2), wave({12}, 3), tensor<int32_t>({4}, {2, 2, 1, 0})},
       .expected = {tensor<float>(
           {2, 2, 4}, {-0.25f, 1.75f, -1.0625f, -0.4375f, -0.25f, 1.75f, -1.0625f, -0.4375f, -0.7303812f, 1.365695f,
                       -1.327724f, -0.6143163f, -0.728878f, 1.366898f, -1.328354f, -0.6147358f})}},
      {.name = "padding mask",
       .op = "Attention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}, {"mask_filter_value", -2.0f}},
       .inputs = {wave({2, 2, 3}, 1, 0.5f), wave({3, 12}, 2), wave({12}, 3), tensor<int32_t>({2, 2}, {0, 1, 1, 0})},
       .expected = {tensor<float>({2, 2, 4}, {-0.2184846f, 1.775212f, -1.031708f, -0.4169717f, -0.2179325f, 1.775654f,
                                              -1.032061f, -0.4172076f, -0.6049293f, 1.466057f, -1.266396f, -0.5734304f,
                                              -0.6042253f, 1.46662f, -1.266603f, -0.5735689f})}},
      {.name = "sizes, mask of queries",
       .op = "Attention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}, {"qkv_hidden_sizes", std::vector<int64_t>{4, 4, 2}}},
       .inputs = {wave({2, 2, 3}, 1, 0.5f), wave({3, 10}, 2), wave({10}, 3),
                  tensor<int32_t>({2, 2, 2}, {1, 0, 1, 1, 0, 1, 1, 1})},
       .expected = {tensor<float>({2, 2, 2},
                                  {-1.25f, 0.6875f, -1.122756f, 0.8441815f, -0.5f, 1.625f, -0.6237916f, 1.466161f})}},
      {.name = "past",
       .op = "Attention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}, {"scale", 0.8f}},
       .inputs = {wave({2, 2, 3}, 1, 0.5f), wave({3, 12}, 2), wave({12}, 3), Tensor(), wave({2, 2, 2, 1, 2}, 5)},
       .expected = {tensor<float>({2, 2, 4}, {0.01012222f, -0.09511137f, -0.4585008f, -0.2500251f, -0.03054341f,
                                              0.164635f, -0.6572987f, -0.3100213f, -0.6178322f, 0.3933568f, -0.6847492f,
                                              0.1087353f, -0.6476513f, 0.4902487f, -0.8711086f, -0.0896127f}),
                    tensor<float>({2, 2, 2, 3, 2},
                                  {-0.125f,  -0.625f,  1.25f,    -1.625f,  1.375f,   -1.4375f, 0.25f,    -0.25f,
                                   -1.0625f, 0.875f,   -0.8125f, 1.1875f,  0.625f,   0.125f,   1.5f,     -1.25f,
                                   1.625f,   -1.0625f, -0.375f,  0.5f,     -0.5625f, 1.5f,     -0.3125f, 1.8125f,
                                   0,        -0.5f,    0.0625f,  2,        -0.25f,   1.75f,    0.375f,   -0.125f,
                                   -0.875f,  -0.3125f, -1.0625f, -0.4375f, -0.625f,  0.25f,    -0.5625f, 1.5f,
                                   -0.875f,  1.25f,    -0.25f,   0.625f,   -1.25f,   -0.5625f, -1.4375f, -0.6875f})}},
      {.name = "attention bias",
       .op = "Attention",
       .domain = "com.microsoft",
       .attrs = {{"num_heads", int64_t{2}}},
       .inputs = {wave({2, 2, 3}, 1, 0.5f), wave({3, 12}, 2), wave({12}, 3), Tensor(), Tensor(), wave({1, 1, 2, 2}, 6)},
       .expected = {tensor<float>({2, 2, 4}, {-0.0695575f, 1.894354f, -0.9302476f, -0.3493317f, -0.0680854f, 1.895532f,
                                              -0.9307873f, -0.3496915f, -0.691618f, 1.396706f, -1.30633f, -0.6000533f,
                                              -0.6901554f, 1.397875f, -1.306876f, -0.6004171f})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(ProjectedAttention, Refuses) {
  const ir::Attrs attrs = {{"num_heads", int64_t{2}}};
  const ir::Attrs sizes = {{"num_heads", int64_t{2}}, {"qkv_hidden_sizes", std::vector<int64_t>{4, 2, 6}}};
  const Tensor x = wave({1, 2, 3}, 1), w = wave({3, 12}, 2), none;
  const OpCase cases[] = {
      {.name = "weights", .op = "Attention", .attrs = attrs, .inputs = {x, wave({4, 12}, 2)}},
      {.name = "three parts", .op = "Attention", .attrs = attrs, .inputs = {x, wave({3, 11}, 2)}},
      {.name = "sizes", .op = "Attention", .attrs = sizes, .inputs = {x, w}},
      {.name = "past", .op = "Attention", .attrs = attrs, .inputs = {x, w, none, none, wave({2, 1, 3, 1, 2}, 1)}},
      {.name = "rotary",
       .op = "Attention",
       .attrs = {{"num_heads", int64_t{2}}, {"do_rotary", int64_t{1}}},
       .inputs = {x, w}},
  };
  for (OpCase c : cases) {
    c.domain = "com.microsoft";
    c.expected = {Tensor()};
    EXPECT_THROW(run_case(c), Error) << c.name;
  }
}

}  // namespace hf::ops

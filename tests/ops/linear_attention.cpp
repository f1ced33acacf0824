// LinearAttention and CausalConvWithState. Expected values: onnx.reference 1.23.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {

TEST(LinearAttention, Cases) {
  const OpCase cases[] = {
      {.name = "linear",
       .op = "LinearAttention",
       .opset = 27,
       .attrs = {{"update_rule", std::string("linear")}, {"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}},
       .inputs = {wave({1, 3, 4}, 1), wave({1, 3, 2}, 2), wave({1, 3, 3}, 3)},
       .expected = {tensor<float>({1, 3, 6},
                                  {-0.09391262f, 0, 0.09391262f, 0.05524272f, 0, -0.05524272f, 0.08838835f,
                                   -0.02209709f, -0.1325825f, -0.1381068f, 0.02209709f, 0.182301f, 0.03038349f,
                                   0.03590777f, -0.1256772f, 0.0386699f, 0.02762136f, -0.1961116f}),
                    tensor<float>({1, 1, 2, 3}, {0.125f, 0.0625f, -0.6875f, -0.09375f, -0.09375f, 0.421875f})}},
      {.name = "gated, a decay a head",
       .op = "LinearAttention",
       .opset = 27,
       .attrs = {{"update_rule", std::string("gated")},
                 {"scale", 0.5f},
                 {"q_num_heads", int64_t{2}},
                 {"kv_num_heads", int64_t{1}}},
       .inputs = {wave({1, 3, 4}, 1), wave({1, 3, 2}, 2), wave({1, 3, 3}, 3), wave({1, 1, 2, 3}, 4),
                  wave({1, 3, 1}, 5)},
       .expected = {tensor<float>({1, 3, 6},
                                  {-0.1836129f, 0.02757803f, 0.01125019f, 0.1149021f, -0.02068352f, -0.004589965f,
                                   -0.003807355f, 0.02865936f, -0.1012499f, -0.07036589f, -0.006517183f, 0.09792551f,
                                   0.1384717f, -0.03510067f, -0.01409472f, 0.03370544f, 0.02678934f, -0.1305174f}),
                    tensor<float>({1, 1, 2, 3},
                                  {-0.144555f, 0.2721974f, -0.8325299f, -0.4141985f, 0.05788267f, 0.2116091f})}},
      {.name = "delta",
       .op = "LinearAttention",
       .opset = 27,
       .attrs = {{"update_rule", std::string("delta")}, {"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}},
       .inputs = {wave({1, 3, 4}, 1), wave({1, 3, 2}, 2), wave({1, 3, 3}, 3), wave({1, 1, 2, 3}, 4), Tensor(),
                  wave({1, 3, 1}, 6)},
       .expected = {tensor<float>({1, 3, 6},
                                  {-0.2032328f, 0.0419931f, -0.06124173f, 0.1305972f, -0.03185088f, 0.03927412f,
                                   -0.2005462f, 0.1469435f, -0.02612161f, 0.02666108f, -0.08181749f, -0.02579792f,
                                   0.3238193f, -0.1350785f, 0.04281747f, -0.004873313f, 0.04303712f, -0.04239657f}),
                    tensor<float>({1, 1, 2, 3},
                                  {-0.6335726f, 0.4575853f, -0.2805967f, -0.606005f, 0.2141306f, -0.04076552f})}},
      {.name = "gated_delta, a decay a row, two heads",
       .op = "LinearAttention",
       .opset = 27,
       .attrs = {{"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}},
       .inputs = {wave({1, 2, 4}, 1), wave({1, 2, 4}, 2), wave({1, 2, 2}, 3), Tensor(), wave({1, 2, 4}, 5),
                  wave({1, 2, 2}, 6)},
       .expected = {tensor<float>({1, 2, 2}, {-0.02347815f, 0, 0.06175008f, -0.005696905f}),
                    tensor<float>({1, 2, 2, 1}, {0.1746556f, -0.1622145f, -0.005859375f, -0.02929688f})}},
      {.name = "one beta for two heads",
       .op = "LinearAttention",
       .opset = 27,
       .attrs = {{"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}},
       .inputs = {wave({1, 2, 4}, 1), wave({1, 2, 4}, 2), wave({1, 2, 2}, 3), Tensor(), wave({1, 2, 2}, 5),
                  wave({1, 2, 1}, 6)},
       .expected = {tensor<float>({1, 2, 2}, {-0.02347815f, 0, -0.01356295f, 0.01139381f}),
                    tensor<float>({1, 2, 2, 1}, {-0.03836183f, -0.01637015f, 0.01171875f, 0.05859375f})}},

      {.name = "no past",
       .op = "CausalConvWithState",
       .opset = 27,
       .inputs = {wave({1, 2, 4}, 1), wave({2, 1, 3}, 2)},
       .expected = {tensor<float>({1, 2, 4},
                                  {-0.125f, 0.40625f, -0.203125f, -0.15625f, 0.1875f, -0.25f, -0.1875f, 0.390625f}),
                    tensor<float>({1, 2, 2}, {0.125f, -0.375f, -0.5f, 0.375f})}},
      {.name = "past, bias, silu",
       .op = "CausalConvWithState",
       .opset = 27,
       .attrs = {{"activation", std::string("silu")}},
       .inputs = {wave({2, 2, 3}, 1), wave({2, 1, 3}, 2), wave({2}, 3), wave({2, 2, 2}, 4)},
       .expected = {tensor<float>({2, 2, 3}, {0.09330463f, 0.6879115f, 0.1703108f, 0.09330463f, 0.22225f, -0.1094559f,
                                              0.22225f, 0.5899959f, 0.1308579f, -0.1265642f, 0.2438265f, -0.09745958f}),
                    tensor<float>({2, 2, 2}, {0.625f, 0.125f, 0.5f, 0, 0.375f, -0.125f, 0.25f, -0.25f})}},
      {.name = "shorter than the kernel",
       .op = "CausalConvWithState",
       .opset = 27,
       .inputs = {wave({1, 1, 1}, 1), wave({1, 1, 4}, 2), Tensor(), wave({1, 1, 3}, 4)},
       .expected = {tensor<float>({1, 1, 1}, {-0.265625f}), tensor<float>({1, 1, 3}, {0.375f, -0.125f, -0.25f})}},
      {.name = "a kernel of one",
       .op = "CausalConvWithState",
       .opset = 27,
       .inputs = {wave({1, 1, 2}, 1), wave({1, 1, 1}, 2)},
       .expected = {tensor<float>({1, 1, 2}, {-0.03125f, 0.078125f}), tensor<float>({1, 1, 0}, {})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(LinearAttention, Refuses) {
  const Tensor q = wave({1, 2, 4}, 1), none;
  const ir::Attrs linear = {
      {"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}, {"update_rule", std::string("linear")}};
  const ir::Attrs delta = {
      {"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{2}}, {"update_rule", std::string("delta")}};
  const OpCase cases[] = {
      {.name = "decay without a gate", .op = "LinearAttention", .attrs = linear, .inputs = {q, q, q, none, q}},
      {.name = "no beta", .op = "LinearAttention", .attrs = delta, .inputs = {q, q, q}},
      {.name = "beta's extent",
       .op = "LinearAttention",
       .attrs = delta,
       .inputs = {q, q, q, none, none, wave({1, 2, 3}, 1)}},
      {.name = "key's extent", .op = "LinearAttention", .attrs = linear, .inputs = {q, wave({1, 2, 6}, 1), q}},
      {.name = "state's rank", .op = "LinearAttention", .attrs = linear, .inputs = {q, q, q, q}},
      {.name = "activation",
       .op = "CausalConvWithState",
       .attrs = {{"activation", std::string("relu")}},
       .inputs = {q, wave({2, 1, 2}, 1)}},
      {.name = "state's extent",
       .op = "CausalConvWithState",
       .inputs = {q, wave({2, 1, 2}, 1), none, wave({1, 2, 2}, 1)}},
      {.name = "no kernel", .op = "CausalConvWithState", .inputs = {q, wave({2, 1, 0}, 1)}},
  };
  for (OpCase c : cases) {
    c.expected = {Tensor(), Tensor()};
    EXPECT_THROW(run_case(c), Error) << c.name;
  }
}

}  // namespace hf::ops

// RNN, GRU, LSTM. Expected values: onnxruntime 1.32 (layout 1, which it lacks: its layout 0, transposed).
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {

TEST(Recurrent, Cases) {
  const OpCase cases[] = {
      {.name = "RNN forward",
       .op = "RNN",
       .attrs = {{"hidden_size", int64_t{2}}},
       .inputs = {wave({3, 2, 2}, 1), wave({1, 2, 2}, 2, 0.5f), wave({1, 2, 2}, 3, 0.5f), wave({1, 4}, 4)},
       .expected = {tensor<float>({3, 1, 2, 2}, {-0.9338281f, -0.635149f, 0, 0, -0.9777046f, 0.9308785f, -0.8931934f,
                                                 -0.8482836f, -0.9360819f, 0.9933534f, -0.9572017f, 0.6434044f}),
                    tensor<float>({1, 2, 2}, {-0.9360819f, 0.9933534f, -0.9572017f, 0.6434044f})}},
      {.name = "RNN bidirectional, ragged",
       .op = "RNN",
       .attrs = {{"hidden_size", int64_t{2}},
                 {"direction", std::string("bidirectional")},
                 {"activations", std::vector<std::string>{"Relu", "LeakyRelu"}},
                 {"activation_alpha", std::vector<float>{0.1f}}},
       .inputs = {wave({3, 2, 2}, 1), wave({2, 2, 2}, 2, 0.5f), wave({2, 2, 2}, 3, 0.5f), wave({2, 4}, 4),
                  tensor<int32_t>({2}, {3, 2}), wave({2, 2, 2}, 5)},
       .expected = {tensor<float>({3, 2, 2, 2},
                                  {0,     0,      0.5f, 0, 3.172344f,   -0.1830938f, -0.0203125f, 2.29375f,
                                   0,     0.75f,  0,    0, -0.5103125f, -0.241875f,  1.375f,      -0.16875f,
                                   0.25f, 0.625f, 0,    0, -0.04375f,   2,           0,           0}),
                    tensor<float>({2, 2, 2}, {0.25f, 0.625f, 0, 0, 3.172344f, -0.1830938f, -0.0203125f, 2.29375f})}},
      {.name = "GRU without bias",
       .op = "GRU",
       .opset = 7,
       .attrs = {{"hidden_size", int64_t{2}}},
       .inputs = {wave({3, 2, 2}, 1), wave({1, 6, 2}, 2, 0.5f), wave({1, 6, 2}, 3, 0.5f)},
       .expected = {tensor<float>({3, 1, 2, 2},
                                  {-0.5231202f, -0.1884245f, 0.1611149f, 0.05444467f, -0.2317755f, -0.02962139f,
                                   -0.2471822f, -0.6379691f, -0.0347079f, -0.2422037f, -0.2021913f, -0.3958215f}),
                    tensor<float>({1, 2, 2}, {-0.0347079f, -0.2422037f, -0.2021913f, -0.3958215f})}},
      {.name = "GRU reverse, ragged",
       .op = "GRU",
       .attrs = {{"hidden_size", int64_t{2}}, {"direction", std::string("reverse")}},
       .inputs = {wave({3, 2, 2}, 1), wave({1, 6, 2}, 2, 0.5f), wave({1, 6, 2}, 3, 0.5f), wave({1, 12}, 4),
                  tensor<int32_t>({2}, {3, 2}), wave({1, 2, 2}, 5)},
       .expected = {tensor<float>({3, 1, 2, 2},
                                  {-0.1176875f, -0.8948072f, 0.147747f, -0.9182329f, 0.1889163f, -0.687785f,
                                   0.02598041f, -0.8337812f, 0.004096426f, -0.8421783f, 0, 0}),
                    tensor<float>({1, 2, 2}, {-0.1176875f, -0.8948072f, 0.147747f, -0.9182329f})}},
      {.name = "GRU linear_before_reset",
       .op = "GRU",
       .attrs = {{"hidden_size", int64_t{2}},
                 {"direction", std::string("bidirectional")},
                 {"linear_before_reset", int64_t{1}},
                 {"clip", 0.75f}},
       .inputs = {wave({3, 2, 2}, 1), wave({2, 6, 2}, 2, 0.5f), wave({2, 6, 2}, 3, 0.5f), wave({2, 12}, 4),
                  tensor<int32_t>({2}, {3, 2}), wave({2, 2, 2}, 5)},
       .expected = {tensor<float>({3, 2, 2, 2}, {-0.4714823f,  -0.6317533f, 0.373564f,   -0.4545948f,
                                                 -0.1906664f,  -0.2632725f, -0.4164387f, 0.2407107f,
                                                 -0.243035f,   -0.2737589f, 0.122459f,   -0.5772234f,
                                                 -0.5054466f,  0.5239901f,  -0.1509091f, -0.1217608f,
                                                 0.005196229f, -0.4253088f, 0,           0,
                                                 -0.2308664f,  0.2886667f,  0,           0}),
                    tensor<float>({2, 2, 2}, {0.005196229f, -0.4253088f, 0.122459f, -0.5772234f, -0.1906664f,
                                              -0.2632725f, -0.4164387f, 0.2407107f})}},
      {.name = "GRU only Y_h",
       .op = "GRU",
       .attrs = {{"hidden_size", int64_t{2}}},
       .inputs = {wave({3, 2, 2}, 1), wave({1, 6, 2}, 2, 0.5f), wave({1, 6, 2}, 3, 0.5f), wave({1, 12}, 4)},
       .expected = {Tensor(), tensor<float>({1, 2, 2}, {0.1443398f, -0.6332527f, 0.09880319f, -0.836331f})}},
      {.name = "LSTM forward",
       .op = "LSTM",
       .attrs = {{"hidden_size", int64_t{2}}},
       .inputs = {wave({3, 2, 2}, 1), wave({1, 8, 2}, 2, 0.5f), wave({1, 8, 2}, 3, 0.5f), wave({1, 16}, 4)},
       .expected = {tensor<float>({3, 1, 2, 2},
                                  {0.09139814f, -0.02824653f, -0.08745148f, 0.2385253f, -0.03534412f, 0.02817034f,
                                   -0.02070469f, -0.01545023f, -0.1357071f, 0.349793f, -0.07994309f, 0.1539027f}),
                    tensor<float>({1, 2, 2}, {-0.1357071f, 0.349793f, -0.07994309f, 0.1539027f}),
                    tensor<float>({1, 2, 2}, {-0.4948965f, 0.6562546f, -0.2951458f, 0.4758894f})}},
      {.name = "LSTM reverse, ragged, states",
       .op = "LSTM",
       .attrs = {{"hidden_size", int64_t{2}}, {"direction", std::string("reverse")}},
       .inputs = {wave({3, 2, 2}, 1), wave({1, 8, 2}, 2, 0.5f), wave({1, 8, 2}, 3, 0.5f), wave({1, 16}, 4),
                  tensor<int32_t>({2}, {3, 2}), wave({1, 2, 2}, 5), wave({1, 2, 2}, 6)},
       .expected = {tensor<float>({3, 1, 2, 2}, {0.02407719f, -0.01231069f, 0.007694019f, 0.270684f, -0.02121155f,
                                                 0.1112206f, 0.4547241f, 0.009474287f, 0.1609917f, 0.294959f, 0, 0}),
                    tensor<float>({1, 2, 2}, {0.02407719f, -0.01231069f, 0.007694019f, 0.270684f}),
                    tensor<float>({1, 2, 2}, {0.03255598f, -0.1970768f, 0.03296012f, 0.5404872f})}},
      {.name = "LSTM peepholes",
       .op = "LSTM",
       .attrs = {{"hidden_size", int64_t{2}}, {"direction", std::string("bidirectional")}},
       .inputs = {wave({3, 2, 2}, 1), wave({2, 8, 2}, 2, 0.5f), wave({2, 8, 2}, 3, 0.5f), wave({2, 16}, 4),
                  tensor<int32_t>({2}, {3, 2}), wave({2, 2, 2}, 5), wave({2, 2, 2}, 6), wave({2, 6}, 7)},
       .expected = {tensor<float>({3, 2, 2, 2}, {0.1765258f,   -0.02909144f,  0.09153687f, 0.3160591f,
                                                 -0.6715905f,  -0.005510708f, -0.2388964f, -0.02715473f,
                                                 -0.030126f,   0.06662363f,   0.169389f,   -0.009318816f,
                                                 -0.2556058f,  0.1837987f,    -0.3691638f, -0.0578992f,
                                                 -0.1393642f,  0.4139525f,    0,           0,
                                                 -0.01769576f, 0.3725509f,    0,           0}),
                    tensor<float>({2, 2, 2}, {-0.1393642f, 0.4139525f, 0.169389f, -0.009318816f, -0.6715905f,
                                              -0.005510708f, -0.2388964f, -0.02715473f}),
                    tensor<float>({2, 2, 2}, {-0.4782062f, 0.7061499f, 0.279521f, -0.08403677f, -0.9381071f,
                                              -0.05593869f, -0.6683531f, -0.0854075f})}},
      {.name = "LSTM input_forget and clip",
       .op = "LSTM",
       .attrs = {{"hidden_size", int64_t{2}}, {"input_forget", int64_t{1}}, {"clip", 0.5f}},
       .inputs = {wave({3, 2, 2}, 1), wave({1, 8, 2}, 2, 0.5f), wave({1, 8, 2}, 3, 0.5f), wave({1, 16}, 4), Tensor(),
                  Tensor(), Tensor(), wave({1, 6}, 7)},
       .expected = {tensor<float>({3, 1, 2, 2},
                                  {0.1075106f, -0.1008913f, -0.07536069f, 0.1325603f, -0.03624141f, 0.06878442f,
                                   0.03018332f, -0.05095404f, -0.09850542f, 0.2133506f, -0.06384297f, 0.09170715f}),
                    tensor<float>({1, 2, 2}, {-0.09850542f, 0.2133506f, -0.06384297f, 0.09170715f}),
                    tensor<float>({1, 2, 2}, {-0.2670883f, 0.3572102f, -0.1707423f, 0.2363823f})}},
      {.name = "LSTM activations",
       .op = "LSTM",
       .attrs = {{"hidden_size", int64_t{2}},
                 {"activations", std::vector<std::string>{"HardSigmoid", "Softsign", "Affine"}},
                 {"activation_alpha", std::vector<float>{0.3f, 0.6f}},
                 {"activation_beta", std::vector<float>{0.4f, 0.1f}}},
       .inputs = {wave({3, 2, 2}, 1), wave({1, 8, 2}, 2, 0.5f), wave({1, 8, 2}, 3, 0.5f), wave({1, 16}, 4)},
       .expected = {tensor<float>({3, 1, 2, 2}, {0.07937501f, -0, 0.0006703641f, 0.108636f, 0.001675195f, 0.002167219f,
                                                 0.05079008f, 0, -0.01136625f, 0.1800679f, -0.001297575f, 0.06862715f}),
                    tensor<float>({1, 2, 2}, {-0.01136625f, 0.1800679f, -0.001297575f, 0.06862715f}),
                    tensor<float>({1, 2, 2}, {-0.2893805f, 0.3791402f, -0.1900764f, 0.335573f})}},
      {.name = "LSTM batch first",
       .op = "LSTM",
       .attrs = {{"hidden_size", int64_t{2}}, {"direction", std::string("bidirectional")}, {"layout", int64_t{1}}},
       .inputs = {wave({2, 3, 2}, 1), wave({2, 8, 2}, 2, 0.5f), wave({2, 8, 2}, 3, 0.5f), Tensor(),
                  tensor<int32_t>({2}, {3, 1}), wave({2, 2, 2}, 5), wave({2, 2, 2}, 5)},
       .expected = {tensor<float>({2, 3, 2, 2}, {0.1774397f,  -0.08589221f,
                                                 -0.0627493f, -0.06677561f,
                                                 -0.1081259f, 0.1595127f,
                                                 0.1289959f,  0.1372127f,
                                                 -0.1101969f, -0.004029476f,
                                                 0.1213391f,  -0.008917271f,
                                                 0.5283126f,  0.01474047f,
                                                 -0.4145461f, -0.08935788f,
                                                 0,           0,
                                                 0,           0,
                                                 0,           0,
                                                 0,           0}),
                    tensor<float>({2, 2, 2}, {-0.1101969f, -0.004029476f, -0.0627493f, -0.06677561f, 0.5283126f,
                                              0.01474047f, -0.4145461f, -0.08935788f}),
                    tensor<float>({2, 2, 2}, {-0.5943738f, -0.0107916f, -0.07468632f, -0.2195184f, 0.9399574f,
                                              0.03253234f, -0.8034858f, -0.5704101f})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

// One step of y = f(x) for a row of x: the activation functions by their formulas.
TEST(Recurrent, Activations) {
  struct Row {
    const char* name;
    std::vector<float> alpha, beta;
    float at_minus_2, at_half;
  };
  const Row rows[] = {
      {"Relu", {}, {}, 0, 0.5f},
      {"Tanh", {}, {}, -0.9640276f, 0.4621172f},
      {"Sigmoid", {}, {}, 0.1192029f, 0.6224593f},
      {"Affine", {0.3f}, {0.7f}, 0.1f, 0.85f},
      {"LeakyRelu", {}, {}, -0.02f, 0.5f},
      {"LeakyRelu", {0.3f}, {}, -0.6f, 0.5f},
      {"ThresholdedRelu", {}, {}, 0, 0},
      {"ThresholdedRelu", {0.3f}, {}, 0, 0.5f},
      {"ScaledTanh", {0.3f}, {0.7f}, -0.2656055f, 0.1009127f},
      {"HardSigmoid", {}, {}, 0.1f, 0.6f},
      {"Elu", {}, {}, -0.8646647f, 0.5f},
      {"softsign", {}, {}, -0.6666667f, 0.3333333f},
      {"Softplus", {}, {}, 0.1269280f, 0.9740770f},
  };
  for (const Row& r : rows) {
    OpCase c{
        .name = r.name,
        .op = "RNN",
        .attrs = {{"activations", std::vector<std::string>{r.name}}},
        .inputs = {tensor<float>({1, 2, 1}, {-2, 0.5f}), tensor<float>({1, 1, 1}, {1}), tensor<float>({1, 1, 1}, {0})},
        .expected = {tensor<float>({1, 1, 2, 1}, {r.at_minus_2, r.at_half})}};
    if (!r.alpha.empty()) c.attrs["activation_alpha"] = r.alpha;
    if (!r.beta.empty()) c.attrs["activation_beta"] = r.beta;
    check_case(c);
  }
}

// The state after no steps is the one before them.
TEST(Recurrent, AnEmptySequenceKeepsItsState) {
  check_case({.name = "length 0",
              .op = "RNN",
              .inputs = {wave({2, 1, 1}, 1), wave({1, 1, 1}, 2), wave({1, 1, 1}, 3), Tensor(),
                         tensor<int32_t>({1}, {0}), tensor<float>({1, 1, 1}, {0.25f})},
              .expected = {tensor<float>({2, 1, 1, 1}, {0, 0}), tensor<float>({1, 1, 1}, {0.25f})}});
}

TEST(Recurrent, Refuses) {
  const Tensor x = wave({2, 1, 3}, 1), w = wave({1, 2, 3}, 2), r = wave({1, 2, 2}, 3);
  const OpCase cases[] = {
      {.name = "W of another width", .op = "RNN", .inputs = {x, wave({1, 2, 4}, 2), r}},
      {.name = "gates", .op = "LSTM", .inputs = {x, w, r}},
      {.name = "too long a sequence", .op = "RNN", .inputs = {x, w, r, Tensor(), tensor<int32_t>({1}, {3})}},
      {.name = "direction", .op = "RNN", .attrs = {{"direction", std::string("sideways")}}, .inputs = {x, w, r}},
      {.name = "activation",
       .op = "RNN",
       .attrs = {{"activations", std::vector<std::string>{"Cube"}}},
       .inputs = {x, w, r}},
      {.name = "layout before opset 14",
       .op = "RNN",
       .opset = 13,
       .attrs = {{"layout", int64_t{1}}},
       .inputs = {x, w, r}},
  };
  for (OpCase c : cases) {
    c.expected = {Tensor()};
    EXPECT_THROW(run_case(c), Error) << c.name;
  }
}

}  // namespace hf::ops

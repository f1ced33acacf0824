// DFT and STFT. Expected values: numpy.fft in float64.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {

TEST(Dft, Cases) {
  const OpCase cases[] = {
      {.name = "DFT of 5",
       .op = "DFT",
       .inputs = {wave({1, 5, 1}, 1)},
       .expected = {tensor<float>({1, 5, 2}, {0.625f, 0, 0.2998984f, -0.4127747f, -1.237398f, 0.4020551f, -1.237398f,
                                              -0.4020551f, 0.2998984f, 0.4127747f})}},
      {.name = "DFT default axis is -2",
       .op = "DFT",
       .inputs = {wave({1, 2, 4, 2}, 2)},
       .expected = {tensor<float>({1, 2, 4, 2}, {0, -0.625f, 1.25f, -1.375f, -0.75f, 0.625f, 0, -0.125f, 0.5f, -0.125f,
                                                 1.25f, -1.375f, -0.75f, 0.625f, 0, -0.125f})}},
      {.name = "DFT axis attribute of opset 17",
       .op = "DFT",
       .opset = 17,
       .attrs = {{"axis", int64_t{2}}},
       .inputs = {wave({1, 3, 2, 2}, 2)},
       .expected = {tensor<float>({1, 3, 2, 2}, {0.625f, -0.375f, -0.375f, -0.375f, -0.625f, -0.25f, -0.375f, 1, 0.875f,
                                                 -0.125f, -0.375f, -0.375f})}},
      {.name = "DFT axis is 1 by default in opset 17",
       .op = "DFT",
       .opset = 17,
       .inputs = {wave({1, 3, 2, 2}, 2)},
       .expected = {tensor<float>({1, 3, 2, 2}, {-0.125f, -0.25f, 1, -0.5f, 0.7912659f, 0.2120191f, -0.3995191f,
                                                 0.899519f, -0.2912659f, -1.087019f, 0.899519f, -0.3995191f})}},
      {.name = "DFT padded to 8",
       .op = "DFT",
       .inputs = {wave({1, 5, 1}, 1), tensor<int64_t>({}, {8})},
       .expected = {tensor<float>(
           {1, 8, 2}, {0.625f, 0, -0.04289322f, -0.3017767f, 0.125f, -1, -1.457107f, -0.0517767f, 0.125f, 0, -1.457107f,
                       0.0517767f, 0.125f, 1, -0.04289322f, 0.3017767f})}},
      {.name = "DFT cut to 3",
       .op = "DFT",
       .inputs = {wave({1, 5, 2}, 1), tensor<int64_t>({}, {3}), tensor<int64_t>({}, {1})},
       .expected = {tensor<float>({1, 3, 2}, {0.375f, 0.25f, -0.8872595f, 1.137259f, -0.2377405f, 0.4877405f})}},
      {.name = "DFT onesided",
       .op = "DFT",
       .attrs = {{"onesided", int64_t{1}}},
       .inputs = {wave({1, 6, 1}, 1)},
       .expected = {tensor<float>({1, 4, 2}, {0.625f, 0, 0.125f, -0.2165063f, -1.25f, -0.8660254f, 0.125f, 0})}},
      {.name = "DFT inverse",
       .op = "DFT",
       .attrs = {{"inverse", int64_t{1}}},
       .inputs = {wave({1, 3, 2}, 1)},
       .expected = {tensor<float>({1, 3, 2},
                                  {0.125f, 0.08333334f, -0.07924683f, 0.1625802f, -0.2957532f, 0.3790865f})}},
      {.name = "IRFFT, even",
       .op = "DFT",
       .attrs = {{"inverse", int64_t{1}}, {"onesided", int64_t{1}}},
       .inputs = {wave({1, 4, 2}, 3)},
       .expected = {tensor<float>({1, 6, 1},
                                  {-0.08333334f, 0.05133545f, -0.05950847f, 0.1666667f, 0.5178418f, -0.09300211f})}},
      {.name = "IRFFT to 5",
       .op = "DFT",
       .attrs = {{"inverse", int64_t{1}}, {"onesided", int64_t{1}}},
       .inputs = {wave({1, 4, 2}, 3), tensor<int64_t>({}, {5})},
       .expected = {tensor<float>({1, 5, 1}, {-0.15f, 0.08293527f, -0.07957941f, 0.5722845f, 0.07435962f})}},
      {.name = "STFT with window",
       .op = "STFT",
       .inputs = {wave({1, 7, 1}, 1), tensor<int64_t>({}, {2}), wave({3}, 2)},
       .expected = {tensor<float>({1, 3, 2, 2}, {-0.203125f, 0, 0.0546875f, 0.2571013f, 0.40625f, 0, -0.1796875f,
                                                 0.09472153f, -0.1875f, 0, 0.1875f, -0.2165063f})}},
      {.name = "STFT with frame_length",
       .op = "STFT",
       .inputs = {wave({2, 5, 1}, 1), tensor<int64_t>({}, {1}), Tensor(), tensor<int64_t>({}, {4})},
       .expected = {tensor<float>({2, 2, 3, 2},
                                  {0.125f, 0, -0.375f, -1,     -0.375f, 0, 0.875f,  0, 1,       0.375f, -0.375f, 0,
                                   -0.25f, 0, -0.375f, 0.375f, 1,       0, -0.875f, 0, -0.375f, -1,     -0.375f, 0})}},
      {.name = "STFT complex, both sides",
       .op = "STFT",
       .attrs = {{"onesided", int64_t{0}}},
       .inputs = {wave({1, 4, 2}, 1), tensor<int64_t>({}, {1}), wave({3}, 2), tensor<int64_t>({}, {3})},
       .expected = {tensor<float>({1, 2, 3, 2},
                                  {0.171875f, 0.21875f, -0.01102768f, 0.2649138f, -0.2545973f, -0.2492888f, -0.421875f,
                                   0.140625f, 0.07199524f, -0.1947516f, 0.3967548f, -0.08649841f})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

// Against the definition, for lengths with and without small factors: the sum itself, term by term.
TEST(Dft, LengthsOfAllKinds) {
  for (int64_t n : {1, 2, 7, 12, 64, 97, 400}) {
    const Tensor x = wave({1, n, 2}, n);
    Tensor wanted(DType::F64, {1, n, 2});
    for (int64_t k = 0; k < n; ++k) {
      double re = 0, im = 0;
      for (int64_t j = 0; j < n; ++j) {
        double t = -6.283185307179586 * static_cast<double>(j * k % n) / static_cast<double>(n);
        double a = x.data<float>()[2 * j], b = x.data<float>()[2 * j + 1];
        re += a * std::cos(t) - b * std::sin(t);
        im += a * std::sin(t) + b * std::cos(t);
      }
      wanted.data<double>()[2 * k] = re, wanted.data<double>()[2 * k + 1] = im;
    }
    Tensor wide(DType::F64, x.dims());
    read_elements(x, wide.data<double>());
    check_case({.name = std::to_string(n), .op = "DFT", .inputs = {wide}, .expected = {wanted}, .tolerance = 1e-10});
  }
}

TEST(Dft, Refuses) {
  const OpCase cases[] = {
      {.name = "the axis of the parts",
       .op = "DFT",
       .inputs = {wave({1, 4, 2}, 1), Tensor(), tensor<int64_t>({}, {2})}},
      {.name = "three parts", .op = "DFT", .inputs = {wave({1, 4, 3}, 1)}},
      {.name = "length 0", .op = "DFT", .inputs = {wave({1, 4, 2}, 1), tensor<int64_t>({}, {0})}},
      {.name = "no signal", .op = "DFT", .attrs = {{"onesided", int64_t{1}}}, .inputs = {wave({1, 0, 1}, 1)}},
      {.name = "step 0", .op = "STFT", .inputs = {wave({1, 4, 1}, 1), tensor<int64_t>({}, {0}), wave({2}, 1)}},
      {.name = "window and length",
       .op = "STFT",
       .inputs = {wave({1, 4, 1}, 1), tensor<int64_t>({}, {1}), wave({2}, 1), tensor<int64_t>({}, {3})}},
  };
  for (OpCase c : cases) {
    c.expected = {Tensor()};
    EXPECT_THROW(run_case(c), Error) << c.name;
  }
}

TEST(Dft, ASignalShorterThanAFrameHasNone) {
  EXPECT_EQ(run_case({.name = "short",
                      .op = "STFT",
                      .inputs = {wave({1, 3, 1}, 1), tensor<int64_t>({}, {1}), wave({4}, 1)},
                      .expected = {Tensor()}})[0]
                .dims(),
            (Dims{1, 0, 3, 2}));
}

}  // namespace hf::ops

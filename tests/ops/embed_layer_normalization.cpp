// EmbedLayerNormalization. Expected values: onnxruntime 1.32.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {

TEST(EmbedLayerNormalization, Cases) {
  const OpCase cases[] = {
      {.name = "all",
       .op = "EmbedLayerNormalization",
       .domain = "com.microsoft",
       .attrs = {{"epsilon", 1e-05f}},
       .inputs = {tensor<int32_t>({2, 3}, {1, 0, 2, 2, 2, 0}), tensor<int32_t>({2, 3}, {0, 0, 1, 0, 1, 1}),
                  wave({3, 4}, 1), wave({4, 4}, 2), wave({2, 4}, 3), wave({4}, 4), wave({4}, 5),
                  tensor<int32_t>({2, 3}, {1, 1, 0, 1, 0, 0})},
       .expected = {tensor<float>({2, 3, 4},
                                  {-0.7486032f, -0.9590732f, 0.3836293f,  -0.6954309f, -0.004017971f, 0.01015562f,
                                   0.3286383f,  0.2641736f,  -0.2249994f, -1.149997f,  0.075001f,     -0.1250007f,
                                   -0.5866497f, -1.256374f,  0.1888993f,  -0.4197241f, 0.01077931f,   -0.808302f,
                                   0.03954208f, 0.327062f,   0.01077931f, -0.808302f,  0.03954208f,   0.327062f}),
                    tensor<int32_t>({2}, {2, 1}),
                    tensor<float>({2, 3, 4}, {1.125f, -0.375f, -0.5f,  0.75f,   -0.25f,  1,      -0.5f, -0.625f,
                                              0,      -1.5f,   1.125f, -0.375f, 0.5f,    -1,     0.25f, 0.125f,
                                              -0.75f, -0.875f, 0.375f, -1.125f, -0.125f, -0.25f, 1,     -0.5f})}},
      {.name = "no segments, no mask",
       .op = "EmbedLayerNormalization",
       .domain = "com.microsoft",
       .inputs = {tensor<int32_t>({2, 3}, {1, 0, 2, 2, 2, 0}), Tensor(), wave({3, 4}, 1), wave({4, 4}, 2), Tensor(),
                  wave({4}, 4), wave({4}, 5)},
       .expected = {tensor<float>({2, 3, 4},
                                  {-0.7435896f, -1.150801f, 0.3015491f, -0.6108439f, 0.2364487f,  -0.05270624f,
                                   0.2198793f,  0.4026157f, -0.225f,    -1.15f,      0.075f,      -0.125f,
                                   -0.225f,     -1.15f,     0.075f,     -0.125f,     0.1636751f,  -0.4703526f,
                                   0.07473294f, 0.523237f,  0.1636751f, -0.4703526f, 0.07473294f, 0.523237f}),
                    tensor<int32_t>({2}, {0, 0})}},
      {.name = "positions",
       .op = "EmbedLayerNormalization",
       .domain = "com.microsoft",
       .inputs = {tensor<int32_t>({2, 3}, {1, 0, 2, 2, 2, 0}), tensor<int32_t>({2, 3}, {0, 0, 1, 0, 1, 1}),
                  wave({3, 4}, 1), wave({4, 4}, 2), wave({2, 4}, 3), wave({4}, 4), wave({4}, 5), Tensor(),
                  tensor<int32_t>({1, 3}, {2, 1, 3})},
       .expected = {tensor<float>({2, 3, 4},
                                  {-0.7486096f, -0.9590765f, 0.3836306f,  -0.6954354f, -0.004016519f, 0.01016331f,
                                   0.3286393f,  0.2641798f,  0.01078136f, -0.8083048f, 0.03953889f,   0.3270708f,
                                   -0.5866566f, -1.256383f,  0.1888984f,  -0.4197267f, 0.01078136f,   -0.8083048f,
                                   0.03953889f, 0.3270708f,  0.2313483f,  -0.2241082f, 0.1386411f,    0.529512f}),
                    tensor<int32_t>({2}, {0, 0})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(EmbedLayerNormalization, RefusesAnIdPastTheTable) {
  const Tensor g = wave({4}, 4);
  EXPECT_THROW(
      run_case({.name = "id",
                .op = "EmbedLayerNormalization",
                .domain = "com.microsoft",
                .inputs = {tensor<int32_t>({1, 1}, {3}), Tensor(), wave({3, 4}, 1), wave({4, 4}, 2), Tensor(), g, g},
                .expected = {Tensor()}}),
      Error);
}

}  // namespace hf::ops

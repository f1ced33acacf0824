// Softmax, LogSoftmax, Hardmax.
#include "ops/case.h"

namespace hf::ops {

TEST(Softmax, Cases) {
  const OpCase cases[] = {
      {.name = "last axis",
       .op = "Softmax",
       .inputs = {tensor<float>({1, 2}, {0, 0})},
       .expected = {tensor<float>({1, 2}, {0.5f, 0.5f})}},
      {.name = "before opset 13 the default axis is 1 and flattens",
       .op = "Softmax",
       .opset = 11,
       .inputs = {tensor<float>({1, 2, 2}, {0, 0, 0, 0})},
       .expected = {tensor<float>({1, 2, 2}, {0.25f, 0.25f, 0.25f, 0.25f})}},
      {.name = "large values",
       .op = "LogSoftmax",
       .inputs = {tensor<float>({2}, {1000, 1000})},
       .expected = {tensor<float>({2}, {-0.6931472f, -0.6931472f})}},
      {.name = "first of equals",
       .op = "Hardmax",
       .inputs = {tensor<float>({3}, {1, 2, 2})},
       .expected = {tensor<float>({3}, {0, 1, 0})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Softmax, RefusesAnAxisOutsideTheRank) {
  EXPECT_THROW(run_case({.name = "axis",
                         .op = "Softmax",
                         .attrs = {{"axis", int64_t{3}}},
                         .inputs = {tensor<float>({2}, {0, 0})},
                         .expected = {Tensor()}}),
               Error);
}

}  // namespace hf::ops

// Pools. Values by torch in float64 unless a comment says otherwise.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {
namespace {

Tensor quarter(const Dims& dims) { return wave(dims, 0, 0.25f); }

std::vector<int64_t> ints(std::initializer_list<int64_t> v) { return v; }

}  // namespace

TEST(MaxPool, Cases) {
  const OpCase cases[] = {
      {.name = "pads, stride, indices",
       .op = "MaxPool",
       .attrs = {{"kernel_shape", ints({3, 3})}, {"strides", ints({2, 2})}, {"pads", ints({1, 1, 1, 1})}},
       .inputs = {quarter({1, 1, 5, 5})},
       .expected = {tensor<float>({1, 1, 3, 3}, {1, 1.25f, 1.25f, 1, 1, 1.25f, 0.75f, 1, 0.5f}),
                    tensor<int64_t>({1, 1, 3, 3}, {6, 3, 3, 6, 6, 14, 20, 17, 23})}},
      {.name = "ceil_mode",
       .op = "MaxPool",
       .attrs = {{"kernel_shape", ints({2, 3})}, {"strides", ints({2, 2})}, {"ceil_mode", int64_t{1}}},
       .inputs = {quarter({1, 1, 5, 5})},
       .expected = {tensor<float>({1, 1, 3, 2}, {1, 1.25f, 1, 1.25f, 0.75f, 0.5f}),
                    tensor<int64_t>({1, 1, 3, 2}, {6, 3, 17, 14, 20, 23})}},
      {.name = "indices count the first axis fastest",
       .op = "MaxPool",  // by hand
       .attrs = {{"kernel_shape", ints({2, 2})}, {"storage_order", int64_t{1}}},
       .inputs = {tensor<int8_t>({2, 1, 2, 3}, {1, 5, 2, 3, 4, 6, -1, -2, -3, -4, -5, -6})},
       .expected = {tensor<int8_t>({2, 1, 1, 2}, {5, 6, -1, -2}), tensor<int64_t>({2, 1, 1, 2}, {2, 5, 6, 8})}},
      {.name = "dilations",
       .op = "MaxPool",
       .attrs = {{"kernel_shape", ints({2})}, {"dilations", ints({2})}},  // by hand
       .inputs = {tensor<float>({1, 1, 5}, {5, 1, 2, 3, 4})},
       .expected = {tensor<float>({1, 1, 3}, {5, 3, 4})}},
      {.name = "a window larger than the input",
       .op = "MaxPool",
       .attrs = {{"kernel_shape", ints({5})}, {"strides", ints({2})}},
       .inputs = {quarter({1, 1, 4})},
       .expected = {tensor<float>({1, 1, 0}, {})}},
      {.name = "nan",
       .op = "MaxPool",
       .attrs = {{"kernel_shape", ints({2})}},
       .inputs = {tensor<float>({1, 1, 4}, {1, NAN, 2, 3})},
       .expected = {tensor<float>({1, 1, 3}, {NAN, NAN, 3})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(AveragePool, Cases) {
  const OpCase cases[] = {
      {.name = "ceil_mode, padding counts",
       .op = "AveragePool",
       .attrs = {{"kernel_shape", ints({3, 3})},
                 {"strides", ints({2, 2})},
                 {"pads", ints({1, 1, 1, 1})},
                 {"ceil_mode", int64_t{1}},
                 {"count_include_pad", int64_t{1}}},
       .inputs = {quarter({1, 1, 5, 5})},
       .expected = {tensor<float>({1, 1, 3, 3}, {-0.0555556f, 0.138889f, 0.138889f, -0.194444f, -0.111111f, -0.0555556f,
                                                 0, -0.0833333f, -0.111111f})}},
      {.name = "padding does not count",
       .op = "AveragePool",
       .attrs = {{"kernel_shape", ints({3, 3})},
                 {"strides", ints({2, 2})},
                 {"pads", ints({1, 1, 1, 1})},
                 {"ceil_mode", int64_t{1}}},
       .inputs = {quarter({1, 1, 5, 5})},
       .expected = {tensor<float>(
           {1, 1, 3, 3}, {-0.125f, 0.208333f, 0.3125f, -0.291667f, -0.111111f, -0.0833333f, 0, -0.125f, -0.25f})}},
      {.name = "what ceil_mode adds is no padding",
       .op = "AveragePool",  // by hand
       .attrs = {{"kernel_shape", ints({2})},
                 {"strides", ints({2})},
                 {"ceil_mode", int64_t{1}},
                 {"count_include_pad", int64_t{1}}},
       .inputs = {tensor<float>({1, 1, 5}, {1, 2, 3, 4, 5})},
       .expected = {tensor<float>({1, 1, 3}, {1.5f, 3.5f, 5})}},
      {.name = "padding after the input counts",
       .op = "AveragePool",  // by hand
       .attrs = {{"kernel_shape", ints({2})}, {"pads", ints({0, 1})}, {"count_include_pad", int64_t{1}}},
       .inputs = {tensor<float>({1, 1, 2}, {2, 4})},
       .expected = {tensor<float>({1, 1, 2}, {3, 2})}},
      {.name = "no window begins past the input",
       .op = "AveragePool",  // by hand
       .attrs = {{"kernel_shape", ints({1})}, {"strides", ints({2})}, {"ceil_mode", int64_t{1}}},
       .inputs = {tensor<float>({1, 1, 4}, {1, 2, 3, 4})},
       .expected = {tensor<float>({1, 1, 2}, {1, 3})}},
      {.name = "third norm",
       .op = "LpPool",
       .attrs = {{"kernel_shape", ints({3})}, {"p", int64_t{3}}},
       .inputs = {quarter({1, 1, 6})},
       .expected = {tensor<float>({1, 1, 4}, {1.30121f, 1.30121f, 1.27931f, 1.33712f})}},
      {.name = "second norm",
       .op = "LpPool",
       .attrs = {{"kernel_shape", ints({2})}, {"strides", ints({2})}},
       .inputs = {quarter({1, 1, 6})},
       .expected = {tensor<float>({1, 1, 3}, {1.34629f, 1.34629f, 0.790569f})}},
      {.name = "first norm",
       .op = "LpPool",
       .attrs = {{"kernel_shape", ints({2})}, {"strides", ints({2})}, {"p", int64_t{1}}},
       .inputs = {quarter({1, 1, 6})},
       .expected = {tensor<float>({1, 1, 3}, {1.75f, 1.75f, 1})}},
      {.name = "whole planes",
       .op = "GlobalAveragePool",
       .inputs = {tensor<float>({1, 2, 1, 2}, {1, 2, 3, 5})},  // by hand
       .expected = {tensor<float>({1, 2, 1, 1}, {1.5f, 4})}},
      {.name = "whole planes",
       .op = "GlobalMaxPool",
       .inputs = {tensor<float>({1, 2, 1, 2}, {-1, -2, 3, 5})},
       .expected = {tensor<float>({1, 2, 1, 1}, {-1, 5})}},
      {.name = "whole planes",
       .op = "GlobalLpPool",
       .inputs = {tensor<float>({1, 2, 1, 2}, {3, -4, 6, 8})},
       .expected = {tensor<float>({1, 2, 1, 1}, {5, 10})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

// A window of 2^31 elements over an input of 3, most of it padding: by hand, and in no time.
TEST(MaxPool, AWindowMuchLargerThanItsInput) {
  const int64_t kernel = int64_t{1} << 31;
  const ir::Attrs attrs = {{"kernel_shape", ints({kernel, 1})}, {"pads", ints({kernel - 2, 0, 1, 0})}};
  const Tensor x = tensor<float>({1, 1, 3, 1}, {1, 3, 2});
  check_case({.name = "max",
              .op = "MaxPool",
              .attrs = attrs,
              .inputs = {x},
              .expected = {tensor<float>({1, 1, 3, 1}, {3, 3, 3})}});
  check_case({.name = "mean",
              .op = "AveragePool",
              .attrs = attrs,
              .inputs = {x},
              .expected = {tensor<float>({1, 1, 3, 1}, {2, 2, 2})}});
}

TEST(MaxPool, RefusesWhatDoesNotFit) {
  EXPECT_THROW(run_case({.name = "larger than the input by more than a step",
                         .op = "MaxPool",
                         .attrs = {{"kernel_shape", ints({6})}},
                         .inputs = {quarter({1, 1, 4})},
                         .expected = {Tensor()}}),
               Error);
  EXPECT_THROW(run_case({.name = "no kernel", .op = "MaxPool", .inputs = {quarter({1, 1, 4})}, .expected = {Tensor()}}),
               Error);
  EXPECT_THROW(run_case({.name = "rank",
                         .op = "MaxPool",
                         .attrs = {{"kernel_shape", ints({2})}},
                         .inputs = {quarter({1, 1, 4, 4})},
                         .expected = {Tensor()}}),
               Error);
  EXPECT_THROW(run_case({.name = "too early for ceil_mode",
                         .op = "MaxPool",
                         .opset = 9,
                         .attrs = {{"kernel_shape", ints({2})}, {"ceil_mode", int64_t{1}}},
                         .inputs = {quarter({1, 1, 4})},
                         .expected = {Tensor()}}),
               Error);
}

}  // namespace hf::ops

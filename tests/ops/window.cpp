// Window functions and MelWeightMatrix. Expected values: onnxruntime 1.32.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {

TEST(Window, Cases) {
  const OpCase cases[] = {
      {.name = "HannWindow symmetric",
       .op = "HannWindow",
       .opset = 17,
       .attrs = {{"periodic", int64_t{0}}},
       .inputs = {tensor<int64_t>({}, {5})},
       .expected = {tensor<float>({5}, {0, 0.5f, 1, 0.5f, 0})}},
      {.name = "HannWindow periodic",
       .op = "HannWindow",
       .opset = 17,
       .attrs = {{"periodic", int64_t{1}}},
       .inputs = {tensor<int64_t>({}, {5})},
       .expected = {tensor<float>({5}, {0, 0.3454915f, 0.9045085f, 0.9045085f, 0.3454915f})}},
      {.name = "HammingWindow symmetric",
       .op = "HammingWindow",
       .opset = 17,
       .attrs = {{"periodic", int64_t{0}}},
       .inputs = {tensor<int64_t>({}, {5})},
       .expected = {tensor<float>({5}, {0.0869565f, 0.5434783f, 1, 0.5434783f, 0.0869565f})}},
      {.name = "HammingWindow periodic",
       .op = "HammingWindow",
       .opset = 17,
       .attrs = {{"periodic", int64_t{1}}},
       .inputs = {tensor<int64_t>({}, {5})},
       .expected = {tensor<float>({5}, {0.0869565f, 0.4024053f, 0.9128121f, 0.9128121f, 0.4024053f})}},
      {.name = "BlackmanWindow symmetric",
       .op = "BlackmanWindow",
       .opset = 17,
       .attrs = {{"periodic", int64_t{0}}},
       .inputs = {tensor<int64_t>({}, {5})},
       .expected = {tensor<float>({5}, {1.490116e-08f, 0.34f, 1, 0.34f, 1.490116e-08f})}},
      {.name = "BlackmanWindow periodic",
       .op = "BlackmanWindow",
       .opset = 17,
       .attrs = {{"periodic", int64_t{1}}},
       .inputs = {tensor<int64_t>({}, {5})},
       .expected = {tensor<float>({5}, {1.490116e-08f, 0.2007702f, 0.8492299f, 0.8492299f, 0.2007702f})}},
      {.name = "HannWindow in float64",
       .op = "HannWindow",
       .opset = 17,
       .attrs = {{"output_datatype", int64_t{11}}},
       .inputs = {tensor<int32_t>({}, {4})},
       .expected = {tensor<double>({4}, {0, 0.5, 1, 0.5})}},
      {.name = "MelWeightMatrix",
       .op = "MelWeightMatrix",
       .opset = 17,
       .inputs = {tensor<int64_t>({}, {4}), tensor<int64_t>({}, {16}), tensor<int64_t>({}, {8192}),
                  tensor<float>({}, {0}), tensor<float>({}, {4096})},
       .expected = {tensor<float>({9, 4}, {1, 0,    0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0,
                                           0, 0.5f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Window, Refuses) {
  auto f = [](float v) { return tensor<float>({}, {v}); };
  auto i = [](int64_t v) { return tensor<int64_t>({}, {v}); };
  const OpCase cases[] = {
      {.name = "a negative size", .op = "HannWindow", .inputs = {i(-1)}},
      {.name = "a string window", .op = "HannWindow", .attrs = {{"output_datatype", int64_t{8}}}, .inputs = {i(2)}},
      {.name = "an edge above half the rate",
       .op = "MelWeightMatrix",
       .inputs = {i(4), i(16), i(8000), f(0), f(90000)}},
      {.name = "no rate", .op = "MelWeightMatrix", .inputs = {i(4), i(16), i(0), f(0), f(4000)}},
  };
  for (OpCase c : cases) {
    c.expected = {Tensor()};
    EXPECT_THROW(run_case(c), Error) << c.name;
  }
}

}  // namespace hf::ops

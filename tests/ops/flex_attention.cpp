// FlexAttention without subgraphs, which is Attention's softmax(scale q k^T) v. With them: the ONNX node tests.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {

TEST(FlexAttention, IsAttentionWhereNothingIsModified) {
  const Tensor q = wave({1, 4, 2, 3}, 1, 0.5f), k = wave({1, 2, 3, 3}, 2, 0.5f), v = wave({1, 2, 3, 2}, 3);
  for (const ir::Attrs& attrs : {ir::Attrs{}, ir::Attrs{{"scale", 0.9f}}}) {
    const OpCase flex{.name = "flex",
                      .op = "FlexAttention",
                      .domain = "ai.onnx.preview",
                      .opset = 1,
                      .attrs = attrs,
                      .inputs = {q, k, v},
                      .expected = {Tensor()}};
    const OpCase plain{.name = "plain", .op = "Attention", .attrs = attrs, .inputs = {q, k, v}, .expected = {Tensor()}};
    expect_equal(run_case(flex)[0], run_case(plain)[0], 1e-6, "grouped heads");
  }
}

TEST(FlexAttention, Refuses) {
  const Tensor q = wave({1, 3, 2, 2}, 1), two = wave({1, 2, 2, 2}, 2);
  const OpCase cases[] = {
      {.name = "heads", .inputs = {q, two, two}},
      {.name = "rank", .inputs = {wave({3, 2, 2}, 1), two, two}},
      {.name = "precision", .attrs = {{"softmax_precision", int64_t{7}}}, .inputs = {q, q, q}},
  };
  for (OpCase c : cases) {
    c.op = "FlexAttention", c.domain = "ai.onnx.preview";
    c.expected = {Tensor()};
    EXPECT_THROW(run_case(c), Error) << c.name;
  }
}

}  // namespace hf::ops

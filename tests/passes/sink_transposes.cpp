// Transposes to channels-first behind elementwise work.
#include "passes/graphs.h"

namespace hf {
namespace {

using ir::Value;

const ir::Attrs kFirst = {{"perm", std::vector<int64_t>{0, 3, 1, 2}}};
const ir::Attrs kLast = {{"perm", std::vector<int64_t>{0, 2, 3, 1}}};

// ConvNeXt's block from its second product on: scale, residual.
TestGraph block() {
  TestGraph t;
  Value *x = t.input({2, 8, 3, 5}, "x"), *h = t.input({2, 3, 5, 4}, "h");
  Value* y = t.op("Transpose", {t.op("MatMul", {h, t.constant({4, 8})})}, kFirst);
  t.output(t.op("Transpose", {t.op("Add", {t.op("Mul", {t.constant({8, 1, 1}), y}), x})}, kLast));
  return t;
}

TEST(SinkTransposes, AProductTakesTheWorkBehindItsTranspose) {
  TestGraph t = block();
  auto g = optimized(t, 1e-5, true);
  EXPECT_EQ(operators(*g), "Transpose MatMul");
  EXPECT_EQ(g->last()->epilogue_inputs, 2);
}

TEST(SinkTransposes, OnTheCpuTheyStay) {
  TestGraph t = block();
  EXPECT_EQ(operators(*optimized(t)), "MatMul Transpose Pointwise Transpose");
}

TEST(SinkTransposes, AnOperandThatIsNeitherWholeNorConstantKeepsThem) {
  TestGraph t;
  Value *h = t.input({2, 3, 5, 4}, "h"), *s = t.input({2, 4, 1, 1}, "s");
  t.output(t.op("Mul", {t.op("Transpose", {h}, kFirst), s}));
  EXPECT_EQ(operators(*optimized(t, 1e-5, true)), "Transpose Mul");
}

TEST(SinkTransposes, ATransposeThatOthersReadStays) {
  TestGraph t;
  Value* y = t.op("Transpose", {t.input({2, 3, 5, 4}, "h")}, kFirst);
  t.output(y);
  t.output(t.op("Relu", {y}));
  EXPECT_EQ(operators(*optimized(t, 1e-5, true)), "Transpose Relu");
}

}  // namespace
}  // namespace hf

// Folding into weights, recognition, epilogues and pointwise fusion: what is left, and that it computes the same.
#include "passes/graphs.h"

namespace hf {

using ir::Value;

TEST(Passes, BatchNormGoesIntoTheConvolution) {
  TestGraph t;
  Value* y = t.op("Conv", {t.input({1, 3, 5, 5}), t.constant({4, 3, 3, 3})});
  y = t.op("BatchNormalization", {y, t.constant({4}), t.constant({4}), t.constant({4}), t.constant({4}, 0.5f, 2)});
  t.output(t.op("Relu", {y}));
  EXPECT_EQ(operators(*optimized(t)), "Conv");
}

TEST(Passes, BatchNormGoesIntoAGroupedTransposedConvolution) {
  TestGraph t;
  Value* y = t.op("ConvTranspose", {t.input({1, 4, 5, 5}), t.constant({4, 3, 3, 3}), t.constant({6})},
                  {{"group", int64_t{2}}});
  y = t.op("BatchNormalization", {y, t.constant({6}), t.constant({6}), t.constant({6}), t.constant({6}, 0.5f, 2)});
  t.output(y);
  EXPECT_EQ(operators(*optimized(t)), "ConvTranspose");
}

TEST(Passes, AConstantWithSpatialExtentsStaysOutOfTheWeights) {
  TestGraph t;
  Value* y = t.op("Conv", {t.input({1, 3, 4, 4}), t.constant({4, 3, 1, 1})});
  t.output(t.op("Mul", {y, t.constant({1, 1, 4, 4})}));
  auto g = optimized(t);
  EXPECT_EQ(operators(*g), "Conv");
  ASSERT_TRUE(g->first()->epilogue);
  EXPECT_EQ(g->first()->epilogue_inputs, 1);
}

TEST(Passes, AResidualJoinsTheLaterConvolution) {
  TestGraph t;
  Value* x = t.input({1, 4, 6, 6});
  Value* a = t.op("Conv", {x, t.constant({4, 4, 3, 3})}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  Value* b = t.op("Conv", {x, t.constant({4, 4, 1, 1})});
  t.output(t.op("Relu", {t.op("Add", {a, b})}));
  auto g = optimized(t);
  EXPECT_EQ(operators(*g), "Conv Conv");
  EXPECT_FALSE(g->first()->epilogue);
  EXPECT_EQ(g->last()->epilogue->text(), "Add(1, 0); Relu(2)");
}

TEST(Passes, AValueThatIsAlsoAnOutputKeepsItsOwnNode) {
  TestGraph t;
  Value* y = t.op("Conv", {t.input({1, 3, 4, 4}), t.constant({4, 3, 1, 1})});
  t.output(y);
  t.output(t.op("Relu", {y}));
  EXPECT_EQ(operators(*optimized(t)), "Conv Relu");
}

TEST(Passes, GeluIsRecognisedInEachSpelling) {
  for (int spelling = 0; spelling < 3; ++spelling) {
    TestGraph t;
    Value* x = t.input({2, 8});
    if (spelling == 0) {
      Value* e = t.op("Add", {t.op("Erf", {t.op("Div", {x, t.number(1.41421354f)})}), t.number(1)});
      t.output(t.op("Mul", {t.op("Mul", {x, e}), t.number(0.5f)}));
    } else if (spelling == 1) {
      Value* e = t.op("Add", {t.number(1), t.op("Erf", {t.op("Mul", {x, t.number(0.70710677f)})})});
      t.output(t.op("Mul", {t.op("Mul", {x, t.number(0.5f)}), e}));
    } else {
      Value* cubic = t.op("Mul", {t.op("Pow", {x, t.number(3)}), t.number(0.044715f)});
      Value* inner = t.op("Mul", {t.op("Add", {x, cubic}), t.number(0.7978845608f)});
      t.output(t.op("Mul", {t.op("Mul", {t.number(0.5f), x}), t.op("Add", {t.number(1), t.op("Tanh", {inner})})}));
    }
    EXPECT_EQ(operators(*optimized(t)), "Gelu") << spelling;
  }
}

TEST(Passes, SwishAndHardSwishAreRecognised) {
  TestGraph t;
  Value* x = t.input({2, 8});
  t.output(t.op("Mul", {x, t.op("Sigmoid", {x})}));
  EXPECT_EQ(operators(*optimized(t)), "Swish");
  TestGraph u;
  x = u.input({2, 8});
  Value* clip = u.op("Clip", {u.op("Add", {x, u.number(3)}), u.number(0), u.number(6)});
  u.output(u.op("Div", {u.op("Mul", {x, clip}), u.number(6)}));
  EXPECT_EQ(operators(*optimized(u)), "HardSwish");
}

TEST(Passes, AnotherConstantIsNotGelu) {
  TestGraph t;
  Value* x = t.input({2, 8});
  Value* e = t.op("Add", {t.op("Erf", {t.op("Div", {x, t.number(1.5f)})}), t.number(1)});
  t.output(t.op("Mul", {t.op("Mul", {x, e}), t.number(0.5f)}));
  EXPECT_EQ(operators(*optimized(t)), "Pointwise");
}

TEST(Passes, LayerNormalizationIsRecognised) {
  TestGraph t;
  Value* x = t.input({2, 3, 8});
  Value* d = t.op("Sub", {x, t.op("ReduceMean", {x, t.ints({-1})})});
  Value* v = t.op("ReduceMean", {t.op("Pow", {d, t.number(2)}), t.ints({-1})});
  Value* y = t.op("Div", {d, t.op("Sqrt", {t.op("Add", {v, t.number(1e-5f)})})});
  t.output(t.op("Add", {t.op("Mul", {y, t.constant({8})}), t.constant({8})}));
  EXPECT_EQ(operators(*optimized(t)), "LayerNormalization");
}

TEST(Passes, ElementwiseTreesBecomeOneNode) {
  TestGraph t;
  Value* x = t.input({2, 8}, "x");
  Value* y = t.input({1, 8}, "y");
  Value* a = t.op("Add", {x, y});
  t.output(t.op("Sub", {t.op("Tanh", {a}), t.op("Exp", {a})}));
  EXPECT_EQ(operators(*optimized(t)), "Pointwise");
}

TEST(Passes, ASmallerShapeIsNotComputedAgainForEachCopy) {
  TestGraph t;
  Value* small = t.op("Tanh", {t.input({1, 8}, "y")});
  t.output(t.op("Add", {t.input({2, 8}, "x"), small}));
  EXPECT_EQ(operators(*optimized(t)), "Tanh Add");
}

}  // namespace hf

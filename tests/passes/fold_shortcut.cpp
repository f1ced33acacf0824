// Convolutions of shortcuts joined to the convolution that they are added to: what is left, and that it computes the
// same.
#include "passes/graphs.h"

namespace hf {

using ir::Value;
using Ints = std::vector<int64_t>;

namespace {

// A block on x [2, 6, 7, 9] whose shortcut has the given taps and strides.
TestGraph block(int64_t taps, Ints strides, bool biases) {
  TestGraph t;
  Value* x = t.input({2, 6, 7, 9});
  auto conv = [&](Value* v, const Dims& w, ir::Attrs attrs) {
    std::vector<Value*> inputs = {v, t.constant(w)};
    if (biases) inputs.push_back(t.constant({w[0]}));
    return t.op("Conv", inputs, std::move(attrs));
  };
  Value* a = t.op("Relu", {conv(x, {4, 6, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}, {"strides", strides}})});
  a = conv(a, {10, 4, 1, 1}, {});
  Value* b = conv(x, {10, 6, taps, taps}, {{"pads", Ints(4, taps / 2)}, {"strides", strides}});
  t.output(t.op("Relu", {t.op("Add", {b, a})}));
  return t;
}

}  // namespace

TEST(FoldShortcut, JoinsTheTwoConvolutions) {
  for (bool biases : {false, true}) {
    TestGraph t = block(1, {2, 2}, biases);
    auto g = optimized(t, 1e-5, true);
    EXPECT_EQ(operators(*g), "Conv ConvShortcut");
    EXPECT_EQ(g->last()->ints("strides2"), (Ints{2, 2}));
    EXPECT_TRUE(g->last()->epilogue);
  }
  TestGraph t = block(1, {1, 1}, true);
  EXPECT_EQ(operators(*optimized(t, 1e-5, true)), "Conv ConvShortcut");
}

TEST(FoldShortcut, TheOneWithMoreTapsIsTheMainOne) {
  TestGraph t = block(3, {2, 1}, true);
  auto g = optimized(t, 1e-5, true);
  EXPECT_EQ(operators(*g), "Conv ConvShortcut");
  EXPECT_EQ(g->last()->ints("strides2"), (Ints{1, 1}));
}

TEST(FoldShortcut, LeavesTapsThatHaveNoBits) {
  TestGraph t;
  Value* x = t.input({1, 4, 8, 8});
  Value* a = t.op("Conv", {x, t.constant({4, 4, 6, 6})}, {{"auto_pad", std::string("SAME_UPPER")}});
  t.output(t.op("Add", {a, t.op("Conv", {x, t.constant({4, 4, 1, 1})})}));
  EXPECT_EQ(operators(*optimized(t, 1e-5, true)), "Conv Conv");
}

TEST(FoldShortcut, OnGpusOnly) {
  TestGraph t = block(1, {2, 2}, true);
  EXPECT_EQ(operators(*optimized(t)), "Conv Conv Conv");
}

TEST(FoldShortcut, LeavesWhatIsUsedTwice) {
  TestGraph t;
  Value* x = t.input({1, 4, 5, 5});
  Value* a = t.op("Conv", {x, t.constant({4, 4, 1, 1})});
  Value* b = t.op("Conv", {x, t.constant({4, 4, 1, 1})});
  t.output(t.op("Add", {a, b}));
  t.output(b);
  EXPECT_EQ(operators(*optimized(t, 1e-5, true)), "Conv Conv");
}

}  // namespace hf

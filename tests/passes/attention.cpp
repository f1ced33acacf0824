// Attention as exporters spell it becomes one node, and its linear layers one product.
#include "passes/graphs.h"

namespace hf {

using ir::Value;

namespace {

constexpr int64_t kBatch = 2, kHeads = 3, kRows = 5, kSize = 4, kAll = kHeads * kSize;

Value* linear(TestGraph& t, Value* x, bool bias = true) {
  Value* y = t.op("MatMul", {x, t.constant({kAll, kAll})});
  return bias ? t.op("Add", {t.constant({kAll}), y}) : y;
}
Value* heads(TestGraph& t, Value* x, std::vector<int64_t> perm = {0, 2, 1, 3}) {
  Value* y = t.op("Reshape", {x, t.ints({kBatch, -1, kHeads, kSize})});
  return t.op("Transpose", {y}, {{"perm", std::move(perm)}});
}
Value* merged(TestGraph& t, Value* x) {
  return t.op("Reshape",
              {t.op("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}), t.ints({kBatch, -1, kAll})});
}
// BERT's: scaled scores, an added mask.
Value* bert(TestGraph& t, Value* x, Value* mask) {
  Value *q = heads(t, linear(t, x)), *k = heads(t, linear(t, x), {0, 2, 3, 1}), *v = heads(t, linear(t, x));
  Value* scores = t.op("Div", {t.op("MatMul", {q, k}), t.number(2)});
  if (mask) scores = t.op("Add", {scores, mask});
  return merged(t, t.op("MatMul", {t.op("Softmax", {scores}), v}));
}

}  // namespace

TEST(Attention, BertBecomesTwoProducts) {
  for (const Dims& mask : {Dims{}, Dims{kBatch, 1, 1, kRows}, Dims{kHeads, kRows, kRows}}) {
    TestGraph t;
    Value* x = t.input({kBatch, kRows, kAll});
    t.output(bert(t, x, mask.rank() ? t.input(mask, "mask") : nullptr));
    auto g = optimized(t, 1e-5, true);
    EXPECT_EQ(operators(*g), "MatMul StridedAttention Reshape");
    EXPECT_EQ(operators(*optimized(t)).find("StridedAttention"), std::string::npos) << "only for GPUs";
  }
}

// torch's scaled_dot_product_attention: a square root of the scale on both sides, one layer for all three.
TEST(Attention, VitReadsItsOneProduct) {
  TestGraph t;
  Value* x = t.input({kBatch, kRows, kAll});
  Value* all = t.op("Add", {t.op("MatMul", {x, t.constant({kAll, 3 * kAll})}), t.constant({3 * kAll})});
  all = t.op("Reshape", {all, t.ints({kBatch, kRows, 3, kHeads, kSize})});
  all = t.op("Transpose", {all}, {{"perm", std::vector<int64_t>{2, 0, 3, 1, 4}}});
  ir::Node* split = ops::add_op(*t.graph, "Split", {all}, {{"num_outputs", int64_t{3}}}, 3);
  auto part = [&](int i) { return t.op("Squeeze", {split->output(i), t.ints({0})}); };
  Value* q = t.op("Mul", {part(0), t.number(0.7f)});
  Value* k = t.op("Mul", {t.op("Transpose", {part(1)}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}}), t.number(0.7f)});
  t.output(merged(t, t.op("MatMul", {t.op("Softmax", {t.op("MatMul", {q, k})}), part(2)})));
  auto g = optimized(t, 1e-5, true);
  EXPECT_EQ(operators(*g), "MatMul StridedAttention Reshape");
  EXPECT_EQ(g->last()->prev()->input(0), g->last()->prev()->input(2));
}

// Three axes: heads of all sequences as one batch of products.
TEST(Attention, BatchesOfMatrices) {
  TestGraph t;
  Value* x = t.input({kRows, kBatch, kAll});
  auto view = [&](Value* y, std::vector<int64_t> perm) {
    return t.op("Transpose", {t.op("Reshape", {y, t.ints({kRows, kBatch * kHeads, kSize})})},
                {{"perm", std::move(perm)}});
  };
  Value *q = view(linear(t, x, false), {1, 0, 2}), *k = view(linear(t, x, false), {1, 2, 0}),
        *v = view(linear(t, x, false), {1, 0, 2});
  Value* y = t.op("MatMul", {t.op("Softmax", {t.op("MatMul", {q, k})}), v});
  t.output(t.op("Transpose", {y}, {{"perm", std::vector<int64_t>{1, 0, 2}}}));
  EXPECT_EQ(operators(*optimized(t, 1e-5, true)), "MatMul MatMul MatMul StridedAttention");
}

// torch's MultiheadAttention with the batch first: rows change places before and after.
TEST(Attention, RowsThatChangePlaces) {
  TestGraph t;
  Value* x = t.input({kBatch, kRows, kAll});
  auto turned = [&](Value* v, std::vector<int64_t> perm) {
    return t.op("Transpose", {v}, {{"perm", std::move(perm)}});
  };
  Value* all = t.op("MatMul", {turned(x, {1, 0, 2}), t.constant({kAll, 3 * kAll})});
  all = t.op("Reshape", {t.op("Add", {t.constant({3 * kAll}), all}), t.ints({1, kRows, kBatch, 3, kAll})});
  all = t.op("Squeeze", {turned(all, {3, 1, 2, 0, 4}), t.ints({3})});
  auto part = [&](int64_t i, std::vector<int64_t> perm) {
    Value* index = t.graph->add_constant("i", Tensor::of<int64_t>({}, {i}));
    return turned(
        t.op("Reshape", {t.op("Gather", {all, index}, {{"axis", int64_t{0}}}), t.ints({kRows, kBatch, kHeads, kSize})}),
        std::move(perm));
  };
  Value* scores = t.op("MatMul", {part(0, {1, 2, 0, 3}), part(1, {1, 2, 3, 0})});
  Value* y = turned(t.op("MatMul", {t.op("Softmax", {scores}), part(2, {1, 2, 0, 3})}), {2, 0, 1, 3});
  y = t.op("Gemm", {t.op("Reshape", {y, t.ints({kRows * kBatch, kAll})}), t.constant({kAll, 6}), t.constant({6})});
  t.output(turned(t.op("Reshape", {y, t.ints({kRows, kBatch, 6})}), {1, 0, 2}));
  EXPECT_EQ(operators(*optimized(t, 1e-5, true)), "MatMul StridedAttention Reshape FusedMatMul");
}

// The same by way of [rows, batch * heads, size]: one axis that no stride covers, parted again.
TEST(Attention, HeadsOfAllSequencesAsOneAxis) {
  TestGraph t;
  auto turned = [&](Value* v, std::vector<int64_t> perm) {
    return t.op("Transpose", {v}, {{"perm", std::move(perm)}});
  };
  Value* x = t.op("Reshape", {t.input({kBatch, kRows, 3 * kAll}), t.ints({kBatch, kRows, 3, kAll})});
  x = turned(x, {2, 1, 0, 3});
  auto heads_of = [&](int64_t i) {
    Value* index = t.graph->add_constant("i", Tensor::of<int64_t>({}, {i}));
    Value* y =
        t.op("Reshape", {t.op("Gather", {x, index}, {{"axis", int64_t{0}}}), t.ints({kRows, kBatch * kHeads, kSize})});
    return t.op("Reshape", {turned(y, {1, 0, 2}), t.ints({kBatch, kHeads, kRows, kSize})});
  };
  Value* scores = t.op("MatMul", {heads_of(0), turned(heads_of(1), {0, 1, 3, 2})});
  t.output(t.op("MatMul", {t.op("Softmax", {scores}), heads_of(2)}));
  EXPECT_EQ(operators(*optimized(t, 1e-5, true)), "StridedAttention");
}

// Keys and values of another sequence: two products.
TEST(Attention, CrossAttention) {
  TestGraph t;
  Value *x = t.input({kBatch, kRows, kAll}), *z = t.input({kBatch, 7, kAll}, "z");
  Value *q = heads(t, linear(t, x)), *k = heads(t, linear(t, z), {0, 2, 3, 1}), *v = heads(t, linear(t, z));
  t.output(t.op("MatMul", {t.op("Softmax", {t.op("MatMul", {q, k})}), v}));
  EXPECT_EQ(operators(*optimized(t, 1e-5, true)), "MatMul MatMul StridedAttention");
}

// The guard against rows of which all is masked.
TEST(Attention, GuardedSoftmax) {
  TestGraph t;
  Value* x = t.input({kBatch, kHeads, kRows, kSize});
  Value* p = t.op("Softmax", {t.op("MatMul", {x, t.input({kBatch, kHeads, kSize, 6}, "k")})});
  p = t.op("Where", {t.op("IsNaN", {p}), t.number(0), p});
  t.output(t.op("MatMul", {p, t.input({kBatch, kHeads, 6, kSize}, "v")}));
  // Columns of K are not neighbours in a row: a Transpose would be wanted.
  EXPECT_EQ(operators(*optimized(t, 1e-5, true)).find("StridedAttention"), std::string::npos);
  TestGraph u;
  x = u.input({kBatch, kHeads, kRows, kSize});
  Value* k =
      u.op("Transpose", {u.input({kBatch, kHeads, 6, kSize}, "k")}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  p = u.op("Softmax", {u.op("MatMul", {x, k})});
  p = u.op("Where", {u.op("IsNaN", {p}), u.number(0), p});
  u.output(u.op("MatMul", {p, u.input({kBatch, kHeads, 6, kSize}, "v")}));
  EXPECT_EQ(operators(*optimized(u, 1e-5, true)), "StridedAttention");
}

TEST(Attention, WeightsThatAreAlsoAnOutputStay) {
  TestGraph t;
  Value* x = t.input({kBatch, kHeads, kRows, kSize});
  Value* k = t.op("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  Value* p = t.op("Softmax", {t.op("MatMul", {x, k})});
  t.output(p);
  t.output(t.op("MatMul", {p, x}));
  EXPECT_EQ(operators(*optimized(t, 1e-5, true)).find("StridedAttention"), std::string::npos);
}

// Layers of one input that do not become heads stay apart: their parts would be copies.
TEST(Attention, OtherLayersStayApart) {
  TestGraph t;
  Value* x = t.input({kBatch, kRows, kAll});
  t.output(t.op("Mul", {linear(t, x, false), t.op("Relu", {linear(t, x, false)})}));
  std::string left = operators(*optimized(t, 1e-5, true));
  EXPECT_EQ(left.find("Split"), std::string::npos) << left;
}

// A linear layer on flattened rows takes the residual of the shape before into its epilogue.
TEST(UnflattenGemm, TheResidualIsTheProductsOwn) {
  for (int64_t turned : {0, 1}) {
    TestGraph t;
    Value* x = t.input({kBatch, kRows, kAll});
    Value* y = t.op("Gemm", {t.op("Reshape", {x, t.ints({-1, kAll})}), t.constant({kAll, kAll}), t.constant({kAll})},
                    {{"transB", turned}, {"alpha", 0.5f}});
    t.output(t.op("Add", {t.op("Reshape", {y, t.ints({kBatch, kRows, kAll})}), x}));
    auto g = optimized(t, 1e-5, true);
    EXPECT_EQ(operators(*g), "FusedMatMul");
    EXPECT_TRUE(g->first()->epilogue);
  }
}
TEST(UnflattenGemm, OtherReshapesStay) {
  TestGraph t;
  Value* y = t.op("Gemm", {t.input({10, kAll}), t.constant({kAll, 6})});
  t.output(t.op("Reshape", {y, t.ints({2, 15, 2})}));
  EXPECT_EQ(operators(*optimized(t, 1e-5, true)), "Gemm Reshape");
}

TEST(Attention, AStridedNodeThatReachesBeyondItsTensorIsRefused) {
  TestGraph t;
  Value* x = t.input({2, 8});
  auto make = [&](std::vector<int64_t> q, std::vector<int64_t> sizes) {
    std::vector<int64_t> rows = {0, 0, 0, 4};
    ops::add_op(*t.graph, "StridedAttention", {x, x, x},
                {{"dims", std::vector<int64_t>{2, 4}},
                 {"k", rows},
                 {"mask", std::vector<int64_t>(4)},
                 {"out", rows},
                 {"q", std::move(q)},
                 {"scale", 1.0f},
                 {"sizes", std::move(sizes)},
                 {"v", rows}},
                1, nullptr, "hipforge");
  };
  make({8, 0, 0, 4}, {1, 1, 1, 2, 2, 4, 4});
  EXPECT_THROW(make({9, 0, 0, 4}, {1, 1, 1, 2, 2, 4, 4}), Error);
  EXPECT_THROW(make({0, 0, 0, 4}, {1, 1, 1, 2, 5, 4, 4}), Error);
  EXPECT_THROW(make({0, 0, 0, 4}, {1, 1, 1, 3, 2, 4, 4}), Error);
  EXPECT_THROW(make({0, 0, 0, -4}, {1, 1, 1, 2, 2, 4, 4}), Error);
}

}  // namespace hf

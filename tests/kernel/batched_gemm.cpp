// Batched products: every candidate against loops in double, with strides, repeats and ragged extents.
#include "kernel/batched_gemm.h"

#include <algorithm>
#include <functional>

#include "kernel/run.h"

namespace hf::kernel {
namespace {

// Where a problem's product `batch` begins in a and b.
std::pair<int64_t, int64_t> offsets(const BatchedGemmProblem& p, int64_t batch) {
  int64_t a = 0, b = 0;
  for (size_t i = p.batch.size(); i-- > 0; batch /= p.batch[i].extent) {
    a += batch % p.batch[i].extent * p.batch[i].a;
    b += batch % p.batch[i].extent * p.batch[i].b;
  }
  return {a, b};
}

// A problem with dense operands, [m, k] or [k, m] and [k, n] or [n, k], and these batches.
BatchedGemmProblem dense(int64_t batches, int64_t m, int64_t n, int64_t k, bool turn_a, bool turn_b) {
  return {.m = m,
          .n = n,
          .k = k,
          .batch = {{batches, m * k, k * n}},
          .a_row = turn_a ? 1 : k,
          .a_col = turn_a ? m : 1,
          .b_row = turn_b ? 1 : n,
          .b_col = turn_b ? k : 1};
}
BatchedGemmProblem typed(BatchedGemmProblem p, Element type) {
  p.a = p.b = p.out = type;
  return p;
}

class BatchedGemm : public KernelTest {
 protected:
  using Finish = std::function<double(double product, int64_t row, int64_t column)>;

  // `finish` is what bias and epilogue do; `operands` the inputs after a and b.
  void check(const BatchedGemmProblem& p, const Finish& finish = {}, const std::vector<Bytes>& operands = {}) {
    int64_t a_most = 0, b_most = 0;
    for (int64_t batch = 0; batch < p.batches(); ++batch) {
      a_most = std::max(a_most, offsets(p, batch).first);
      b_most = std::max(b_most, offsets(p, batch).second);
    }
    int64_t deepest = std::max<int64_t>(p.k - 1, 0);
    a_most += (p.m - 1) * p.a_row + deepest * p.a_col + 1;
    b_most += deepest * p.b_row + (p.n - 1) * p.b_col + 1;
    std::vector<float> a = rounded(random_floats(static_cast<size_t>(a_most), -1, 1, 3), p.a);
    std::vector<float> b = rounded(random_floats(static_cast<size_t>(b_most), -1, 1, 4), p.b);
    size_t count = static_cast<size_t>(p.batches() * p.m * p.n);
    std::vector<double> want(count), size(count);
    for (size_t at = 0; at < count; ++at) {
      int64_t row = static_cast<int64_t>(at) / p.n, j = static_cast<int64_t>(at) % p.n, i = row % p.m;
      auto [a_at, b_at] = offsets(p, row / p.m);
      for (int64_t l = 0; l < p.k; ++l) {
        double product = double{a[static_cast<size_t>(a_at + i * p.a_row + l * p.a_col)]} *
                         b[static_cast<size_t>(b_at + l * p.b_row + j * p.b_col)];
        want[at] += product;
        size[at] += std::abs(product);
      }
      want[at] *= p.alpha;
      if (finish) want[at] = finish(want[at], row, j);
    }
    std::vector<Bytes> inputs = {stored(a, p.a), stored(b, p.b)};
    inputs.insert(inputs.end(), operands.begin(), operands.end());
    for (const KernelSpec& spec : batched_gemm(p, target())) {
      SCOPED_TRACE(fmt::format("{} x ({} x {} x {}) {}", p.batches(), p.m, p.k, p.n, spec.variant));
      std::vector<float> got = floats(run(spec, inputs, {count * static_cast<size_t>(size_of(p.out))})[0], p.out);
      for (size_t i = 0; i < count; ++i)
        ASSERT_NEAR(got[i], want[i], 3e-6 * size[i] + 1e-6 + std::abs(want[i]) * unit_of(p.out)) << "element " << i;
    }
  }
};

TEST_P(BatchedGemm, AllOrders) {
  for (bool turn_a : {false, true})
    for (bool turn_b : {false, true}) check(dense(2, 33, 40, 20, turn_a, turn_b));
}
TEST_P(BatchedGemm, RaggedExtents) {
  check(dense(1, 65, 67, 35, false, false));
  check(dense(3, 17, 5, 1, false, true));
  check(dense(1, 130, 129, 17, true, false));
}
TEST_P(BatchedGemm, FewRows) {
  for (bool turn_b : {false, true}) {
    check(dense(2, 1, 72, 136, false, turn_b));
    check(typed(dense(2, 7, 72, 136, false, turn_b), Element::F16));
    check(dense(2, 16, 72, 136, false, turn_b));
  }
  check(dense(1, 5, 301, 77, true, false));
  check(dense(1, 5, 301, 77, true, true));
  check(dense(2, 1, 1, 9, false, true));
}
TEST_P(BatchedGemm, SmallFloats) {
  for (Element type : {Element::F16, Element::BF16}) {
    check(typed(dense(2, 40, 72, 48, false, type == Element::F16), type));
    check(typed(dense(2, 40, 72, 48, true, type == Element::F16), type));
    check(typed(dense(1, 70, 33, 43, false, type == Element::BF16), type));
    check(typed(dense(1, 3, 80, 64, false, type == Element::BF16), type));
  }
}
TEST_P(BatchedGemm, MixedTypes) {
  BatchedGemmProblem p = dense(1, 20, 24, 32, false, false);
  p.a = Element::F16, p.b = Element::F32, p.out = Element::BF16;
  check(p);
  p.a = Element::BF16, p.b = Element::F16, p.out = Element::F32;
  check(p);
}
TEST_P(BatchedGemm, LargerTiles) {
  check(typed(dense(1, 150, 200, 136, false, true), Element::F16));
  check(typed(dense(1, 129, 264, 72, false, false), Element::BF16));
  check(dense(1, 150, 200, 40, false, true));
}

// Attention's products: heads inside rows, keys shared by the heads of a group, one a for several b.
TEST_P(BatchedGemm, StridesAndRepeats) {
  const int64_t sequences = 2, heads = 3, rows = 19, keys = 24, size = 16;
  for (Element type : {Element::F32, Element::F16}) {
    check(typed({.m = rows,
                 .n = keys,
                 .k = size,
                 .batch = {{sequences, rows * heads * size, keys * heads * size}, {heads, size, size}},
                 .a_row = heads * size,
                 .b_row = 1,
                 .b_col = heads * size},
                type));
    check(typed({.m = rows,
                 .n = size,
                 .k = keys,
                 .batch = {{sequences, heads * rows * keys, keys * size}, {heads, rows * keys, 0}},
                 .a_row = keys,
                 .b_row = size},
                type));
    check(
        typed({.m = 9, .n = 8, .k = 8, .batch = {{2, 0, 200}, {1, 7, 7}, {3, 100, 0}}, .a_row = 8, .b_row = 8}, type));
  }
}
// Neither axis of an operand is contiguous.
TEST_P(BatchedGemm, NoContiguousAxis) {
  for (Element type : {Element::F32, Element::F16})
    check(typed({.m = 20, .n = 30, .k = 10, .a_row = 23, .a_col = 2, .b_row = 92, .b_col = 3}, type));
}

TEST_P(BatchedGemm, NothingToSum) {
  BatchedGemmProblem p = dense(1, 3, 5, 0, false, false);
  p.a_row = 1;
  check(p);
}

TEST_P(BatchedGemm, BiasAndEpilogue) {
  for (Element type : {Element::F32, Element::F16}) {
    BatchedGemmProblem p = typed(dense(2, 20, 24, 32, false, true), type);
    p.alpha = 0.5f, p.beta = -2;
    p.bias = {{.type = Element::F32, .column_stride = 1}};
    p.epilogue = {.expression = {.inputs = 3, .body = "float t = r0 * r1; return t + r2;"},
                  .operands = {{.type = type, .row_divisor = 20, .row_stride = 1},
                               {.type = Element::F32, .row_stride = 24, .column_stride = 1}}};
    std::vector<float> bias = random_floats(24, -1, 1, 7), scale = rounded(random_floats(2, -1, 1, 8), type),
                       added = random_floats(2 * 20 * 24, -1, 1, 9);
    check(p,
          [&](double v, int64_t row, int64_t column) {
            double t = (v - 2.0 * bias[static_cast<size_t>(column)]) * scale[static_cast<size_t>(row / 20)];
            return t + added[static_cast<size_t>(row * 24 + column)];
          },
          {stored(bias, Element::F32), stored(scale, type), stored(added, Element::F32)});
  }
}

HF_ON_ALL_DEVICES(BatchedGemm);

TEST(BatchedGemmSpec, OneTextForAllRowsAndBatches) {
  BatchedGemmProblem one{.m = 100, .n = 64, .k = 64, .batch = {{2, 9000, 0}}, .a_row = 64, .b_row = 64}, two = one;
  two.m = 77, two.batch[0].extent = 9;
  Candidates a = batched_gemm(one, {}), b = batched_gemm(two, {});
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(full_text(a[i]), full_text(b[i]));
    EXPECT_EQ(a[i].defines, b[i].defines);
  }
}
TEST(BatchedGemmSpec, FewRowsAreNoTiles) {
  BatchedGemmProblem p{.m = 1, .n = 64, .k = 64, .a_row = 64, .b_row = 64};
  EXPECT_EQ(batched_gemm(p, {})[0].variant, "skinny_columns");
  p.b_row = 1, p.b_col = 64;
  EXPECT_EQ(batched_gemm(p, {})[0].variant, "skinny_depth");
}
TEST(BatchedGemmSpec, RefusesWhatDoesNotFit) {
  EXPECT_THROW(batched_gemm({.m = int64_t{1} << 31, .n = 8, .k = 8}, {}), Error);
  EXPECT_THROW(batched_gemm({.m = 1 << 20, .n = 1 << 20, .k = 8, .batch = {{1 << 10, 0, 0}}}, {}), Error);
}

}  // namespace
}  // namespace hf::kernel

// Softmax kernels: every candidate against plain loops in double.
#include "kernel/softmax.h"

#include <algorithm>

#include "kernel/run.h"

namespace hf::kernel {
namespace {

// Over the middle axis of [rows, cols, inner], or over the first cols of each pitch.
std::vector<double> expected(const SoftmaxProblem& p, const std::vector<float>& x) {
  std::vector<double> y(x.size());
  const int64_t pitch = p.pitch ? p.pitch : p.cols;
  for (int64_t row = 0; row < p.rows * p.inner; ++row) {
    const int64_t first = row / p.inner * pitch * p.inner + row % p.inner;
    auto at = [&](int64_t i) { return static_cast<size_t>(first + i * p.inner); };
    double max = -INFINITY, sum = 0;
    for (int64_t i = 0; i < p.cols; ++i) max = std::max(max, double{x[at(i)]});
    for (int64_t i = 0; i < p.cols; ++i) sum += std::exp(x[at(i)] - max);
    for (int64_t i = 0; i < p.cols; ++i)
      y[at(i)] = p.log ? x[at(i)] - max - std::log(sum) : std::exp(x[at(i)] - max) / sum;
  }
  return y;
}

class Softmax : public KernelTest {
 protected:
  void check(const SoftmaxProblem& p, float range, int units = 0) {
    Target t = target();
    if (units) t.compute_units = units;
    size_t count = static_cast<size_t>(p.rows * (p.pitch ? p.pitch : p.cols) * p.inner);
    std::vector<float> x = rounded(random_floats(count, -range, range), p.in);
    std::vector<double> want = expected(p, x);
    for (const KernelSpec& spec : softmax(p, t)) {
      SCOPED_TRACE(fmt::format("{} x {} x {} {}", p.rows, p.cols, p.inner, spec.variant));
      auto out = run(spec, {stored(x, p.in)}, {count * static_cast<size_t>(size_of(p.out))});
      std::vector<float> got = floats(out[0], p.out);
      // exp and log to 4e-7, sums of cols terms in float, the output's rounding.
      for (size_t i = 0; i < count; ++i) {
        double bound = p.log ? 2e-6 * std::max(1.0, std::abs(want[i])) + std::abs(want[i]) * unit_of(p.out)
                             : want[i] * (2e-6 + unit_of(p.out)) + 1e-7 * (p.out == Element::F16);
        ASSERT_NEAR(got[i], want[i], bound) << "element " << i;
      }
    }
  }
};

TEST_P(Softmax, RowsOfAllLengths) {
  for (int64_t cols : {1, 2, 3, 7, 31, 32, 33, 64, 100, 128, 255, 1000, 1024, 2050})
    check({.rows = 5, .cols = cols}, 10);
}
TEST_P(Softmax, RowsThatDoNotFitRegisters) { check({.rows = 2, .cols = 9001}, 5); }
TEST_P(Softmax, ManyRows) {
  check({.rows = 517, .cols = 12}, 3);
  check({.rows = 1031, .cols = 128, .in = Element::F16, .out = Element::F16}, 3, 1);  // two at once for the same lanes
}
TEST_P(Softmax, SmallFloatsOfWhichALaneHasMany) {
  for (Element e : {Element::F16, Element::BF16}) check({.rows = 3, .cols = 1024, .in = e, .out = e}, 10);
}
TEST_P(Softmax, PaddedRows) {
  check({.rows = 9, .cols = 21, .pitch = 24, .in = Element::F16, .out = Element::F16}, 4);
  check({.rows = 9, .cols = 5, .pitch = 8, .log = true}, 4);
  check({.rows = 2, .cols = 9001, .pitch = 9008}, 4);
}
TEST_P(Softmax, OverAnAxisThatIsNotTheLast) {
  check({.rows = 3, .cols = 21, .inner = 50}, 6);
  check({.rows = 2, .cols = 1, .inner = 7}, 6);
  check({.rows = 2, .cols = 300, .inner = 33, .log = true}, 30);
  check({.rows = 1, .cols = 19, .inner = 64 * 64, .in = Element::F16, .out = Element::BF16}, 6);
}
TEST_P(Softmax, SmallFloats) {
  for (Element in : {Element::F32, Element::F16, Element::BF16})
    for (Element out : {Element::F32, Element::F16, Element::BF16})
      check({.rows = 3, .cols = 136, .in = in, .out = out}, 8);
}
TEST_P(Softmax, Log) {
  check({.rows = 4, .cols = 77, .log = true}, 20);
  check({.rows = 4, .cols = 1000, .in = Element::F16, .out = Element::F16, .log = true}, 4);
}

TEST_P(Softmax, ExtremesAndNaN) {
  constexpr float inf = INFINITY;
  // Columns of two: {-inf, 3}, {-inf, -inf}, {NaN, 1}, {90, -90}.
  const std::vector<float> pairs = {-inf, -inf, NAN, 90, 3, -inf, 1, -90};
  std::vector<float> columns =
      floats(run(softmax({.rows = 1, .cols = 2, .inner = 4}, target())[0], {stored(pairs, Element::F32)}, {32})[0],
             Element::F32);
  for (size_t i : {1, 2, 5, 6}) EXPECT_TRUE(std::isnan(columns[i])) << i;
  EXPECT_EQ((std::vector<float>{columns[0], columns[3], columns[4], columns[7]}), (std::vector<float>{0, 1, 1, 0}));
  std::vector<float> x = {1e30f, -1e30f, 0,    0,    -inf, 0,    0, -inf, 88, 89,
                          90,    -200,   -inf, -inf, -inf, -inf, 1, NAN,  2,  3};
  for (const KernelSpec& spec : softmax({.rows = 5, .cols = 4}, target())) {
    std::vector<float> y = floats(run(spec, {stored(x, Element::F32)}, {80})[0], Element::F32);
    EXPECT_EQ(std::vector<float>(y.begin(), y.begin() + 8), (std::vector<float>{1, 0, 0, 0, 0, 0.5f, 0.5f, 0}));
    EXPECT_NEAR(y[10], 1 / (1 + std::exp(-1.0) + std::exp(-2.0)), 1e-6);
    for (size_t i = 12; i < 20; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
  }
}

HF_ON_ALL_DEVICES(Softmax);

TEST(SoftmaxSpec, RefusesWhatDoesNotFitAGrid) {
  EXPECT_THROW(softmax({.rows = int64_t{1} << 40, .cols = 4}, {}), Error);
  EXPECT_THROW(softmax({.rows = 1, .cols = int64_t{1} << 31}, {}), Error);
}
TEST(SoftmaxSpec, PairsManyShortRows) {
  auto has = [](const KernelSpec& s) {
    return std::find(s.defines.begin(), s.defines.end(), "HF_TOGETHER=2") != s.defines.end();
  };
  EXPECT_TRUE(has(softmax({.rows = 100000, .cols = 128, .in = Element::F16, .out = Element::F16}, {})[0]));
  EXPECT_FALSE(has(softmax({.rows = 100, .cols = 128, .in = Element::F16, .out = Element::F16}, {})[0]));
  EXPECT_FALSE(has(softmax({.rows = 100000, .cols = 1000}, {})[0]));
}
TEST(SoftmaxSpec, TakesAWaveForShortRowsAndABlockForLong) {
  EXPECT_EQ(softmax({.rows = 1000, .cols = 128}, {.wave_size = 64, .compute_units = 100})[0].variant, "wave");
  EXPECT_EQ(softmax({.rows = 1000, .cols = 5000}, {.wave_size = 64, .compute_units = 100})[0].variant, "block");
  EXPECT_EQ(softmax({.rows = 2, .cols = 1000}, {.wave_size = 64, .compute_units = 100})[0].variant, "block");
}

}  // namespace
}  // namespace hf::kernel

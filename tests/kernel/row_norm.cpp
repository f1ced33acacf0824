// Row normalisation: every candidate against plain loops in double.
#include "kernel/row_norm.h"

#include <algorithm>

#include "kernel/run.h"

namespace hf::kernel {
namespace {

struct Result {
  std::vector<double> y, mean, inverse;
};

size_t at(int64_t i) { return static_cast<size_t>(i); }

Result expected(const RowNormProblem& p, const std::vector<float>& x, const std::vector<float>& scale,
                const std::vector<float>& bias) {
  const int64_t pitch = p.pitch ? p.pitch : p.cols, width = (p.cols + p.parameter_run - 1) / p.parameter_run;
  Result r{std::vector<double>(x.size()), {}, {}};
  for (int64_t row = 0; row < p.rows; ++row) {
    double mean = 0, sum = 0, n = static_cast<double>(p.cols);
    const float* v = &x[at(row * pitch)];
    const bool centred = p.kind == RowNorm::Layer || p.kind == RowNorm::Deviation;
    for (int64_t i = 0; i < p.cols; ++i) mean += centred ? v[i] / n : 0;
    for (int64_t i = 0; i < p.cols; ++i)
      sum += p.kind == RowNorm::L1 ? std::abs(double{v[i]}) : (v[i] - mean) * (v[i] - mean);
    double inverse = 0;
    switch (p.kind) {
      case RowNorm::Layer:
      case RowNorm::Rms: inverse = 1 / std::sqrt(sum / n + double{p.epsilon}); break;
      case RowNorm::L1: inverse = sum == 0 ? 0 : 1 / sum; break;
      case RowNorm::L2: inverse = sum == 0 ? 0 : 1 / std::sqrt(sum); break;
      case RowNorm::Deviation: inverse = 1 / (std::sqrt(sum / n) + double{p.epsilon}); break;
    }
    for (int64_t i = 0; i < p.cols; ++i) {
      const size_t parameter = at(row % p.parameter_rows * width + i / p.parameter_run);
      double y = (v[i] - mean) * inverse;
      if (p.scale) y *= double{scale[parameter]};
      if (p.bias) y += double{bias[parameter]};
      r.y[at(row * pitch + i)] = y;
    }
    r.mean.push_back(mean);
    r.inverse.push_back(inverse);
  }
  return r;
}

class RowNorms : public KernelTest {
 protected:
  void check(RowNormProblem p, float low = -3, float high = 5, int units = 0) {
    Target t = target();
    if (units) t.compute_units = units;
    const int64_t pitch = p.pitch ? p.pitch : p.cols, width = (p.cols + p.parameter_run - 1) / p.parameter_run;
    std::vector<float> x = rounded(random_floats(at(p.rows * pitch), low, high), p.in);
    for (int64_t i = 0; i < p.rows * pitch; ++i)
      if (i % pitch >= p.cols) x[at(i)] = 0;
    std::vector<float> scale = rounded(random_floats(at(p.parameter_rows * width), 0.5f, 2, 2), p.scale_type);
    std::vector<float> bias = rounded(random_floats(at(p.parameter_rows * width), -1, 1, 3), p.bias_type);
    const Result want = expected(p, x, scale, bias);
    std::vector<Bytes> inputs = {stored(x, p.in)};
    if (p.scale) inputs.push_back(stored(scale, p.scale_type));
    if (p.bias) inputs.push_back(stored(bias, p.bias_type));
    std::vector<size_t> outputs = {x.size() * at(size_of(p.out))};
    if (p.mean) outputs.push_back(at(p.rows * 4));
    if (p.inverse) outputs.push_back(at(p.rows * 4));
    // The error of the sums grows with the mean that is taken away.
    const double far = 1e-6 * std::max({1.0, std::abs(double{low}), std::abs(double{high})});
    for (const KernelSpec& spec : row_norm(p, t)) {
      SCOPED_TRACE(fmt::format("{} x {} {}", p.rows, p.cols, spec.variant));
      const std::vector<Bytes> out = run(spec, inputs, outputs);
      near(floats(out[0], p.out), want.y, far, unit_of(p.out));
      size_t next = 1;
      if (p.mean) near(floats(out[next++], Element::F32), want.mean, far, 1e-6);
      if (p.inverse) near(floats(out[next++], Element::F32), want.inverse, far, 1e-6);
    }
    const std::vector<Candidates> split = row_norm_split(p, t);
    if (split.empty()) return;
    SCOPED_TRACE(fmt::format("{} x {} split", p.rows, p.cols));
    near(floats(run_all(split, inputs, outputs)[0], p.out), want.y, far, unit_of(p.out));
  }
  void near(const std::vector<float>& got, const std::vector<double>& want, double absolute, double relative) {
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], want[i], 2e-6 + 2 * absolute + (relative + 2e-6) * std::abs(want[i])) << "element " << i;
  }
};

TEST_P(RowNorms, RowsOfAllLengths) {
  for (int64_t cols : {1, 2, 3, 7, 8, 33, 64, 96, 100, 255, 768, 1000, 1024, 2050, 4096, 5000})
    check({.rows = 5, .cols = cols, .scale = true, .bias = true});
}
TEST_P(RowNorms, RowsThatDoNotFitRegisters) {
  for (RowNorm kind : {RowNorm::Layer, RowNorm::Rms}) check({.rows = 2, .cols = 9001, .kind = kind, .scale = true});
}
TEST_P(RowNorms, ManyRows) {
  check({.rows = 519, .cols = 24, .scale = true, .bias = true});
  // Two at once for the same lanes.
  const RowNormProblem p{
      .rows = 1031, .cols = 96, .in = Element::F16, .out = Element::F16, .scale = true, .mean = true};
  check(p, -3, 5, 1);
}
TEST_P(RowNorms, AllKinds) {
  for (RowNorm kind : {RowNorm::Layer, RowNorm::Rms, RowNorm::L1, RowNorm::L2, RowNorm::Deviation}) {
    check({.rows = 3, .cols = 200, .kind = kind});
    check({.rows = 3, .cols = 20001, .kind = kind});
  }
}
TEST_P(RowNorms, RowsOfZeros) {
  check({.rows = 3, .cols = 24, .kind = RowNorm::L1}, 0, 0);
  check({.rows = 3, .cols = 24, .kind = RowNorm::L2}, 0, 0);
}
TEST_P(RowNorms, SmallFloats) {
  for (Element in : {Element::F32, Element::F16, Element::BF16})
    for (Element out : {Element::F32, Element::F16, Element::BF16})
      check({.rows = 3, .cols = 136, .in = in, .out = out, .scale = true, .bias = true, .scale_type = out});
}
TEST_P(RowNorms, FurtherOutputs) {
  check({.rows = 7, .cols = 40, .scale = true, .mean = true, .inverse = true});
  check({.rows = 7, .cols = 40, .in = Element::F16, .inverse = true});
}
TEST_P(RowNorms, PaddedRows) {
  check({.rows = 9, .cols = 13, .pitch = 16, .in = Element::F16, .out = Element::F16, .scale = true, .bias = true});
  check({.rows = 9, .cols = 130, .pitch = 136, .scale = true, .parameter_run = 130});
  check({.rows = 2, .cols = 20001, .pitch = 20008});
}
TEST_P(RowNorms, ParametersOfChannels) {
  // [2, 3 groups, 4 channels, 10] with a scale a channel; [4, 3, 35]: a scale a row; [2, 3, 20]: a scale a group.
  check({.rows = 6, .cols = 40, .scale = true, .bias = true, .parameter_rows = 3, .parameter_run = 10});
  check({.rows = 12, .cols = 35, .scale = true, .bias = true, .parameter_rows = 3, .parameter_run = 35});
  check({.rows = 6, .cols = 17 * 1024, .scale = true, .bias = true, .parameter_rows = 3, .parameter_run = 1024});
  check({.rows = 6, .cols = 17 * 1029, .scale = true, .bias = true, .parameter_rows = 3, .parameter_run = 1029});
}
TEST_P(RowNorms, Columns) {
  // [2, 9, inner] against its transpose as rows.
  for (RowNorm kind : {RowNorm::Rms, RowNorm::L1, RowNorm::L2, RowNorm::Deviation})
    for (int64_t inner : {7, 40}) {
      const RowNormProblem p{.rows = 2, .cols = 9, .kind = kind, .epsilon = 1e-9f};
      RowNormProblem rows = p;
      rows.rows = 2 * inner;
      const std::vector<float> x = random_floats(at(18 * inner), -2, 3);
      auto turned = [&](int64_t i) { return at((i / (9 * inner) * inner + i % inner) * 9 + i / inner % 9); };
      std::vector<float> t(x.size());
      for (size_t i = 0; i < x.size(); ++i) t[turned(static_cast<int64_t>(i))] = x[i];
      const std::vector<double> want = expected(rows, t, {}, {}).y;
      const std::vector<float> got =
          floats(run(row_norm_columns(p, inner)[0], {stored(x, Element::F32)}, {x.size() * 4})[0], Element::F32);
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(got[i], want[turned(static_cast<int64_t>(i))], 4e-6) << "element " << i;
    }
}
TEST_P(RowNorms, AMeanFarFromZero) {
  check({.rows = 3, .cols = 768}, 1000, 1001);
  check({.rows = 2, .cols = 40000}, 1000, 1001);
}

TEST_P(RowNorms, Epilogue) {
  // y * (what lies there) + (one value for every two rows)
  RowNormProblem p{.rows = 6, .cols = 16, .kind = RowNorm::L1};
  p.epilogue.expression = {.inputs = 3, .body = "return r0 * r1 + r2;"};
  p.epilogue.operands = {{.type = Element::F16, .row_stride = 16, .column_stride = 1},
                         {.row_divisor = 2, .row_stride = 1}};
  const std::vector<float> x(96, 2), b = {1, 2, 3}, a = rounded(random_floats(96, 1, 2), Element::F16);
  for (const KernelSpec& spec : row_norm(p, target())) {
    std::vector<Bytes> out =
        run(spec, {stored(x, Element::F32), stored(a, Element::F16), stored(b, Element::F32)}, {96 * 4});
    std::vector<float> y = floats(out[0], Element::F32);
    for (size_t i = 0; i < 96; ++i) EXPECT_NEAR(y[i], a[i] / 16 + b[i / 32], 1e-6) << i;
  }
}

HF_ON_ALL_DEVICES(RowNorms);

TEST(RowNormSpec, SplitsLongRowsAndFewRows) {
  const Target target{.compute_units = 100};
  EXPECT_TRUE(row_norm_split({.rows = 1000, .cols = 768}, target).empty());
  EXPECT_TRUE(row_norm_split({.rows = 4, .cols = 768}, target).empty());
  EXPECT_EQ(row_norm_split({.rows = 4, .cols = 10000}, target).size(), 2u);
  EXPECT_EQ(row_norm_split({.rows = 1000, .cols = 100000}, target).size(), 2u);
}

}  // namespace
}  // namespace hf::kernel

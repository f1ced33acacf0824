// Pointwise kernels against plain loops with the standard library in double.
#include "kernel/pointwise.h"

#include <algorithm>
#include <functional>
#include <map>

#include "kernel/run.h"

namespace hf::kernel {
namespace {

using Step = PointwiseStep;

// a = 0.2, b = 0.5 for the ops that have numbers.
const std::map<std::string_view, std::function<double(double, double)>> kExpected = {
    {"abs", [](double v, double) { return std::abs(v); }},
    {"add", [](double v, double w) { return v + w; }},
    {"affine", [](double v, double) { return v * 0.2f + 0.5; }},
    {"clip", [](double v, double) { return std::min(std::max(v, double{0.2f}), 0.5); }},
    {"div", [](double v, double w) { return v / w; }},
    {"erf", [](double v, double) { return std::erf(v); }},
    {"exp", [](double v, double) { return std::exp(v); }},
    {"gelu", [](double v, double) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); }},
    {"gelu_tanh",
     [](double v, double) { return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); }},
    {"hard_sigmoid", [](double v, double) { return std::min(std::max(v * 0.2f + 0.5, 0.0), 1.0); }},
    {"leaky_relu", [](double v, double) { return v < 0 ? v * 0.2f : v; }},
    {"log", [](double v, double) { return std::log(v); }},
    {"max", [](double v, double w) { return std::max(v, w); }},
    {"min", [](double v, double w) { return std::min(v, w); }},
    {"mul", [](double v, double w) { return v * w; }},
    {"neg", [](double v, double) { return -v; }},
    {"relu", [](double v, double) { return std::max(v, 0.0); }},
    {"sigmoid", [](double v, double) { return 1 / (1 + std::exp(-v)); }},
    {"silu", [](double v, double) { return v / (1 + std::exp(-v)); }},
    {"sqrt", [](double v, double) { return std::sqrt(v); }},
    {"sub", [](double v, double w) { return v - w; }},
    {"tanh", [](double v, double) { return std::tanh(v); }},
};

class Pointwise : public KernelTest {
 protected:
  std::vector<float> one(const PointwiseProblem& p, const std::vector<Bytes>& inputs) {
    return floats(run(pointwise(p, target())[0], inputs, {static_cast<size_t>(p.count * size_of(p.out))})[0], p.out);
  }
};

TEST_P(Pointwise, EveryOp) {
  constexpr size_t n = 1003;
  for (std::string_view op : pointwise_ops()) {
    SCOPED_TRACE(std::string(op));
    ASSERT_TRUE(kExpected.count(op)) << "the test does not know it";
    bool positive = op == "log" || op == "sqrt";
    std::vector<float> x = random_floats(n, positive ? 1e-3f : -9, 9, 3), w = random_floats(n, 0.5f, 4, 4);
    bool binary = op == "add" || op == "sub" || op == "mul" || op == "div" || op == "max" || op == "min";
    Step step{
        .op = std::string(op), .operand = binary ? Step::Operand::Same : Step::Operand::None, .a = 0.2f, .b = 0.5f};
    std::vector<Bytes> inputs{stored(x, Element::F32)};
    if (binary) inputs.push_back(stored(w, Element::F32));
    std::vector<float> y = one({.count = n, .steps = {step}}, inputs);
    for (size_t i = 0; i < n; ++i) {
      double want = kExpected.at(op)(x[i], w[i]);
      // The differences in gelu and silu for negative v cancel: their error is relative to v.
      double size =
          std::max({std::abs(want), 1e-30, op.starts_with("gelu") || op == "log" ? std::abs(double{x[i]}) : 0.0,
                    op == "log" || op == "affine" || op == "hard_sigmoid" ? 1.0 : 0.0});
      ASSERT_NEAR(y[i], want, 1e-6 * size) << x[i] << ", " << w[i];
    }
  }
}

TEST_P(Pointwise, CopiesOfEverySize) {
  for (int64_t n : {1, 3, 4, 5, 8, 1023, 1024, 1025, 2049}) {
    std::vector<float> x = random_floats(static_cast<size_t>(n), -1e6f, 1e6f);
    EXPECT_EQ(one({.count = n}, {stored(x, Element::F32)}), x);
  }
}

TEST_P(Pointwise, ConvertsAsTheHostDoes) {
  std::vector<float> x = random_floats(2000, -70000, 70000);
  for (float v : {0.f, -0.f, 65504.f, 65519.9f, 65520.f, -65520.f, 1e-8f, 5.97e-8f, 2.98e-8f, 6.1e-5f, 6.09e-5f, 1e38f,
                  3.4e38f, INFINITY, -INFINITY, 1.00048828125f, 1.00146484375f})
    x.push_back(v);
  for (Element in : {Element::F32, Element::F16, Element::BF16})
    for (Element out : {Element::F32, Element::F16, Element::BF16}) {
      SCOPED_TRACE(fmt::format("{} to {}", static_cast<int>(in), static_cast<int>(out)));
      std::vector<float> from = rounded(x, in);
      EXPECT_EQ(one({.count = static_cast<int64_t>(x.size()), .in = in, .out = out}, {stored(x, in)}),
                rounded(from, out));
    }
  std::vector<float> nan(9, NAN);
  for (Element out : {Element::F32, Element::F16, Element::BF16})
    for (float v : one({.count = 9, .out = out}, {stored(nan, Element::F32)})) EXPECT_TRUE(std::isnan(v));
}

TEST_P(Pointwise, AChainWithOperands) {
  for (int64_t channels : {16, 3, 5}) {
    int64_t n = channels * 77;
    size_t count = static_cast<size_t>(n), c = static_cast<size_t>(channels);
    auto f16 = Element::F16;
    std::vector<float> x = rounded(random_floats(count, -3, 3, 1), f16),
                       same = rounded(random_floats(count, -3, 3, 2), f16),
                       bias = rounded(random_floats(c, -1, 1, 3), f16);
    std::vector<float> y = one({.count = n,
                                .channels = channels,
                                .in = f16,
                                .out = f16,
                                .steps = {{.op = "add", .operand = Step::Operand::Channel},
                                          {.op = "relu"},
                                          {.op = "mul", .operand = Step::Operand::Same},
                                          {.op = "affine", .a = 2, .b = -0.25f}}},
                               {stored(x, f16), stored(bias, f16), stored(same, f16)});
    for (size_t i = 0; i < count; ++i) {
      double want = std::max(double{x[i]} + bias[i % c], 0.0) * same[i] * 2 - 0.25;
      ASSERT_NEAR(y[i], want, std::abs(want) * 0x1p-11 + 2e-6) << i << " of " << channels;
    }
  }
}

TEST_P(Pointwise, NaNIsKept) {
  std::vector<float> x(8, NAN), w(8, 1);
  for (const char* op : {"relu", "clip", "exp", "tanh", "sigmoid", "erf", "gelu", "abs"})
    for (float v : one({.count = 8, .steps = {{.op = op, .a = 0, .b = 1}}}, {stored(x, Element::F32)}))
      EXPECT_TRUE(std::isnan(v)) << op;
  for (const char* op : {"max", "min"}) {
    Step step{.op = op, .operand = Step::Operand::Same};
    for (float v : one({.count = 8, .steps = {step}}, {stored(x, Element::F32), stored(w, Element::F32)}))
      EXPECT_TRUE(std::isnan(v)) << op;
    for (float v : one({.count = 8, .steps = {step}}, {stored(w, Element::F32), stored(x, Element::F32)}))
      EXPECT_TRUE(std::isnan(v)) << op;
  }
}

HF_ON_ALL_DEVICES(Pointwise);

}  // namespace
}  // namespace hf::kernel

// Normalisation of channels-last data against plain loops in double.
#include "kernel/channel_norm.h"

#include <algorithm>

#include "kernel/run.h"

namespace hf::kernel {
namespace {

size_t at(int64_t i) { return static_cast<size_t>(i); }

std::vector<double> expected(const ChannelNormProblem& p, const std::vector<float>& x, const std::vector<float>& scale,
                             const std::vector<float>& bias) {
  std::vector<double> y(x.size());
  const int64_t width = p.channels / p.groups;
  for (int64_t n = 0; n < p.images; ++n)
    for (int64_t g = 0; g < p.groups; ++g) {
      auto each = [&](auto f) {
        for (int64_t i = 0; i < p.positions; ++i)
          for (int64_t c = g * width; c < (g + 1) * width; ++c) f(at((n * p.positions + i) * p.pitch + c), c);
      };
      double mean = 0, variance = 0, count = static_cast<double>(p.positions * width);
      each([&](size_t i, int64_t) { mean += x[i] / count; });
      each([&](size_t i, int64_t) { variance += (x[i] - mean) * (x[i] - mean) / count; });
      each([&](size_t i, int64_t c) {
        const size_t parameter = at(c / p.parameter_run);
        y[i] = (x[i] - mean) / std::sqrt(variance + double{p.epsilon}) * scale[parameter] + bias[parameter];
      });
    }
  return y;
}

class ChannelNorm : public KernelTest {
 protected:
  void check(const ChannelNormProblem& p, float low = -3, float high = 5, int units = 0) {
    std::vector<float> x = rounded(random_floats(at(p.images * p.positions * p.pitch), low, high), p.in);
    for (size_t i = 0; i < x.size(); ++i)
      if (static_cast<int64_t>(i) % p.pitch >= p.channels) x[i] = 0;
    const size_t parameters = at((p.channels + p.parameter_run - 1) / p.parameter_run);
    std::vector<float> scale = rounded(random_floats(parameters, 0.5f, 2, 2), p.scale_type);
    std::vector<float> bias = rounded(random_floats(parameters, -1, 1, 3), p.bias_type);
    const std::vector<double> want = expected(p, x, scale, bias);
    Target t = target();
    if (units) t.compute_units = units;
    SCOPED_TRACE(fmt::format("{} x {} x {} in {}", p.images, p.positions, p.channels, p.groups));
    const std::vector<float> got =
        floats(run_all(channel_norm(p, t), {stored(x, p.in), stored(scale, p.scale_type), stored(bias, p.bias_type)},
                       {x.size() * at(size_of(p.out))})[0],
               p.out);
    const double far = 3e-6 * std::max(std::abs(low), std::abs(high));
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], want[i], far + (unit_of(p.out) + 2e-6) * std::abs(want[i])) << "element " << i;
  }
};

TEST_P(ChannelNorm, Groups) {
  for (int64_t groups : {1, 3, 12, 24})
    check({.images = 2, .positions = 35, .channels = 24, .pitch = 24, .groups = groups});
  check({.images = 3, .positions = 1, .channels = 8, .pitch = 8, .groups = 2});
  check({.images = 1, .positions = 70, .channels = 320, .pitch = 320, .groups = 32});
}
TEST_P(ChannelNorm, ManyPositionsInPieces) {
  check({.images = 2, .positions = 5000, .channels = 16, .pitch = 16, .groups = 4}, -3, 5, 40);
  check({.images = 1, .positions = 3001, .channels = 6, .pitch = 8, .groups = 6}, 100, 101, 40);
}
TEST_P(ChannelNorm, PaddingStaysZero) {
  check({.images = 2,
         .positions = 50,
         .channels = 21,
         .pitch = 24,
         .groups = 7,
         .in = Element::F16,
         .out = Element::F16});
}
TEST_P(ChannelNorm, SmallFloats) {
  for (Element e : {Element::F16, Element::BF16})
    check({.images = 2,
           .positions = 50,
           .channels = 40,
           .pitch = 40,
           .groups = 4,
           .in = e,
           .out = e,
           .scale_type = e,
           .bias_type = e});
}
TEST_P(ChannelNorm, AParameterAGroup) {
  check({.images = 2, .positions = 50, .channels = 40, .pitch = 40, .groups = 4, .parameter_run = 10});
}

HF_ON_ALL_DEVICES(ChannelNorm);

}  // namespace
}  // namespace hf::kernel

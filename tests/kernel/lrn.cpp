// Local response normalisation against plain loops in double.
#include "kernel/lrn.h"

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

class Lrn : public KernelTest {
 protected:
  void check(const LrnProblem& p) {
    const int64_t width = p.pitch ? p.pitch : p.channels;
    auto at = [&](int64_t n, int64_t c, int64_t i) {
      return static_cast<size_t>(p.pitch ? (n * p.positions + i) * width + c : (n * width + c) * p.positions + i);
    };
    std::vector<float> x = rounded(random_floats(static_cast<size_t>(p.images * p.positions * width), -9, 9), p.in);
    std::vector<double> want(x.size());
    for (int64_t n = 0; n < p.images; ++n)
      for (int64_t i = 0; i < p.positions; ++i)
        for (int64_t c = 0; c < p.channels; ++c) {
          double sum = 0;
          for (int64_t k = c - (p.size - 1) / 2; k <= c + p.size / 2; ++k)
            if (k >= 0 && k < p.channels) sum += double{x[at(n, k, i)]} * double{x[at(n, k, i)]};
          want[at(n, c, i)] = x[at(n, c, i)] / std::pow(p.bias + p.alpha / static_cast<double>(p.size) * sum, p.beta);
        }
    const auto out = run(lrn(p, target())[0], {stored(x, p.in)}, {x.size() * static_cast<size_t>(size_of(p.out))});
    const std::vector<float> got = floats(out[0], p.out);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(got[i], want[i], 1e-6 + std::abs(want[i]) * (3e-6 + unit_of(p.out))) << "element " << i;
  }
};

TEST_P(Lrn, BothLayouts) {
  for (int64_t size : {1, 2, 5, 100})
    for (int64_t pitch : {0, 16}) {
      check({.images = 2, .channels = 13, .positions = 35, .pitch = pitch, .size = size, .alpha = 0.7f, .bias = 2});
      check({.images = 2,
             .channels = 13,
             .positions = 35,
             .pitch = pitch,
             .size = size,
             .in = Element::F16,
             .out = Element::BF16});
    }
}
HF_ON_ALL_DEVICES(Lrn);

const OnEveryTarget kernels([](const Target& t) {
  return lrn({.images = 2, .channels = 64, .positions = 400, .pitch = 64, .size = 5, .in = Element::F16}, t);
});

}  // namespace
}  // namespace hf::kernel

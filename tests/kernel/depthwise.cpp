// Depthwise convolutions: every candidate against plain loops in double.
#include "kernel/depthwise.h"

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

int64_t round_up(int64_t c) { return (c + 7) / 8 * 8; }

// A problem with its outputs' extents and pitches.
DepthwiseProblem problem(int64_t batch, int64_t channels, SpatialAxis h, SpatialAxis w, int64_t multiplier = 1,
                         Element type = Element::F16) {
  DepthwiseProblem p{
      .batch = batch, .channels = channels, .multiplier = multiplier, .axes = {h, w}, .in = type, .out = type};
  p.in_pitch = round_up(channels);
  p.out_pitch = round_up(p.filters());
  return p;
}
SpatialAxis axis(int64_t input, int64_t kernel, int64_t stride, int64_t begin, int64_t end, int64_t dilation = 1) {
  int64_t output = (input + begin + end - (kernel - 1) * dilation - 1) / stride + 1;
  return {.input = input, .output = output, .kernel = kernel, .stride = stride, .dilation = dilation, .begin = begin};
}

// [batch, height, width, pitch] with zeros in the padding channels.
std::vector<float> image(const DepthwiseProblem& p, unsigned seed) {
  std::vector<float> x =
      random_floats(static_cast<size_t>(p.batch * p.axes[0].input * p.axes[1].input * p.in_pitch), -1, 1, seed);
  for (size_t i = 0; i < x.size(); ++i)
    if (static_cast<int64_t>(i) % p.in_pitch >= p.channels) x[i] = 0;
  return rounded(x, p.in);
}

// The weights and the bias, and zeros.
std::vector<float> packed(const DepthwiseProblem& p) {
  std::vector<float> w =
      random_floats(static_cast<size_t>((p.axes[0].kernel * p.axes[1].kernel + 1) * p.out_pitch), -1, 1, 7);
  for (size_t i = 0; i < w.size(); ++i)
    if (static_cast<int64_t>(i) % p.out_pitch >= p.filters()) w[i] = 0;
  return w;
}

std::vector<double> expected(const DepthwiseProblem& p, const std::vector<float>& x, const std::vector<float>& w) {
  const SpatialAxis &h = p.axes[0], &v = p.axes[1];
  std::vector<double> y;
  for (int64_t n = 0; n < p.batch; ++n)
    for (int64_t oh = 0; oh < h.output; ++oh)
      for (int64_t ow = 0; ow < v.output; ++ow)
        for (int64_t k = 0; k < p.out_pitch; ++k) {
          double sum = w[static_cast<size_t>(h.kernel * v.kernel * p.out_pitch + k)];
          for (int64_t r = 0; r < h.kernel; ++r)
            for (int64_t s = 0; s < v.kernel; ++s) {
              int64_t ih = oh * h.stride + r * h.dilation - h.begin, iw = ow * v.stride + s * v.dilation - v.begin;
              if (ih < 0 || ih >= h.input || iw < 0 || iw >= v.input || k >= p.filters()) continue;
              sum +=
                  double{x[static_cast<size_t>(((n * h.input + ih) * v.input + iw) * p.in_pitch + k / p.multiplier)]} *
                  w[static_cast<size_t>((r * v.kernel + s) * p.out_pitch + k)];
            }
          y.push_back(k < p.filters() ? sum : 0);
        }
  return y;
}

class Depthwise : public KernelTest {
 protected:
  // All candidates, and the strips that one large and many small devices would take.
  Candidates kernels(const DepthwiseProblem& p) {
    Candidates all = depthwise(p, target());
    for (int units : {0, 1}) {
      Target other = target();
      other.compute_units = units;
      KernelSpec first = depthwise(p, other)[0];
      if (first.variant == "strip") all.push_back(std::move(first));
    }
    return all;
  }
  void check(const DepthwiseProblem& p) {
    std::vector<float> x = image(p, 3), w = packed(p);
    std::vector<double> want = expected(p, x, w);
    double taps = static_cast<double>(p.axes[0].kernel * p.axes[1].kernel);
    for (const KernelSpec& spec : kernels(p)) {
      SCOPED_TRACE(spec.variant);
      std::vector<float> y = floats(run(spec, {stored(x, p.in)}, {want.size() * static_cast<size_t>(size_of(p.out))},
                                        {stored(w, Element::F32)})[0],
                                    p.out);
      for (size_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(y[i], want[i], std::abs(want[i]) * unit_of(p.out) + taps * 1e-7 + (p.out == Element::F16) * 1e-7)
            << i;
    }
  }
};

TEST_P(Depthwise, StripsOfTallImages) {
  for (int64_t kernel : {2, 3, 5, 7})
    for (int64_t stride : {1, 2, 3})
      check(problem(2, 24, axis(50, kernel, stride, kernel / 2, kernel / 2), axis(23, kernel, stride, kernel / 2, 1)));
  check(problem(2, 12, axis(45, 3, 1, 2, 1), axis(14, 3, 1, 1, 1), 1, Element::F32));
  check(problem(2, 12, axis(45, 5, 4, 0, 0), axis(30, 3, 1, 2, 2, 2), 1, Element::BF16));
}
TEST_P(Depthwise, ThreeByThree) {
  check(problem(2, 24, axis(9, 3, 1, 1, 1), axis(11, 3, 1, 1, 1)));
  check(problem(1, 16, axis(10, 3, 2, 0, 1), axis(17, 3, 2, 1, 1)));
}
TEST_P(Depthwise, ChannelsThatAreNoVectors) { check(problem(2, 13, axis(5, 3, 1, 1, 1), axis(6, 3, 1, 1, 1))); }
TEST_P(Depthwise, FiveByFive) { check(problem(1, 8, axis(8, 5, 2, 2, 2), axis(19, 5, 1, 2, 2))); }
TEST_P(Depthwise, SevenBySeven) { check(problem(1, 8, axis(9, 7, 1, 3, 3), axis(20, 7, 1, 3, 3))); }
TEST_P(Depthwise, AKernelTooLargeForRegisters) { check(problem(1, 8, axis(14, 15, 1, 7, 7), axis(9, 13, 1, 6, 6))); }
TEST_P(Depthwise, DilationAndUnevenPads) {
  check(problem(1, 8, axis(12, 3, 2, 3, 0, 3), axis(15, 3, 1, 0, 2, 2)));
  check(problem(1, 8, axis(40, 3, 1, 18, 18, 18), axis(40, 3, 1, 18, 18, 18)));
}
TEST_P(Depthwise, OneRow) { check(problem(2, 16, axis(1, 1, 1, 0, 0), axis(33, 31, 1, 15, 15))); }
TEST_P(Depthwise, SeveralFiltersAChannel) {
  check(problem(1, 5, axis(6, 3, 1, 1, 1), axis(6, 3, 1, 1, 1), 3));
  check(problem(1, 16, axis(4, 3, 1, 1, 1), axis(4, 3, 1, 1, 1), 2));
}
TEST_P(Depthwise, OtherTypes) {
  check(problem(1, 12, axis(7, 3, 1, 1, 1), axis(7, 3, 1, 1, 1), 1, Element::F32));
  check(problem(1, 12, axis(7, 5, 1, 2, 2), axis(7, 5, 1, 2, 2), 1, Element::BF16));
  check(problem(1, 12, axis(7, 17, 1, 8, 8), axis(7, 9, 1, 4, 4), 2, Element::F32));
}

// v * sigmoid-like chain with a residual, a value for each channel of an image, and one for all.
TEST_P(Depthwise, Epilogue) {
  for (int64_t channels : {16, 11}) {
    DepthwiseProblem p = problem(2, channels, axis(5, 3, 1, 1, 1), axis(4, 3, 1, 1, 1));
    p.epilogue = {.expression = {.inputs = 4, .body = "return (r0 + r1) * r2 + r3;"},
                  .operands = {{.type = Element::F16, .row_stride = p.out_pitch, .column_stride = 1},
                               {.type = Element::F32, .row_divisor = 20, .row_stride = channels, .column_stride = 1},
                               {.type = Element::F32}}};
    std::vector<float> x = image(p, 3), w = packed(p),
                       residual = rounded(random_floats(40 * static_cast<size_t>(p.out_pitch), -1, 1, 5), p.in),
                       scale = random_floats(2 * static_cast<size_t>(channels), -1, 1, 6);
    std::vector<double> want = expected(p, x, w);
    for (const KernelSpec& spec : kernels(p)) {
      SCOPED_TRACE(spec.variant);
      std::vector<float> y = floats(
          run(spec, {stored(x, p.in), stored(residual, p.in), stored(scale, Element::F32), stored({3.f}, Element::F32)},
              {want.size() * 2}, {stored(w, Element::F32)})[0],
          p.out);
      for (size_t i = 0; i < want.size(); ++i) {
        size_t c = i % static_cast<size_t>(p.out_pitch), n = i / static_cast<size_t>(p.out_pitch) / 20;
        double v = c < static_cast<size_t>(channels)
                       ? (want[i] + residual[i]) * scale[n * static_cast<size_t>(channels) + c] + 3
                       : 0;
        ASSERT_NEAR(y[i], v, std::abs(v) * unit_of(p.out) + 2e-6) << i;
      }
    }
  }
}

HF_ON_ALL_DEVICES(Depthwise);

// Every tile.
const OnEveryTarget listed([](const Target& target) {
  Candidates all;
  for (int64_t kernel : {3, 5, 7, 31}) {
    SpatialAxis both = axis(28, kernel, 1, kernel / 2, kernel / 2);
    Element type = kernel == 3 ? Element::F32 : kernel == 5 ? Element::BF16 : Element::F16;
    DepthwiseProblem p = problem(64, 96, both, both, 1, type);
    p.epilogue = {.expression = {.inputs = 2, .body = "return max_f32(r0, 0.f) + r1;"},
                  .operands = {{.type = type, .row_stride = 96, .column_stride = 1}}};
    for (KernelSpec& spec : depthwise(p, target)) all.push_back(std::move(spec));
  }
  return all;
});

TEST(DepthwiseSpec, SmallTilesWhereTheDeviceWouldIdle) {
  Target gpu{.compute_units = 132};
  EXPECT_EQ(depthwise(problem(64, 96, axis(112, 3, 2, 0, 1), axis(112, 3, 2, 0, 1)), gpu)[0].variant, "strip");
  EXPECT_EQ(depthwise(problem(1, 960, axis(7, 3, 1, 1, 1), axis(7, 3, 1, 1, 1)), gpu)[0].variant, "4x1x2");
  EXPECT_THROW(depthwise(problem(1, 1024, axis(4096, 3, 1, 1, 1), axis(4096, 3, 1, 1, 1)), gpu), Error);
}

}  // namespace
}  // namespace hf::kernel

// Direct convolutions against plain loops in double: a convolution gathers, a transposed one scatters.
#include "kernel/direct_conv.h"

#include <array>

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

int64_t round_up(int64_t c) { return (c + 7) / 8 * 8; }

SpatialAxis axis(int64_t input, int64_t kernel, int64_t stride, int64_t begin, int64_t end, int64_t dilation = 1) {
  int64_t output = (input + begin + end - (kernel - 1) * dilation - 1) / stride + 1;
  return {.input = input, .output = output, .kernel = kernel, .stride = stride, .dilation = dilation, .begin = begin};
}
// `more`: the output's padding.
SpatialAxis transposed(int64_t input, int64_t kernel, int64_t stride, int64_t pads, int64_t more = 0,
                       int64_t dilation = 1) {
  int64_t output = (input - 1) * stride + (kernel - 1) * dilation + 1 - 2 * pads + more;
  return {.input = input, .output = output, .kernel = kernel, .stride = stride, .dilation = dilation, .begin = pads};
}

struct Sizes {
  int64_t batch, groups, channels, filters;
};

// Weights packed as [tap][channel][filter], or as the model has them.
DirectConvProblem problem(const Sizes& s, std::array<SpatialAxis, 3> axes, bool transposed, bool packed,
                          Element type = Element::F32) {
  int64_t taps = axes[0].kernel * axes[1].kernel * axes[2].kernel, all = s.groups * s.filters;
  DirectConvProblem p{.batch = s.batch, .groups = s.groups, .channels = s.channels, .filters = s.filters};
  for (int i = 0; i < 3; ++i) p.axes[i] = axes[static_cast<size_t>(i)];
  p.transposed = transposed;
  p.in_pitch = round_up(s.groups * s.channels);
  p.out_pitch = round_up(all);
  p.in = p.out = type;
  p.weight = packed ? Element::F32 : type;
  if (packed)
    p.strides = {s.filters, 1, all, s.channels * all};
  else if (transposed)
    p.strides = {s.channels * s.filters * taps, taps, s.filters * taps, 1};
  else
    p.strides = {s.channels * s.filters * taps, s.channels * taps, taps, 1};
  p.has_bias = packed;
  p.weights = packed ? Argument::packed(0) : Argument::input(1);
  p.biases = Argument::packed(1);
  p.inputs = packed ? 1 : 2;
  return p;
}

struct Data {
  std::vector<float> x, w, bias;
};
Data data_of(const DirectConvProblem& p) {
  int64_t places = p.batch, taps = 1;
  for (const SpatialAxis& a : p.axes) places *= a.input, taps *= a.kernel;
  Data d{.x = rounded(random_floats(static_cast<size_t>(places * p.in_pitch), -1, 1, 2), p.in),
         .w = rounded(random_floats(static_cast<size_t>(p.all_filters() * p.channels * taps), -1, 1, 3), p.weight),
         .bias = random_floats(static_cast<size_t>(p.all_filters()), -1, 1, 4)};
  for (size_t i = 0; i < d.x.size(); ++i)
    if (static_cast<int64_t>(i) % p.in_pitch >= p.groups * p.channels) d.x[i] = 0;
  return d;
}

// The places of an image and of its result, outermost first.
template <class F>
void for_places(const SpatialAxis* axes, bool inputs, F f) {
  auto extent = [&](int i) { return inputs ? axes[i].input : axes[i].output; };
  for (int64_t z = 0; z < extent(0); ++z)
    for (int64_t h = 0; h < extent(1); ++h)
      for (int64_t w = 0; w < extent(2); ++w) f(std::array<int64_t, 3>{z, h, w});
}
int64_t flat(const SpatialAxis* axes, bool inputs, const std::array<int64_t, 3>& at) {
  int64_t index = 0;
  for (int i = 0; i < 3; ++i) index = index * (inputs ? axes[i].input : axes[i].output) + at[static_cast<size_t>(i)];
  return index;
}

std::vector<double> expected(const DirectConvProblem& p, const Data& d) {
  int64_t inputs = 1, outputs = 1;
  for (const SpatialAxis& a : p.axes) inputs *= a.input, outputs *= a.output;
  std::vector<double> y(static_cast<size_t>(p.batch * outputs * p.out_pitch));
  // One multiplication: output place o, input place i, tap t.
  auto add = [&](int64_t o, int64_t i, int64_t t) {
    for (int64_t n = 0; n < p.batch; ++n)
      for (int64_t g = 0; g < p.groups; ++g)
        for (int64_t f = 0; f < p.filters; ++f)
          for (int64_t c = 0; c < p.channels; ++c)
            y[static_cast<size_t>((n * outputs + o) * p.out_pitch + g * p.filters + f)] +=
                double{d.x[static_cast<size_t>((n * inputs + i) * p.in_pitch + g * p.channels + c)]} *
                d.w[static_cast<size_t>(g * p.strides.group + f * p.strides.filter + c * p.strides.channel +
                                        t * p.strides.tap)];
  };
  SpatialAxis taps[3];
  for (int i = 0; i < 3; ++i) taps[i].input = p.axes[i].kernel;
  for_places(p.axes, p.transposed, [&](const std::array<int64_t, 3>& from) {
    for_places(taps, true, [&](const std::array<int64_t, 3>& tap) {
      std::array<int64_t, 3> to{};
      bool inside = true;
      for (size_t i = 0; i < 3; ++i) {
        to[i] = from[i] * p.axes[i].stride + tap[i] * p.axes[i].dilation - p.axes[i].begin;
        inside &= to[i] >= 0 && to[i] < (p.transposed ? p.axes[i].output : p.axes[i].input);
      }
      if (!inside) return;
      int64_t a = flat(p.axes, p.transposed, from), b = flat(p.axes, !p.transposed, to), t = flat(taps, true, tap);
      p.transposed ? add(b, a, t) : add(a, b, t);
    });
  });
  if (p.has_bias)
    for (size_t i = 0; i < y.size(); ++i)
      if (int64_t f = static_cast<int64_t>(i) % p.out_pitch; f < p.all_filters())
        y[i] += d.bias[static_cast<size_t>(f)];
  return y;
}

class DirectConv : public KernelTest {
 protected:
  void check(const DirectConvProblem& p) {
    Data d = data_of(p);
    std::vector<double> want = expected(p, d);
    double terms = static_cast<double>(p.channels * p.axes[0].kernel * p.axes[1].kernel * p.axes[2].kernel);
    std::vector<Bytes> inputs = {stored(d.x, p.in)}, packed;
    if (p.inputs == 2)
      inputs.push_back(stored(d.w, p.weight));
    else
      packed = {stored(d.w, p.weight), stored(d.bias, Element::F32)};
    for (const KernelSpec& spec : direct_conv(p, target())) {
      std::vector<float> y =
          floats(run(spec, inputs, {want.size() * static_cast<size_t>(size_of(p.out))}, packed)[0], p.out);
      for (size_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(y[i], want[i], std::abs(want[i]) * unit_of(p.out) + terms * 2e-7) << i;
    }
  }
};

const SpatialAxis one;

TEST_P(DirectConv, TwoAxes) {
  check(problem({2, 1, 3, 8}, {one, axis(7, 3, 1, 1, 1), axis(9, 3, 2, 1, 0)}, false, true));
  check(problem({1, 1, 16, 5}, {one, axis(6, 1, 1, 0, 0), axis(6, 2, 1, 0, 1)}, false, true, Element::F16));
}
TEST_P(DirectConv, OneAxisAndThree) {
  check(problem({2, 1, 4, 12}, {one, one, axis(21, 5, 3, 2, 2)}, false, true));
  check(problem({1, 1, 2, 3}, {axis(4, 2, 1, 0, 1), axis(5, 3, 2, 1, 1), axis(6, 3, 1, 1, 1)}, false, true));
}
TEST_P(DirectConv, Groups) {
  check(problem({1, 4, 4, 8}, {one, axis(5, 3, 1, 1, 1), axis(5, 3, 1, 1, 1)}, false, true, Element::BF16));
  check(problem({2, 3, 5, 1}, {one, axis(4, 3, 1, 1, 1), axis(7, 3, 1, 1, 1)}, false, true));
  check(problem({1, 2, 3, 6}, {one, axis(4, 3, 1, 1, 1), axis(7, 3, 1, 1, 1)}, false, false));
}
TEST_P(DirectConv, Dilation) {
  check(problem({1, 1, 8, 8}, {one, axis(9, 3, 1, 2, 2, 2), axis(12, 2, 2, 0, 5, 4)}, false, true));
}
TEST_P(DirectConv, WeightsOfTheModel) {
  for (Element type : {Element::F32, Element::F16, Element::BF16})
    check(problem({1, 1, 6, 10}, {one, axis(5, 3, 1, 1, 1), axis(5, 3, 1, 1, 1)}, false, false, type));
}
TEST_P(DirectConv, Transposed) {
  for (int64_t kernel : {2, 3, 4})
    check(problem({2, 1, 8, 8}, {one, transposed(4, kernel, 2, kernel / 4), transposed(5, kernel, 2, kernel / 4)}, true,
                  true, Element::F16));
  check(problem({1, 1, 5, 3}, {one, transposed(3, 3, 3, 1, 2), transposed(4, 3, 2, 0, 1, 2)}, true, true));
  check(problem({1, 2, 4, 6}, {one, one, transposed(6, 5, 1, 2)}, true, false));
  check(problem({1, 1, 2, 2}, {transposed(2, 2, 2, 0), transposed(3, 3, 2, 1, 1), transposed(2, 1, 4, 0, 3)}, true,
                true));
}

HF_ON_ALL_DEVICES(DirectConv);

const OnEveryTarget listed([](const Target& target) {
  Candidates all;
  for (bool transposed : {false, true})
    for (Element type : {Element::F32, Element::F16, Element::BF16}) {
      DirectConvProblem p =
          problem({8, 2, 16, 32}, {one, axis(28, 3, 1, 1, 1), axis(28, 3, 1, 1, 1)}, transposed, !transposed, type);
      p.epilogue = {.expression = {.inputs = 2, .body = "return max_f32(r0, 0.f) + r1;"},
                    .operands = {{.type = type, .row_stride = 64, .column_stride = 1}}};
      for (KernelSpec& spec : direct_conv(p, target)) all.push_back(std::move(spec));
    }
  return all;
});

TEST(DirectConvSpec, RefusesWhatDoesNotFit) {
  EXPECT_THROW(direct_conv(problem({1, 1, 8, 8}, {one, one, axis(int64_t{1} << 30, 3, 1, 1, 1)}, false, true), {}),
               Error);
}

}  // namespace
}  // namespace hf::kernel

// Resizing by tables against plain loops in double, in both layouts.
#include "kernel/resize.h"

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

// Random taps: indices anywhere in the input, weights that may be negative.
ResizeTable table(int64_t input, int64_t output, int64_t taps, unsigned seed) {
  std::vector<float> draw =
      random_floats(static_cast<size_t>(output * taps), 0, static_cast<float>(input) - 0.01f, seed);
  ResizeTable t{.input = input, .output = output, .taps = taps, .index = {}, .weight = {}};
  for (float v : draw) t.index.push_back(static_cast<int32_t>(v));
  t.weight = taps == 1 ? std::vector<float>(draw.size(), 1.f) : random_floats(draw.size(), -0.5f, 1, seed + 1);
  return t;
}

int64_t pitch(const ResizeProblem& p) { return (p.channels + 7) / 8 * 8; }
int64_t count(const ResizeProblem& p, bool input) {
  int64_t n = 1;
  for (const ResizeTable& a : p.axes) n *= input ? a.input : a.output;
  return n;
}
size_t place(const ResizeProblem& p, int64_t n, int64_t c, int64_t at, int64_t places) {
  return static_cast<size_t>(p.channels_last ? (n * places + at) * pitch(p) + c : (n * p.channels + c) * places + at);
}

double one(const ResizeProblem& p, const std::vector<float>& x, int64_t n, int64_t c, int64_t z, int64_t h, int64_t w) {
  const ResizeTable &a = p.axes[0], &b = p.axes[1], &d = p.axes[2];
  auto index = [](const ResizeTable& t, int64_t o, int64_t k) { return t.index[static_cast<size_t>(o * t.taps + k)]; };
  auto weight = [](const ResizeTable& t, int64_t o, int64_t k) {
    return double{t.weight[static_cast<size_t>(o * t.taps + k)]};
  };
  if (index(a, z, 0) < 0 || index(b, h, 0) < 0 || index(d, w, 0) < 0) return p.filler;
  double sum = 0;
  for (int64_t i = 0; i < a.taps; ++i)
    for (int64_t j = 0; j < b.taps; ++j)
      for (int64_t k = 0; k < d.taps; ++k) {
        int64_t at = (index(a, z, i) * b.input + index(b, h, j)) * d.input + index(d, w, k);
        sum += weight(a, z, i) * weight(b, h, j) * weight(d, w, k) * x[place(p, n, c, at, count(p, true))];
      }
  return sum;
}

class Resize : public KernelTest {
 protected:
  void check(ResizeProblem p, Element type) {
    p.in = p.out = type;
    for (bool last : {true, false}) {
      p.channels_last = last;
      SCOPED_TRACE(last ? "channels last" : "rows");
      int64_t width = p.batch * (last ? pitch(p) : p.channels);
      std::vector<float> x = rounded(random_floats(static_cast<size_t>(width * count(p, true)), -2, 2), type);
      std::vector<double> want(static_cast<size_t>(width * count(p, false)));
      for (int64_t n = 0; n < p.batch; ++n)
        for (int64_t c = 0; c < p.channels; ++c)
          for (int64_t o = 0; o < count(p, false); ++o)
            want[place(p, n, c, o, count(p, false))] =
                one(p, x, n, c, o / p.axes[2].output / p.axes[1].output, o / p.axes[2].output % p.axes[1].output,
                    o % p.axes[2].output);
      for (const KernelSpec& spec : resize(p, target())) {
        std::vector<float> y = floats(run(spec, {stored(x, type)}, {want.size() * static_cast<size_t>(size_of(type))},
                                          {bytes(resize_indices(p)), stored(resize_weights(p), Element::F32)})[0],
                                      type);
        for (size_t i = 0; i < want.size(); ++i)
          ASSERT_NEAR(y[i], want[i], std::abs(want[i]) * unit_of(type) + 2e-5) << i;
      }
    }
  }
  static Bytes bytes(const std::vector<int32_t>& v) {
    Bytes b(v.size() * 4);
    std::memcpy(b.data(), v.data(), b.size());
    return b;
  }
};

TEST_P(Resize, Copies) {
  check({.batch = 2, .channels = 16, .axes = {{}, table(3, 6, 1, 1), table(5, 10, 1, 2)}}, Element::F16);
  check({.batch = 1, .channels = 3, .axes = {table(2, 5, 1, 3), table(3, 2, 1, 4), table(5, 7, 1, 5)}}, Element::F32);
}
TEST_P(Resize, Sums) {
  check({.batch = 1, .channels = 9, .axes = {{}, table(4, 9, 2, 1), table(6, 5, 2, 3)}}, Element::BF16);
  check({.batch = 2, .channels = 8, .axes = {table(3, 2, 2, 5), table(4, 5, 4, 7), table(7, 3, 4, 9)}}, Element::F32);
  check({.batch = 1, .channels = 8, .axes = {{}, {}, table(40, 3, 17, 9)}}, Element::F32);
}
TEST_P(Resize, Filler) {
  ResizeProblem p{.batch = 1, .channels = 8, .axes = {{}, table(4, 5, 2, 1), table(6, 5, 2, 3)}, .filler = 7};
  p.axes[1].index[2] = p.axes[1].index[3] = p.axes[2].index[0] = -1;
  check(p, Element::F32);
}

HF_ON_ALL_DEVICES(Resize);

const OnEveryTarget listed([](const Target& target) {
  Candidates all;
  for (int64_t taps : {1, 2, 4})
    for (bool last : {true, false}) {
      ResizeProblem p{.batch = 8,
                      .channels = 64,
                      .axes = {{}, table(28, 56, taps, 1), table(28, 56, taps, 2)},
                      .channels_last = last};
      p.in = p.out = last ? Element::F16 : Element::F32;
      for (KernelSpec& spec : resize(p, target)) all.push_back(std::move(spec));
    }
  return all;
});

}  // namespace
}  // namespace hf::kernel

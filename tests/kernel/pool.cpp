// Pools: every candidate, in both layouts, against plain loops in double.
#include "kernel/pool.h"

#include <algorithm>
#include <array>

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

using Kind = PoolProblem::Kind;

SpatialAxis axis(int64_t input, int64_t kernel, int64_t stride, int64_t begin, int64_t end, int64_t dilation = 1,
                 bool ceil = false) {
  int64_t room = input + begin + end - (kernel - 1) * dilation - 1;
  return {.input = input,
          .output = (room + (ceil ? stride - 1 : 0)) / stride + 1,
          .kernel = kernel,
          .stride = stride,
          .dilation = dilation,
          .begin = begin,
          .end = end};
}

// Element i of a tensor of p: NCDHW index to the place in its layout.
size_t place(const PoolProblem& p, bool input, int64_t n, int64_t c, const std::array<int64_t, 3>& at) {
  int64_t spatial = 0, all = 1;
  for (size_t i = 0; i < 3; ++i) {
    int64_t extent = input ? p.axes[i].input : p.axes[i].output;
    spatial = spatial * extent + at[i];
    all *= extent;
  }
  int64_t pitch = (p.channels + 7) / 8 * 8;
  return static_cast<size_t>(p.channels_last ? (n * all + spatial) * pitch + c : (n * p.channels + c) * all + spatial);
}
size_t elements(const PoolProblem& p, bool input) {
  int64_t all = p.batch * (p.channels_last ? (p.channels + 7) / 8 * 8 : p.channels);
  for (const SpatialAxis& a : p.axes) all *= input ? a.input : a.output;
  return static_cast<size_t>(all);
}

template <class F>
void for_each(int64_t a, int64_t b, int64_t c, F f) {
  for (int64_t i = 0; i < a; ++i)
    for (int64_t j = 0; j < b; ++j)
      for (int64_t k = 0; k < c; ++k) f(std::array<int64_t, 3>{i, j, k});
}

double one(const PoolProblem& p, const std::vector<float>& x, int64_t n, int64_t c, const std::array<int64_t, 3>& o) {
  double max = -INFINITY, sum = 0, seen = 0, padded = 0;
  for_each(p.axes[0].kernel, p.axes[1].kernel, p.axes[2].kernel, [&](const std::array<int64_t, 3>& k) {
    std::array<int64_t, 3> at{};
    bool inside = true, in_padding = true;
    for (size_t i = 0; i < 3; ++i) {
      const SpatialAxis& a = p.axes[i];
      at[i] = o[i] * a.stride + k[i] * a.dilation - a.begin;
      inside &= at[i] >= 0 && at[i] < a.input;
      in_padding &= at[i] < a.input + a.end;
    }
    padded += in_padding;
    if (!inside) return;
    double v = x[place(p, true, n, c, at)];
    max = std::isnan(v) || v > max ? v : max;
    sum += p.kind == Kind::Average ? v : std::pow(std::abs(v), static_cast<double>(p.p));
    ++seen;
  });
  double count = p.counts_padding ? padded : seen;
  if (p.kind == Kind::Max) return max;
  if (p.kind == Kind::Average) return count > 0 ? sum / count : sum;
  return std::pow(sum, 1.0 / static_cast<double>(p.p));
}

class Pool : public KernelTest {
 protected:
  void check_one(const PoolProblem& p) {
    std::vector<float> x = rounded(random_floats(elements(p, true), -2, 2, 5), p.in);
    std::vector<double> want(elements(p, false));
    for (int64_t n = 0; n < p.batch; ++n)
      for (int64_t c = 0; c < p.channels; ++c)
        for_each(p.axes[0].output, p.axes[1].output, p.axes[2].output,
                 [&](const auto& o) { want[place(p, false, n, c, o)] = one(p, x, n, c, o); });
    for (const KernelSpec& spec : pool(p, target())) {
      SCOPED_TRACE(spec.variant + (p.channels_last ? " last" : " rows"));
      std::vector<float> y =
          floats(run(spec, {stored(x, p.in)}, {want.size() * static_cast<size_t>(size_of(p.out))})[0], p.out);
      for (size_t i = 0; i < want.size(); ++i) {
        if (std::isinf(want[i]))
          ASSERT_EQ(static_cast<double>(y[i]), want[i]) << i;
        else
          ASSERT_NEAR(y[i], want[i], std::abs(want[i]) * (unit_of(p.out) + 2e-6) + 1e-6) << i;
      }
    }
  }
  // Both layouts.
  void check(PoolProblem p, std::array<SpatialAxis, 3> axes, Element type = Element::F32) {
    std::copy(axes.begin(), axes.end(), p.axes);
    p.in = p.out = type;
    for (bool last : {true, false}) {
      p.channels_last = last;
      check_one(p);
    }
  }
};

const SpatialAxis none;

TEST_P(Pool, Maximum) {
  check({.batch = 2, .channels = 16}, {none, axis(11, 3, 2, 1, 1), axis(14, 3, 2, 1, 1)}, Element::F16);
  check({.batch = 1, .channels = 5}, {none, axis(6, 2, 2, 0, 0), axis(7, 3, 1, 1, 0)});
  check({.batch = 1, .channels = 9}, {none, none, axis(33, 13, 1, 6, 6)}, Element::BF16);
  check({.batch = 1, .channels = 3}, {axis(4, 2, 1, 0, 1), axis(5, 3, 2, 1, 1), axis(5, 2, 2, 1, 0)});
}
TEST_P(Pool, MaximumWithDilationAndWindowsInThePadding) {
  check({.batch = 1, .channels = 8}, {none, axis(9, 3, 1, 2, 2, 2), axis(9, 2, 2, 1, 1, 3)});
  check({.batch = 1, .channels = 8}, {none, axis(4, 2, 1, 3, 3), axis(4, 2, 1, 0, 4)});
  check({.batch = 1, .channels = 8}, {none, axis(8, 3, 2, 0, 0, 1, true), axis(8, 3, 2, 2, 0, 2, true)});
}
TEST_P(Pool, Average) {
  for (bool counts : {false, true}) {
    check({.kind = Kind::Average, .counts_padding = counts, .batch = 2, .channels = 12},
          {none, axis(8, 3, 2, 1, 1), axis(9, 2, 2, 0, 0, 1, true)}, Element::F16);
    check({.kind = Kind::Average, .counts_padding = counts, .batch = 1, .channels = 8},
          {none, axis(8, 3, 1, 2, 1, 2), axis(7, 3, 2, 1, 1, 1, true)});
    check({.kind = Kind::Average, .counts_padding = counts, .batch = 2, .channels = 8},
          {none, axis(7, 7, 1, 0, 0), axis(7, 7, 1, 3, 3)});
  }
}
TEST_P(Pool, Lp) {
  for (int64_t p : {1, 2, 3})
    check({.kind = Kind::Lp, .p = p, .batch = 1, .channels = 8}, {none, axis(6, 3, 2, 1, 1), axis(7, 2, 1, 0, 0)});
}

TEST_P(Pool, NaNIsTheLargest) {
  PoolProblem p{.batch = 1, .channels = 8};
  p.axes[2] = axis(6, 2, 2, 0, 0);
  std::vector<float> x(48, 1.f);
  x[3] = NAN;
  for (const KernelSpec& spec : pool(p, target())) {
    std::vector<float> y = floats(run(spec, {stored(x, p.in)}, {24 * 4})[0], p.out);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_TRUE(i == 3 ? std::isnan(y[i]) : y[i] == 1.f) << i;
  }
}

// A residual and a value for each column.
TEST_P(Pool, Epilogue) {
  for (bool last : {true, false}) {
    PoolProblem p{.kind = Kind::Average, .batch = 2, .channels = 5, .channels_last = last};
    p.axes[1] = axis(4, 2, 2, 0, 0), p.axes[2] = axis(6, 2, 2, 0, 0);
    int64_t columns = last ? 5 : 3;
    p.epilogue = {.expression = {.inputs = 3, .body = "return r0 * r1 + r2;"},
                  .operands = {{.row_stride = last ? 8 : 3, .column_stride = 1}, {.column_stride = 1}}};
    std::vector<float> x = random_floats(elements(p, true), -1, 1, 1),
                       residual = random_floats(elements(p, false), -1, 1, 2),
                       columnwise = random_floats(static_cast<size_t>(columns), -1, 1, 3);
    for (const KernelSpec& spec : pool(p, target())) {
      std::vector<float> y = floats(
          run(spec, {stored(x, p.in), stored(residual, p.in), stored(columnwise, p.in)}, {elements(p, false) * 4})[0],
          p.out);
      for (int64_t n = 0; n < 2; ++n)
        for (int64_t c = 0; c < 5; ++c)
          for_each(1, 2, 3, [&](const std::array<int64_t, 3>& o) {
            size_t at = place(p, false, n, c, o);
            double want = one(p, x, n, c, o) * residual[at] + columnwise[static_cast<size_t>(last ? c : o[2])];
            EXPECT_NEAR(y[at], want, 1e-6);
          });
    }
  }
}

HF_ON_ALL_DEVICES(Pool);

const OnEveryTarget listed([](const Target& target) {
  Candidates all;
  for (Kind kind : {Kind::Max, Kind::Average, Kind::Lp})
    for (int64_t kernel : {3, 9}) {
      PoolProblem p{.kind = kind, .p = 3, .batch = 8, .channels = 64, .channels_last = kernel == 3};
      p.in = p.out = kind == Kind::Max ? Element::F16 : kind == Kind::Lp ? Element::F32 : Element::BF16;
      p.axes[1] = p.axes[2] = axis(28, kernel, 2, 1, 1);
      for (KernelSpec& spec : pool(p, target)) all.push_back(std::move(spec));
    }
  return all;
});

}  // namespace
}  // namespace hf::kernel

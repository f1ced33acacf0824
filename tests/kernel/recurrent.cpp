// Recurrent kernels against the operators' equations in double.
#include "kernel/recurrent.h"

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

using P = RecurrentProblem;
using Cell = P::Cell;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Data {
  std::vector<float> pre, r, bias, h, c;  // r: [directions, rows, hidden]
  std::vector<int32_t> lengths;
};
struct Result {
  std::vector<double> y, h, c;
};

size_t index(std::initializer_list<int64_t> extents, std::initializer_list<int64_t> at) {
  int64_t i = 0;
  for (auto e = extents.begin(), a = at.begin(); e != extents.end(); ++e, ++a) i = i * *e + *a;
  return static_cast<size_t>(i);
}
size_t state_at(const P& p, int64_t d, int64_t b, int64_t j) {
  return p.batch_first ? index({p.batch, p.directions, p.hidden}, {b, d, j})
                       : index({p.directions, p.batch, p.hidden}, {d, b, j});
}
size_t output_at(const P& p, int64_t t, int64_t d, int64_t b, int64_t j) {
  return p.batch_first ? index({p.batch, p.steps, p.directions, p.hidden}, {b, t, d, j})
                       : index({p.steps, p.directions, p.batch, p.hidden}, {t, d, b, j});
}

// One step of one sequence: gate g of unit j from x, h and their biases.
void step(const P& p, const Data& d, int64_t dir, int64_t b, int64_t t, std::vector<double>& h,
          std::vector<double>& c) {
  int64_t rows = p.rows();
  auto of_x = [&](int64_t g, int64_t j) {
    int64_t row = p.batch_first ? b * p.steps + t : t * p.batch + b;
    return double{d.pre[index({p.directions, p.steps * p.batch, rows}, {dir, row, g * p.hidden + j})]} +
           d.bias[index({p.directions, 2 * rows}, {dir, g * p.hidden + j})];
  };
  auto of_h = [&](int64_t g, int64_t j, const std::vector<double>& v) {
    double sum = d.bias[index({p.directions, 2 * rows}, {dir, rows + g * p.hidden + j})];
    for (int64_t k = 0; k < p.hidden; ++k)
      sum += d.r[index({p.directions, rows, p.hidden}, {dir, g * p.hidden + j, k})] * v[static_cast<size_t>(k)];
    return sum;
  };
  std::vector<double> next(h.size()), reset(h.size());
  for (int64_t j = 0; j < p.hidden; ++j)
    if (p.cell == Cell::Gru) reset[static_cast<size_t>(j)] = sigmoid(of_x(1, j) + of_h(1, j, h));
  std::vector<double> scaled = h;
  for (size_t j = 0; j < h.size(); ++j) scaled[j] *= reset[j];
  for (int64_t j = 0; j < p.hidden; ++j) {
    auto u = static_cast<size_t>(j);
    if (p.cell == Cell::Rnn) next[u] = std::tanh(of_x(0, j) + of_h(0, j, h));
    if (p.cell == Cell::Gru) {
      double z = sigmoid(of_x(0, j) + of_h(0, j, h));
      double n = std::tanh(of_x(2, j) + (p.linear_before_reset ? reset[u] * of_h(2, j, h) : of_h(2, j, scaled)));
      next[u] = (1 - z) * n + z * h[u];
    }
    if (p.cell == Cell::Lstm) {
      double i = sigmoid(of_x(0, j) + of_h(0, j, h)), o = sigmoid(of_x(1, j) + of_h(1, j, h)),
             f = sigmoid(of_x(2, j) + of_h(2, j, h));
      c[u] = f * c[u] + i * std::tanh(of_x(3, j) + of_h(3, j, h));
      next[u] = o * std::tanh(c[u]);
    }
  }
  h = next;
}

Result expected(const P& p, const Data& d) {
  Result r;
  r.y.resize(static_cast<size_t>(p.steps * p.directions * p.batch * p.hidden));
  r.h.resize(static_cast<size_t>(p.directions * p.batch * p.hidden));
  r.c = r.h;
  for (int64_t dir = 0; dir < p.directions; ++dir)
    for (int64_t b = 0; b < p.batch; ++b) {
      std::vector<double> h(static_cast<size_t>(p.hidden)), c = h;
      for (int64_t j = 0; j < p.hidden; ++j) {
        if (p.has_h) h[static_cast<size_t>(j)] = d.h[state_at(p, dir, b, j)];
        if (p.has_c) c[static_cast<size_t>(j)] = d.c[state_at(p, dir, b, j)];
      }
      int64_t length = p.has_lengths ? d.lengths[static_cast<size_t>(b)] : p.steps;
      bool backwards = dir == 1 ? !p.reverse : p.reverse;
      for (int64_t s = 0; s < length; ++s) {
        int64_t t = backwards ? length - 1 - s : s;
        step(p, d, dir, b, t, h, c);
        for (int64_t j = 0; j < p.hidden; ++j) r.y[output_at(p, t, dir, b, j)] = h[static_cast<size_t>(j)];
      }
      for (int64_t j = 0; j < p.hidden; ++j) {
        r.h[state_at(p, dir, b, j)] = h[static_cast<size_t>(j)];
        r.c[state_at(p, dir, b, j)] = c[static_cast<size_t>(j)];
      }
    }
  return r;
}

Bytes bytes(const std::vector<int32_t>& v) {
  Bytes b(v.size() * 4);
  std::memcpy(b.data(), v.data(), b.size());
  return b;
}

class Recurrent : public KernelTest {
 protected:
  void check(P p) {
    p.has_c &= p.cell == Cell::Lstm;
    p.wants[2] &= p.cell == Cell::Lstm;
    auto count = [](int64_t n) { return static_cast<size_t>(n); };
    Data d{.pre = random_floats(count(p.directions * p.steps * p.batch * p.rows()), -1, 1, 1),
           .r = rounded(random_floats(count(p.directions * p.rows() * p.hidden), -0.6f, 0.6f, 2), p.weight),
           .bias = random_floats(count(p.directions * 2 * p.rows()), -0.5f, 0.5f, 3),
           .h = rounded(random_floats(count(p.directions * p.batch * p.hidden), -1, 1, 4), p.state),
           .c = rounded(random_floats(count(p.directions * p.batch * p.hidden), -1, 1, 5), p.state)};
    for (int64_t b = 0; b < p.batch; ++b) d.lengths.push_back(static_cast<int32_t>((b * 3 + 1) % (p.steps + 1)));
    std::vector<float> weights(count(p.weights()));
    for (int64_t dir = 0; dir < p.directions; ++dir)
      for (int64_t row = 0; row < p.rows(); ++row)
        for (int64_t k = 0; k < p.hidden; ++k)
          weights[count(p.weight_at(dir, row, k))] = d.r[index({p.directions, p.rows(), p.hidden}, {dir, row, k})];
    Result want = expected(p, d);
    for (KernelSpec spec : recurrent(p, target())) {
      SCOPED_TRACE(spec.variant);
      // The products of X take the place of the workspace that another launch would have written.
      for (Argument& a : spec.arguments)
        if (a.kind == Argument::Kind::Workspace) a = Argument::input(0);
      std::vector<Bytes> inputs(7);
      inputs[0] = stored(d.pre, Element::F32);
      for (int i : {1, 2, 3}) inputs[static_cast<size_t>(i)] = {0};
      inputs[4] = bytes(d.lengths), inputs[5] = stored(d.h, p.state), inputs[6] = stored(d.c, p.state);
      size_t size = static_cast<size_t>(size_of(p.state));
      std::vector<Bytes> out = run(spec, inputs, {want.y.size() * size, want.h.size() * size, want.c.size() * size},
                                   {stored(weights, p.weight), stored(d.bias, Element::F32)});
      const std::vector<double>* all[] = {&want.y, &want.h, &want.c};
      for (size_t o = 0; o < 3; ++o) {
        if (!p.wants[o]) continue;
        std::vector<float> got = floats(out[o], p.state);
        for (size_t i = 0; i < got.size(); ++i)
          ASSERT_NEAR(got[i], (*all[o])[i], 2e-5 + std::abs((*all[o])[i]) * unit_of(p.state))
              << "output " << o << " at " << i;
      }
    }
  }
};

TEST_P(Recurrent, EveryCell) {
  for (Cell cell : {Cell::Rnn, Cell::Gru, Cell::Lstm})
    for (bool linear : {false, true}) {
      if (linear && cell != Cell::Gru) continue;
      P p{.cell = cell, .steps = 5, .batch = 3, .hidden = 10, .directions = 2, .linear_before_reset = linear};
      p.has_lengths = p.has_h = p.has_c = true;
      check(p);
      p.batch_first = true;
      p.directions = 1, p.reverse = true;
      check(p);
    }
}
TEST_P(Recurrent, StatesTooLargeForRegisters) {
  for (Cell cell : {Cell::Gru, Cell::Lstm}) check({.cell = cell, .steps = 2, .batch = 3, .hidden = 150, .has_h = true});
  check({.cell = Cell::Gru, .steps = 2, .batch = 1, .hidden = 190, .linear_before_reset = true});
}
TEST_P(Recurrent, SmallFloats) {
  check({.cell = Cell::Lstm, .steps = 3, .batch = 2, .hidden = 32, .state = Element::F16, .weight = Element::F16});
  check({.cell = Cell::Gru,
         .steps = 3,
         .batch = 9,
         .hidden = 64,
         .state = Element::BF16,
         .weight = Element::BF16,
         .has_h = true});
}
TEST_P(Recurrent, OnlyTheLastState) {
  P p{.cell = Cell::Lstm, .steps = 4, .batch = 20, .hidden = 8};
  p.wants[0] = p.wants[2] = false;
  check(p);
}

HF_ON_ALL_DEVICES(Recurrent);

const OnEveryTarget listed([](const Target& target) {
  Candidates all;
  for (Cell cell : {Cell::Rnn, Cell::Gru, Cell::Lstm})
    for (int64_t hidden : {64, 128, 256}) {
      P p{.cell = cell,
          .steps = 100,
          .batch = 4,
          .hidden = hidden,
          .directions = 2,
          .linear_before_reset = hidden == 64};
      p.weight = p.state = hidden == 128 ? Element::F16 : Element::F32;
      for (KernelSpec& spec : recurrent(p, target)) all.push_back(std::move(spec));
    }
  return all;
});

TEST(RecurrentSpec, KeepsWeightsOfSmallStatesInRegisters) {
  EXPECT_EQ(recurrent({.steps = 1, .batch = 1, .hidden = 64}, {.compute_units = 100})[0].variant, "kept1");
  EXPECT_EQ(recurrent({.steps = 1, .batch = 1, .hidden = 128}, {.compute_units = 100})[0].variant, "read1");
  EXPECT_EQ(
      recurrent({.steps = 1, .batch = 300, .hidden = 128, .weight = Element::F16}, {.compute_units = 100})[0].variant,
      "kept3");
  EXPECT_THROW(recurrent({.steps = 1, .batch = 1, .hidden = 5000}, {}), Error);
}

}  // namespace
}  // namespace hf::kernel

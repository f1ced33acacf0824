// Reductions: launches against plain loops in double or 64-bit integers.
#include "kernel/reduce.h"

#include <algorithm>

#include "kernel/run.h"

namespace hf::kernel {
namespace {

constexpr ReduceOp kOps[] = {ReduceOp::Sum, ReduceOp::Mean, ReduceOp::Max,    ReduceOp::Min,       ReduceOp::Prod,
                             ReduceOp::L1,  ReduceOp::L2,   ReduceOp::LogSum, ReduceOp::LogSumExp, ReduceOp::SumSquare};

// Calls f(element, result) for each element of the axes.
template <class F>
void walk(const ReduceProblem& p, F&& f) {
  int64_t count = 1;
  for (const ReduceAxis& a : p.axes) count *= a.extent;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, result = 0, stride = 1;
    for (auto a = p.axes.rbegin(); a != p.axes.rend(); ++a) {
      if (!a->reduced) result += rest % a->extent * stride, stride *= a->extent;
      rest /= a->extent;
    }
    const int64_t last = p.axes.back().extent, at = p.pitch ? i / last * p.pitch + i % last : i;
    f(static_cast<size_t>(at), static_cast<size_t>(result));
  }
}

size_t results(const ReduceProblem& p) {
  int64_t n = 1;
  for (const ReduceAxis& a : p.axes) n *= a.reduced ? 1 : a.extent;
  return static_cast<size_t>(n);
}
size_t elements(const ReduceProblem& p) {
  int64_t n = 1;
  for (const ReduceAxis& a : p.axes) n *= a.extent;
  return static_cast<size_t>(p.pitch ? n / p.axes.back().extent * p.pitch : n);
}

std::vector<double> expected(const ReduceProblem& p, const std::vector<float>& x) {
  const double start = p.op == ReduceOp::Max    ? -INFINITY
                       : p.op == ReduceOp::Min  ? INFINITY
                       : p.op == ReduceOp::Prod ? 1
                                                : 0;
  std::vector<double> y(results(p), start), count(results(p));
  walk(p, [&](size_t i, size_t r) {
    const double v = x[i];
    count[r] += 1;
    switch (p.op) {
      case ReduceOp::Max: y[r] = std::max(y[r], v); break;
      case ReduceOp::Min: y[r] = std::min(y[r], v); break;
      case ReduceOp::Prod: y[r] *= v; break;
      case ReduceOp::L1: y[r] += std::abs(v); break;
      case ReduceOp::L2:
      case ReduceOp::SumSquare: y[r] += v * v; break;
      case ReduceOp::LogSumExp: y[r] += std::exp(v); break;
      default: y[r] += v;
    }
  });
  for (size_t r = 0; r < y.size(); ++r) {
    if (p.op == ReduceOp::Mean) y[r] /= count[r];
    if (p.op == ReduceOp::L2) y[r] = std::sqrt(y[r]);
    if (p.op == ReduceOp::LogSum || p.op == ReduceOp::LogSumExp) y[r] = std::log(y[r]);
  }
  return y;
}

class Reduce : public KernelTest {
 protected:
  // Positive values: sums that cancel have no relative error to speak of.
  void check(const ReduceProblem& p, float low = 0.25f, float high = 2, Target t = {}) {
    if (t.arch.empty()) t = target();
    std::vector<float> x = rounded(random_floats(elements(p), low, high), p.in);
    const std::vector<double> want = expected(p, x);
    const std::vector<Candidates> launches = reduce(p, t);
    std::string text;
    for (const ReduceAxis& a : p.axes) text += fmt::format("{}{} ", a.extent, a.reduced ? "r" : "");
    for (const Candidates& c : launches) text += fmt::format("{}; ", c[0].variant);
    SCOPED_TRACE(fmt::format("op {}: {}", static_cast<int>(p.op), text));
    const std::vector<Bytes> out =
        run_all(launches, {stored(x, p.in)}, {want.size() * static_cast<size_t>(size_of(p.out))});
    const std::vector<float> got = floats(out[0], p.out);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], want[i], 2e-6 + std::abs(want[i]) * (1e-5 + unit_of(p.out))) << "element " << i;
  }
  // Launches in several pieces whatever the device.
  Target many_units() {
    Target t = target();
    t.compute_units = 64;
    return t;
  }
};

ReduceAxis kept(int64_t n) { return {n, false}; }
ReduceAxis gone(int64_t n) { return {n, true}; }

TEST_P(Reduce, Rows) {
  for (int64_t n : {1, 2, 7, 8, 49, 100, 512, 1001, 5000}) check({.axes = {kept(7), gone(n)}});
  check({.op = ReduceOp::Max, .axes = {kept(700), gone(3)}}, -3, 3);
}
TEST_P(Reduce, Columns) {
  for (int64_t n : {2, 5, 49, 300})
    for (int64_t inner : {2, 7, 64, 520}) check({.op = ReduceOp::Mean, .axes = {kept(3), gone(n), kept(inner)}});
}
TEST_P(Reduce, AllOps) {
  for (ReduceOp op : kOps) {
    check({.op = op, .axes = {kept(3), gone(40)}});
    check({.op = op, .axes = {gone(40), kept(5)}, .in = Element::F16});
    check({.op = op, .axes = {kept(2), gone(4), kept(3), gone(6), kept(1), gone(1)}});
  }
}
TEST_P(Reduce, SmallFloats) {
  for (Element in : {Element::F32, Element::F16, Element::BF16})
    for (Element out : {Element::F32, Element::F16, Element::BF16}) {
      check({.axes = {kept(3), gone(136)}, .in = in, .out = out});
      check({.axes = {kept(3), gone(17), kept(24)}, .in = in, .out = out});
    }
}
TEST_P(Reduce, InPieces) {
  for (ReduceOp op : {ReduceOp::Mean, ReduceOp::LogSumExp, ReduceOp::Min}) {
    check({.op = op, .axes = {kept(2), gone(30011)}}, 0.25f, 2, many_units());
    check({.op = op, .axes = {gone(3001), kept(24)}}, 0.25f, 2, many_units());
  }
  check({.op = ReduceOp::L2, .axes = {gone(20000), kept(2), gone(3)}}, 0.25f, 2, many_units());
}
TEST_P(Reduce, ToASingleValue) {
  check({.axes = {gone(3), gone(50)}});
  check({.axes = {gone(1)}});
  check({.axes = {kept(1)}});
}
TEST_P(Reduce, NothingIsReduced) {
  check({.op = ReduceOp::L1, .axes = {kept(3), gone(1), kept(50)}}, -1, 1);
  check({.op = ReduceOp::LogSumExp, .axes = {kept(3), kept(50)}}, -1, 1);
}
TEST_P(Reduce, ChannelsLast) {
  const ReduceProblem over_positions{.op = ReduceOp::Mean, .axes = {kept(2), gone(49), kept(13)}, .pitch = 16};
  check(over_positions);
  check({.op = ReduceOp::Mean, .axes = {kept(2), gone(1), kept(13)}, .pitch = 16});
  check({.op = ReduceOp::Prod, .axes = {kept(2), kept(49), gone(13)}, .pitch = 16, .in = Element::F16});
  check({.op = ReduceOp::Prod, .axes = {kept(2), gone(4), gone(5)}, .pitch = 8});
  check({.op = ReduceOp::Sum, .axes = {gone(2), kept(4), kept(5)}, .pitch = 8});
  check({.op = ReduceOp::Sum, .axes = {gone(3), kept(4), gone(1)}, .pitch = 8});
  check({.op = ReduceOp::Max, .axes = {kept(1), gone(4000), kept(13)}, .pitch = 16}, -2, -1, many_units());
}

template <class T>
std::vector<T> whole(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST_P(Reduce, Integers) {
  const ReduceProblem shapes[] = {{.axes = {kept(5), gone(77)}}, {.axes = {gone(33), kept(9)}}};
  for (ReduceProblem p : shapes) {
    std::vector<int64_t> x(elements(p));
    std::mt19937_64 draw(3);
    for (int64_t& v : x) v = static_cast<int64_t>(draw()) >> (draw() % 60);
    for (ReduceOp op : {ReduceOp::Sum, ReduceOp::Max, ReduceOp::Min, ReduceOp::Prod}) {
      auto start = [&](int64_t lowest) {
        return op == ReduceOp::Max ? lowest : op == ReduceOp::Min ? ~lowest : int64_t{op == ReduceOp::Prod};
      };
      auto fold = [&](int64_t a, int64_t b) {
        const uint64_t u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(b);
        return op == ReduceOp::Max    ? std::max(a, b)
               : op == ReduceOp::Min  ? std::min(a, b)
               : op == ReduceOp::Prod ? static_cast<int64_t>(u * v)
                                      : static_cast<int64_t>(u + v);
      };
      p.op = op;
      std::vector<int64_t> want(results(p), start(INT64_MIN)), short_want(results(p), start(INT32_MIN));
      walk(p, [&](size_t i, size_t r) {
        want[r] = fold(want[r], x[i]);
        short_want[r] = fold(short_want[r], static_cast<int32_t>(x[i]));
      });
      std::vector<int32_t> narrow(x.begin(), x.end());
      Bytes wide(x.size() * 8), small(x.size() * 4);
      std::memcpy(wide.data(), x.data(), wide.size());
      std::memcpy(small.data(), narrow.data(), small.size());
      p.integer_bits = 64;
      EXPECT_EQ(whole<int64_t>(run_all(reduce(p, target()), {wide}, {want.size() * 8})[0]), want);
      p.integer_bits = 32;
      EXPECT_EQ(whole<int32_t>(run_all(reduce(p, target()), {small}, {want.size() * 4})[0]),
                std::vector<int32_t>(short_want.begin(), short_want.end()));
    }
  }
}

TEST_P(Reduce, InfinityAndNaN) {
  constexpr float inf = INFINITY;
  const std::vector<float> x = {-inf, -inf, inf, 1, -inf, 0, NAN, 5};
  auto of = [&](ReduceOp op) {
    return floats(run_all(reduce({.op = op, .axes = {kept(4), gone(2)}}, target()), {stored(x, Element::F32)}, {16})[0],
                  Element::F32);
  };
  std::vector<float> y = of(ReduceOp::LogSumExp);
  EXPECT_EQ((std::vector<float>{y[0], y[1], y[2]}), (std::vector<float>{-inf, inf, 0}));
  EXPECT_TRUE(std::isnan(y[3]));
  y = of(ReduceOp::Max);
  EXPECT_EQ((std::vector<float>{y[0], y[1], y[2]}), (std::vector<float>{-inf, inf, 0}));
  EXPECT_TRUE(std::isnan(y[3]));
}

TEST_P(Reduce, Epilogue) {
  // The sums of [2, 3, 4] over the middle, seen as [2, 4]: plus a value a column, times a value a row.
  ReduceProblem p{.axes = {kept(2), gone(3), kept(4)}, .last = 4};
  p.epilogue.expression = {.inputs = 3, .body = "return (r0 + r1) * r2;"};
  p.epilogue.operands = {{.column_stride = 1}, {.row_stride = 1}};
  const std::vector<float> x(24, 1), columns = {0, 10, 20, 30}, rows = {2, 3};
  auto y =
      floats(run_all(reduce(p, target()),
                     {stored(x, Element::F32), stored(columns, Element::F32), stored(rows, Element::F32)}, {32})[0],
             Element::F32);
  EXPECT_EQ(y, (std::vector<float>{6, 26, 46, 66, 9, 39, 69, 99}));
}

HF_ON_ALL_DEVICES(Reduce);

TEST(ReduceSpec, OneLaunchIsEnoughForOneRunOfAxes) {
  const Target t{.compute_units = 100};
  EXPECT_EQ(reduce({.axes = {kept(64), gone(49), kept(2048)}}, t).size(), 1u);
  EXPECT_EQ(reduce({.axes = {kept(8192), gone(12), gone(64)}}, t).size(), 1u);
  EXPECT_EQ(reduce({.axes = {kept(64), gone(7), kept(8), gone(7)}}, t).size(), 2u);
  EXPECT_EQ(reduce({.axes = {gone(1000000)}}, t).size(), 2u);
}

}  // namespace
}  // namespace hf::kernel

// Positions of extremes and the first k of rows, against plain sorting.
#include <algorithm>
#include <numeric>

#include "kernel/arg_reduce.h"
#include "kernel/run.h"
#include "kernel/targets.h"
#include "kernel/topk.h"

namespace hf::kernel {
namespace {

template <class T>
std::vector<T> whole(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}
template <class T>
Bytes raw(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
// Few different values, so that many are equal.
std::vector<float> coarse(size_t count, unsigned seed = 1) {
  std::vector<float> x = random_floats(count, -20, 20, seed);
  for (float& v : x) v = std::round(v);
  return x;
}

class ArgReduce : public KernelTest {
 protected:
  // What the best of a column is among positions i whose element is get(i).
  template <class Get>
  static int64_t best(const ArgReduceProblem& p, Get get) {
    int64_t at = 0;
    for (int64_t i = 1; i < p.axis; ++i) {
      const auto v = get(i), top = get(at);
      const bool better = p.greatest ? v > top : v < top;
      if (better || (v == top && p.last)) at = i;
    }
    return at;
  }
  void check(ArgReduceProblem p) {
    const int64_t pitch = p.pitch ? p.pitch : p.axis, results = p.outer * p.inner;
    std::vector<float> x = coarse(static_cast<size_t>(p.outer * pitch * p.inner));
    std::vector<int64_t> want;
    for (int64_t r = 0; r < results; ++r)
      want.push_back(best(
          p, [&](int64_t i) { return x[static_cast<size_t>((r / p.inner * pitch + i) * p.inner + r % p.inner)]; }));
    SCOPED_TRACE(fmt::format("{} x {} x {}", p.outer, p.axis, p.inner));
    const size_t bytes = want.size() * 8;
    EXPECT_EQ(whole<int64_t>(run(arg_reduce(p, target())[0], {stored(x, p.in)}, {bytes})[0]), want);
  }
};

TEST_P(ArgReduce, RowsAndColumns) {
  for (bool last : {false, true})
    for (int64_t n : {1, 3, 8, 100, 1000, 5000}) check({.outer = 5, .axis = n, .greatest = n % 2 == 0, .last = last});
  check({.outer = 300, .axis = 10});
  check({.outer = 2, .axis = 21, .inner = 50});
  check({.outer = 2, .axis = 21, .inner = 50, .greatest = false, .last = true, .in = Element::F16});
  check({.outer = 20, .axis = 21, .pitch = 24, .in = Element::F16});
  check({.outer = 2, .axis = 640, .in = Element::BF16});
}
TEST_P(ArgReduce, NaNIsBeyondEverything) {
  const std::vector<float> x = {1, NAN, 3, NAN, INFINITY, 2, 2, 2};
  for (bool last : {false, true})
    for (bool greatest : {false, true}) {
      auto y = whole<int64_t>(
          run(arg_reduce({.outer = 2, .axis = 4, .greatest = greatest, .last = last}, target())[0], {raw(x)}, {16})[0]);
      EXPECT_EQ(y, (std::vector<int64_t>{last ? 3 : 1, greatest ? 0 : last ? 3 : 1}));
    }
}
TEST_P(ArgReduce, Integers) {
  std::vector<int64_t> x(3 * 70);
  std::mt19937_64 draw(3);
  for (int64_t& v : x) v = static_cast<int64_t>(draw()) >> (draw() % 60);
  std::vector<int32_t> narrow(x.begin(), x.end());
  for (bool greatest : {false, true})
    for (int64_t inner : {1, 5}) {
      ArgReduceProblem p{.outer = 3, .axis = 70 / inner, .inner = inner, .greatest = greatest, .integer_bits = 64};
      std::vector<int64_t> want, narrow_want;
      for (int64_t r = 0; r < 3 * inner; ++r) {
        auto at = [&](int64_t i) { return static_cast<size_t>((r / inner * p.axis + i) * inner + r % inner); };
        want.push_back(best(p, [&](int64_t i) { return x[at(i)]; }));
        narrow_want.push_back(best(p, [&](int64_t i) { return narrow[at(i)]; }));
      }
      const size_t bytes = want.size() * 8;
      EXPECT_EQ(whole<int64_t>(run(arg_reduce(p, target())[0], {raw(x)}, {bytes})[0]), want);
      p.integer_bits = 32;
      EXPECT_EQ(whole<int64_t>(run(arg_reduce(p, target())[0], {raw(narrow)}, {bytes})[0]), narrow_want);
    }
}
TEST_P(ArgReduce, OneHot) {
  const std::vector<float> x = {1, 5, 5, 2, 7, 3};
  auto rows = run(arg_reduce({.outer = 2, .axis = 3, .one_hot = true}, target())[0], {raw(x)}, {24});
  EXPECT_EQ(whole<float>(rows[0]), (std::vector<float>{0, 1, 0, 0, 1, 0}));
  auto columns = run(arg_reduce({.axis = 2, .inner = 3, .one_hot = true}, target())[0], {raw(x)}, {24});
  EXPECT_EQ(whole<float>(columns[0]), (std::vector<float>{0, 0, 1, 1, 1, 0}));
}
HF_ON_ALL_DEVICES(ArgReduce);

class TopK : public KernelTest {
 protected:
  void check(const TopKProblem& p, std::vector<float> x = {}) {
    const size_t results = static_cast<size_t>(p.rows * p.k);
    if (x.empty()) x = coarse(static_cast<size_t>(p.rows * p.axis));
    std::vector<float> values(results);
    std::vector<int64_t> indices(results);
    for (int64_t r = 0; r < p.rows; ++r) {
      auto at = [&](int64_t i, int64_t axis) {
        return static_cast<size_t>(r / p.inner * axis * p.inner + r % p.inner + i * p.inner);
      };
      auto less = [](float a, float b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
      std::vector<int64_t> order(static_cast<size_t>(p.axis));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
        const float a = x[at(i, p.axis)], b = x[at(j, p.axis)];
        return p.greatest ? less(b, a) : less(a, b);
      });
      for (int64_t i = 0; i < p.k; ++i) {
        indices[at(i, p.k)] = order[static_cast<size_t>(i)];
        values[at(i, p.k)] = x[at(order[static_cast<size_t>(i)], p.axis)];
      }
    }
    SCOPED_TRACE(fmt::format("{} of {} x {}, inner {}", p.k, p.rows, p.axis, p.inner));
    const auto out =
        run_all(topk(p, target()), {stored(x, p.in)}, {results * static_cast<size_t>(size_of(p.out)), results * 8});
    EXPECT_EQ(whole<int64_t>(out[1]), indices);
    EXPECT_EQ(out[0], stored(values, p.out));
  }
};

TEST_P(TopK, RowsOfOnePiece) {
  for (int64_t n : {1, 2, 7, 64, 100, 1000, 4096})
    for (int64_t k : {int64_t{1}, n / 2 + 1, n}) check({.rows = 3, .axis = n, .k = k, .greatest = n % 2 == 0});
  check({.rows = 70, .axis = 40, .k = 4, .in = Element::F16, .out = Element::F32});
}
TEST_P(TopK, OtherAxes) {
  check({.rows = 12, .axis = 30, .inner = 4, .k = 5});
  check({.rows = 6, .axis = 5000, .inner = 3, .k = 7, .greatest = false});
}
TEST_P(TopK, LongRows) {
  check({.rows = 2, .axis = 4097, .k = 10});
  check({.rows = 1, .axis = 30000, .k = 1000});
  check({.rows = 1, .axis = 9000, .k = 2048, .greatest = false, .in = Element::BF16, .out = Element::BF16});
}
TEST_P(TopK, WholeSorts) {
  check({.rows = 2, .axis = 5000, .k = 5000});
  check({.rows = 2, .axis = 17000, .inner = 2, .k = 4000, .greatest = false});
}
TEST_P(TopK, NaNAndZeros) {
  for (bool greatest : {false, true})
    check({.rows = 1, .axis = 9, .k = 9, .greatest = greatest}, {0, NAN, -INFINITY, -0.f, INFINITY, -NAN, 1, -1, 0});
}
TEST_P(TopK, IntegersAndSingleOutputs) {
  const std::vector<int32_t> x = {5, INT32_MIN, INT32_MAX, -1, 5, 0};
  TopKProblem p{.rows = 1, .axis = 6, .k = 4, .int32 = true};
  auto out = run_all(topk(p, target()), {raw(x)}, {16, 32});
  EXPECT_EQ(whole<int32_t>(out[0]), (std::vector<int32_t>{INT32_MAX, 5, 5, 0}));
  EXPECT_EQ(whole<int64_t>(out[1]), (std::vector<int64_t>{2, 0, 4, 5}));
  p.values = false, p.greatest = false;
  EXPECT_EQ(whole<int64_t>(run_all(topk(p, target()), {raw(x)}, {32})[0]), (std::vector<int64_t>{1, 3, 5, 0}));
  p.values = true, p.indices = false;
  EXPECT_EQ(whole<int32_t>(run_all(topk(p, target()), {raw(x)}, {16})[0]), (std::vector<int32_t>{INT32_MIN, -1, 0, 5}));
}
HF_ON_ALL_DEVICES(TopK);

const OnEveryTarget kernels([](const Target& t) {
  Candidates all = arg_reduce({.outer = 100, .axis = 1000, .in = Element::F16}, t);
  auto add = [&](Candidates more) { all.insert(all.end(), more.begin(), more.end()); };
  add(arg_reduce({.axis = 21, .inner = 400, .integer_bits = 64}, t));
  for (const Candidates& c : topk({.rows = 4, .axis = 9000, .k = 300}, t)) add(c);
  for (const Candidates& c : topk({.rows = 4, .axis = 5000, .k = 5000, .in = Element::BF16}, t)) add(c);
  return all;
});

}  // namespace
}  // namespace hf::kernel

// The program's parts by themselves: comparing, percentiles, summaries, child processes.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <limits>

#include "cli/children.h"
#include "cli/classify.h"
#include "cli/compare.h"
#include "cli/tensor_text.h"
#include "cli/timing.h"

namespace hf::cli {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Compare, FloatsAreCloseAndTheRestEqual) {
  auto f = [](std::initializer_list<float> v) { return Tensor::of<float>({static_cast<int64_t>(v.size())}, v); };
  EXPECT_EQ(difference(f({1, kNan, kInf, -kInf}), f({1.0009f, kNan, kInf, -kInf})), "");
  EXPECT_NE(difference(f({1}), f({1.0011f})), "");
  EXPECT_NE(difference(f({kInf}), f({-kInf})), "");
  EXPECT_NE(difference(f({kNan}), f({1})), "");
  EXPECT_NE(difference(f({1}), f({kNan})), "");
  EXPECT_NE(difference(f({3e38f}), f({kInf})), "");
  EXPECT_EQ(difference(f({0}), f({0.9e-7f})), "");
  EXPECT_NE(difference(f({0}), f({1.1e-7f})), "");
  EXPECT_EQ(difference(f({0, 8}), f({1.1e-7f, 8})), "") << "rounding of the largest value";
  EXPECT_EQ(difference(f({1}), f({1.4f}), 0.2), "") << "0.2 + 0.2 * 1.4";
  EXPECT_NE(difference(f({1}), f({1.6f}), 0.2), "");
  EXPECT_EQ(difference(f({}), f({})), "");
  auto i = [](std::initializer_list<int64_t> v) { return Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, v); };
  EXPECT_NE(difference(i({int64_t{1} << 60}), i({(int64_t{1} << 60) + 1})), "");
  EXPECT_NE(difference(i({100}), i({101}), 0.5), "") << "a tolerance is for floats";
  EXPECT_NE(difference(i({1}), f({1})), "");
  Tensor a(DType::String, {2}), b(DType::String, {2});
  a.strings() = {"x", "y"};
  b.strings() = {"x", "z"};
  EXPECT_EQ(difference(a, a), "");
  EXPECT_EQ(difference(a, b), "1 of 2 elements differ, first at [1]: got 'y', wanted 'z'");
}

TEST(Compare, ComplexNumbersByTheirParts) {
  Tensor x = Tensor::of<float>({4}, {1, 2, 3, 4}), y = Tensor::of<float>({4}, {1, 2, 3, -4});
  Tensor a = Tensor::view(DType::C64, {2}, x.raw()), b = Tensor::view(DType::C64, {2}, y.raw());
  EXPECT_EQ(difference(a, a), "");
  EXPECT_EQ(difference(a, b), "1 of 2 elements differ, largest difference 8, first at [1]: got 3+4i, wanted 3-4i");
}

// numpy.percentile([1, 2, 3, 4, 10], [50, 95, 99]) = 3, 8.8, 9.76; numpy.std(..., ddof=1) = 3.5355339.
TEST(Timing, PercentilesAreNumpys) {
  Latency l = describe({10, 1, 3, 2, 4});
  EXPECT_DOUBLE_EQ(l.min, 1);
  EXPECT_DOUBLE_EQ(l.median, 3);
  EXPECT_DOUBLE_EQ(l.mean, 4);
  EXPECT_NEAR(l.p95, 8.8, 1e-12);
  EXPECT_NEAR(l.p99, 9.76, 1e-12);
  EXPECT_NEAR(l.std, 3.5355339, 1e-6);
  EXPECT_DOUBLE_EQ(describe({7}).p99, 7);
  EXPECT_DOUBLE_EQ(describe({}).median, 0);
}

TEST(Timing, NumbersHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(time_text(12.345), "12.3 ms");
  EXPECT_EQ(time_text(0.0123), "12.3 us");
  EXPECT_EQ(time_text(2345), "2.35 s");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(3.5 * 1024 * 1024), "3.50 MiB");
  EXPECT_EQ(count_text(4650000), "4.65 M");
  EXPECT_EQ(count_text(17), "17");
}

TEST(TensorText, SummariesLeaveBadValuesOut) {
  TensorSummary s = summarize("y", Tensor::of<float>({2, 3}, {1, kNan, -kInf, 4, 1, kNan}));
  EXPECT_EQ(s.nans, 2);
  EXPECT_EQ(s.infinities, 1);
  EXPECT_EQ(to_text(s), "y  float32 [2, 3]  min 1  max 4  mean 2  values 1, nan, -inf, 4, 1, nan");
  EXPECT_EQ(to_text(summarize("e", Tensor(DType::F32, {0, 3}))), "e  float32 [0, 3]  empty");
  EXPECT_EQ(to_text(summarize("b", Tensor::of<bool>({2}, {true, false}))),
            "b  bool [2]  min 0  max 1  mean 0.5  values true, false");
}

TEST(TensorText, IndicesAreRowMajor) {
  EXPECT_EQ(index_text({2, 3, 4}, 23), "[1, 2, 3]");
  EXPECT_EQ(index_text({}, 0), "[]");
}

TEST(Classify, ClassesAreTheOneExtentBesideTheBatch) {
  EXPECT_EQ(class_count(Tensor(DType::F32, {2, 10}), 2), 10);
  EXPECT_EQ(class_count(Tensor(DType::F16, {2, 10, 1, 1}), 2), 10);
  EXPECT_EQ(class_count(Tensor(DType::F32, {10}), 1), 10);
  EXPECT_EQ(class_count(Tensor(DType::F32, {10}), 2), 0);
  EXPECT_EQ(class_count(Tensor(DType::F32, {1, 5, 7}), 1), 0);
  EXPECT_EQ(class_count(Tensor(DType::I64, {1, 5}), 1), 0);
  EXPECT_EQ(class_count(Tensor(DType::F32, {1, 1}), 1), 0);
  Tensor scores = Tensor::of<float>({2, 3}, {0.f, 0.5f, 0.5f, 1.f, 0.f, 0.f});
  auto guesses = best_classes(scores, 3, 1, 2, {"a", "b"});
  EXPECT_EQ(guesses[0].label, "a");
  EXPECT_EQ(guesses[0].probability, 1);
  EXPECT_EQ(best_classes(scores, 3, 0, 2, {"a", "b"})[1].label, "class 2");
}

TEST(Children, CrashesTimeoutsAndLongTextsAreReported) {
  std::vector<ChildResult> results(5);
  auto work = [](int i) -> std::string {
    if (i == 1) ::raise(SIGKILL);
    while (i == 2) ::pause();
    if (i == 3) ::_exit(7);
    if (i == 4) throw 1;
    return std::string(300'000, 'x');  // more than a pipe holds
  };
  run_in_children(5, 2, 2, work, [&](int i, ChildResult r) { results[static_cast<size_t>(i)] = std::move(r); });
  EXPECT_EQ(results[0].text.size(), 300'000u);
  EXPECT_EQ(results[0].fault, "");
  EXPECT_TRUE(results[1].fault.starts_with("crashed by signal 9")) << results[1].fault;
  EXPECT_EQ(results[2].fault, "timed out after 2 s");
  EXPECT_EQ(results[3].fault, "its process ended with status 7");
  EXPECT_NE(results[4].fault, "");
}

}  // namespace hf::cli

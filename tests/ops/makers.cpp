// Shape, Size, ConstantOfShape, Range, EyeLike, the random operators and Dropout.
#include <algorithm>

#include "ops/case.h"
#include "ops/random.h"

namespace hf::ops {
namespace {

Tensor floats(std::initializer_list<float> v) { return tensor<float>({static_cast<int64_t>(v.size())}, v); }
Tensor ints(std::initializer_list<int64_t> v) { return Tensor::ints(std::span(v.begin(), v.size())); }
Tensor bools(std::initializer_list<uint8_t> v) {
  Tensor t(DType::Bool, {static_cast<int64_t>(v.size())});
  std::copy(v.begin(), v.end(), t.data<uint8_t>());
  return t;
}
template <class T>
std::vector<Tensor> range(T start, T limit, T delta) {
  return {Tensor::scalar(start), Tensor::scalar(limit), Tensor::scalar(delta)};
}

}  // namespace

TEST(Makers, ShapeAndSize) {
  const Tensor x(DType::F32, {2, 3, 4});
  const OpCase cases[] = {
      {.name = "shape", .op = "Shape", .inputs = {x}, .expected = {ints({2, 3, 4})}},
      {.name = "opset 13", .op = "Shape", .opset = 13, .inputs = {x}, .expected = {ints({2, 3, 4})}},
      {.name = "part",
       .op = "Shape",
       .attrs = {{"start", int64_t{-2}}, {"end", int64_t{-1}}},
       .inputs = {x},
       .expected = {ints({3})}},
      {.name = "beyond",
       .op = "Shape",
       .attrs = {{"start", int64_t{-10}}, {"end", int64_t{10}}},
       .inputs = {x},
       .expected = {ints({2, 3, 4})}},
      {.name = "nothing",
       .op = "Shape",
       .attrs = {{"start", int64_t{2}}, {"end", int64_t{1}}},
       .inputs = {x},
       .expected = {ints({})}},
      {.name = "scalar", .op = "Shape", .inputs = {Tensor(DType::String, {})}, .expected = {ints({})}},
      {.name = "size", .op = "Size", .inputs = {x}, .expected = {Tensor::scalar(int64_t{24})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Makers, Filled) {
  const OpCase cases[] = {
      {.name = "zeros", .op = "ConstantOfShape", .inputs = {ints({1, 2})}, .expected = {tensor<float>({1, 2}, {0, 0})}},
      {.name = "value",
       .op = "ConstantOfShape",
       .attrs = {{"value", ints({7})}},
       .inputs = {ints({2})},
       .expected = {ints({7, 7})}},
      {.name = "scalar", .op = "ConstantOfShape", .inputs = {ints({})}, .expected = {Tensor::scalar(0.0f)}},
      {.name = "empty", .op = "ConstantOfShape", .inputs = {ints({0, 3})}, .expected = {tensor<float>({0, 3}, {})}},
      {.name = "up", .op = "Range", .inputs = range<int32_t>(3, 9, 3), .expected = {tensor<int32_t>({2}, {3, 6})}},
      {.name = "down", .op = "Range", .inputs = range<int64_t>(10, 4, -2), .expected = {ints({10, 8, 6})}},
      {.name = "wrong way", .op = "Range", .inputs = range<int64_t>(4, 10, -2), .expected = {ints({})}},
      {.name = "across int64",
       .op = "Range",
       .inputs = range<int64_t>(INT64_MIN, INT64_MAX, INT64_MAX),
       .expected = {ints({INT64_MIN, -1, INT64_MAX - 1})}},
      {.name = "floats",
       .op = "Range",
       .inputs = range<float>(0, 1, 0.3f),
       .expected = {floats({0, 0.3f, 0.6f, 0.9f})}},
      {.name = "eye",
       .op = "EyeLike",
       .attrs = {{"k", int64_t{1}}, {"dtype", int64_t{7}}},
       .inputs = {Tensor(DType::F32, {2, 3})},
       .expected = {tensor<int64_t>({2, 3}, {0, 1, 0, 0, 0, 1})}},
      {.name = "eye below",
       .op = "EyeLike",
       .attrs = {{"k", int64_t{-1}}},
       .inputs = {Tensor(DType::I32, {3, 2})},
       .expected = {tensor<int32_t>({3, 2}, {0, 0, 1, 0, 0, 1})}},
      {.name = "eye outside",
       .op = "EyeLike",
       .attrs = {{"k", INT64_MIN}},
       .inputs = {Tensor(DType::I32, {1, 1})},
       .expected = {tensor<int32_t>({1, 1}, {0})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(Makers, RefuseWhatCannotBe) {
  const std::vector<Tensor> out = {Tensor()};
  EXPECT_THROW(run_case({.op = "ConstantOfShape", .inputs = {ints({-1})}, .expected = out}), Error);
  EXPECT_THROW(run_case({.op = "ConstantOfShape", .inputs = {ints({1 << 30, 1 << 30, 1 << 30})}, .expected = out}),
               Error);
  EXPECT_THROW(
      run_case({.op = "ConstantOfShape", .attrs = {{"value", ints({1, 2})}}, .inputs = {ints({2})}, .expected = out}),
      Error);
  EXPECT_THROW(run_case({.op = "Range", .inputs = range<int64_t>(0, 1, 0), .expected = out}), Error);
  EXPECT_THROW(run_case({.op = "Range", .inputs = range<float>(0, 1e30f, 1e-30f), .expected = out}), Error);
  EXPECT_THROW(run_case({.op = "Range", .inputs = range<int64_t>(INT64_MIN, INT64_MAX, 1), .expected = out}), Error);
  EXPECT_THROW(run_case({.op = "RandomNormal", .attrs = {{"shape", std::vector<int64_t>{-2}}}, .expected = out}),
               Error);
  EXPECT_THROW(run_case({.op = "Multinomial", .inputs = {Tensor(DType::F32, {1, 0})}, .expected = out}), Error);
}

// numpy.random.RandomState(7): random_sample(2); then of a fresh one standard_normal(3).
TEST(Makers, RandomNumbersAreNumpys) {
  Random r(7);
  EXPECT_DOUBLE_EQ(r.uniform(), 0.07630828937395717);
  EXPECT_DOUBLE_EQ(r.uniform(), 0.7799187922401146);
  Random s(7);
  EXPECT_DOUBLE_EQ(s.normal(), 1.690525703800356);
  EXPECT_DOUBLE_EQ(s.normal(), -0.4659373705408328);
  EXPECT_DOUBLE_EQ(s.normal(), 0.0328201636785844);
}

TEST(Makers, RandomOperators) {
  const std::vector<int64_t> shape = {20000};
  auto mean = [](const Tensor& t) {
    ReadAs<double> v(t);
    double sum = 0;
    for (double x : v) sum += x;
    return sum / static_cast<double>(v.size());
  };
  Tensor n = run_case(
      {.op = "RandomNormal", .attrs = {{"shape", shape}, {"mean", 3.0f}, {"seed", 1.0f}}, .expected = {Tensor()}})[0];
  EXPECT_NEAR(mean(n), 3, 0.05);
  Tensor u = run_case({.op = "RandomUniform",
                       .attrs = {{"shape", shape}, {"high", 4.0f}, {"dtype", int64_t{11}}},
                       .expected = {Tensor()}})[0];
  EXPECT_EQ(u.dtype(), DType::F64);
  EXPECT_NEAR(mean(u), 2, 0.1);
  Tensor p(DType::F32, {20000});
  std::fill_n(p.data<float>(), p.size(), 0.25f);
  Tensor b = run_case({.op = "Bernoulli", .attrs = {{"dtype", int64_t{9}}}, .inputs = {p}, .expected = {Tensor()}})[0];
  EXPECT_EQ(b.dtype(), DType::Bool);
  EXPECT_NEAR(mean(b), 0.25, 0.03);
  Tensor m = run_case({.op = "Multinomial",
                       .attrs = {{"sample_size", int64_t{20000}}},
                       .inputs = {tensor<float>({1, 3}, {-1e9f, 1000, 1000.6931472f})},
                       .expected = {Tensor()}})[0];
  EXPECT_EQ(m.dtype(), DType::I32);
  EXPECT_NEAR(mean(m), 1 + 2.0 / 3, 0.03);
  Tensor like = run_case({.op = "RandomUniformLike", .inputs = {p}, .expected = {Tensor()}})[0];
  EXPECT_NEAR(mean(like), 0.5, 0.03);
  EXPECT_TRUE(find_op("RandomNormalLike", "")->random);
}

TEST(Makers, Dropout) {
  const Tensor x = floats({1, 2, 3, 4, 5, 6}), yes = bools({1}).reshaped({}), no = bools({0}).reshaped({});
  const OpCase cases[] = {
      {.name = "inference",
       .op = "Dropout",
       .inputs = {x, Tensor::scalar(0.5f), no},
       .expected = {x, bools({1, 1, 1, 1, 1, 1})}},
      {.name = "without a mask", .op = "Dropout", .inputs = {x}, .expected = {x}},
      {.name = "opset 10",
       .op = "Dropout",
       .opset = 10,
       .attrs = {{"ratio", 0.3f}},
       .inputs = {x},
       .expected = {x, bools({1, 1, 1, 1, 1, 1})}},
      {.name = "opset 7 has a mask like its data",
       .op = "Dropout",
       .opset = 7,
       .inputs = {x},
       .expected = {x, floats({1, 1, 1, 1, 1, 1})}},
      {.name = "ratio 0", .op = "Dropout", .inputs = {x, Tensor::scalar(0.0f), yes}, .expected = {x}},
      // numpy.random.RandomState(0).uniform(size=6) = .549 .715 .603 .545 .424 .646
      {.name = "training",
       .op = "Dropout",
       .attrs = {{"seed", int64_t{0}}},
       .inputs = {x, Tensor::scalar(0.6f), yes},
       .expected = {floats({0, 5, 7.5f, 0, 0, 15}), bools({0, 1, 1, 0, 0, 1})}},
  };
  for (const OpCase& c : cases) check_case(c);
  EXPECT_THROW(run_case({.op = "Dropout", .inputs = {x, Tensor::scalar(1.0f), yes}, .expected = {Tensor()}}), Error);
}

}  // namespace hf::ops

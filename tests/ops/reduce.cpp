// Reduce operators, ArgMax, ArgMin, CumSum, CumProd: values by hand or from numpy.
#include "ops/reduce.h"

#include <algorithm>
#include <limits>

#include "ops/case.h"

namespace hf::ops {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
Tensor axes(std::initializer_list<int64_t> v) { return Tensor::ints(std::span(v.begin(), v.size())); }
Tensor floats(std::initializer_list<float> v) { return tensor<float>({static_cast<int64_t>(v.size())}, v); }
const int64_t kZero = 0, kOne = 1;

}  // namespace

TEST(Reduce, EachOperator) {
  const Tensor x = tensor<float>({2, 3}, {1, -2, 3, 4, 5, -6});
  struct Row {
    std::string op;
    std::initializer_list<float> inner, outer;  // over axis 1, over axis 0
  };
  const Row rows[] = {
      {"ReduceSum", {2, 3}, {5, 3, -3}},
      {"ReduceMean", {2.0f / 3, 1}, {2.5f, 1.5f, -1.5f}},
      {"ReduceMax", {3, 5}, {4, 5, 3}},
      {"ReduceMin", {-2, -6}, {1, -2, -6}},
      {"ReduceProd", {-6, -120}, {4, -10, -18}},
      {"ReduceL1", {6, 15}, {5, 7, 9}},
      {"ReduceL2", {3.74165739f, 8.77496439f}, {4.12310563f, 5.38516481f, 6.70820393f}},
      {"ReduceSumSquare", {14, 77}, {17, 29, 45}},
      {"ReduceLogSum", {0.69314718f, 1.09861229f}, {1.60943791f, 1.09861229f, kNan}},
      {"ReduceLogSumExp", {3.13284517f, 5.31327391f}, {4.04858735f, 5.00091147f, 3.0001234f}},
  };
  for (const Row& r : rows) {
    check_case({.name = r.op,
                .op = r.op,
                .attrs = {{"keepdims", kZero}},
                .inputs = {x, axes({1})},
                .expected = {floats(r.inner)},
                .tolerance = 1e-6});
    check_case({.name = r.op,
                .op = r.op,
                .inputs = {x, axes({-2})},
                .expected = {floats(r.outer).reshaped({1, 3})},
                .tolerance = 1e-6});
  }
}

TEST(Reduce, AxesAndForms) {
  const Tensor x = tensor<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const OpCase cases[] = {
      {.name = "all", .op = "ReduceSum", .inputs = {x}, .expected = {tensor<float>({1, 1, 1}, {36})}},
      {.name = "outer and inner",
       .op = "ReduceSum",
       .attrs = {{"keepdims", kZero}},
       .inputs = {x, axes({2, 0})},
       .expected = {floats({14, 22})}},
      {.name = "middle",
       .op = "ReduceSum",
       .inputs = {x, axes({1})},
       .expected = {tensor<float>({2, 1, 2}, {4, 6, 12, 14})}},
      {.name = "axes as attribute",
       .op = "ReduceMean",
       .opset = 13,
       .attrs = {{"axes", std::vector<int64_t>{1, 2}}, {"keepdims", kZero}},
       .inputs = {x},
       .expected = {floats({2.5f, 6.5f})}},
      {.name = "noop",
       .op = "ReduceSum",
       .attrs = {{"noop_with_empty_axes", kOne}},
       .inputs = {x, axes({})},
       .expected = {x}},
      {.name = "noop still squares",
       .op = "ReduceSumSquare",
       .attrs = {{"noop_with_empty_axes", kOne}},
       .inputs = {floats({1, -2, 3})},
       .expected = {floats({1, 4, 9})}},
      {.name = "scalar", .op = "ReduceMax", .inputs = {tensor<float>({}, {3})}, .expected = {tensor<float>({}, {3})}},
      {.name = "integers wrap",
       .op = "ReduceSum",
       .inputs = {tensor<int32_t>({2}, {INT32_MAX, 1})},
       .expected = {tensor<int32_t>({1}, {INT32_MIN})}},
      {.name = "l1 of integers",
       .op = "ReduceL1",
       .inputs = {tensor<int64_t>({3}, {-5, 2, -1})},
       .expected = {tensor<int64_t>({1}, {8})}},
      {.name = "max of uint64",
       .op = "ReduceMax",
       .inputs = {tensor<uint64_t>({2}, {UINT64_MAX, 1})},
       .expected = {tensor<uint64_t>({1}, {UINT64_MAX})}},
      {.name = "nan wins", .op = "ReduceMin", .inputs = {floats({1, kNan, 2})}, .expected = {floats({kNan})}},
      {.name = "no overflow",
       .op = "ReduceLogSumExp",
       .inputs = {floats({1000, 1000})},
       .expected = {floats({1000.6931472f})}},
      {.name = "all -inf", .op = "ReduceLogSumExp", .inputs = {floats({-kInf, -kInf})}, .expected = {floats({-kInf})}},
  };
  for (const OpCase& c : cases) check_case(c);
  EXPECT_THROW(run_case({.op = "ReduceSum", .inputs = {x, axes({3})}, .expected = {Tensor()}}), Error);
  EXPECT_THROW(run_case({.op = "ReduceSum",
                         .opset = 13,
                         .attrs = {{"axes", std::vector<int64_t>{0}}},
                         .inputs = {x},
                         .expected = {Tensor()}}),
               Error);
}

TEST(Reduce, EmptySets) {
  const Tensor none = tensor<float>({2, 0}, {}), ints = tensor<int8_t>({0}, {});
  struct Row {
    std::string op;
    float wanted;
  };
  for (const Row& r : {Row{"ReduceSum", 0},
                       {"ReduceL1", 0},
                       {"ReduceL2", 0},
                       {"ReduceSumSquare", 0},
                       {"ReduceProd", 1},
                       {"ReduceMax", -kInf},
                       {"ReduceMin", kInf},
                       {"ReduceLogSum", -kInf},
                       {"ReduceLogSumExp", -kInf}})
    check_case({.name = r.op,
                .op = r.op,
                .inputs = {none, axes({1})},
                .expected = {tensor<float>({2, 1}, {r.wanted, r.wanted})}});
  check_case({.name = "int max", .op = "ReduceMax", .inputs = {ints}, .expected = {tensor<int8_t>({1}, {-128})}});
  check_case({.name = "int min", .op = "ReduceMin", .inputs = {ints}, .expected = {tensor<int8_t>({1}, {127})}});
  check_case({.name = "nothing kept",
              .op = "ReduceSum",
              .inputs = {none, axes({0})},
              .expected = {tensor<float>({1, 0}, {})}});
}

// Wider than a piece, with every mix of kept and reduced axes: against the definition.
TEST(Reduce, AgainstTheDefinition) {
  const Dims dims = {3, 5, 2, 301};
  Tensor x(DType::F32, dims);
  for (int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] = static_cast<float>(i * 7919 % 1013);
  for (int mask = 1; mask < 16; ++mask) {
    std::vector<int64_t> over;
    Dims kept = dims;
    for (int i = 0; i < 4; ++i)
      if (mask >> i & 1) over.push_back(i), kept[i] = 1;
    Tensor wanted(DType::F32, kept);
    std::fill_n(wanted.data<float>(), wanted.size(), 0.0f);
    const Dims s = kept.strides();
    for (int64_t i = 0; i < x.size(); ++i) {
      int64_t rest = i, at = 0;
      for (int a = 3; a >= 0; --a) {
        if (kept[a] > 1) at += rest % dims[a] * s[a];
        rest /= dims[a];
      }
      wanted.data<float>()[at] += x.data<float>()[i];
    }
    check_case({.name = "mask " + std::to_string(mask),
                .op = "ReduceSum",
                .inputs = {x, Tensor::ints(over)},
                .expected = {wanted},
                .tolerance = 1e-6});
  }
}

TEST(Reduce, LongRowsAreAccurate) {
  Tensor x(DType::F32, {40000});
  std::fill_n(x.data<float>(), x.size(), 0.1f);
  check_case({.name = "mean", .op = "ReduceMean", .inputs = {x}, .expected = {floats({0.1f})}, .tolerance = 1e-7});
}

TEST(Reduce, ArgMaxAndArgMin) {
  const Tensor x = tensor<float>({2, 3}, {1, 3, 3, 0, 0, 2});
  const OpCase cases[] = {
      {.name = "first",
       .op = "ArgMax",
       .attrs = {{"axis", kOne}},
       .inputs = {x},
       .expected = {tensor<int64_t>({2, 1}, {1, 2})}},
      {.name = "last",
       .op = "ArgMax",
       .attrs = {{"axis", int64_t{-1}}, {"select_last_index", kOne}, {"keepdims", kZero}},
       .inputs = {x},
       .expected = {tensor<int64_t>({2}, {2, 2})}},
      {.name = "min over rows",
       .op = "ArgMin",
       .attrs = {{"keepdims", kZero}},
       .inputs = {x},
       .expected = {tensor<int64_t>({3}, {1, 1, 1})}},
      {.name = "opset 11",
       .op = "ArgMin",
       .opset = 11,
       .attrs = {{"axis", kOne}},
       .inputs = {x},
       .expected = {tensor<int64_t>({2, 1}, {0, 0})}},
      {.name = "nan", .op = "ArgMax", .inputs = {floats({1, kNan, 5, kNan})}, .expected = {tensor<int64_t>({1}, {1})}},
      {.name = "integers",
       .op = "ArgMax",
       .inputs = {tensor<int64_t>({2}, {INT64_MAX - 1, INT64_MAX})},
       .expected = {tensor<int64_t>({1}, {1})}},
  };
  for (const OpCase& c : cases) check_case(c);
  EXPECT_THROW(run_case({.op = "ArgMax", .inputs = {tensor<float>({0, 2}, {})}, .expected = {Tensor()}}), Error);
}

TEST(Reduce, Cumulative) {
  const Tensor x = floats({1, 2, 3}), axis = Tensor::scalar(int32_t{0}), m = tensor<int32_t>({2, 2}, {1, 2, 3, 4});
  const OpCase cases[] = {
      {.name = "sum", .op = "CumSum", .inputs = {x, axis}, .expected = {floats({1, 3, 6})}},
      {.name = "exclusive",
       .op = "CumSum",
       .attrs = {{"exclusive", kOne}},
       .inputs = {x, axis},
       .expected = {floats({0, 1, 3})}},
      {.name = "reverse",
       .op = "CumSum",
       .attrs = {{"reverse", kOne}},
       .inputs = {x, axis},
       .expected = {floats({6, 5, 3})}},
      {.name = "both",
       .op = "CumSum",
       .attrs = {{"exclusive", kOne}, {"reverse", kOne}},
       .inputs = {x, axis},
       .expected = {floats({5, 3, 0})}},
      {.name = "rows", .op = "CumSum", .inputs = {m, axis}, .expected = {tensor<int32_t>({2, 2}, {1, 2, 4, 6})}},
      {.name = "columns",
       .op = "CumSum",
       .inputs = {m, tensor<int64_t>({1}, {-1})},
       .expected = {tensor<int32_t>({2, 2}, {1, 3, 3, 7})}},
      {.name = "product", .op = "CumProd", .inputs = {x, axis}, .expected = {floats({1, 2, 6})}},
      {.name = "product, exclusive and reverse",
       .op = "CumProd",
       .attrs = {{"exclusive", kOne}, {"reverse", kOne}},
       .inputs = {x, axis},
       .expected = {floats({6, 3, 1})}},
  };
  for (const OpCase& c : cases) check_case(c);
  EXPECT_THROW(run_case({.op = "CumSum", .inputs = {x, Tensor::scalar(int32_t{1})}, .expected = {Tensor()}}), Error);
}

}  // namespace hf::ops

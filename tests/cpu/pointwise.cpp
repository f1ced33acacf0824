// Elementwise kernels and fused chains.
#include "ops/pointwise.h"

#include <cmath>

#include "cpu/harness.h"
#include "cpu/rows.h"

namespace hf::cpu {

TEST(Rows, AgreeWithTheOperatorsOwnFunctions) {
  for (const ops::PointwiseOp& op : ops::pointwise_rows()) {
    Row row = find_row(op.name);
    if (!row.f || !op.f32) continue;
    bool positive = op.name == "Log" || op.name == "Sqrt" || op.name == "Pow";
    Tensor x = random_tensor({1003}, 1, positive ? 0.01f : -9, 9), y = random_tensor({1003}, 2, -3, 3),
           z = random_tensor({1003}, 3, 0, 9);
    const float attrs[] = {0.3f, 0.7f};
    for (int pattern = 0; pattern < 8; ++pattern) {
      const float* args[] = {x.data<float>(), y.data<float>(), z.data<float>()};
      int64_t strides[] = {pattern & 1 ? 0 : 1, pattern & 2 ? 0 : 1, pattern & 4 ? 0 : 1};
      std::vector<float> got(1003, NAN), wanted(1003);
      row.f(1003, args, strides, attrs, got.data());
      op.f32(1003, args, strides, attrs, wanted.data());
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], wanted[i], 3e-6 * (std::fabs(wanted[i]) + 0.1)) << op.name << " of " << args[0][i];
    }
  }
}

TEST(Rows, SpecialValues) {
  const float infinity = INFINITY;
  const float x[] = {NAN, infinity, -infinity, 0, -0.f, 1e-38f, 1e-40f, 100, -100, 88.7f, -87.4f, 1e-5f, -1e-5f};
  const int64_t n = static_cast<int64_t>(std::size(x)), one = 1;
  const float attrs[] = {1, 1};
  const float* args[] = {x};
  for (const char* name : {"Exp", "Log", "Tanh", "Erf", "Sigmoid", "Relu", "Abs", "Sqrt", "Softplus", "Elu", "Neg"}) {
    float got[std::size(x)], wanted[std::size(x)];
    find_row(name).f(n, args, &one, attrs, got);
    ops::find_pointwise(name)->f32(n, args, &one, attrs, wanted);
    for (size_t i = 0; i < std::size(x); ++i) {
      if (std::isnan(wanted[i]))
        EXPECT_TRUE(std::isnan(got[i])) << name << " of " << x[i];
      else if (std::isinf(wanted[i]))
        EXPECT_EQ(got[i], wanted[i]) << name << " of " << x[i];
      else
        EXPECT_NEAR(got[i], wanted[i], 3e-6 * std::fabs(wanted[i]) + 1e-42) << name << " of " << x[i];
    }
  }
}

// A NaN in any argument gives what the operator's own function gives.
TEST(Rows, NaNInAnyArgument) {
  const float attrs[] = {0.3f, 0.7f};
  for (const ops::PointwiseOp& op : ops::pointwise_rows()) {
    Row row = find_row(op.name);
    if (!row.f || !op.f32 || op.name == "Pow") continue;
    std::vector<float> x(64, 1.5f), y(64, 0.5f), z(64, 2.f), got(64), wanted(64);
    for (size_t i = 0; i < 64; ++i) (i % 4 == 0 ? x : i % 4 == 1 ? y : z)[i] = i % 4 == 3 ? 2.f : NAN;
    const float* args[] = {x.data(), y.data(), z.data()};
    const int64_t strides[] = {1, 1, 1};
    row.f(64, args, strides, attrs, got.data());
    op.f32(64, args, strides, attrs, wanted.data());
    for (size_t i = 0; i < 64; ++i) EXPECT_EQ(std::isnan(got[i]), std::isnan(wanted[i])) << op.name << " at " << i % 4;
  }
}

TEST(Reduce, NaNIsNotLost) {
  for (const char* op : {"ReduceMax", "ReduceSum", "ReduceMean"})
    for (int64_t at : {0, 17, 70}) {
      Tensor x = random_tensor({2, 71}, 1);
      x.data<float>()[at] = NAN;
      OneNode one(op, {x, Tensor::of<int64_t>({1}, {1})}, {false, true});
      check_node(one, op);
    }
}

TEST(Pointwise, SingleOperatorsBroadcast) {
  struct Case {
    Dims a, b;
  };
  const Case cases[] = {{{2, 3, 5, 7}, {2, 3, 5, 7}},
                        {{2, 3, 5, 7}, {3, 1, 1}},
                        {{2, 3, 5, 7}, {7}},
                        {{2, 3, 5, 7}, {}},
                        {{2, 3, 5, 7}, {2, 1, 5, 1}},
                        {{1, 3, 1, 7}, {2, 1, 5, 1}},
                        {{64, 24}, {24}},
                        {{3000}, {1}},
                        {{1}, {3000}},
                        {{4, 2000}, {2000}},
                        {{4, 1}, {1, 900}},
                        {{5, 1, 4}, {5, 1, 4}}};
  for (const Case& c : cases)
    for (const char* op : {"Add", "Sub", "Div", "Max", "Pow"}) {
      OneNode one(op, {random_tensor(c.a, 1, 0.5f, 2), random_tensor(c.b, 2, 0.5f, 2)}, {});
      check_node(one, std::string(op) + c.a.text() + c.b.text(), "simd");
    }
}

TEST(Pointwise, ChainWithEveryKindOfOperand) {
  Dims full = {2, 17, 6, 5};
  OneNode one("Pointwise", {random_tensor(full, 1)}, {}, {}, "hipforge");
  ir::Program program{.inputs = 5};
  program.steps = {step("Mul", {0, 1}), step("Add", {5, 2}), step("Sigmoid", {6}),
                   step("Mul", {6, 7}), step("Sub", {3, 8}), step("Where", {4, 9, 0})};
  one.epilogue(program, {random_tensor({17, 1, 1}, 2), random_tensor({}, 3), random_tensor(full, 4),
                         random_tensor({2, 1, 1, 5}, 5)});
  check_node(one, "chain", "simd");
}

TEST(Pointwise, IntegersAreLeftToTheReference) {
  OneNode one("Add", {Tensor::of<int64_t>({2}, {1, 2}), Tensor::of<int64_t>({2}, {3, 4})}, {});
  EXPECT_EQ(check_node(one, "int64"), "reference");
}

}  // namespace hf::cpu

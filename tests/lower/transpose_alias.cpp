// Transposes that move no byte.
#include "lower/on_device.h"

namespace hf::lower {
namespace {

ir::Attrs perm(std::vector<int64_t> order) { return {{"perm", std::move(order)}}; }

TEST(TransposeAlias, ChannelsLastBecomesChannelsFirstAndBack) {
  check_on_device({.name = "to first",
                   .op = "Transpose",
                   .attrs = perm({0, 3, 1, 2}),
                   .inputs = {random_tensor({2, 3, 5, 16})},
                   .expected = {Tensor()}});
  check_on_device({.name = "to first, three axes",
                   .op = "Transpose",
                   .attrs = perm({0, 2, 1}),
                   .inputs = {random_tensor({2, 5, 8})},
                   .expected = {Tensor()}});
}

TEST(TransposeAlias, ExtentsOfOneMoveFreely) {
  check_on_device({.name = "ones",
                   .op = "Transpose",
                   .attrs = perm({2, 0, 3, 1}),
                   .inputs = {random_tensor({5, 1, 1, 3}, -1, 1)},
                   .expected = {Tensor()},
                   .tolerance = 0});
}

// A product, its transpose to an image, a softmax over channels, back, and a product again: nothing but the three
// kernels and the conversion of the input runs.
TEST(TransposeAlias, BetweenKernelsTheyCostNothing) {
  ir::Graph g;
  auto op = [&](const char* name, std::vector<ir::Value*> in, ir::Attrs attrs = {}) {
    return ops::add_op(g, name, std::move(in), std::move(attrs))->output();
  };
  ir::Value *x = g.add_input("x", DType::F32, Dims{1, 4, 6, 8}), *w = g.add_input("w", DType::F32, Dims{8, 8});
  ir::Value* image = op("Transpose", {op("MatMul", {x, w})}, perm({0, 3, 1, 2}));
  ir::Value* pooled = op("AveragePool", {image}, {{"kernel_shape", std::vector<int64_t>{2, 2}}});
  g.add_output(op("MatMul", {op("Transpose", {pooled}, perm({0, 2, 3, 1})), w}));
  auto cpu = cpu::make_cpu_backend();
  plan::ExecutorOptions options;
  options.backends = {&engine_for({.precision = DType::F16}), cpu.get()};
  plan::Executor executor(g, options);
  std::vector<Tensor> inputs = {random_tensor({1, 4, 6, 8}), random_tensor({8, 8}, -1, 1, 2)};
  auto plan = executor.plan_for(inputs);
  int kernels = 0;
  for (const plan::Step& s : plan->steps) kernels += s.node && s.kernel;
  EXPECT_EQ(kernels, 3) << plan::to_text(*plan);
  int conversions = 0;
  for (const plan::Step& s : plan->steps) conversions += !s.node && s.kind == plan::Step::Device;
  EXPECT_EQ(conversions, 3) << plan::to_text(*plan);  // both inputs to float16, the output from it

  options.backends = {cpu.get()};
  Tensor wanted = plan::Executor(g, options).run(inputs)[0];
  ops::expect_equal(executor.run(inputs)[0], wanted, 2e-2, "chain");
}

}  // namespace
}  // namespace hf::lower

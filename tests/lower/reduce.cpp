// Reductions on a device.
#include "lower/channels_last.h"

namespace hf::lower {
namespace {

OpCase reduce(std::string op, const Dims& dims, std::vector<int64_t> axes, int64_t keepdims = 1) {
  OpCase c{.name = fmt::format("{} of {} keepdims {}", op, dims.text(), keepdims),
           .op = std::move(op),
           .attrs = {{"keepdims", keepdims}},
           .inputs = {random_tensor(dims, 0.25f, 2)},
           .expected = {Tensor()},
           .tolerance = 2e-5f};
  if (!axes.empty()) c.inputs.push_back(Tensor::ints(axes));
  return c;
}

TEST(Reduce, AllOperators) {
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
                         "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"})
    check_on_device(reduce(op, {3, 5, 8}, {-1}), {.constants = {1}});
}
TEST(Reduce, Axes) {
  for (int64_t keep : {0, 1}) {
    check_on_device(reduce("ReduceMean", {3, 5, 8}, {1}, keep), {.constants = {1}});
    check_on_device(reduce("ReduceMean", {3, 5, 8}, {0, 2}, keep), {.constants = {1}});
    check_on_device(reduce("ReduceMean", {3, 5, 8}, {}, keep));
  }
  OpCase nothing = reduce("ReduceSumSquare", {3, 5}, {});
  nothing.attrs["noop_with_empty_axes"] = int64_t{1};
  check_on_device(nothing);
  check_on_device(reduce("ReduceMean", {3, 5, 8}, {1}), {.stays_on_cpu = true});  // axes that are not constant
}
TEST(Reduce, Integers) {
  OpCase c = reduce("ReduceSum", {2, 3}, {1});
  c.inputs[0] = Tensor::of<int64_t>({2, 3}, {1, 2, int64_t{1} << 40, -5, 6, 7});
  check_on_device(c, {.constants = {1}});
  c = reduce("ReduceMax", {2, 3}, {0});
  c.inputs[0] = Tensor::of<int32_t>({2, 3}, {1, 2, -3, -5, 6, -7});
  check_on_device(c, {.constants = {1}});
}
TEST(Reduce, SmallFloats) {
  for (DType precision : {DType::F16, DType::BF16}) {
    OpCase c = reduce("ReduceMean", {3, 64, 16}, {1});
    c.tolerance = precision == DType::F16 ? 2e-3f : 2e-2f;
    check_on_device(c, {.precision = precision, .constants = {1}});
  }
}
TEST(Reduce, Epilogue) {
  auto program = std::make_shared<ir::Program>();
  program->inputs = 2;
  program->steps = {{.op = "Sub", .args = {0, 1}}, {.op = "Relu", .args = {2}}};
  check_on_device(reduce("ReduceMean", {3, 5, 8}, {1}),
                  {.constants = {1}, .epilogue = program, .epilogue_operands = {random_tensor({3, 1, 8}, 0, 2, 3)}});
  check_on_device(reduce("ReduceMean", {3, 5, 8}, {2}, 0),
                  {.constants = {1}, .epilogue = program, .epilogue_operands = {random_tensor({5}, 0, 2, 3)}});
}
TEST(GlobalPool, RowMajor) {
  for (const char* op : {"GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"})
    check_on_device(
        {.name = op, .op = op, .inputs = {random_tensor({2, 5, 7, 7})}, .expected = {Tensor()}, .tolerance = 1e-5f});
}

TEST(Reduce, ChannelsLast) {
  check_channels_last(reduce("ReduceMean", {2, 13, 5, 6}, {2, 3}), false);
  check_channels_last(reduce("ReduceMean", {2, 13, 5, 6}, {2, 3}, 0), false);
  check_channels_last(reduce("ReduceMax", {2, 13, 5, 6}, {1}), false);
  check_channels_last(reduce("ReduceProd", {2, 13, 5, 6}, {1}, 0), false);
  check_channels_last(reduce("ReduceProd", {2, 13, 5, 2}, {1, 2, 3}, 0), false);
  check_channels_last(reduce("ReduceL2", {2, 13, 5, 6}, {0, 2, 3}), false);
  check_channels_last(reduce("ReduceL2", {2, 13, 5, 6}, {}), false);
  check_channels_last(reduce("ReduceSum", {2, 16, 5, 6}, {2}), true);
  check_channels_last(reduce("ReduceSum", {2, 16, 5, 6}, {0, 3}), true);
}
TEST(GlobalPool, ChannelsLast) {
  for (const Dims& d : {Dims{2, 24, 7, 7}, Dims{2, 13, 7, 7}, Dims{3, 5, 2, 3, 4}, Dims{1, 13, 1, 1}})
    check_channels_last({.name = d.text(), .op = "GlobalAveragePool", .inputs = {random_tensor(d)}, .tolerance = 1e-5f},
                        false);
}

}  // namespace
}  // namespace hf::lower

// ArgMax, ArgMin, Hardmax and TopK on a device.
#include "lower/channels_last.h"

namespace hf::lower {
namespace {

OpCase arg(const char* op, const Dims& dims, int64_t axis, int64_t keepdims = 1) {
  return {.name = fmt::format("{} of {} over {}", op, dims.text(), axis),
          .op = op,
          .attrs = {{"axis", axis}, {"keepdims", keepdims}},
          .inputs = {random_tensor(dims)},
          .expected = {Tensor()}};
}

TEST(ArgReduce, Axes) {
  for (const char* op : {"ArgMax", "ArgMin"})
    for (int64_t axis : {0, 1, -1}) check_on_device(arg(op, {3, 20, 7}, axis, axis == 1));
  OpCase last = arg("ArgMax", {2, 9}, 1);
  last.inputs[0] = Tensor::of<int64_t>({2, 4}, {3, 9, 9, 1, 5, 5, 4, 5});
  last.attrs["select_last_index"] = int64_t{1};
  check_on_device(last);
}
TEST(ArgReduce, Hardmax) {
  for (int64_t axis : {0, 1, -1}) {
    OpCase c = arg("Hardmax", {3, 5, 6}, axis);
    c.attrs.erase("keepdims");
    check_on_device(c);
  }
}

OpCase top(const Dims& dims, int64_t k, int64_t axis, size_t outputs = 2) {
  OpCase c{.name = fmt::format("{} of {} over {}", k, dims.text(), axis),
           .op = "TopK",
           .attrs = {{"axis", axis}},
           .inputs = {random_tensor(dims), Tensor::ints(std::vector<int64_t>{k})}};
  c.expected.resize(outputs);
  return c;
}

TEST(TopK, Axes) {
  check_on_device(top({3, 50}, 5, -1), {.constants = {1}});
  check_on_device(top({30, 6}, 7, 0), {.constants = {1}});
  check_on_device(top({2, 5000}, 40, 1), {.constants = {1}});
  check_on_device(top({6000}, 6000, 0), {.constants = {1}});
  OpCase least = top({3, 50}, 5, -1, 1);
  least.attrs["largest"] = int64_t{0};
  check_on_device(least, {.constants = {1}});
}
TEST(TopK, SmallFloats) {
  OpCase c = top({3, 50}, 5, -1);
  for (int64_t i = 0; i < 150; ++i) c.inputs[0].data<float>()[i] = static_cast<float>(i * 7919 % 150);  // exact
  check_on_device(c, {.precision = DType::F16, .constants = {1}});
}

}  // namespace
}  // namespace hf::lower

// Softmax on a device.
#include "lower/channels_last.h"

namespace hf::lower {
namespace {

OpCase softmax(std::string name, const Dims& dims, int64_t axis, std::string op = "Softmax") {
  return {.name = std::move(name),
          .op = std::move(op),
          .attrs = {{"axis", axis}},
          .inputs = {random_tensor(dims, -4, 4)},
          .expected = {Tensor()},
          .tolerance = 1e-5f};
}

TEST(Softmax, EveryAxis) {
  for (int64_t axis : {0, 1, 2, -1}) check_on_device(softmax(fmt::format("axis {}", axis), {3, 5, 2, 24}, axis));
  check_on_device(softmax("a vector", {77}, 0));
  check_on_device(softmax("logarithm", {3, 40}, -1, "LogSoftmax"));
  check_on_device(softmax("logarithm of columns", {3, 40, 6}, 1, "LogSoftmax"));
}
TEST(Softmax, BeforeOpset13TheAxesFromOneOnAreTheRow) {
  OpCase c = softmax("flattened", {3, 5, 8}, 1);
  c.opset = 11;
  check_on_device(c);
}

TEST(Softmax, ChannelsLast) {
  check_channels_last(softmax("over channels", {2, 21, 5, 6}, 1), true);
  check_channels_last(softmax("over rows", {2, 16, 5, 6}, 2), true);
  check_channels_last(softmax("over columns", {2, 16, 5, 6}, -1, "LogSoftmax"), true);
}

TEST(Softmax, SmallFloats) {
  for (DType precision : {DType::F16, DType::BF16}) {
    OpCase c = softmax("small floats", {4, 100}, -1);
    c.tolerance = precision == DType::F16 ? 2e-3f : 2e-2f;
    check_on_device(c, {.precision = precision});
  }
}
}  // namespace
}  // namespace hf::lower

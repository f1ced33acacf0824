// RNN, GRU and LSTM on a device.
#include "lower/on_device.h"

namespace hf::lower {
namespace {

OpCase recurrent(std::string op, std::string direction, int64_t batch, int64_t hidden, int64_t layout = 0) {
  const int64_t gates = op == "RNN"   ? 1
                        : op == "GRU" ? 3
                                      : 4,
                dirs = direction == "bidirectional" ? 2 : 1, steps = 6, width = 5;
  OpCase c{.name = op + " " + direction,
           .op = op,
           .attrs = {{"direction", direction}, {"hidden_size", hidden}, {"layout", layout}}};
  const Dims state = layout ? Dims{batch, dirs, hidden} : Dims{dirs, batch, hidden};
  c.inputs = {random_tensor(layout ? Dims{batch, steps, width} : Dims{steps, batch, width}, -1, 1, 1),
              random_tensor({dirs, gates * hidden, width}, -1, 1, 2),
              random_tensor({dirs, gates * hidden, hidden}, -0.5f, 0.5f, 3),
              random_tensor({dirs, 2 * gates * hidden}, -1, 1, 4),
              Tensor(),
              random_tensor(state, -1, 1, 5)};
  Tensor lengths(DType::I32, {batch});
  for (int64_t b = 0; b < batch; ++b) lengths.data<int32_t>()[b] = static_cast<int32_t>((b * 5 + 2) % 7);
  c.inputs[4] = lengths;
  c.expected = {Tensor(), Tensor()};
  if (op == "LSTM") {
    c.inputs.push_back(random_tensor(state, -1, 1, 6));
    c.expected.emplace_back();
  }
  c.tolerance = 3e-5f;
  return c;
}
const OnDevice kConstant{.constants = {1, 2, 3}};

TEST(Recurrent, Directions) {
  for (const char* op : {"RNN", "GRU", "LSTM"})
    for (const char* direction : {"forward", "reverse", "bidirectional"})
      check_on_device(recurrent(op, direction, 3, 7), kConstant);
}
TEST(Recurrent, BatchFirst) {
  for (const char* op : {"GRU", "LSTM"}) check_on_device(recurrent(op, "bidirectional", 4, 12, 1), kConstant);
}
TEST(Recurrent, LinearBeforeReset) {
  OpCase c = recurrent("GRU", "bidirectional", 2, 9);
  c.attrs["linear_before_reset"] = int64_t{1};
  check_on_device(c, kConstant);
}
TEST(Recurrent, WithoutOptionalInputs) {
  OpCase c = recurrent("LSTM", "forward", 2, 200);
  c.inputs.resize(3);
  check_on_device(c, kConstant);
}
TEST(Recurrent, Half) {
  OpCase c = recurrent("LSTM", "forward", 2, 16);
  c.tolerance = 1e-2f;
  check_on_device(c, {.precision = DType::F16, .constants = {1, 2, 3}});
}
TEST(Recurrent, OtherActivationsStayOnTheCpu) {
  OpCase c = recurrent("RNN", "forward", 2, 8);
  c.attrs["activations"] = std::vector<std::string>{"Relu"};
  check_on_device(c, {.constants = {1, 2, 3}, .stays_on_cpu = true});
}

}  // namespace
}  // namespace hf::lower

// Quantised operators on a device.
#include "lower/on_device.h"

namespace hf::lower {
namespace {

template <class T>
Tensor random_integers(const Dims& dims, int low, int high, unsigned seed = 1) {
  Tensor from = random_tensor(dims, static_cast<float>(low), static_cast<float>(high), seed), t(dtype_of<T>(), dims);
  for (int64_t i = 0; i < t.size(); ++i) t.data<T>()[i] = static_cast<T>(std::floor(from.data<float>()[i]));
  return t;
}

TEST(Quantize, ForAllAndAnAxis) {
  check_on_device({.name = "one scale",
                   .op = "QuantizeLinear",
                   .inputs = {random_tensor({3, 5, 7}, -9, 9), Tensor::scalar(0.1f), Tensor::scalar<uint8_t>(117)},
                   .expected = {Tensor()}});
  check_on_device({.name = "to uint8 without zero point",
                   .op = "QuantizeLinear",
                   .inputs = {random_tensor({33}, -9, 9), Tensor::scalar(0.1f)},
                   .expected = {Tensor()}});
  check_on_device({.name = "an axis",
                   .op = "QuantizeLinear",
                   .attrs = {{"axis", int64_t{-2}}},
                   .inputs = {random_tensor({3, 5, 7}, -9, 9), random_tensor({5}, 0.05f, 0.2f, 2),
                              random_integers<int8_t>({5}, -20, 20)},
                   .expected = {Tensor()}});
  check_on_device({.name = "blocks",
                   .op = "QuantizeLinear",
                   .attrs = {{"axis", int64_t{1}}, {"block_size", int64_t{2}}},
                   .inputs = {random_tensor({3, 4}), random_tensor({3, 2}, 0.05f, 0.2f, 2)},
                   .expected = {Tensor()}},
                  {.stays_on_cpu = true});
}
TEST(Dequantize, ForAllAndAnAxis) {
  check_on_device(
      {.name = "one scale",
       .op = "DequantizeLinear",
       .inputs = {random_integers<uint8_t>({3, 5, 7}, 0, 256), Tensor::scalar(0.1f), Tensor::scalar<uint8_t>(117)},
       .expected = {Tensor()}});
  check_on_device({.name = "an axis",
                   .op = "DequantizeLinear",
                   .attrs = {{"axis", int64_t{0}}},
                   .inputs = {random_integers<int8_t>({3, 5, 7}, -128, 128), random_tensor({3}, 0.05f, 0.2f, 2)},
                   .expected = {Tensor()}});
  check_on_device({.name = "int32",
                   .op = "DequantizeLinear",
                   .inputs = {random_integers<int32_t>({40}, -9999, 9999), Tensor::scalar(0.001f)},
                   .expected = {Tensor()}});
}
TEST(DynamicQuantize, AllOutputs) {
  check_on_device({.name = "dynamic",
                   .op = "DynamicQuantizeLinear",
                   .inputs = {random_tensor({2, 3, 700}, -2, 5)},
                   .expected = {Tensor(), Tensor(), Tensor()},
                   .tolerance = 0});
}

Tensor u8(const Dims& dims, unsigned seed = 1) { return random_integers<uint8_t>(dims, 0, 256, seed); }
Tensor i8(const Dims& dims, unsigned seed = 1) { return random_integers<int8_t>(dims, -128, 128, seed); }

TEST(IntegerProduct, ZeroPoints) {
  auto check = [](std::string name, std::vector<Tensor> inputs, bool cpu = false) {
    check_on_device({.name = std::move(name),
                     .op = "MatMulInteger",
                     .inputs = std::move(inputs),
                     .expected = {Tensor()},
                     .tolerance = 0},
                    {.stays_on_cpu = cpu});
  };
  check("none", {u8({70, 33}), i8({33, 81}, 2)});
  check("one each", {u8({5, 40}), i8({40, 130}, 2), Tensor::scalar<uint8_t>(128), Tensor::scalar<int8_t>(-3)});
  check("rows and columns", {u8({6, 7}), u8({7, 9}, 2), u8({6}, 3), u8({9}, 4)});
  check("shared b", {u8({2, 3, 5, 16}), i8({16, 8}, 2), Tensor::scalar<uint8_t>(9)});
  check("batches", {i8({2, 3, 5, 16}), i8({2, 3, 16, 8}, 2), Tensor(), i8({8}, 3)});
  check("repeated batches", {i8({2, 3, 5, 16}), i8({3, 16, 8}, 2)}, true);
}
TEST(IntegerProduct, Quantised) {
  for (bool each : {false, true})
    check_on_device(
        {.name = fmt::format("each {}", each),
         .op = "QLinearMatMul",
         .inputs = {u8({40, 64}), each ? random_tensor({40}, 0.01f, 0.02f) : Tensor::scalar(0.01f),
                    Tensor::scalar<uint8_t>(120), i8({64, 50}, 2),
                    each ? random_tensor({50}, 0.01f, 0.02f, 2) : Tensor::scalar(0.02f),
                    each ? i8({50}, 3) : Tensor::scalar<int8_t>(4), Tensor::scalar(0.13f), Tensor::scalar<uint8_t>(99)},
         .expected = {Tensor()},
         .tolerance = 0});
}
TEST(IntegerConv, ZeroPointsAndGroups) {
  check_on_device({.name = "2-D",
                   .op = "ConvInteger",
                   .attrs = {{"pads", std::vector<int64_t>{1, 0, 1, 2}}},
                   .inputs = {u8({2, 3, 9, 8}), i8({5, 3, 3, 3}, 2), Tensor::scalar<uint8_t>(77), i8({5}, 3)},
                   .expected = {Tensor()},
                   .tolerance = 0});
  check_on_device({.name = "groups",
                   .op = "ConvInteger",
                   .attrs = {{"group", int64_t{2}}, {"strides", std::vector<int64_t>{2}}},
                   .inputs = {u8({2, 4, 19}), u8({8, 2, 4}, 2)},
                   .expected = {Tensor()},
                   .tolerance = 0});
}
TEST(IntegerConv, Quantised) {
  check_on_device(
      {.name = "with bias",
       .op = "QLinearConv",
       .attrs = {{"dilations", std::vector<int64_t>{2, 1}}},
       .inputs = {u8({1, 8, 9, 9}), Tensor::scalar(0.02f), Tensor::scalar<uint8_t>(110), i8({12, 8, 3, 3}, 2),
                  random_tensor({12}, 0.01f, 0.03f, 2), Tensor::scalar<int8_t>(0), Tensor::scalar(0.3f),
                  Tensor::scalar<uint8_t>(140), random_integers<int32_t>({12}, -5000, 5000)},
       .expected = {Tensor()},
       .tolerance = 0});
}

}  // namespace
}  // namespace hf::lower

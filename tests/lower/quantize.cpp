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

}  // namespace
}  // namespace hf::lower

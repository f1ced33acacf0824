// Gathering and scattering on a device.
#include "lower/on_device.h"

namespace hf::lower {
namespace {

Tensor indices(DType t, const Dims& dims, int64_t low, int64_t high) {
  Tensor out(t, dims);
  std::vector<int64_t> v(static_cast<size_t>(out.size()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = low + static_cast<int64_t>(i * 7919 % static_cast<size_t>(high - low + 1));
  write_elements(v.data(), out);
  return out;
}

TEST(Gather, OnEveryAxis) {
  for (int64_t axis : {0, 1, -1})
    for (DType t : {DType::I64, DType::I32})
      check_on_device({.name = fmt::format("axis {}", axis),
                       .op = "Gather",
                       .opset = 28,
                       .attrs = {{"axis", axis}},
                       .inputs = {random_tensor({5, 6, 8}), indices(t, {3, 2}, -5, 4)},
                       .expected = {Tensor()},
                       .tolerance = 0});
  check_on_device({.name = "scalar index",
                   .op = "Gather",
                   .opset = 28,
                   .inputs = {random_tensor({5, 6}), indices(DType::I64, {}, 2, 2)},
                   .expected = {Tensor()},
                   .tolerance = 0},
                  {.precision = DType::F32, .constants = {0}});
}

TEST(Gather, ElementsAndTuples) {
  for (int64_t axis : {0, 2})
    check_on_device({.name = "elements",
                     .op = "GatherElements",
                     .opset = 28,
                     .attrs = {{"axis", axis}},
                     .inputs = {random_tensor({5, 6, 8}), indices(DType::I64, {4, 6, 7}, -5, 4)},
                     .expected = {Tensor()},
                     .tolerance = 0});
  for (int64_t batch : {0, 1})
    check_on_device({.name = "tuples",
                     .op = "GatherND",
                     .opset = 28,
                     .attrs = {{"batch_dims", batch}},
                     .inputs = {random_tensor({5, 6, 8}), indices(DType::I64, {5, 3, 2}, -5, 4)},
                     .expected = {Tensor()},
                     .tolerance = 0});
}

}  // namespace
}  // namespace hf::lower

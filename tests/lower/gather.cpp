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

TEST(Scatter, Tuples) {
  for (const char* reduction : {"none", "add", "mul", "min", "max"}) {
    OpCase c{.name = reduction,
             .op = "ScatterND",
             .opset = 28,
             .attrs = {{"reduction", std::string(reduction)}},
             .inputs = {random_tensor({5, 6, 8}),
                        Tensor::of<int64_t>({7, 2}, {0, -1, 1, 2, -1, 0, 2, -6, -5, 1, 3, 3, -2, -2}),
                        random_tensor({7, 8}, -1, 1, 2)},
             .expected = {Tensor()},
             .tolerance = 1e-6f};
    // Seven places that differ without a reduction, which has no order; repeated ones with one.
    if (std::string_view(reduction) != "none") c.inputs[1] = indices(DType::I64, {7, 2}, 0, 1);
    check_on_device(c);
    c.inputs[0] = indices(DType::I32, {5, 6, 8}, -9, 9), c.inputs[2] = indices(DType::I32, {7, 8}, -3, 3);
    check_on_device(c);
  }
  check_on_device(
      {.name = "single elements",
       .op = "ScatterND",
       .opset = 28,
       .inputs = {random_tensor({9}), Tensor::of<int64_t>({3, 1}, {4, -1, 2}), random_tensor({3}, -1, 1, 2)},
       .expected = {Tensor()},
       .tolerance = 0});
}

TEST(Scatter, Elements) {
  for (const char* reduction : {"none", "add", "mul", "min", "max"})
    for (int64_t axis : {0, 1, -1}) {
      // Without a reduction no index of a line repeats.
      bool plain = std::string_view(reduction) == "none";
      Tensor index = indices(DType::I64, {4, 5, 3}, -3, 3);
      if (plain) {
        std::vector<int64_t> v(60);
        for (size_t i = 0; i < 60; ++i)
          v[i] = static_cast<int64_t>(axis == 0   ? (i / 15 + i) % 5
                                      : axis == 1 ? (i / 3 % 5 + i / 15) % 6
                                                  : i % 3 + i / 3 % 4);
        if (axis == 0)
          for (size_t i = 0; i < 60; ++i) v[i] = static_cast<int64_t>((i / 15 + i % 15) % 5);
        write_elements(v.data(), index);
      }
      check_on_device({.name = fmt::format("{} on axis {}", reduction, axis),
                       .op = "ScatterElements",
                       .opset = 28,
                       .attrs = {{"axis", axis}, {"reduction", std::string(reduction)}},
                       .inputs = {random_tensor({5, 6, 8}), index, random_tensor({4, 5, 3}, -1, 1, 2)},
                       .expected = {Tensor()},
                       .tolerance = 1e-6f});
    }
}

}  // namespace
}  // namespace hf::lower

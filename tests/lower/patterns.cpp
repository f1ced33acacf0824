// Trilu, OneHot and running sums on a device.
#include "lower/on_device.h"

namespace hf::lower {
namespace {

Tensor whole(const Dims& dims, std::vector<int64_t> v) {
  Tensor t(DType::I64, dims);
  write_elements(v.data(), t);
  return t;
}

TEST(Patterns, Trilu) {
  for (int64_t upper : {0, 1})
    for (int64_t k : {int64_t{0}, int64_t{2}, int64_t{-3}, int64_t{100}, INT64_MAX})
      check_on_device({.name = fmt::format("upper {} from {}", upper, k),
                       .op = "Trilu",
                       .opset = 28,
                       .attrs = {{"upper", upper}},
                       .inputs = {random_tensor({2, 5, 7}), whole({}, {k})},
                       .expected = {Tensor()},
                       .tolerance = 0},
                      {.constants = {1}});
}

TEST(Patterns, OneHot) {
  for (int64_t axis : {0, 1, -1})
    check_on_device({.name = fmt::format("axis {}", axis),
                     .op = "OneHot",
                     .opset = 28,
                     .attrs = {{"axis", axis}},
                     .inputs = {whole({2, 3}, {1, -1, 7, 0, 4, -9}), whole({}, {5}), random_tensor({2})},
                     .expected = {Tensor()},
                     .tolerance = 0},
                    {.constants = {1}});
}

TEST(Patterns, RunningSums) {
  for (const char* op : {"CumSum", "CumProd"})
    for (int64_t exclusive : {0, 1})
      for (int64_t reverse : {0, 1})
        for (int64_t axis : {0, 1, -1}) {
          OpCase c{.name = fmt::format("{} {} {} along {}", op, exclusive, reverse, axis),
                   .op = op,
                   .opset = 28,
                   .attrs = {{"exclusive", exclusive}, {"reverse", reverse}},
                   .inputs = {random_tensor({3, 700, 2}, 0.9f, 1.1f), whole({}, {axis})},
                   .expected = {Tensor()},
                   .tolerance = 2e-5f};
          check_on_device(c, {.constants = {1}});
        }
  check_on_device({.name = "of integers",
                   .op = "CumSum",
                   .opset = 28,
                   .inputs = {whole({5}, {1, -2, 3, int64_t{1} << 60, 7}), whole({}, {0})},
                   .expected = {Tensor()}},
                  {.constants = {1}});
}

}  // namespace
}  // namespace hf::lower

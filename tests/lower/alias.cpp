// Operators that change extents only.
#include "lower/on_device.h"

namespace hf::lower {
namespace {

TEST(Alias, Identity) {
  check_on_device({.name = "identity", .op = "Identity", .inputs = {random_tensor({2, 3, 5})}, .expected = {Tensor()}});
  check_on_device({.name = "identity of integers",
                   .op = "Identity",
                   .inputs = {Tensor::of<int64_t>({3}, {1, -2, int64_t{1} << 40})},
                   .expected = {Tensor()}});
}

}  // namespace
}  // namespace hf::lower

// BatchNormalization and LRN on a device.
#include "lower/channels_last.h"

namespace hf::lower {
namespace {

OpCase batch_norm(const Dims& dims) {
  const int64_t c = dims.rank() > 1 ? dims[1] : 1;
  return {.name = dims.text(),
          .op = "BatchNormalization",
          .inputs = {random_tensor(dims), random_tensor({c}, 0.5f, 2, 2), random_tensor({c}, -1, 1, 3),
                     random_tensor({c}, -1, 1, 4), random_tensor({c}, 0.2f, 2, 5)},
          .expected = {Tensor()},
          .tolerance = 1e-5f};
}

TEST(BatchNorm, BothLayouts) {
  for (const Dims& d : {Dims{2, 13, 5, 6}, Dims{4, 9}, Dims{7}, Dims{2, 3, 4, 5, 6}}) check_on_device(batch_norm(d));
  check_on_device(batch_norm({2, 13, 5, 6}), {.constants = {1, 2, 3, 4}});
  check_channels_last(batch_norm({2, 13, 5, 6}), true);
}
TEST(BatchNorm, TrainingStaysOnTheCpu) {
  OpCase c = batch_norm({2, 13, 5, 6});
  c.attrs["training_mode"] = int64_t{1};
  check_on_device(c, {.stays_on_cpu = true});
}

TEST(Lrn, BothLayouts) {
  OpCase c{.name = "lrn",
           .op = "LRN",
           .attrs = {{"size", int64_t{5}}, {"alpha", 0.5f}},
           .inputs = {random_tensor({2, 13, 5, 6}, -3, 3)},
           .expected = {Tensor()},
           .tolerance = 1e-5f};
  check_on_device(c);
  check_channels_last(c, true);
}

}  // namespace
}  // namespace hf::lower

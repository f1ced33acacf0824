// EmbedLayerNormalization on a device.
#include "lower/on_device.h"

namespace hf::lower {
namespace {

Tensor indices(const Dims& dims, int64_t below, unsigned seed) {
  Tensor t(DType::I32, dims);
  for (int64_t i = 0; i < t.size(); ++i)
    t.data<int32_t>()[i] = static_cast<int32_t>((i * 2654435761u + seed * 97u) % static_cast<uint64_t>(below));
  return t;
}

TEST(EmbedLayerNorm, EveryOptionalInput) {
  for (bool segments : {false, true})
    for (bool mask : {false, true})
      for (int64_t position_rows : {0, 1, 2}) {
        OpCase c{.name = fmt::format("segments {} mask {} positions {}", segments, mask, position_rows),
                 .op = "EmbedLayerNormalization",
                 .domain = "com.microsoft",
                 .inputs = {indices({2, 7}, 30, 1), Tensor(), random_tensor({30, 24}), random_tensor({9, 24}, -1, 1, 2),
                            Tensor(), random_tensor({24}, 0.5f, 2, 3), random_tensor({24}, -1, 1, 4)},
                 .tolerance = 1e-5f};
        if (segments) c.inputs[1] = indices({2, 7}, 2, 5), c.inputs[4] = random_tensor({2, 24}, -1, 1, 6);
        c.inputs.resize(mask || position_rows ? position_rows ? 9 : 8 : 7);
        if (mask) c.inputs[7] = indices({2, 7}, 2, 7);
        if (position_rows) c.inputs[8] = indices({position_rows, 7}, 9, 8);
        c.expected.resize(segments ? 3 : 2);
        check_on_device(c, {.constants = {2, 3, 4, 5, 6}});
      }
}

}  // namespace
}  // namespace hf::lower

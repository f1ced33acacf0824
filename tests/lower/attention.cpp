// Attention in its several forms on a device.
#include "lower/on_device.h"
#include "ops/strided_attention.h"

namespace hf::lower {
namespace {

OpCase strided(std::string name, const ops::StridedAttention& a, std::vector<Tensor> inputs, float tolerance = 2e-5f) {
  return {.name = std::move(name),
          .op = "StridedAttention",
          .domain = "hipforge",
          .attrs = a.attrs(),
          .inputs = std::move(inputs),
          .expected = {Tensor()},
          .tolerance = tolerance};
}

// Merged rows [2, 20, 3 * 2 * 16] to [2, 20, 2, 16].
ops::StridedAttention merged() {
  return {.batch = 2,
          .heads = 2,
          .kv_heads = 2,
          .queries = 20,
          .keys = 20,
          .head_size = 16,
          .v_head_size = 16,
          .q = {0, 1920, 16, 96},
          .k = {32, 1920, 16, 96},
          .v = {64, 1920, 16, 96},
          .out = {0, 640, 16, 32},
          .scale = 0.25f,
          .dims = {2, 20, 2, 16}};
}

TEST(StridedAttention, MergedRows) {
  Tensor x = random_tensor({2, 20, 96}, -2, 2);
  check_on_device(strided("float32", merged(), {x, x, x}));
  check_on_device(strided("float16", merged(), {x, x, x}, 5e-3f), {.precision = DType::F16});
  check_on_device(strided("bfloat16", merged(), {x, x, x}, 4e-2f), {.precision = DType::BF16});
}
TEST(StridedAttention, Masks) {
  Tensor x = random_tensor({2, 20, 96}, -2, 2);
  ops::StridedAttention a = merged();
  a.mask = {0, 20, 0, 0};
  check_on_device(strided("of sequences", a, {x, x, x, random_tensor({2, 1, 1, 20}, -3, 3, 2)}));
  a.mask = {0, 0, 400, 20};
  check_on_device(strided("of heads and queries", a, {x, x, x, random_tensor({2, 20, 20}, -3, 3, 3)}, 5e-3f),
                  {.precision = DType::F16});
  Tensor open(DType::Bool, {20, 20});
  for (int64_t i = 0; i < open.size(); ++i) open.data<bool>()[i] = i % 20 <= i / 20 && i >= 40;  // two rows closed
  a.mask = {0, 0, 0, 20};
  check_on_device(strided("bools", a, {x, x, x, open}));
}

}  // namespace
}  // namespace hf::lower

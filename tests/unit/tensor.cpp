// Tensors, dims and element conversion.
#include <gtest/gtest.h>

#include <cmath>

#include "base/convert.h"

namespace hf {

TEST(Dims, CountsAndRefusesOverflow) {
  EXPECT_EQ(Dims({2, 3, 4}).count(), 24);
  EXPECT_EQ(Dims({}).count(), 1);
  EXPECT_EQ(Dims({0, int64_t{1} << 62}).count(), 0);
  EXPECT_THROW(Dims({int64_t{1} << 40, int64_t{1} << 40}).count(), Error);
  EXPECT_THROW(Dims({-1}).count(), Error);
}

TEST(Tensor, NoMoreIsAllocatedThanThereIs) {
  EXPECT_TRUE(may_allocate(int64_t{1} << 20));
  const int64_t before = tensor_limit();
  set_tensor_limit(INT64_MAX);
  EXPECT_FALSE(may_allocate(int64_t{1} << 60));
  set_tensor_limit(1000);
  EXPECT_FALSE(may_allocate(1001));
  EXPECT_TRUE(may_allocate(1000));
  set_tensor_limit(before);
}

TEST(Dims, Broadcasts) {
  EXPECT_EQ(broadcast({3, 1}, {2, 1, 4}), Dims({2, 3, 4}));
  EXPECT_THROW(broadcast({3}, {2}), Error);
}

TEST(Half, EveryValueSurvivesTheRoundTrip) {
  for (uint32_t raw = 0; raw < 65536; ++raw) {
    float f = to_float(Half{static_cast<uint16_t>(raw)});
    if (std::isnan(f)) continue;
    EXPECT_EQ(to_half(f).raw, raw);
  }
  EXPECT_EQ(to_half(65519.0f).raw, 0x7bff);
  EXPECT_EQ(to_half(65520.0f).raw, 0x7c00);
}

TEST(SmallFloat, EveryValueSurvivesTheRoundTrip) {
  for (DType t : {DType::F8E4M3FN, DType::F8E4M3FNUZ, DType::F8E5M2, DType::F8E5M2FNUZ, DType::F8E8M0, DType::F4E2M1})
    for (int raw = 0; raw < (bits(t) == 4 ? 16 : 256); ++raw) {
      float f = small_float_to_float(t, static_cast<uint8_t>(raw));
      if (std::isnan(f)) continue;
      EXPECT_EQ(float_to_small_float(t, f, false), raw) << name(t);
    }
}

TEST(Tensor, PacksFourBitElementsLowestFirst) {
  Tensor t(DType::I4, {3});
  int64_t v[] = {1, -1, 7};
  write_elements(v, t);
  EXPECT_EQ(static_cast<const uint8_t*>(t.raw())[0], 0xf1);
  EXPECT_EQ(to_ints(t), (std::vector<int64_t>{1, -1, 7}));
}

}  // namespace hf

// Constants on a device: shared by content, gone with their last user, padded where channels are last.
#include "engine/constants.h"

#include <gtest/gtest.h>

namespace hf::engine {
namespace {

struct OnEmu : testing::Test {
  std::shared_ptr<gpu::Device> device = gpu::open_device("emu");
  std::shared_ptr<MemoryBook> book = std::make_shared<MemoryBook>(device, 0);
  const lower::DeviceLayout& rows(const Dims& dims, DType stored) {
    layout = lower::device_rows(dims, stored);
    return *lower::device_layout(layout);
  }
  plan::Layout layout;
};

TEST_F(OnEmu, TwoSessionsShareEqualConstants) {
  Tensor a = Tensor::of<float>({3}, {1, 2, 3}), b = Tensor::of<float>({3}, {1, 2, 3}),
         c = Tensor::of<float>({3}, {1, 2, 4});
  Constants one(device, book), two(device, book);
  auto first = one.place(a, rows({3}, DType::F32));
  EXPECT_EQ(two.place(b, rows({3}, DType::F32)).get(), first.get());
  EXPECT_NE(two.place(c, rows({3}, DType::F32)).get(), first.get());
  EXPECT_NE(two.place(a, rows({3}, DType::F16)).get(), first.get());
  EXPECT_EQ(book->now().constants_bytes, 12 + 12 + 6);
}

TEST_F(OnEmu, TheLastUserFreesThem) {
  {
    Constants one(device, book);
    one.place(Tensor::of<float>({2}, {1, 2}), rows({2}, DType::F32));
    EXPECT_EQ(book->now().constants_bytes, 8);
  }
  EXPECT_EQ(book->now().constants_bytes, 0);
  EXPECT_EQ(book->now().peak_bytes, 8);
  EXPECT_EQ(device->counts().allocations, 0);
}

TEST_F(OnEmu, ChannelsLastPutsZerosBehindTheChannels) {
  Constants constants(device, book);
  Tensor t = Tensor::of<float>({1, 2, 1, 2}, {1, 2, 3, 4});
  layout = lower::device_channels_last(t.dims(), DType::F32);
  auto data = constants.place(t, *lower::device_layout(layout));
  float got[16];
  gpu::Stream stream(device);
  device->copy_to_host(got, data.get(), sizeof got, stream.get());
  stream.synchronize();
  const float wanted[16] = {1, 3, 0, 0, 0, 0, 0, 0, 2, 4, 0, 0, 0, 0, 0, 0};
  for (int i = 0; i < 16; ++i) EXPECT_EQ(got[i], wanted[i]) << i;
}

}  // namespace
}  // namespace hf::engine

// Values from each device layout to each other one, against plain loops.
#include "kernel/run.h"
#include "lower/lowering.h"
#include "lower/on_device.h"

namespace hf::lower {
namespace {

using kernel::Bytes;

class ConvertLayout : public kernel::KernelTest {
 protected:
  // The value's elements 1, 2, ... in ONNX's order as the layout has them; padding is 0.
  static Bytes laid_out(const DeviceLayout& l) {
    int64_t positions = l.dims.rank() > 1 ? l.dims.count(2, l.dims.rank()) : 1;
    int64_t channels = l.dims.rank() > 1 ? l.dims[1] : 1;
    std::vector<float> v(static_cast<size_t>(l.bytes() / (bits(l.stored) / 8)));
    for (int64_t i = 0; i < l.dims.count(); ++i) {
      int64_t p = i % positions, c = i / positions % channels, n = i / positions / channels;
      int64_t at = l.channels_last() ? (n * positions + p) * l.pitch + c : i;
      v[static_cast<size_t>(at)] = static_cast<float>(i % 200 + 1);
    }
    return kernel::stored(v, element_of(l.stored));
  }
};

TEST_P(ConvertLayout, EachToEachOther) {
  for (const Dims& dims :
       {Dims{2, 3, 5, 7}, Dims{3, 20, 6}, Dims{1, 40, 2, 3, 4}, Dims{2, 16, 1, 1}, Dims{4, 5}, Dims{}, Dims{2, 0, 3}}) {
    std::vector<plan::Layout> layouts;
    for (DType t : {DType::F32, DType::F16}) {
      layouts.push_back(device_rows(dims, t));
      if (dims.rank() > 2) layouts.push_back(device_channels_last(dims, t));
      if (dims.rank() > 2) layouts.push_back(device_channels_last(dims, t, dims[1]));
    }
    for (const plan::Layout& a : layouts)
      for (const plan::Layout& b : layouts) {
        const DeviceLayout &from = *device_layout(a), &to = *device_layout(b);
        SCOPED_TRACE(fmt::format("{} {} to {}", dims.text(), from.text(), to.text()));
        Bytes given = laid_out(from);
        given.resize(given.size() + 16);  // no buffer is empty
        for (const kernel::KernelSpec& spec : convert_layout(from, to, target()))
          ASSERT_EQ(run(spec, {given}, {static_cast<size_t>(to.bytes())})[0], laid_out(to)) << spec.variant;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Device, ConvertLayout, testing::Values(tested_device()), gpu::test_name);

TEST(ConvertLayoutSpec, RefusesWhatKernelsDoNotMove) {
  DeviceLayout text;
  text.stored = DType::String;
  EXPECT_THROW(convert_layout(text, text, {}), Error);
}

}  // namespace
}  // namespace hf::lower

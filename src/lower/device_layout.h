// How a value lies in device memory.
#pragma once
#include "kernel/kernel_spec.h"
#include "plan/backend.h"

namespace hf::lower {

/// How many channels a channels-last pixel is padded to a multiple of.
inline constexpr int64_t kChannelMultiple = 8;

/// Dense in device memory: row-major, or channels last. Two layouts of the same bytes are equal and canonical: made by
/// the functions below only.
class DeviceLayout final : public plan::LayoutDetail {
 public:
  DType stored = DType::Undefined;  // of an element; float32 values may be stored as float16 or bfloat16
  Dims dims;                        // the value's extents, in ONNX's order
  /// 0: row-major. Else [N, spatial..., pitch]: the elements from one position to the next, of which the first C (axis
  /// 1) are the value's and the others zero.
  int64_t pitch = 0;

  bool channels_last() const { return pitch != 0; }
  bool equals(const plan::LayoutDetail& other) const override;
  int64_t bytes() const override;
  plan::Space space() const override { return plan::Space::Device; }
  std::string text() const override;  // "float16 nhwc8", "float32"
};

/// Row-major.
plan::Layout device_rows(const Dims& dims, DType stored);
/// Channels last: row-major if that is the same (rank < 3, or one position an image and no padding). `pitch` 0: C
/// rounded up to kChannelMultiple.
plan::Layout device_channels_last(const Dims& dims, DType stored, int64_t pitch = 0);
/// The layout as one of the device's; null for one of the host's.
const DeviceLayout* device_layout(const plan::Layout& layout);

/// The kernels' element type, for F32, F16 and BF16; Internal for another.
kernel::Element element_of(DType dtype);
bool is_float_element(DType dtype);

}  // namespace hf::lower

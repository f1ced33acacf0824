// Layouts of values in device memory.
#include "lower/device_layout.h"

#include "base/tensor.h"

namespace hf::lower {
namespace {

plan::Layout make(const Dims& dims, DType stored, int64_t pitch) {
  auto layout = std::make_shared<DeviceLayout>();
  layout->dims = dims;
  layout->stored = stored;
  layout->pitch = pitch;
  return {std::move(layout)};
}

}  // namespace

bool DeviceLayout::equals(const plan::LayoutDetail& other) const {
  const auto* o = dynamic_cast<const DeviceLayout*>(&other);
  return o && o->stored == stored && o->pitch == pitch && o->dims == dims;
}

int64_t DeviceLayout::bytes() const {
  if (!pitch) return storage_bytes(stored, dims.count());
  return storage_bytes(stored, dims[0] * dims.count(2, dims.rank()) * pitch);
}

std::string DeviceLayout::text() const {
  std::string text = "device " + std::string(name(stored));
  if (pitch) text += dims[1] == pitch ? " nhwc" : fmt::format(" nhwc{}", pitch);
  return text;
}

plan::Layout device_rows(const Dims& dims, DType stored) { return make(dims, stored, 0); }

plan::Layout device_channels_last(const Dims& dims, DType stored, int64_t pitch) {
  if (dims.rank() < 3) return device_rows(dims, stored);
  if (!pitch) pitch = (dims[1] + kChannelMultiple - 1) / kChannelMultiple * kChannelMultiple;
  bool same = pitch == dims[1] && (pitch == 1 || dims.count(2, dims.rank()) == 1);
  return make(dims, stored, same ? 0 : pitch);
}

const DeviceLayout* device_layout(const plan::Layout& layout) {
  return dynamic_cast<const DeviceLayout*>(layout.detail.get());
}

bool is_float_element(DType dtype) { return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16; }

kernel::Element element_of(DType dtype) {
  check(is_float_element(dtype), "kernels compute in float32, float16 and bfloat16");
  return dtype == DType::F32   ? kernel::Element::F32
         : dtype == DType::F16 ? kernel::Element::F16
                               : kernel::Element::BF16;
}

}  // namespace hf::lower

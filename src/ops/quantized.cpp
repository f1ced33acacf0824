// Ranges of the types that values are quantised to.
#include "ops/quantized.h"

namespace hf::ops {

QuantizedRange quantized_range(DType dtype) {
  const int width = bits(dtype);
  if (is_float(dtype) && width <= 8) {
    const float top = small_float_to_float(dtype, float_to_small_float(dtype, 3e38f, true));
    return {-top, top, false};
  }
  if (width == 0 || width > 16 || !is_int(dtype)) fail(Code::Unsupported, "quantising to {}", name(dtype));
  if (is_unsigned_int(dtype)) return {0, static_cast<float>((1 << width) - 1), true};
  return {static_cast<float>(-(1 << (width - 1))), static_cast<float>((1 << (width - 1)) - 1), true};
}

}  // namespace hf::ops

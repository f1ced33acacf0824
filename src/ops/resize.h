// Resizing one axis: what the operator Resize comes down to, axis by axis. Formulas: ONNX's Resize, opset 19.
#pragma once
#include <cstdint>
#include <vector>

#include "ops/op.h"

namespace hf::ops {

/// One axis of a resized tensor.
struct ResizeAxis {
  int64_t input = 1, output = 1;
  double scale = 1;           // output / input as the model says it, before the output's extent was rounded
  bool exact = false;         // the extents were given: scale is exactly output / input
  double start = 0, end = 1;  // the region of interest, in units of the axis; for tf_crop_and_resize

  /// Nothing happens along it.
  bool same() const { return input == output && scale == 1 && start == 0 && end == 1; }
};

/// For each output of an axis, the inputs it is a weighted sum of.
struct ResizeTaps {
  std::vector<int64_t> first;  // taps of output o: [first[o], first[o + 1])
  std::vector<int64_t> index;  // all within the input
  std::vector<double> weight;
  std::vector<bool> outside;  // the output takes extrapolation_value instead

  int64_t size() const { return static_cast<int64_t>(first.size()) - 1; }
};

/// The axes of a Resize node, one an axis of x. `roi`, `scales` and `sizes` may be null. Throws InvalidModel for scales
/// and sizes that are no extents, or do not fit x.
std::vector<ResizeAxis> resize_axes(const Node& n, const Dims& x, const Tensor* roi, const Tensor* scales,
                                    const Tensor* sizes);

/// The taps of one axis by the node's attributes. Throws InvalidModel for an unknown mode.
ResizeTaps resize_taps(const Node& n, const ResizeAxis& axis);

}  // namespace hf::ops

// Window: the arithmetic of sliding windows, for convolutions and pools: pads, extents and which elements a window
// sees.
//
// Formulas: the ONNX operators Conv, ConvTranspose, MaxPool and AveragePool (opset 22).
#pragma once
#include <span>
#include <vector>

#include "base/dims.h"
#include "ir/graph.h"

namespace hf::ops {

/// One spatial axis of a sliding window. Output o reads the elements o * stride + k * dilation - begin, 0 <= k <
/// kernel, that lie in [0, input). For a transposed convolution input and output change places in that sentence.
struct WindowAxis {
  int64_t input = -1;  // extents; -1: not known
  int64_t kernel = -1;
  int64_t output = -1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t begin = 0;  // padding; with auto_pad valid only when output is known
  int64_t end = 0;
  bool keeps = false;  // the output is as large as the input, whatever that is

  /// Elements from the first tap to the last.
  int64_t extent() const { return (kernel - 1) * dilation + 1; }
};

/// The spatial axes of a convolution or pool, outermost first.
struct Window {
  std::vector<WindowAxis> axes;

  int rank() const { return static_cast<int>(axes.size()); }
  /// Products over the axes, which must be known.
  int64_t inputs() const;
  int64_t outputs() const;
  int64_t taps() const;
  Dims output_dims() const;
  /// No padding, and stride and kernel 1: every output reads the input at its own place.
  bool pointwise() const;
};

/// The window of a node with attributes kernel_shape, strides, pads, dilations, auto_pad and ceil_mode (those it has).
/// `input`: spatial extents, -1 where unknown. `kernel`: the same of the weights; empty: kernel_shape alone says it.
/// A window larger than its padded input gives an output of extent 0. Throws InvalidModel if attributes have wrong
/// lengths or values, or contradict `kernel`.
Window window_of(const ir::Node& n, std::span<const int64_t> input, std::span<const int64_t> kernel = {});

/// The same of a transposed convolution (also output_shape and output_padding). Pads that output_shape asks for and
/// that would be negative are 0: the output then ends in elements that nothing reaches.
Window transposed_window_of(const ir::Node& n, std::span<const int64_t> input, std::span<const int64_t> kernel);

/// What window_of tells of the outputs of an inference: extents where known, the input's symbol where the extent is
/// kept.
std::vector<ir::Dim> window_dims(const Window& w, std::span<const ir::Dim> input);
/// Extents as window_of takes them: -1 where unknown. `from`: the first axis taken.
std::vector<int64_t> known_extents(const ir::Shape& shape, int from);

/// Where taps of outputs lie in the input.
class WindowReader {
 public:
  explicit WindowReader(const Window& w) : w_(w) {}
  /// For outputs [from, to) (row-major over the spatial axes) and tap `tap` (row-major over the kernel): the offset in
  /// the input's spatial plane, or -1 in the padding.
  void offsets(int64_t tap, int64_t from, int64_t to, int64_t* offsets) const;
  /// For outputs [from, to): how many taps lie in the input or its padding (not in what ceil_mode adds beyond).
  void padded_counts(int64_t from, int64_t to, int64_t* counts) const;

 private:
  const Window& w_;
};

/// The offsets of the taps for a block of outputs: what a reference gathers through, for one plane after the other.
struct WindowBlock {
  int64_t from = -1, size = 0;   // outputs [from, from + size)
  std::vector<int64_t> offsets;  // [taps, size], as WindowReader::offsets

  /// All taps.
  void move_to(const Window& w, int64_t from, int64_t size);
  /// Only taps that some output of the block may find in the input: a window much larger than its input costs no more.
  void move_to_inside(const Window& w, int64_t from, int64_t size);
  int64_t taps() const { return size ? static_cast<int64_t>(offsets.size()) / size : 0; }
};

/// How many outputs a block should have when each needs `depth` elements: its matrix then stays in the second-level
/// cache.
int64_t block_size(int64_t depth, int64_t outputs);

}  // namespace hf::ops

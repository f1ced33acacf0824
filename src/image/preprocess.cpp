// Fitting a photo to a model's input and writing its values.
#include "image/preprocess.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace hf::image {
namespace {

constexpr int kDefaultSide = 224;

bool is_channels(std::int64_t dim) { return dim == 1 || dim == 3; }

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text;
  for (std::int64_t dim : shape) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", dim < 1 ? std::string("?") : std::to_string(dim));
  }
  return "[" + text + "]";
}

// The shorter side to scale to, or 0 for none.
int shorter_side(const Preprocess& p, const Target& target) {
  if (p.resize == 0 || p.crop_w == 0 || p.crop_h == 0) return p.resize;
  if (p.crop_w == target.width && p.crop_h == target.height) return p.resize;
  const double share = static_cast<double>(std::max(target.width, target.height)) / std::max(p.crop_w, p.crop_h);
  return std::max(1, static_cast<int>(std::lround(std::min(p.resize * share, 1e6))));
}

// Calls store(position in the output, channel of the output, pixel) for each value.
template <class T, class Value>
void write(const Image& pixels, const Preprocess& p, const Target& target, std::span<T> out, Value value) {
  if (out.size() != target.size()) {
    fail(Code::InvalidArgument, "model input of '{}x{}' pixels and '{}' channels needs '{}' values; got '{}'",
         target.width, target.height, target.channels, target.size(), out.size());
  }
  const std::size_t channels = static_cast<std::size_t>(target.channels);
  const std::size_t plane = target.size() / channels;
  const bool planar = target.layout == Layout::NCHW;
  for (std::size_t c = 0; c < channels; ++c) {
    const std::uint8_t* from = pixels.pixels.data() + (p.bgr ? channels - 1 - c : c);
    T* to = out.data() + c * (planar ? plane : 1);
    const std::size_t step = planar ? 1 : channels;
    for (std::size_t i = 0; i < plane; ++i) to[i * step] = value(c, from[i * channels]);
  }
}

}  // namespace

Target make_target(std::span<const std::int64_t> input_shape, const Preprocess& preprocess) {
  const auto refuse = [&](std::string_view why) {
    fail(Code::InvalidArgument,
         "model input of shape '{}' takes no image: {}; want [N, C, H, W] or "
         "[N, H, W, C] with 1 or 3 channels",
         shape_text(input_shape), why);
  };
  if (input_shape.size() != 3 && input_shape.size() != 4) refuse(fmt::format("its rank is {}", input_shape.size()));
  const std::span<const std::int64_t> shape = input_shape.last(3);
  const bool first = is_channels(shape[0]), last = is_channels(shape[2]);
  Target target;
  target.layout = preprocess.layout;
  // A known channel count on one side only decides; else the one whose dimension is at least not impossible.
  if (first != last) {
    target.layout = first ? Layout::NCHW : Layout::NHWC;
  } else if (!first && (shape[0] < 1) != (shape[2] < 1)) {
    target.layout = shape[0] < 1 ? Layout::NCHW : Layout::NHWC;
  }
  const bool planar = target.layout == Layout::NCHW;
  const std::int64_t channels = planar ? shape[0] : shape[2];
  const std::int64_t height = planar ? shape[1] : shape[0];
  const std::int64_t width = planar ? shape[2] : shape[1];
  if (channels >= 1 && !is_channels(channels)) refuse(fmt::format("it has {} channels", channels));
  if (std::max(height, width) > 65535) refuse("its sides are too long");
  const auto side = [](std::int64_t dim, int crop) { return dim >= 1 ? static_cast<int>(dim) : crop; };
  target.channels = side(channels, 3);
  target.height = side(height, preprocess.crop_h > 0 ? preprocess.crop_h : kDefaultSide);
  target.width = side(width, preprocess.crop_w > 0 ? preprocess.crop_w : kDefaultSide);
  return target;
}

Image fit(const Image& image, const Preprocess& preprocess, const Target& target) {
  Image pixels = convert(image, target.channels);
  if (preprocess.stretch) return resize(pixels, target.width, target.height, preprocess.filter);
  const int side = shorter_side(preprocess, target);
  if (side > 0) pixels = resize_shorter(pixels, side, preprocess.filter);
  return center_crop(pixels, target.width, target.height);
}

void fill(const Image& image, const Preprocess& p, const Target& target, std::span<float> out) {
  // 256 values a channel, so that the division is done once for each.
  std::array<std::array<float, 256>, 3> values{};
  for (std::size_t c = 0; c < values.size(); ++c) {
    for (std::size_t v = 0; v < 256; ++v) values[c][v] = (static_cast<float>(v) / p.scale - p.mean[c]) / p.std[c];
  }
  write(fit(image, p, target), p, target, out, [&](std::size_t c, std::uint8_t pixel) { return values[c][pixel]; });
}

void fill(const Image& image, const Preprocess& p, const Target& target, std::span<std::uint8_t> out) {
  write(fit(image, p, target), p, target, out, [](std::size_t, std::uint8_t pixel) { return pixel; });
}

}  // namespace hf::image

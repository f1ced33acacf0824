// From a photo to a model's input: how to scale, crop and normalise, as presets or JSON.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "image/image.h"
#include "image/resize.h"

namespace hf::image {

enum class Layout { NCHW, NHWC };
enum class PixelType { Float32, Uint8 };

/// Geometry, in this order: scale, then crop to the model's size.
/// - stretch: the whole photo is scaled to the model's size, aspect not kept; resize and crop are not used.
/// - otherwise the shorter side becomes `resize` (0: no scaling), then the middle is cut out. For a model that is not
///   of the crop's size, the shorter side becomes round(resize * model / crop), by the longer sides of both: with
///   "imagenet" that is round(size * 256 / 224).
/// Values: (pixel / scale - mean) / std in float32, by channel, in the order that the model sees (B, G, R if bgr).
struct Preprocess {
  int resize = 0;
  int crop_w = 0;  // 0: the model's
  int crop_h = 0;
  std::array<float, 3> mean{0, 0, 0};  // a gray model uses the first of each
  std::array<float, 3> std{1, 1, 1};
  float scale = 255;
  Layout layout = Layout::NCHW;  // used where the model's shape leaves it open
  PixelType dtype = PixelType::Float32;
  bool stretch = true;
  bool bgr = false;
  Filter filter = Filter::Bilinear;
};

/// A preset's name, or a JSON object (as in a model's metadata under 'hipforge.preprocess').
/// Presets: "imagenet" (torchvision: 256, crop 224, ImageNet's mean and std), "lite" (EfficientNet-Lite: 256, crop 224,
/// (x - 127) / 128, bicubic), "none" (stretch, 0 to 1), "raw" (stretch, 0 to 255), "tf" (stretch, -1 to 1).
/// JSON keys, all optional, over the values of "none": "preset" (starts from that one), "mean" and "std" (a number, or
/// a list of 1 or 3), "scale", "resize", "crop" (N, or [width, height]), "layout" ("NCHW", "NHWC"), "dtype" ("float32",
/// "uint8"), "interpolation" (a filter's name), "stretch", "bgr". Giving "resize" or "crop" turns stretching off unless
/// "stretch" says otherwise. Throws InvalidArgument for anything else, naming the key.
Preprocess parse(std::string_view text);

/// The input of a model for one image.
struct Target {
  int width = 0;
  int height = 0;
  int channels = 3;  // 3, or 1 for gray
  Layout layout = Layout::NCHW;

  std::size_t size() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * static_cast<std::size_t>(channels);
  }
};

/// Reads a model's input shape of rank 4 (batch first) or 3; dimensions below 1 are unknown. The layout is where a
/// dimension of 1 or 3 stands; if that is on both sides or on none with an unknown dimension there,
/// `preprocess.layout`. An unknown width or height becomes the preset's crop, or 224. Throws InvalidArgument if this is
/// no picture's shape.
Target make_target(std::span<const std::int64_t> input_shape, const Preprocess& preprocess);

/// The photo as `target` wants it, still 8 bits a channel, HWC, RGB or gray.
Image fit(const Image& image, const Preprocess& preprocess, const Target& target);

/// Writes one image, [1,C,H,W] or [1,H,W,C] by `target.layout`. `out` holds target.size() values. The uint8 form writes
/// pixels 0 to 255 and uses neither mean, std nor scale: a model with such an input normalises inside.
/// Throws InvalidArgument for a wrong size.
void fill(const Image& image, const Preprocess& preprocess, const Target& target, std::span<float> out);
void fill(const Image& image, const Preprocess& preprocess, const Target& target, std::span<std::uint8_t> out);

}  // namespace hf::image

// Resampling equal to Pillow's, so that a model sees at inference what it saw in training.
#pragma once

#include <string>
#include <string_view>

#include "image/image.h"

namespace hf::image {

/// Order as in the table in resize.cpp.
enum class Filter { Nearest, Box, Bilinear, Bicubic, Lanczos };

std::string_view filter_name(Filter filter);  // "nearest", "box", "bilinear", "bicubic", "lanczos"

/// Throws InvalidArgument for another name, with the list of names.
Filter parse_filter(std::string_view name);

/// Scales the whole image to width x height, aspect not kept. Antialiased: when scaling down, the filter's support
/// grows with the factor. Bilinear (the default) is the triangle filter; bicubic has a = -0.5; lanczos has 3 lobes.
/// Equal, bit for bit, to Pillow's Image.resize(..., Resampling.X) for 1 and 3 channels: weights rounded to 22
/// fractional bits, horizontal before vertical, rounded to 8 bits between. Pillow 13 takes the vertical pass first
/// where the height shrinks more than the width; there bilinear and box differ from it by at most 1, the others by
/// more, and we keep the order that models were trained with. Nearest takes the pixel under the centre of the target
/// pixel. The four channels of RGBA are filtered apart from each other (Pillow multiplies by alpha first).
///
/// Source: Pillow's documentation, handbook "Concepts: Filters", and the usual account of separable resampling
/// (Heckbert, "Filtered image rescaling", Graphics Gems III). What bit equality needs besides, the fraction bits and
/// how the filters are evaluated, is as in Pillow's Resample.c (HPND licence); the code is ours.
///
/// Width, height: 1 or more, 100 million pixels together. Throws InvalidArgument, OutOfMemory.
Image resize(const Image& image, int width, int height, Filter filter = Filter::Bilinear);

/// Scales so that the shorter side becomes `size`; the longer is size * longer / shorter, rounded down as torchvision's
/// Resize(size) does, at least 1.
Image resize_shorter(const Image& image, int size, Filter filter = Filter::Bilinear);

/// The middle width x height pixels. The offsets are half the difference, an odd half to the even neighbour; a smaller
/// image is surrounded by zeros, the odd column or row at the right or bottom: torchvision's CenterCrop.
Image center_crop(const Image& image, int width, int height);

}  // namespace hf::image

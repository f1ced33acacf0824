// Internal to image/: the decoders behind decode(), and what they share.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "image/image.h"

namespace hf::image {

using Bytes = std::span<const std::uint8_t>;

/// What a decoder returns: RGB pixels as stored, and how to turn them.
struct Decoded {
  Image image;
  int orientation = 1;
};

/// Both throw as decode() does. `name` is used in messages only.
Decoded decode_jpeg(Bytes bytes, std::string_view name, const DecodeOptions& options);
Decoded decode_png(Bytes bytes, std::string_view name, const DecodeOptions& options);

}  // namespace hf::image

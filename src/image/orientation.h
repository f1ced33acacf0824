// Internal to image/: the EXIF orientation tag, read safely and applied.
#pragma once

#include <cstdint>
#include <span>

#include "image/image.h"

namespace hf::image {

/// Orientation (1 to 8) in a TIFF block: what follows "Exif\0\0" in a JPEG APP1 segment, or a PNG eXIf chunk.
/// 1 (upright) if the tag is missing or the block is damaged in any way; never reads outside `tiff`.
/// Source: TIFF 6.0 section 2, tag 0x0112 (SHORT; LONG is accepted too).
int exif_orientation(std::span<const std::uint8_t> tiff);

/// Turns the stored pixels upright. Orientations outside 2 to 8 return the image as it is.
Image apply_orientation(Image image, int orientation);

}  // namespace hf::image

// Photos in memory: the Image struct and its JPEG and PNG readers.
//
// The folder turns a file into a model's input (image.h, resize.h, preprocess.h) and a model's output into words
// (labels.h). All functions are free of shared state and may be called from several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace hf::image {

/// Pixels of 8 bits a channel, row after row from the top, channels together (HWC), in RGB order, no padding.
struct Image {
  int width = 0;
  int height = 0;
  int channels = 3;  // 1 gray, 3 RGB, 4 RGBA
  std::vector<std::uint8_t> pixels;
};

struct DecodeOptions {
  // Checked against the header before any pixel memory is allocated. Default 100 million, 300 MB of RGB.
  std::int64_t max_pixels = 100'000'000;
};

/// Reads a JPEG or PNG file as RGB, upright. The format is found by the first bytes, never by the suffix.
/// - JPEG: baseline, progressive, arithmetic; gray becomes RGB; CMYK and YCCK are read with Adobe's polarity and turned
///   into RGB without a colour profile, as Pillow's convert('RGB') does.
/// - PNG: all colour types and depths. Alpha and tRNS are dropped, not blended, as by Pillow's convert('RGB'). 16 bits
///   become the high byte (Pillow does so for RGB and clips gray at 255, which we do not follow).
/// - EXIF orientation 1 to 8 (JPEG APP1, PNG eXIf) is applied; a damaged EXIF block is ignored.
/// - Colour profiles and gamma are not applied.
/// Throws NotFound (no such file), Io (read failed), Unsupported (another format or a rare kind of JPEG),
/// InvalidArgument (directory, empty, damaged, truncated, too many pixels), OutOfMemory. A file that ends early or
/// whose compressed data is damaged is an error, never a half-gray picture.
Image load(const std::filesystem::path& path, const DecodeOptions& options = {});

/// The same for bytes in memory. `name` is used in messages only.
Image decode(std::span<const std::byte> bytes, std::string_view name, const DecodeOptions& options = {});

/// Throws InvalidArgument if a side is not positive, the channels are not 1, 3 or 4, or the pixels are more than
/// `max_pixels`. `name` is used in messages only.
void check_size(int width, int height, int channels, std::string_view name = "",
                std::int64_t max_pixels = DecodeOptions{}.max_pixels);

/// A zeroed image. Throws as check_size() does, and OutOfMemory.
Image make_image(int width, int height, int channels, std::string_view name = "",
                 std::int64_t max_pixels = DecodeOptions{}.max_pixels);

/// Throws InvalidArgument unless sides, channels and the number of pixels agree.
void check_image(const Image& image);

/// RGB to gray by ITU-R 601-2 luma in 16-bit fixed point, equal to Pillow's convert('L'); gray to RGB; alpha dropped.
/// `channels` is 1 or 3.
Image convert(const Image& image, int channels);

}  // namespace hf::image

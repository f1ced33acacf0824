// Reading a file, finding its format by magic, and the small conversions of Image.
#include "image/image.h"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "base/error.h"
#include "image/codec.h"
#include "image/orientation.h"
#include "image/text.h"

namespace hf::image {
namespace {

using Decoder = Decoded (*)(Bytes, std::string_view, const DecodeOptions&);

// Formats by the bytes at an offset. Those without a decoder are listed so that the message can name them.
struct Format {
  std::string_view name;
  std::size_t offset;
  std::string_view magic;
  Decoder decoder;
};
constexpr Format kFormats[] = {
    {"JPEG", 0, std::string_view("\xff\xd8\xff", 3), decode_jpeg},
    {"PNG", 0, std::string_view("\x89PNG\r\n\x1a\n", 8), decode_png},
    {"GIF", 0, "GIF8", nullptr},
    {"WebP", 8, "WEBP", nullptr},
    {"TIFF", 0, std::string_view("II*\0", 4), nullptr},
    {"TIFF", 0, std::string_view("MM\0*", 4), nullptr},
    {"HEIF or AVIF", 4, "ftyp", nullptr},
    {"JPEG XL", 0, std::string_view("\xff\x0a", 2), nullptr},
    {"JPEG 2000", 4, "jP  ", nullptr},
    {"PDF", 0, "%PDF", nullptr},
    {"SVG, HTML or XML", 0, "<", nullptr},
    {"BMP", 0, "BM", nullptr},
};

// More than any picture within the default pixel limit needs; keeps an endless device from filling memory.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

const Format& find_format(Bytes bytes, std::string_view name) {
  if (bytes.empty()) fail(Code::InvalidArgument, "image '{}' is empty; give a JPEG or PNG file", name);
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 16));
  for (const Format& format : kFormats) {
    if (head.size() < format.offset || head.substr(format.offset, format.magic.size()) != format.magic) continue;
    if (format.decoder != nullptr) return format;
    fail(Code::Unsupported, "image '{}' is a {} file; only JPEG and PNG are read; convert it first", name, format.name);
  }
  std::string hex;
  for (char c : head.substr(0, 8)) {
    hex += fmt::format("{}{:02x}", hex.empty() ? "" : " ", static_cast<unsigned char>(c));
  }
  fail(Code::InvalidArgument, "image '{}' is neither JPEG nor PNG; its first bytes are '{}'; give a JPEG or PNG file",
       name, hex);
}

Image decode_bytes(Bytes bytes, std::string_view name, const DecodeOptions& options) {
  Decoded decoded = find_format(bytes, name).decoder(bytes, name, options);
  return apply_orientation(std::move(decoded.image), decoded.orientation);
}

std::string label_of(std::string_view name) { return name.empty() ? "image" : fmt::format("image '{}'", name); }

Bytes as_bytes(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

}  // namespace

Image load(const std::filesystem::path& path, const DecodeOptions& options) {
  const std::string name = path.string();
  // Reading on makes no sense for a file of another kind.
  const std::string bytes =
      read_file(path, "image", kMaxFileBytes, [&](std::string_view head) { find_format(as_bytes(head), name); });
  return decode_bytes(as_bytes(bytes), name, options);
}

Image decode(std::span<const std::byte> bytes, std::string_view name, const DecodeOptions& options) {
  return decode_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, name, options);
}

void check_size(int width, int height, int channels, std::string_view name, std::int64_t max_pixels) {
  const std::string label = label_of(name);
  const std::int64_t pixels = static_cast<std::int64_t>(width) * height;
  if (width <= 0 || height <= 0) {
    fail(Code::InvalidArgument, "{} is '{}x{}' pixels; both sides must be 1 or more", label, width, height);
  }
  if (channels != 1 && channels != 3 && channels != 4) {
    fail(Code::InvalidArgument, "{} has '{}' channels; only 1, 3 and 4 are handled", label, channels);
  }
  if (pixels > max_pixels) {
    fail(Code::InvalidArgument,
         "{} is '{}x{}', {:.1f} million pixels; at most {:.1f} million are handled; scale it down first", label, width,
         height, static_cast<double>(pixels) / 1e6, static_cast<double>(max_pixels) / 1e6);
  }
}

Image make_image(int width, int height, int channels, std::string_view name, std::int64_t max_pixels) {
  check_size(width, height, channels, name, max_pixels);
  const std::size_t bytes =
      static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * static_cast<std::size_t>(channels);
  try {
    return {width, height, channels, std::vector<std::uint8_t>(bytes)};
  } catch (const std::bad_alloc&) {
    fail(Code::OutOfMemory, "{} needs '{}' bytes of memory; scale it down first", label_of(name), bytes);
  }
}

void check_image(const Image& image) {
  const bool sides = image.width > 0 && image.height > 0;
  const bool channels = image.channels == 1 || image.channels == 3 || image.channels == 4;
  if (sides && channels &&
      image.pixels.size() == static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) *
                                 static_cast<std::size_t>(image.channels)) {
    return;
  }
  fail(Code::InvalidArgument,
       "image of '{}x{}' pixels and '{}' channels holds '{}' bytes; want width * height * channels (1, 3, 4)",
       image.width, image.height, image.channels, image.pixels.size());
}

Image convert(const Image& image, int channels) {
  check_image(image);
  if (channels != 1 && channels != 3) {
    fail(Code::InvalidArgument, "image can't become '{}' channels; only 1 and 3 are handled", channels);
  }
  if (channels == image.channels) return image;
  Image out = make_image(image.width, image.height, channels, "", static_cast<std::int64_t>(image.pixels.size()));
  const std::size_t count = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  const std::size_t stride = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* from = image.pixels.data() + i * stride;
    if (channels == 1) {
      // 0.299, 0.587 and 0.114 times 65536; they add up to 65536.
      out.pixels[i] = static_cast<std::uint8_t>((from[0] * 19595u + from[1] * 38470u + from[2] * 7471u + 32768u) >> 16);
    } else {
      for (std::size_t c = 0; c < 3; ++c) out.pixels[i * 3 + c] = from[stride == 1 ? 0 : c];
    }
  }
  return out;
}

}  // namespace hf::image

// PNG by libpng, whose errors leave by longjmp (see jpeg.cpp for the rule that makes this safe).
#include <fmt/core.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "image/codec.h"
#include "image/orientation.h"

namespace hf::image {
namespace {

constexpr png_uint_32 kMaxSide = 0x7fffffff;  // PNG's own limit; ours is on the number of pixels

struct Reader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Bytes rest;           // not yet read
  char text[200] = {};  // why libpng gave up
  std::vector<png_bytep> rows;

  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }  // does nothing before start()

  bool start(Bytes bytes);
  bool read_header();
  bool read_pixels();
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  Reader& reader = *static_cast<Reader*>(png_get_error_ptr(png));
  std::strncpy(reader.text, text, sizeof reader.text - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, std::size_t size) {
  Reader& reader = *static_cast<Reader*>(png_get_io_ptr(png));
  if (size > reader.rest.size()) png_error(png, "the file ends early");
  std::memcpy(to, reader.rest.data(), size);
  reader.rest = reader.rest.subspan(size);
}

bool Reader::start(Bytes bytes) {
  rest = bytes;
  png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
  if (png == nullptr) return false;
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  info = png_create_info_struct(png);
  if (info == nullptr) return false;
  png_set_user_limits(png, kMaxSide, kMaxSide);
  png_set_read_fn(png, this, on_read);
  return true;
}

// Asks for 8-bit RGB, whatever is stored.
bool Reader::read_header() {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_info(png, info);
  png_set_palette_to_rgb(png);
  png_set_expand_gray_1_2_4_to_8(png);
  png_set_gray_to_rgb(png);
  png_set_strip_16(png);
  png_set_strip_alpha(png);
  return true;
}

// The rows point to pixels for the whole picture. The chunks after the pixels may hold the EXIF block.
bool Reader::read_pixels() {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_rowbytes(png, info) != png_get_image_width(png, info) * std::size_t{3}) {
    png_error(png, "unexpected row size");
  }
  png_read_image(png, rows.data());
  png_read_end(png, info);
  return true;
}

int find_orientation(png_structp png, png_infop info) {
  png_uint_32 size = 0;
  png_bytep data = nullptr;
  if (png_get_eXIf_1(png, info, &size, &data) == 0 || data == nullptr) return 1;
  return exif_orientation({data, size});
}

}  // namespace

Decoded decode_png(Bytes bytes, std::string_view name, const DecodeOptions& options) {
  Reader reader;
  const auto refuse = [&] {
    fail(Code::InvalidArgument, "image '{}' is not a readable PNG: {}", name,
         reader.text[0] != 0 ? static_cast<const char*>(reader.text) : "libpng can't start");
  };
  if (!reader.start(bytes) || !reader.read_header()) refuse();
  Decoded out;
  out.image = make_image(static_cast<int>(png_get_image_width(reader.png, reader.info)),
                         static_cast<int>(png_get_image_height(reader.png, reader.info)), 3, name, options.max_pixels);
  const std::size_t stride = static_cast<std::size_t>(out.image.width) * 3;
  reader.rows.resize(static_cast<std::size_t>(out.image.height));
  for (std::size_t y = 0; y < reader.rows.size(); ++y) reader.rows[y] = out.image.pixels.data() + y * stride;
  if (!reader.read_pixels()) refuse();
  out.orientation = find_orientation(reader.png, reader.info);
  return out;
}

}  // namespace hf::image

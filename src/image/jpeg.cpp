// JPEG by libjpeg-turbo's classic API, whose errors leave by longjmp.
//
// Every function that calls setjmp, or that longjmp may cross, holds only trivial locals; memory is owned by Reader,
// which outlives the jump. Hence the small steps (start, read_header, read_pixels), each with its own landing place.
#include <fmt/core.h>
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>

#include "base/error.h"
#include "image/codec.h"
#include "image/orientation.h"

namespace hf::image {
namespace {

constexpr int kApp1 = JPEG_APP0 + 1;
constexpr std::uint8_t kExifMark[] = {'E', 'x', 'i', 'f', 0, 0};

// A progressive file may hold any number of scans over the whole picture; real encoders write about ten.
constexpr int kMaxScans = 200;

// Warnings after which libjpeg goes on with made-up pixels. The others (junk between markers, odd versions) are benign.
constexpr int kFatalWarnings[] = {JWRN_JPEG_EOF, JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE, JWRN_MUST_RESYNC};

// Errors that tell of a rare kind of file and not of a damaged one.
constexpr int kUnsupportedErrors[] = {JERR_BAD_PRECISION, JERR_SOF_UNSUPPORTED, JERR_CONVERSION_NOTIMPL,
                                      JERR_CCIR601_NOTIMPL, JERR_NOT_COMPILED};

bool contains(std::span<const int> codes, int code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

struct Reader {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf landing{};
  char text[JMSG_LENGTH_MAX] = {};
  Code code = Code::InvalidArgument;

  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { jpeg_destroy_decompress(&info); }  // does nothing before jpeg_create_decompress

  bool start(Bytes bytes);
  bool read_header();
  bool read_pixels(std::uint8_t* pixels, std::size_t stride);
};

[[noreturn]] void leave(j_common_ptr common) {
  Reader& reader = *static_cast<Reader*>(common->client_data);
  const int code = common->err->msg_code;
  common->err->format_message(common, reader.text);
  if (code == JERR_OUT_OF_MEMORY) reader.code = Code::OutOfMemory;
  if (contains(kUnsupportedErrors, code)) reader.code = Code::Unsupported;
  std::longjmp(reader.landing, 1);
}

// A negative level is a warning, the others are traces.
void on_message(j_common_ptr common, int level) {
  if (level < 0 && contains(kFatalWarnings, common->err->msg_code)) leave(common);
}

void on_progress(j_common_ptr common) {
  const jpeg_decompress_struct& info = static_cast<Reader*>(common->client_data)->info;
  if (info.input_scan_number <= kMaxScans) return;
  Reader& reader = *static_cast<Reader*>(common->client_data);
  std::snprintf(reader.text, sizeof reader.text, "more than %d scans", kMaxScans);
  std::longjmp(reader.landing, 1);
}

bool Reader::start(Bytes bytes) {
  info.err = jpeg_std_error(&errors);
  errors.error_exit = leave;
  errors.emit_message = on_message;
  errors.output_message = [](j_common_ptr) {};
  info.client_data = this;
  if (setjmp(landing) != 0) return false;
  jpeg_create_decompress(&info);  // keeps err and client_data, clears the rest
  progress.progress_monitor = on_progress;
  info.progress = &progress;
  jpeg_mem_src(&info, bytes.data(), static_cast<unsigned long>(bytes.size()));
  jpeg_save_markers(&info, kApp1, 0xffff);
  return true;
}

bool Reader::read_header() {
  if (setjmp(landing) != 0) return false;
  jpeg_read_header(&info, TRUE);
  const bool four = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = four ? JCS_CMYK : JCS_RGB;
  jpeg_calc_output_dimensions(&info);
  return true;
}

// `pixels` holds output_height rows of `stride` bytes.
bool Reader::read_pixels(std::uint8_t* pixels, std::size_t stride) {
  if (setjmp(landing) != 0) return false;
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels + info.output_scanline * stride;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

int find_orientation(const jpeg_decompress_struct& info) {
  for (jpeg_saved_marker_ptr marker = info.marker_list; marker != nullptr; marker = marker->next) {
    const Bytes data(marker->data, marker->data_length);
    if (marker->marker != kApp1 || data.size() < std::size(kExifMark)) continue;
    if (!std::equal(std::begin(kExifMark), std::end(kExifMark), data.begin())) continue;
    return exif_orientation(data.subspan(std::size(kExifMark)));
  }
  return 1;
}

// a * b / 255, rounded to nearest.
std::uint8_t scaled(unsigned a, unsigned b) {
  const unsigned product = a * b + 128;
  return static_cast<std::uint8_t>((product + (product >> 8)) >> 8);
}

// Inks are stored inverted (Adobe's habit, taken for granted as Pillow does): 255 is no ink. Black leaves `left` of the
// light, and each other ink takes its share off that; the order of the roundings is Pillow's.
Image cmyk_to_rgb(const Image& cmyk, std::string_view name, const DecodeOptions& options) {
  Image rgb = make_image(cmyk.width, cmyk.height, 3, name, options.max_pixels);
  for (std::size_t from = 0, to = 0; from < cmyk.pixels.size(); from += 4, to += 3) {
    const std::uint8_t left = cmyk.pixels[from + 3];
    for (std::size_t c = 0; c < 3; ++c) {
      rgb.pixels[to + c] = static_cast<std::uint8_t>(left - scaled(255u - cmyk.pixels[from + c], left));
    }
  }
  return rgb;
}

}  // namespace

Decoded decode_jpeg(Bytes bytes, std::string_view name, const DecodeOptions& options) {
  Reader reader;
  const auto refuse = [&] {
    fail(reader.code, "image '{}' is not a readable JPEG: {}", name, static_cast<const char*>(reader.text));
  };
  if (!reader.start(bytes) || !reader.read_header()) refuse();
  const jpeg_decompress_struct& info = reader.info;
  Decoded out;
  out.orientation = find_orientation(info);
  // JPEG sides are at most 65,500.
  out.image = make_image(static_cast<int>(info.output_width), static_cast<int>(info.output_height),
                         info.out_color_space == JCS_CMYK ? 4 : 3, name, options.max_pixels);
  const std::size_t stride = out.image.pixels.size() / static_cast<std::size_t>(out.image.height);
  if (!reader.read_pixels(out.image.pixels.data(), stride)) refuse();
  if (out.image.channels == 4) out.image = cmyk_to_rgb(out.image, name, options);
  return out;
}

}  // namespace hf::image

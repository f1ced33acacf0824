// Files that are missing, cut short, damaged or hostile: one clear error each, never a crash.
#include "helpers.h"
#include "image/orientation.h"

namespace hf::image {
namespace {

const char* const kSmallFiles[] = {
    "png_rgb_8.png",   "png_palette_4_interlaced.png", "png_gray_16_trns.png", "png_exif_6.png",
    "jpeg_exif_6.jpg", "jpeg_progressive.jpg",         "jpeg_cmyk.jpg",        "jpeg_restart.jpg",
    "jpeg_gray.jpg"};

// An image of sane size or an Error; anything else escapes and fails the test. True if it was an image.
bool decodes(const std::vector<std::uint8_t>& bytes) {
  try {
    const Image image = decode_vector(bytes, {.max_pixels = 1'000'000});
    EXPECT_EQ(image.pixels.size(), static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) * 3);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return false;
  }
}

TEST(Damaged, EveryPrefixIsRefused) {
  for (const char* name : kSmallFiles) {
    std::vector<std::uint8_t> bytes = read_data(name);
    EXPECT_TRUE(decodes(bytes)) << name;
    while (!bytes.empty()) {
      bytes.pop_back();
      EXPECT_FALSE(decodes(std::vector<std::uint8_t>(bytes))) << name << ", first " << bytes.size() << " bytes";
    }
  }
}

TEST(Damaged, EveryChangedByteIsSurvived) {
  for (const char* name : kSmallFiles) {
    std::vector<std::uint8_t> bytes = read_data(name);
    for (std::uint8_t& byte : bytes) {
      const std::uint8_t kept = byte;
      for (const int value : {0x00, 0x7f, 0xff, kept ^ 0x01, kept ^ 0x80}) {
        byte = static_cast<std::uint8_t>(value);
        decodes(bytes);
      }
      byte = kept;
    }
  }
}

TEST(Damaged, TruncatedFilesSayWhy) {
  std::vector<std::uint8_t> png = read_data("png_rgb_8.png");
  png.resize(png.size() / 2);
  expect_error(Code::InvalidArgument, "image 'test' is not a readable PNG: the file ends early",
               [&] { decode_vector(png); });
  std::vector<std::uint8_t> jpeg = read_data("jpeg_420.jpg");
  jpeg.resize(jpeg.size() - 40);
  expect_error(Code::InvalidArgument, "image 'test' is not a readable JPEG: Premature end of JPEG file",
               [&] { decode_vector(jpeg); });
}

TEST(Damaged, WrongChecksumIsRefused) {
  std::vector<std::uint8_t> bytes = read_data("png_rgb_8.png");
  bytes[bytes.size() - 14] ^= 1;  // the last byte of IDAT's checksum
  bytes[bytes.size() - 13] ^= 1;
  expect_error(Code::InvalidArgument, "not a readable PNG: IDAT: CRC error", [&] { decode_vector(bytes); });
}

TEST(Damaged, HugeHeadersAreRefusedBeforeAllocation) {
  expect_error(Code::InvalidArgument, "'60000x60000', 3600.0 million pixels; at most 100.0 million",
               [] { load(data_path("png_huge.png")); });
  std::vector<std::uint8_t> jpeg = read_data("jpeg_444.jpg");
  const std::uint8_t frame[] = {0xff, 0xc0};
  const auto start = std::search(jpeg.begin(), jpeg.end(), std::begin(frame), std::end(frame));
  ASSERT_NE(start, jpeg.end());
  for (int i = 5; i < 9; i += 2) start[i] = 0xfd;  // height and width, big endian
  expect_error(Code::InvalidArgument, "million pixels", [&] { decode_vector(jpeg); });
  expect_error(Code::InvalidArgument, "at most 0.0 million",
               [] { load(data_path("jpeg_444.jpg"), {.max_pixels = 10}); });
}

TEST(Damaged, EndlessScansAreRefused) {
  std::vector<std::uint8_t> bytes = read_data("jpeg_progressive.jpg");
  const std::uint8_t mark[] = {0xff, 0xda};
  const auto scan = std::search(bytes.begin(), bytes.end(), std::begin(mark), std::end(mark));
  const auto next = std::search(scan + 2, bytes.end(), std::begin(mark), std::end(mark));
  ASSERT_NE(next, bytes.end());
  // The first scan and what stands before the second, many times.
  const std::vector<std::uint8_t> one(scan, next);
  std::vector<std::uint8_t> many(bytes.begin(), scan);
  for (int i = 0; i < 300; ++i) many.insert(many.end(), one.begin(), one.end());
  many.insert(many.end(), {0xff, 0xd9});
  expect_error(Code::InvalidArgument, "more than 200 scans", [&] { decode_vector(many); });
}

TEST(Damaged, OtherFormatsAreNamed) {
  const auto text = [](std::string_view head) { return std::vector<std::uint8_t>(head.begin(), head.end()); };
  expect_error(Code::Unsupported, "image 'test' is a GIF file", [&] { decode_vector(text("GIF89a....")); });
  expect_error(Code::Unsupported, "is a WebP file", [&] { decode_vector(text("RIFF....WEBPVP8 ")); });
  expect_error(Code::InvalidArgument, "neither JPEG nor PNG; its first bytes are '68 65 6c 6c 6f'",
               [&] { decode_vector(text("hello")); });
  expect_error(Code::InvalidArgument, "image 'test' is empty", [&] { decode_vector({}); });
}

TEST(Damaged, PathsThatAreNoImageFile) {
  expect_error(Code::NotFound, "no_such.png' does not exist", [] { load("no_such.png"); });
  expect_error(Code::NotFound, "does not exist", [] { load(data_path("png_rgb_8.png") / "below"); });
  expect_error(Code::InvalidArgument, "is a directory", [] { load(data_path("")); });
  expect_error(Code::InvalidArgument, "is empty", [] { load("/dev/null"); });
  expect_error(Code::InvalidArgument, "neither JPEG nor PNG", [] { load("/dev/zero"); });
}

TEST(Exif, ReadsOrientationAndIgnoresDamage) {
  const std::vector<std::uint8_t> good = {'M', 'M', 0, 42, 0, 0, 0, 8, 0,    1,    0x01, 0x12,
                                          0,   3,   0, 0,  0, 1, 0, 6, 0xab, 0xcd, 0,    0};
  EXPECT_EQ(exif_orientation(good), 6);
  // Exact heap blocks, so that the address sanitizer sees any read past the end.
  for (std::size_t size = 0; size < 22; ++size) {
    EXPECT_EQ(exif_orientation(std::vector<std::uint8_t>(good.begin(), good.begin() + static_cast<long>(size))), 1)
        << size;
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int value : {0, 1, 9, 0x7f, 0x80, 0xff}) {
      std::vector<std::uint8_t> bad = good;
      bad[i] = static_cast<std::uint8_t>(value);
      const int orientation = exif_orientation(bad);
      EXPECT_TRUE(orientation >= 1 && orientation <= 8);
    }
  }
}

}  // namespace
}  // namespace hf::image

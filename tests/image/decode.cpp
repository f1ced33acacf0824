// Pictures of every kind against what Pillow makes of them.
#include "helpers.h"

namespace hf::image {
namespace {

// `expected`: the stem of the .rgb file. PNG is lossless. For JPEG the library may use another inverse transform or
// upsampling than Pillow's, so a few units are allowed; with libjpeg-turbo 2.1 and Pillow 13 all are equal.
struct DecodeCase {
  std::string file;
  std::string expected;
  int width, height;
  int tolerance;
};

std::ostream& operator<<(std::ostream& out, const DecodeCase& c) { return out << c.file; }

std::vector<DecodeCase> decode_cases() {
  std::vector<DecodeCase> cases;
  for (const char* stem :
       {"gray_1", "gray_2", "gray_4", "gray_8", "gray_16", "rgb_8", "rgb_16", "palette_1", "palette_2", "palette_4",
        "palette_8", "gray_alpha_8", "gray_alpha_16", "rgb_alpha_8", "rgb_alpha_16"}) {
    const std::string name = std::string("png_") + stem;
    for (const char* variant : {".png", "_interlaced.png", "_trns.png"}) {
      if (name.find("alpha") != std::string::npos && std::string(variant) == "_trns.png") continue;
      cases.push_back({name + variant, name + ".rgb", 11, 9, 0});
    }
  }
  cases.push_back({"png_exif_6.png", "png_exif_6.rgb", 9, 11, 0});
  for (const char* stem : {"444", "422", "420", "progressive", "gray", "restart", "cmyk", "ycck"}) {
    const std::string name = std::string("jpeg_") + stem;
    cases.push_back({name + ".jpg", name + ".rgb", 37, 21, 4});
  }
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string name = "jpeg_exif_" + std::to_string(orientation);
    const bool turned = orientation >= 5;
    cases.push_back({name + ".jpg", name + ".rgb", turned ? 7 : 13, turned ? 13 : 7, 4});
  }
  return cases;
}

class Decode : public testing::TestWithParam<DecodeCase> {};

TEST_P(Decode, EqualsPillow) {
  const DecodeCase& c = GetParam();
  const Image image = load(data_path(c.file));
  EXPECT_EQ(image.width, c.width);
  EXPECT_EQ(image.height, c.height);
  EXPECT_EQ(image.channels, 3);
  EXPECT_LE(largest_difference(image.pixels, read_data(c.expected)), c.tolerance);
}

INSTANTIATE_TEST_SUITE_P(Golden, Decode, testing::ValuesIn(decode_cases()),
                         [](const auto& one) { return one.param.file.substr(0, one.param.file.find('.')); });

TEST(Image, FormatIsFoundByContentNotBySuffix) {
  const auto copy = std::filesystem::path(testing::TempDir()) / "a_png_named.jpg";
  std::filesystem::copy_file(data_path("png_rgb_8.png"), copy, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(load(copy).pixels, read_data("png_rgb_8.rgb"));
  std::filesystem::remove(copy);
}

TEST(Image, GrayIsPillowsLuma) {
  const Image gray = convert(photo(), 1);
  EXPECT_EQ(gray.pixels, read_data("photo.gray"));
  const Image back = convert(gray, 3);
  EXPECT_EQ(back.pixels[300], gray.pixels[100]);
  EXPECT_EQ(back.pixels[302], gray.pixels[100]);
}

TEST(Image, ConvertDropsAlphaAndChecksItsInput) {
  const Image rgba{1, 2, 4, {1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_EQ(convert(rgba, 3).pixels, (std::vector<std::uint8_t>{1, 2, 3, 5, 6, 7}));
  expect_error(Code::InvalidArgument, "can't become '2' channels", [&] { convert(rgba, 2); });
  expect_error(Code::InvalidArgument, "holds '1' bytes", [] { convert(Image{1, 2, 3, {1}}, 1); });
}

}  // namespace
}  // namespace hf::image

// Resampling and cropping against Pillow and torchvision.
#include "image/resize.h"

#include "helpers.h"

namespace hf::image {
namespace {

struct ResizeCase {
  const char* filter;
  int width, height;
};

std::ostream& operator<<(std::ostream& out, const ResizeCase& c) {
  return out << c.filter << '_' << c.width << 'x' << c.height;
}

class Resize : public testing::TestWithParam<ResizeCase> {};

TEST_P(Resize, EqualsPillow) {
  const ResizeCase& c = GetParam();
  const Image got = resize(photo(), c.width, c.height, parse_filter(c.filter));
  const auto want = read_data("resize_" + testing::PrintToString(c) + ".rgb");
  EXPECT_EQ(largest_difference(got.pixels, want), 0);
}

constexpr ResizeCase kCases[] = {
    {"bilinear", 32, 24}, {"bilinear", 17, 13}, {"bilinear", 7, 5},    {"bilinear", 1, 1},  {"bilinear", 90, 70},
    {"bilinear", 64, 11}, {"bilinear", 9, 48},  {"bilinear", 100, 10}, {"bilinear", 5, 80}, {"bicubic", 17, 13},
    {"bicubic", 80, 60},  {"nearest", 17, 13},  {"nearest", 90, 70},   {"box", 17, 13},     {"lanczos", 17, 13},
};
INSTANTIATE_TEST_SUITE_P(Golden, Resize, testing::ValuesIn(kCases),
                         [](const auto& one) { return testing::PrintToString(one.param); });

TEST(Resize, ChannelsAreIndependent) {
  const Image rgb = photo();
  Image gray = make_image(64, 48, 1), rgba = make_image(64, 48, 4);
  for (std::size_t i = 0; i < gray.pixels.size(); ++i) {
    gray.pixels[i] = rgb.pixels[i * 3 + 1];
    for (std::size_t c = 0; c < 4; ++c) rgba.pixels[i * 4 + c] = rgb.pixels[i * 3 + c % 3];
  }
  const Image want = resize(rgb, 20, 30), got1 = resize(gray, 20, 30), got4 = resize(rgba, 20, 30);
  for (std::size_t i = 0; i < got1.pixels.size(); ++i) {
    ASSERT_EQ(got1.pixels[i], want.pixels[i * 3 + 1]);
    ASSERT_EQ(got4.pixels[i * 4 + 3], want.pixels[i * 3]);
  }
}

TEST(Resize, FlatColoursStayFlat) {
  const Image flat{50, 40, 1, std::vector<std::uint8_t>(2000, 255)};
  for (const char* name : {"box", "bilinear", "bicubic", "lanczos"}) {
    const Image got = resize(flat, 13, 77, parse_filter(name));
    EXPECT_EQ(got.pixels, std::vector<std::uint8_t>(13 * 77, 255)) << name;
  }
}

TEST(Resize, ShorterSideRoundsTheLongerDown) {
  EXPECT_EQ(resize_shorter(photo(), 37).width, 49);
  EXPECT_EQ(resize_shorter(photo(), 37).height, 37);
  const Image wide = make_image(1000, 3, 1);
  EXPECT_EQ(resize_shorter(wide, 1).width, 333);
}

TEST(Resize, RefusesBadSizes) {
  expect_error(Code::InvalidArgument, "'0x5' pixels", [] { resize(photo(), 0, 5); });
  expect_error(Code::InvalidArgument, "million", [] { resize(photo(), 100000, 100000); });
  expect_error(Code::InvalidArgument, "million", [] { resize_shorter(make_image(100000, 1, 1), 100000); });
  expect_error(Code::InvalidArgument, "unknown interpolation 'cubic'; the choices are 'nearest', 'box'",
               [] { parse_filter("cubic"); });
  EXPECT_EQ(filter_name(Filter::Bicubic), "bicubic");
}

TEST(CenterCrop, FollowsTorchvision) {
  Image image = make_image(10, 10, 1);
  for (std::size_t i = 0; i < 100; ++i) image.pixels[i] = static_cast<std::uint8_t>(i + 1);
  // (10 - 7) / 2 and (10 - 5) / 2 both go to 2.
  EXPECT_EQ(center_crop(image, 5, 7).pixels[0], 23);
  const Image wide = center_crop(image, 13, 3);
  const std::vector<std::uint8_t> row(wide.pixels.begin(), wide.pixels.begin() + 13);
  EXPECT_EQ(row, (std::vector<std::uint8_t>{0, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 0, 0}));
}

}  // namespace
}  // namespace hf::image

// Presets, their JSON form, and the values that a model gets.
#include "image/preprocess.h"

#include "helpers.h"

namespace hf::image {
namespace {

std::vector<float> values(const Image& image, const Preprocess& p, const Target& target) {
  std::vector<float> out(target.size(), -99);
  fill(image, p, target, std::span(out));
  return out;
}

TEST(Preprocess, DemoModelsMetadata) {
  const Preprocess p = parse(R"({"mean": [0.4980392156862745, 0.4980392156862745, 0.4980392156862745],
    "std": [0.5019607843137255, 0.5019607843137255, 0.5019607843137255], "scale": 255, "resize": 256, "crop": 224,
    "layout": "NCHW", "interpolation": "bilinear"})");
  EXPECT_EQ(p.resize, 256);
  EXPECT_EQ(p.crop_w, 224);
  EXPECT_EQ(p.crop_h, 224);
  EXPECT_FALSE(p.stretch);
  EXPECT_EQ(p.filter, Filter::Bilinear);
  const Preprocess lite = parse("lite");
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_FLOAT_EQ(p.mean[c], lite.mean[c]);
    EXPECT_FLOAT_EQ(p.std[c], lite.std[c]);
  }
}

TEST(Preprocess, JsonStartsFromAPreset) {
  const Preprocess p = parse(
      R"( {"preset": "imagenet", "bgr": true, "crop": [32, 16], "layout": "NHWC", "dtype": "uint8", "mean": 0.5})");
  EXPECT_EQ(p.resize, 256);
  EXPECT_EQ(p.crop_w, 32);
  EXPECT_EQ(p.crop_h, 16);
  EXPECT_TRUE(p.bgr);
  EXPECT_EQ(p.layout, Layout::NHWC);
  EXPECT_EQ(p.dtype, PixelType::Uint8);
  EXPECT_EQ(p.mean[2], 0.5f);
  EXPECT_EQ(p.std[0], 0.229f);
  EXPECT_TRUE(parse("{}").stretch);
  EXPECT_TRUE(parse(R"({"resize": 9, "stretch": true})").stretch);
}

TEST(Preprocess, WrongTextsSayWhatIsWanted) {
  const std::pair<const char*, const char*> cases[] = {
      {"imagnet",
       "unknown preprocess 'imagnet'; give one of 'imagenet', 'lite', 'none', 'raw', 'tf', or a JSON object"},
      {"", "unknown preprocess ''"},
      {"[1]", "unknown preprocess '[1]'"},
      {R"({"mean": )", "is not valid JSON, at byte '10'"},
      {R"({"means": 1})", "unknown preprocess key 'means'; the keys are 'preset', 'bgr', 'crop'"},
      {R"({"mean": [1, 2]})", "preprocess key 'mean' is '[1,2]'; want a number, or a list of 1 or 3"},
      {R"({"mean": ["a"]})", "preprocess key 'mean' is '[\"a\"]'"},
      {R"({"std": 0})", "preprocess key 'std' is '0'; want a positive number"},
      {R"({"std": 1e-60})", "preprocess key 'std'"},
      {R"({"scale": [255]})", "preprocess key 'scale' is '[255]'; want a positive number"},
      {R"({"mean": 1e60})", "preprocess key 'mean'"},
      {R"({"resize": -1})", "preprocess key 'resize' is '-1'; want a whole number from 0 to 65535"},
      {R"({"resize": 1.5})", "preprocess key 'resize' is '1.5'"},
      {R"({"crop": 18446744073709551615})", "preprocess key 'crop'"},
      {R"({"crop": [1, 2, 3]})", "preprocess key 'crop' is '[1,2,3]'"},
      {R"({"layout": "CHW"})", "preprocess key 'layout' is '\"CHW\"'; want 'NCHW' or 'NHWC'"},
      {R"({"interpolation": 2})", "preprocess key 'interpolation' is '2'"},
      {R"({"interpolation": "cubic"})", "unknown interpolation 'cubic'"},
      {R"({"bgr": 1})", "preprocess key 'bgr' is '1'; want true or false"},
      {R"({"preset": "x"})", "preprocess key 'preset' is '\"x\"'; want one of 'imagenet'"},
  };
  for (const auto& [text, part] : cases) {
    expect_error(Code::InvalidArgument, part, [&, source = text] { parse(source); });
  }
  const std::string deep = R"({"mean": )" + std::string(100000, '[') + std::string(100000, ']') + "}";
  expect_error(Code::InvalidArgument, "is JSON nested deeper than '8'", [&] { parse(deep); });
  expect_error(Code::InvalidArgument, "number that is too large", [] { parse(R"({"mean": 1e999})"); });
}

TEST(Preprocess, ImagenetEqualsTorchvision) {
  const Preprocess p = parse("imagenet");
  const Target target{32, 32, 3, Layout::NCHW};
  const auto crop = read_data("fit_imagenet_32x32.rgb");
  EXPECT_EQ(fit(photo(), p, target).pixels, crop);
  const std::vector<float> got = values(photo(), p, target);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < 1024; ++i) {
      ASSERT_EQ(got[c * 1024 + i], (static_cast<float>(crop[i * 3 + c]) / 255.0f - p.mean[c]) / p.std[c]);
    }
  }
}

TEST(Preprocess, LayoutsOrdersAndRanges) {
  const Image dot{1, 1, 3, {0, 51, 255}};
  const Target nchw{2, 1, 3, Layout::NCHW}, nhwc{2, 1, 3, Layout::NHWC};
  using V = std::vector<float>;
  EXPECT_EQ(values(dot, parse("raw"), nchw), (V{0, 0, 51, 51, 255, 255}));
  EXPECT_EQ(values(dot, parse("raw"), nhwc), (V{0, 51, 255, 0, 51, 255}));
  EXPECT_EQ(values(dot, parse(R"({"preset": "raw", "bgr": true, "mean": [1, 2, 3]})"), nchw),
            (V{254, 254, 49, 49, -3, -3}));
  EXPECT_EQ(values(dot, parse("none"), nchw), (V{0, 0, 0.2f, 0.2f, 1, 1}));
  EXPECT_EQ(values(dot, parse("tf"), nchw), (V{-1, -1, (0.2f - 0.5f) / 0.5f, (0.2f - 0.5f) / 0.5f, 1, 1}));
  std::vector<std::uint8_t> bytes(6);
  fill(dot, parse("tf"), nhwc, std::span(bytes));
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0, 51, 255, 0, 51, 255}));
  EXPECT_EQ(values(dot, parse("raw"), {1, 1, 1, Layout::NCHW}), V{59});  // (51 * 38470 + 255 * 7471) / 65536
  bytes.resize(5);
  expect_error(Code::InvalidArgument, "needs '6' values; got '5'",
               [&] { fill(dot, parse("raw"), nhwc, std::span(bytes)); });
}

TEST(Preprocess, GrayPhotosFeedColourModels) {
  const Image gray{1, 1, 1, {7}};
  EXPECT_EQ(values(gray, parse("raw"), {1, 1, 3, Layout::NCHW}), (std::vector<float>{7, 7, 7}));
}

TEST(Preprocess, TargetFollowsTheModelsShape) {
  const Preprocess p = parse("imagenet");
  const auto check_target = [&](std::vector<std::int64_t> shape, int width, int height, int channels, Layout layout) {
    const Target got = make_target(shape, p);
    EXPECT_EQ(got.width, width);
    EXPECT_EQ(got.height, height);
    EXPECT_EQ(got.channels, channels);
    EXPECT_EQ(got.layout, layout);
  };
  check_target({-1, 3, 480, 640}, 640, 480, 3, Layout::NCHW);
  check_target({1, 480, 640, 3}, 640, 480, 3, Layout::NHWC);
  check_target({1, 28, 28}, 28, 28, 1, Layout::NCHW);
  check_target({-1, 3, -1, -1}, 224, 224, 3, Layout::NCHW);
  check_target({-1, -1, -1, 3}, 224, 224, 3, Layout::NHWC);
  check_target({-1, -1, -1, -1}, 224, 224, 3, Layout::NCHW);
  check_target({1, 3, 3, 3}, 3, 3, 3, Layout::NCHW);
  expect_error(Code::InvalidArgument, "shape '[1, 10]' takes no image: its rank is 2", [&] {
    make_target(std::vector<std::int64_t>{1, 10}, p);
  });
  expect_error(Code::InvalidArgument, "shape '[?, 4, 8, 8]' takes no image: it has 4 channels", [&] {
    make_target(std::vector<std::int64_t>{-1, 4, 8, 8}, p);
  });
}

}  // namespace
}  // namespace hf::image

// Separable resampling in fixed point: a table of filters, weights for one axis, one pass for each axis.
#include "image/resize.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <new>
#include <numbers>
#include <vector>

#include "base/error.h"

namespace hf::image {
namespace {

// 8 bits for the value and 2 for overshoot and sign leave 22 of an int32 for the fraction.
constexpr int kFractionBits = 32 - 8 - 2;
constexpr std::int32_t kHalf = 1 << (kFractionBits - 1);

double box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }
double triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }
// Keys' cubic convolution.
double cubic(double x) {
  constexpr double a = -0.5;
  const double t = std::abs(x);
  if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? a * (((t - 5) * t + 8) * t - 4) : 0.0;
}
double sinc(double x) { return x == 0 ? 1.0 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); }
double lanczos3(double x) { return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0.0; }

// `support`: half the width of the filter in pixels of the coarser grid.
struct FilterDef {
  std::string_view name;
  double support;
  double (*weight)(double);
};
constexpr FilterDef kFilters[] = {
    {"nearest", 0.0, nullptr}, {"box", 0.5, box},          {"bilinear", 1.0, triangle},
    {"bicubic", 2.0, cubic},   {"lanczos", 3.0, lanczos3},
};

const FilterDef& definition(Filter filter) { return kFilters[static_cast<std::size_t>(filter)]; }

// Where a target pixel takes its value from on one axis.
struct Window {
  int first;
  int count;
  const std::int32_t* weights;
};

// The windows of all target pixels of one axis; the weights of each add up to 1.
struct Axis {
  std::vector<Window> windows;
  std::vector<std::int32_t> weights;
};

Axis make_axis(int from, int to, const FilterDef& filter) {
  const double scale = static_cast<double>(from) / to;
  const double stretch = std::max(scale, 1.0);
  const double support = filter.support * stretch;
  const std::size_t most = static_cast<std::size_t>(std::ceil(support)) * 2 + 1;
  Axis axis;
  axis.weights.resize(most * static_cast<std::size_t>(to));
  axis.windows.reserve(static_cast<std::size_t>(to));
  std::vector<double> exact(most);
  for (int i = 0; i < to; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(center - support + 0.5));
    const int count = std::min(from, static_cast<int>(center + support + 0.5)) - first;
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      exact[static_cast<std::size_t>(k)] = filter.weight((first + k - center + 0.5) * (1.0 / stretch));
      sum += exact[static_cast<std::size_t>(k)];
    }
    std::int32_t* weights = axis.weights.data() + most * static_cast<std::size_t>(i);
    for (int k = 0; k < count; ++k) {
      const double share = sum != 0 ? exact[static_cast<std::size_t>(k)] / sum : 0.0;
      weights[k] = static_cast<std::int32_t>(std::round(share * (1 << kFractionBits)));
    }
    axis.windows.push_back({first, count, weights});
  }
  return axis;
}

std::uint8_t rounded(std::int32_t sum) { return static_cast<std::uint8_t>(std::clamp(sum >> kFractionBits, 0, 255)); }

template <std::size_t kChannels>
void scale_row(const std::uint8_t* from, std::uint8_t* to, const Axis& axis) {
  for (const Window& window : axis.windows) {
    std::array<std::int32_t, kChannels> sums;
    sums.fill(kHalf);
    const std::uint8_t* pixel = from + static_cast<std::size_t>(window.first) * kChannels;
    for (int k = 0; k < window.count; ++k, pixel += kChannels) {
      for (std::size_t c = 0; c < kChannels; ++c) sums[c] += pixel[c] * window.weights[k];
    }
    for (std::size_t c = 0; c < kChannels; ++c) *to++ = rounded(sums[c]);
  }
}

constexpr auto scale_row_for(int channels) {
  return channels == 1 ? scale_row<1> : channels == 3 ? scale_row<3> : scale_row<4>;
}

Image scale_horizontally(const Image& image, int width, const FilterDef& filter) {
  const Axis axis = make_axis(image.width, width, filter);
  Image out = make_image(width, image.height, image.channels);
  const std::size_t from = image.pixels.size() / static_cast<std::size_t>(image.height);
  const std::size_t to = out.pixels.size() / static_cast<std::size_t>(image.height);
  const auto scale = scale_row_for(image.channels);
  for (std::size_t y = 0; y < static_cast<std::size_t>(image.height); ++y) {
    scale(image.pixels.data() + y * from, out.pixels.data() + y * to, axis);
  }
  return out;
}

// Whole rows are added up, weight by weight: the inner loops run over contiguous values.
Image scale_vertically(const Image& image, int height, const FilterDef& filter) {
  const Axis axis = make_axis(image.height, height, filter);
  Image out = make_image(image.width, height, image.channels);
  const std::size_t stride = image.pixels.size() / static_cast<std::size_t>(image.height);
  std::vector<std::int32_t> sums(stride);
  std::uint8_t* to = out.pixels.data();
  for (const Window& window : axis.windows) {
    std::fill(sums.begin(), sums.end(), kHalf);
    const std::uint8_t* row = image.pixels.data() + static_cast<std::size_t>(window.first) * stride;
    for (int k = 0; k < window.count; ++k, row += stride) {
      const std::int32_t weight = window.weights[k];
      for (std::size_t x = 0; x < stride; ++x) sums[x] += row[x] * weight;
    }
    for (std::size_t x = 0; x < stride; ++x) *to++ = rounded(sums[x]);
  }
  return out;
}

// Where each target pixel's centre lies. The steps are added up one by one, which decides ties as Pillow does.
std::vector<std::size_t> nearest_sources(int from, int to) {
  const double step = static_cast<double>(from) / to;
  std::vector<std::size_t> sources;
  double center = step * 0.5;
  for (int i = 0; i < to; ++i, center += step) {
    sources.push_back(static_cast<std::size_t>(std::min(from - 1, static_cast<int>(center))));
  }
  return sources;
}

Image pick_nearest(const Image& image, int width, int height) {
  Image out = make_image(width, height, image.channels);
  const std::size_t channels = static_cast<std::size_t>(image.channels);
  const std::vector<std::size_t> columns = nearest_sources(image.width, width);
  std::uint8_t* to = out.pixels.data();
  for (const std::size_t y : nearest_sources(image.height, height)) {
    const std::uint8_t* row = image.pixels.data() + y * static_cast<std::size_t>(image.width) * channels;
    for (const std::size_t x : columns) to = std::copy_n(row + x * channels, channels, to);
  }
  return out;
}

// Where a crop starts, negative if it is larger than the image. lrint rounds a half to the even neighbour.
int crop_offset(int from, int to) {
  return from >= to ? static_cast<int>(std::lrint((from - to) / 2.0)) : -((to - from) / 2);
}

}  // namespace

std::string_view filter_name(Filter filter) { return definition(filter).name; }

Filter parse_filter(std::string_view name) {
  std::string names;
  for (std::size_t i = 0; i < std::size(kFilters); ++i) {
    if (kFilters[i].name == name) return static_cast<Filter>(i);
    names += fmt::format("{}'{}'", i == 0 ? "" : ", ", kFilters[i].name);
  }
  fail(Code::InvalidArgument, "unknown interpolation '{}'; the choices are {}", name, names);
}

Image resize(const Image& image, int width, int height, Filter filter) {
  check_image(image);
  check_size(width, height, image.channels);
  if (width == image.width && height == image.height) return image;
  const FilterDef& def = definition(filter);
  try {
    if (def.weight == nullptr) return pick_nearest(image, width, height);
    if (width == image.width) return scale_vertically(image, height, def);
    if (height == image.height) return scale_horizontally(image, width, def);
    return scale_vertically(scale_horizontally(image, width, def), height, def);
  } catch (const std::bad_alloc&) {
    fail(Code::OutOfMemory, "resizing an image from '{}x{}' to '{}x{}' needs more memory than there is", image.width,
         image.height, width, height);
  }
}

Image resize_shorter(const Image& image, int size, Filter filter) {
  check_image(image);
  const int shorter = std::min(image.width, image.height);
  const auto side = [&](int old) {
    const std::int64_t scaled = static_cast<std::int64_t>(size) * old / shorter;
    return static_cast<int>(std::clamp<std::int64_t>(scaled, 0, INT32_MAX));
  };
  return resize(image, side(image.width), side(image.height), filter);
}

Image center_crop(const Image& image, int width, int height) {
  check_image(image);
  Image out = make_image(width, height, image.channels);
  const int left = crop_offset(image.width, width);
  const int top = crop_offset(image.height, height);
  const int first = std::max(0, left);
  const int last = std::min(image.width, left + width);
  const std::size_t channels = static_cast<std::size_t>(image.channels);
  const auto offset = [&](const Image& of, int x, int y) {
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(of.width) + static_cast<std::size_t>(x)) * channels;
  };
  for (int y = std::max(0, top); y < std::min(image.height, top + height); ++y) {
    std::copy_n(image.pixels.data() + offset(image, first, y), static_cast<std::size_t>(last - first) * channels,
                out.pixels.data() + offset(out, first - left, y - top));
  }
  return out;
}

}  // namespace hf::image

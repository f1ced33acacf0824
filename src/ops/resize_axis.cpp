// Resizing one axis: extents, coordinates and weights.
#include <algorithm>
#include <cmath>

#include "ops/resize.h"

namespace hf::ops {
namespace {

// The axes that roi, scales and sizes speak of.
std::vector<int> chosen_axes(const Node& n, int rank) {
  std::vector<int> axes;
  for (int64_t a : n.ints_or_empty("axes")) axes.push_back(normalize_axis(a, rank, "axes"));
  if (!n.has("axes"))
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

std::vector<double> read_numbers(const Tensor* t, size_t count, const char* what) {
  std::vector<double> v;
  if (!t || t->size() == 0) return v;
  v.resize(static_cast<size_t>(t->size()));
  read_elements(*t, v.data());
  if (v.size() != count) fail(Code::InvalidModel, "{} has {} values, wanted {}", what, v.size(), count);
  return v;
}

constexpr double kMostExtent = 1e12;

int64_t extent(double v, const char* what) {
  if (!(v >= 0 && v < kMostExtent)) fail(Code::InvalidModel, "{} asks for an extent of {}", what, v);
  return static_cast<int64_t>(v);
}

void set_scales(std::vector<ResizeAxis>& axes, const std::vector<int>& chosen, const std::vector<double>& scales) {
  for (size_t i = 0; i < chosen.size(); ++i) {
    ResizeAxis& a = axes[static_cast<size_t>(chosen[i])];
    if (!(scales[i] > 0)) fail(Code::InvalidModel, "a scale is {}, wanted more than 0", scales[i]);
    a.scale = scales[i];
    // In float, as other implementations: 3 * 1.6666666 is 5 there and a little less in double.
    a.output =
        extent(std::floor(static_cast<double>(static_cast<float>(a.input) * static_cast<float>(scales[i]))), "a scale");
  }
}

void set_sizes(const Node& n, std::vector<ResizeAxis>& axes, const std::vector<int>& chosen,
               const std::vector<double>& sizes) {
  const std::string policy = n.has("keep_aspect_ratio_policy") ? n.s("keep_aspect_ratio_policy") : "stretch";
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    fail(Code::InvalidModel, "attribute 'keep_aspect_ratio_policy' is '{}'", policy);
  double common = 0;
  for (size_t i = 0; i < chosen.size(); ++i) {
    ResizeAxis& a = axes[static_cast<size_t>(chosen[i])];
    a.output = extent(sizes[i], "a size");
    a.exact = true;
    a.scale = a.input ? sizes[i] / static_cast<double>(a.input) : 1;
    if (i == 0)
      common = a.scale;
    else
      common = policy == "not_larger" ? std::min(common, a.scale) : std::max(common, a.scale);
  }
  if (policy == "stretch") return;
  for (int i : chosen) {
    ResizeAxis& a = axes[static_cast<size_t>(i)];
    a.scale = common;
    a.output = extent(std::floor(common * static_cast<double>(a.input) + 0.5), "a size");
    a.exact = false;
  }
}

// Where output o lies in the input.
class Coordinates {
 public:
  Coordinates(const std::string& mode, const ResizeAxis& axis, bool nearest)
      : nearest_(nearest),
        mode_(find(mode)),
        a_(axis),
        length_(axis.exact ? static_cast<double>(axis.output) : axis.scale * static_cast<double>(axis.input)) {}

  double operator()(int64_t o) const {
    const double x = static_cast<double>(o), in = static_cast<double>(a_.input);
    switch (mode_) {
      case Mode::HalfPixel: return unscaled(x + 0.5) - 0.5;
      case Mode::Asymmetric: return unscaled(x);
      case Mode::PytorchHalfPixel: return a_.output > 1 ? unscaled(x + 0.5) - 0.5 : 0;
      case Mode::HalfPixelForNearest: return unscaled(x + 0.5);
      case Mode::AlignCorners: return length_ == 1 ? 0 : x * (in - 1) / (length_ - 1);
      case Mode::Symmetric: return in / 2 * (1 - static_cast<double>(a_.output) / length_) + unscaled(x + 0.5) - 0.5;
      case Mode::Crop:
        return length_ == 1 ? 0.5 * (a_.start + a_.end) * (in - 1)
                            : a_.start * (in - 1) + x * (a_.end - a_.start) * (in - 1) / (length_ - 1);
    }
    return 0;
  }
  bool crops() const { return mode_ == Mode::Crop; }

 private:
  enum class Mode { HalfPixel, Asymmetric, PytorchHalfPixel, HalfPixelForNearest, AlignCorners, Symmetric, Crop };

  static Mode find(const std::string& name) {
    constexpr std::pair<std::string_view, Mode> modes[] = {
        {"half_pixel", Mode::HalfPixel},
        {"asymmetric", Mode::Asymmetric},
        {"pytorch_half_pixel", Mode::PytorchHalfPixel},
        {"tf_half_pixel_for_nn", Mode::HalfPixelForNearest},
        {"align_corners", Mode::AlignCorners},
        {"half_pixel_symmetric", Mode::Symmetric},
        {"tf_crop_and_resize", Mode::Crop},
    };
    for (auto [mode, value] : modes)
      if (mode == name) return value;
    fail(Code::InvalidModel, "attribute 'coordinate_transformation_mode' is '{}'", name);
  }

  // x / scale. Where the extents give the scale, without the error of their quotient. Else the scale is a float,
  // perhaps a rounded fraction: dividing in float makes coordinates whole that should be, which matters to nearest.
  double unscaled(double x) const {
    if (a_.exact) return x * static_cast<double>(a_.input) / static_cast<double>(a_.output);
    if (nearest_) return static_cast<double>(static_cast<float>(x) / static_cast<float>(a_.scale));
    return x / a_.scale;
  }

  bool nearest_;
  Mode mode_;
  const ResizeAxis& a_;
  double length_;  // the output's extent before rounding
};

int64_t nearest(const std::string& mode, double exact, double scale) {
  const double x = std::nearbyint(exact * 0x1p20) / 0x1p20;  // what is whole or half but for rounding errors becomes so
  if (mode == "round_prefer_floor") return static_cast<int64_t>(std::ceil(x - 0.5));
  if (mode == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  if (mode == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (mode == "simple") return static_cast<int64_t>(scale < 1 ? std::ceil(x) : std::floor(x));
  fail(Code::InvalidModel, "attribute 'nearest_mode' is '{}'", mode);
}

double triangle(double x) { return std::max(0.0, 1 - std::fabs(x)); }

// Keys' cubic convolution, https://ieeexplore.ieee.org/document/1163711, equation 4.
double keys(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

}  // namespace

std::vector<ResizeAxis> resize_axes(const Node& n, const Dims& x, const Tensor* roi, const Tensor* scales,
                                    const Tensor* sizes) {
  std::vector<ResizeAxis> axes(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < axes.size(); ++i) axes[i].input = axes[i].output = x[static_cast<int>(i)];
  const std::vector<int> chosen = chosen_axes(n, x.rank());
  const std::vector<double> by_scale = read_numbers(scales, chosen.size(), "scales"),
                            by_size = read_numbers(sizes, chosen.size(), "sizes");
  if (by_scale.empty() == by_size.empty() && !chosen.empty())
    fail(Code::InvalidModel, "one of scales and sizes is wanted, got {}", by_scale.empty() ? "none" : "both");
  if (!by_size.empty())
    set_sizes(n, axes, chosen, by_size);
  else if (!by_scale.empty())
    set_scales(axes, chosen, by_scale);
  if (n.s("coordinate_transformation_mode") == "tf_crop_and_resize") {
    const std::vector<double> region = read_numbers(roi, 2 * chosen.size(), "roi");
    if (region.empty() && !chosen.empty()) fail(Code::InvalidModel, "tf_crop_and_resize wants the input roi");
    for (size_t i = 0; i < chosen.size(); ++i) {
      axes[static_cast<size_t>(chosen[i])].start = region[i];
      axes[static_cast<size_t>(chosen[i])].end = region[chosen.size() + i];
    }
  }
  for (const ResizeAxis& a : axes)
    if (a.input == 0 && a.output != 0)
      fail(Code::InvalidModel, "an axis without elements cannot become one of {}", a.output);
  return axes;
}

ResizeTaps resize_taps(const Node& n, const ResizeAxis& axis) {
  const std::string& mode = n.s("mode");
  const Coordinates at(n.s("coordinate_transformation_mode"), axis, mode == "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    fail(Code::InvalidModel, "attribute 'mode' is '{}'", mode);
  const bool exclude = n.has("exclude_outside") && n.i("exclude_outside") != 0,
             antialias = n.has("antialias") && n.i("antialias") != 0;
  const double cubic_a = n.has("cubic_coeff_a") ? static_cast<double>(n.f("cubic_coeff_a")) : -0.75;
  const double top = static_cast<double>(axis.input - 1);
  const double stretch = antialias ? std::min(axis.scale, 1.0) : 1;  // the filter is wider by its inverse
  const double reach = (mode == "cubic" ? 2.0 : 1.0) / stretch;
  ResizeTaps taps;
  taps.first.push_back(0);
  for (int64_t o = 0; o < axis.output; ++o) {
    double x = axis.same() ? static_cast<double>(o) : at(o);
    taps.outside.push_back(at.crops() && !(x >= 0 && x <= top));
    // Far outside there are only copies of the edge, and a filter that reaches nothing else.
    if (taps.outside.back()) x = 0;
    x = std::clamp(x, -reach - 1, top + reach + 1);
    if (mode == "nearest") {
      taps.index.push_back(std::clamp<int64_t>(nearest(n.s("nearest_mode"), x, axis.scale), 0, axis.input - 1));
      taps.weight.push_back(1);
    } else {
      double sum = 0;
      const size_t begin = taps.weight.size();
      for (auto i = static_cast<int64_t>(std::floor(x - reach)) + 1; static_cast<double>(i) < x + reach; ++i) {
        if (exclude && (i < 0 || i >= axis.input)) continue;
        const double d = (static_cast<double>(i) - x) * stretch;
        taps.index.push_back(std::clamp<int64_t>(i, 0, axis.input - 1));
        taps.weight.push_back(mode == "cubic" ? keys(d, cubic_a) : triangle(d));
        sum += taps.weight.back();
      }
      if ((antialias || exclude) && sum != 0)
        for (size_t i = begin; i < taps.weight.size(); ++i) taps.weight[i] /= sum;
    }
    taps.first.push_back(static_cast<int64_t>(taps.index.size()));
  }
  return taps;
}

}  // namespace hf::ops

// RoiAlign and MaxRoiPool: regions of feature maps as small maps of one size.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef align_attrs[] = {
    string_attr("coordinate_transformation_mode", "half_pixel", 16),
    string_attr("mode", "avg"),
    int_attr("output_height", 1),
    int_attr("output_width", 1),
    int_attr("sampling_ratio", 0),
    float_attr("spatial_scale", 1),
};

constexpr AttrDef pool_attrs[] = {required_attr("pooled_shape", AttrType::Ints), float_attr("spatial_scale", 1)};

// Before opset 16 coordinates were not shifted by half a pixel.
void upgrade_align(ir::Graph&, Node& n, int opset) {
  if (opset < 16) n.attrs["coordinate_transformation_mode"] = std::string("output_half_pixel");
}

void check_choice(const Infer& in, std::string_view attr, std::string_view a, std::string_view b) {
  in.require(in.node.s(attr) == a || in.node.s(attr) == b, "attribute '{}' is '{}', wanted {} or {}", attr,
             in.node.s(attr), a, b);
}

constexpr int64_t kMostSamples = 4096;  // sampling_ratio: far beyond any use, near enough to end

void infer_regions(Infer& in, int64_t columns, int64_t height, int64_t width) {
  const Shape &x = in.shape(0), &rois = in.shape(1);
  in.require(!x.ranked() || x.rank() == 4, "the input is of shape {}, wanted 4 axes", x.text());
  in.require(!rois.ranked() || (rois.rank() == 2 && (!rois[1].known() || rois[1].value == columns)),
             "rois is of shape {}, wanted [?, {}]", rois.text(), columns);
  in.require(height >= 1 && width >= 1 && height < (1 << 24) && width < (1 << 24), "an output of {} by {}", height,
             width);
  in.set(0, in.dtype(0), std::vector<Dim>{rois.ranked() ? rois[0] : Dim(), x.ranked() ? x[1] : Dim(), height, width});
}

void infer_align(Infer& in) {
  check_choice(in, "mode", "avg", "max");
  check_choice(in, "coordinate_transformation_mode", "half_pixel", "output_half_pixel");
  const int64_t ratio = in.node.i("sampling_ratio");
  in.require(ratio >= 0 && ratio <= kMostSamples, "attribute 'sampling_ratio' is {}", ratio);
  infer_regions(in, 4, in.node.i("output_height"), in.node.i("output_width"));
  const Shape &rois = in.shape(1), &batches = in.shape(2);
  if (batches.ranked())
    in.require(batches.rank() == 1 &&
                   (!rois.ranked() || !rois[0].known() || !batches[0].known() || rois[0].value == batches[0].value),
               "batch_indices is of shape {}, rois of shape {}", batches.text(), rois.text());
}

// One sample along one axis, between two elements. Outside the map it weighs nothing.
struct Sample {
  int64_t low, high;
  double low_weight, high_weight;
};

Sample sample_at(double x, int64_t extent) {
  if (x < -1 || x > static_cast<double>(extent)) return {0, 0, 0, 0};
  x = std::max(x, 0.0);
  const auto low = static_cast<int64_t>(x);
  if (low >= extent - 1) return {extent - 1, extent - 1, 1, 0};
  return {low, low + 1, 1 - (x - static_cast<double>(low)), x - static_cast<double>(low)};
}

// The samples of every bin along one axis; those outside the map, which add nothing, only counted.
struct BinSamples {
  std::vector<Sample> samples;
  std::vector<size_t> first;  // of bin i: [first[i], first[i + 1])
  double count = 0;           // of each bin

  BinSamples(double start, double size, int64_t bins, int64_t ratio, int64_t extent) {
    const double bin = size / static_cast<double>(bins);
    count = ratio > 0 ? static_cast<double>(ratio) : std::max(std::ceil(bin), 0.0);
    const double step = bin / std::max(count, 1.0);
    first.push_back(0);
    for (int64_t i = 0; i < bins; ++i) {
      const double from = start + static_cast<double>(i) * bin;
      // Sample j is at from + (j + 0.5) * step: of a huge region, only those near the map are looked at.
      double begin = 0, end = count;
      if (step > 0) {
        begin = std::clamp(std::floor((-1 - from) / step - 1), 0.0, count);
        end = std::clamp(std::ceil((static_cast<double>(extent) - from) / step + 1), begin, count);
      }
      for (double j = begin; j < end; ++j) {
        const Sample s = sample_at(from + (j + 0.5) * step, extent);
        if (s.low_weight + s.high_weight > 0) samples.push_back(s);
      }
      first.push_back(samples.size());
    }
  }
};

// One region, one channel.
template <class T>
void align(const T* x, int64_t width, const BinSamples& rows, const BinSamples& columns, bool maximum, T* y) {
  const double count = std::max(rows.count * columns.count, 1.0);
  for (size_t r = 0; r + 1 < rows.first.size(); ++r)
    for (size_t c = 0; c + 1 < columns.first.size(); ++c, ++y) {
      double sum = 0, top = -std::numeric_limits<double>::infinity();
      const size_t seen = (rows.first[r + 1] - rows.first[r]) * (columns.first[c + 1] - columns.first[c]);
      for (size_t i = rows.first[r]; i < rows.first[r + 1]; ++i)
        for (size_t j = columns.first[c]; j < columns.first[c + 1]; ++j) {
          const Sample &v = rows.samples[i], &h = columns.samples[j];
          const double a = v.low_weight * h.low_weight * static_cast<double>(x[v.low * width + h.low]);
          const double b = v.low_weight * h.high_weight * static_cast<double>(x[v.low * width + h.high]);
          const double d = v.high_weight * h.low_weight * static_cast<double>(x[v.high * width + h.low]);
          const double f = v.high_weight * h.high_weight * static_cast<double>(x[v.high * width + h.high]);
          sum += a + b + d + f;
          top =
              std::max({top, a, b, d, f});  // ONNX: the largest weighted neighbour, not the largest interpolated value
        }
      if (static_cast<double>(seen) < rows.count * columns.count) top = std::max(top, 0.0);
      if (rows.count * columns.count == 0) top = 0;
      *y = static_cast<T>(maximum ? top : sum / count);
    }
}

void check_finite(double v) {
  if (!std::isfinite(v) || std::fabs(v) > 1e15)
    fail(Code::InvalidArgument, "a region of interest has a coordinate of {}", v);
}

int64_t checked_batch(int64_t b, int64_t batch) {
  if (b < 0 || b >= batch) fail(Code::InvalidArgument, "a region of interest is of image {}, there are {}", b, batch);
  return b;
}

void reference_align(Eval& e) {
  const Dims &xd = e.in(0).dims(), &yd = e.out().dims();
  const int64_t channels = xd[1], height = xd[2], width = xd[3], plane = height * width, bins = yd[2] * yd[3];
  const bool half_pixel = e.node.s("coordinate_transformation_mode") == "half_pixel",
             maximum = e.node.s("mode") == "max";
  const double scale = static_cast<double>(e.node.f("spatial_scale")), shift = half_pixel ? 0.5 : 0;
  const int64_t ratio = e.node.i("sampling_ratio");
  const std::vector<int64_t> batches = to_ints(e.in(2));
  ReadAs<double> rois(e.in(1));
  for (double v : rois) check_finite(v * scale);
  for (int64_t b : batches) checked_batch(b, xd[0]);
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0));
    WriteAs<T> y(e.out());
    parallel_for(plane ? yd[0] : 0, static_cast<double>(channels * bins) * 50, [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r) {
        const double left = rois[r * 4] * scale - shift, top = rois[r * 4 + 1] * scale - shift;
        double w = rois[r * 4 + 2] * scale - shift - left, h = rois[r * 4 + 3] * scale - shift - top;
        if (!half_pixel) w = std::max(w, 1.0), h = std::max(h, 1.0);
        const BinSamples rows(top, h, yd[2], ratio, height), columns(left, w, yd[3], ratio, width);
        for (int64_t c = 0; c < channels; ++c)
          align(x.data() + (batches[static_cast<size_t>(r)] * channels + c) * plane, width, rows, columns, maximum,
                y.data() + (r * channels + c) * bins);
      }
    });
    if (!plane) std::fill_n(y.data(), e.out().size(), T(0));
    y.commit();
  });
}

void infer_pool(Infer& in) {
  const std::vector<int64_t>& shape = in.node.ints("pooled_shape");
  in.require(shape.size() == 2, "attribute 'pooled_shape' has {} values, wanted 2", shape.size());
  infer_regions(in, 5, shape[0], shape[1]);
}

// The elements [begin, end) of bin i when [start, start + size) of an axis is divided into `bins`.
std::pair<int64_t, int64_t> bin_of(int64_t i, int64_t bins, int64_t start, int64_t size, int64_t extent) {
  const double bin = static_cast<double>(size) / static_cast<double>(bins), at = static_cast<double>(i);
  const int64_t begin = start + static_cast<int64_t>(std::floor(at * bin)),
                end = start + static_cast<int64_t>(std::ceil((at + 1) * bin));
  return {std::clamp<int64_t>(begin, 0, extent), std::clamp<int64_t>(end, 0, extent)};
}

void reference_pool(Eval& e) {
  const Dims &xd = e.in(0).dims(), &yd = e.out().dims();
  const int64_t channels = xd[1], height = xd[2], width = xd[3];
  const double scale = static_cast<double>(e.node.f("spatial_scale"));
  ReadAs<double> rois(e.in(1));
  for (int64_t i = 0; i < rois.size(); ++i) check_finite(i % 5 ? rois[i] * scale : rois[i]);
  for (int64_t r = 0; r < yd[0]; ++r) checked_batch(static_cast<int64_t>(rois[r * 5]), xd[0]);
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0));
    WriteAs<T> y(e.out());
    parallel_for(e.out().size(), 50, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        const int64_t column = i % yd[3], row = i / yd[3] % yd[2], c = i / yd[3] / yd[2] % channels,
                      r = i / yd[3] / yd[2] / channels;
        int64_t corner[4];  // left, top, right, bottom: both ends are part of the region
        for (int64_t k = 0; k < 4; ++k) corner[k] = std::llround(rois[r * 5 + 1 + k] * scale);
        auto [top, bottom] = bin_of(row, yd[2], corner[1], std::max<int64_t>(corner[3] - corner[1] + 1, 1), height);
        auto [left, right] = bin_of(column, yd[3], corner[0], std::max<int64_t>(corner[2] - corner[0] + 1, 1), width);
        const T* plane = x.data() + (static_cast<int64_t>(rois[r * 5]) * channels + c) * height * width;
        T best = bottom <= top || right <= left ? T(0) : -std::numeric_limits<T>::infinity();
        for (int64_t h = top; h < bottom; ++h)
          for (int64_t w = left; w < right; ++w) best = std::max(best, plane[h * width + w]);
        y[i] = best;
      }
    });
    y.commit();
  });
}

constexpr OpDef defs[] = {
    {.name = "RoiAlign",
     .since = 10,
     .min_inputs = 3,
     .max_inputs = 3,
     .attrs = align_attrs,
     .upgrade = upgrade_align,
     .infer = infer_align,
     .reference = reference_align},
    {.name = "MaxRoiPool",
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = pool_attrs,
     .infer = infer_pool,
     .reference = reference_pool},
};

}  // namespace

std::span<const OpDef> roi_ops() { return defs; }

}  // namespace hf::ops

// GridSample: a tensor read at the places a grid says. And AffineGrid, which makes such grids.
#include <algorithm>
#include <cmath>

#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef sample_attrs[] = {
    int_attr("align_corners", 0),
    string_attr("mode", "bilinear", 16, 19),
    string_attr("mode", "linear", 20),
    string_attr("padding_mode", "zeros"),
};

// Before opset 20 the modes were named by two axes.
void upgrade(ir::Graph&, Node& n, int opset) {
  if (opset >= 20) return;
  if (n.s("mode") == "bilinear") n.attrs["mode"] = std::string("linear");
  if (n.s("mode") == "bicubic") n.attrs["mode"] = std::string("cubic");
}

enum class Mode { Nearest, Linear, Cubic };
enum class Padding { Zeros, Border, Reflection };

Mode mode_of(const Node& n) {
  const std::string& s = n.s("mode");
  if (s == "nearest") return Mode::Nearest;
  if (s == "linear") return Mode::Linear;
  if (s == "cubic") return Mode::Cubic;
  fail(Code::InvalidModel, "attribute 'mode' is '{}', wanted nearest, linear or cubic", s);
}

Padding padding_of(const Node& n) {
  const std::string& s = n.s("padding_mode");
  if (s == "zeros") return Padding::Zeros;
  if (s == "border") return Padding::Border;
  if (s == "reflection") return Padding::Reflection;
  fail(Code::InvalidModel, "attribute 'padding_mode' is '{}', wanted zeros, border or reflection", s);
}

void infer(Infer& in) {
  mode_of(in.node);
  padding_of(in.node);
  const Shape &x = in.shape(0), &grid = in.shape(1);
  in.require(!x.ranked() || x.rank() >= 3, "the input is of shape {}, wanted [batch, channels, ...]", x.text());
  if (!grid.ranked()) return in.set(0, in.dtype(0), x.ranked() ? Shape::unknown_of_rank(x.rank()) : Shape());
  in.require(grid.rank() >= 3 && (!x.ranked() || x.rank() == grid.rank()),
             "the input is of shape {}, the grid of shape {}", x.text(), grid.text());
  const Dim &count = grid[grid.rank() - 1], batch = x.ranked() && x[0].known() ? x[0] : grid[0];
  in.require(!count.known() || count.value == grid.rank() - 2, "the grid is of shape {}, wanted {} coordinates",
             grid.text(), grid.rank() - 2);
  in.require(!batch.known() || !grid[0].known() || batch.value == grid[0].value,
             "the input is of shape {}, the grid of shape {}", x.text(), grid.text());
  std::vector<Dim> out = {x.ranked() && !batch.known() ? x[0] : batch, x.ranked() ? x[1] : Dim()};
  for (int i = 1; i + 1 < grid.rank(); ++i) out.push_back(grid[i]);
  in.set(0, in.dtype(0), out);
}

// x mirrored at low and high until it is between them.
double reflected(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  double from_low = std::fmod(std::fabs(x - low), 2 * range);
  return from_low <= range ? low + from_low : low + 2 * range - from_low;
}

// How one coordinate is taken apart: up to four elements along the axis with their weights; -1: a zero.
struct Taps {
  int count = 0;
  int64_t index[4];
  double weight[4];
};

struct Sampler {
  Mode mode;
  Padding padding;
  bool align_corners;

  int64_t place(int64_t i, int64_t extent) const {
    if (i >= 0 && i < extent) return i;
    if (padding == Padding::Zeros) return -1;
    if (padding == Padding::Border) return std::clamp<int64_t>(i, 0, extent - 1);
    const double low = align_corners ? 0 : -0.5, high = static_cast<double>(extent) - (align_corners ? 1 : 0.5);
    return std::clamp<int64_t>(static_cast<int64_t>(reflected(static_cast<double>(i), low, high)), 0, extent - 1);
  }

  Taps operator()(double normal, int64_t extent) const {
    const double n = static_cast<double>(extent);
    double x = align_corners ? (normal + 1) / 2 * (n - 1) : ((normal + 1) * n - 1) / 2;
    const double low = align_corners ? 0 : -0.5, high = n - (align_corners ? 1 : 0.5);
    if (mode == Mode::Nearest) x = std::nearbyint(x);
    if (x < low || x > high) {
      if (padding == Padding::Reflection)
        x = reflected(x, low, high);
      else if (padding == Padding::Border && mode != Mode::Cubic)
        x = std::clamp(x, 0.0, n - 1);
    }
    // Farther away there are zeros only; this also takes what is no number.
    if (!(x > -4)) x = -4;
    if (!(x < n + 4)) x = n + 4;
    const double base = std::floor(x), f = x - base;
    const auto first = static_cast<int64_t>(base);
    if (mode == Mode::Nearest) return {1, {place(first, extent)}, {1}};
    if (mode == Mode::Linear) return {2, {place(first, extent), place(first + 1, extent)}, {1 - f, f}};
    Taps taps{4, {}, {}};
    for (int i = 0; i < 4; ++i)
      taps.index[i] = place(first - 1 + i, extent), taps.weight[i] = keys(std::fabs(f + 1 - i));
    return taps;
  }

  // Cubic convolution with a = -0.75, https://ieeexplore.ieee.org/document/1163711.
  static double keys(double x) {
    constexpr double a = -0.75;
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
  }
};

// The sum over the axes from `axis` on of weight * element; x at the element that the axes before chose.
template <class T>
double gather(const T* x, const Taps* taps, const int64_t* strides, int axis, int rank) {
  if (axis == rank) return static_cast<double>(*x);
  double sum = 0;
  for (int i = 0; i < taps[axis].count; ++i)
    if (taps[axis].index[i] >= 0)
      sum += taps[axis].weight[i] * gather(x + taps[axis].index[i] * strides[axis], taps, strides, axis + 1, rank);
  return sum;
}

void sample(Eval& e) {
  const Dims &xd = e.in(0).dims(), &yd = e.out().dims();
  const int rank = xd.rank() - 2;
  const int64_t channels = xd[1], inputs = xd.count(2, xd.rank()), outputs = yd.count(2, yd.rank());
  if (e.out().size() && !inputs) fail(Code::InvalidArgument, "the input of shape {} has nothing to sample", xd.text());
  const Sampler sampler{mode_of(e.node), padding_of(e.node), e.node.i("align_corners") != 0};
  const Dims strides = xd.strides();
  ReadAs<double> grid(e.in(1));
  dispatch_number(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0));
    WriteAs<T> y(e.out());
    const double cost =
        20.0 * rank + static_cast<double>(channels) * std::pow(sampler.mode == Mode::Cubic ? 4 : 2, rank);
    parallel_for(xd[0] * outputs, cost, [&](int64_t from, int64_t to) {
      Taps taps[kMaxRank];
      for (int64_t i = from; i < to; ++i) {
        const int64_t n = i / outputs, o = i % outputs;
        for (int d = 0; d < rank; ++d)
          taps[d] = sampler(grid[i * rank + rank - 1 - d], xd[d + 2]);  // innermost axis first
        for (int64_t c = 0; c < channels; ++c)
          y[(n * channels + c) * outputs + o] =
              static_cast<T>(gather(x.data() + (n * channels + c) * inputs, taps, strides.data() + 2, 0, rank));
      }
    });
    y.commit();
  });
}

constexpr AttrDef affine_attrs[] = {int_attr("align_corners", 0)};

void infer_affine(Infer& in) {
  const Shape &theta = in.shape(0), &size = in.shape(1);
  in.require(!theta.ranked() || theta.rank() == 3, "theta is of shape {}, wanted [batch, 2, 3] or [batch, 3, 4]",
             theta.text());
  const Tensor* extents = in.constant(1);
  int rank = -1;
  if (theta.ranked() && theta[1].known())
    rank = static_cast<int>(std::min<int64_t>(theta[1].value, 9));
  else if (extents)
    rank = static_cast<int>(std::min<int64_t>(extents->size(), 9)) - 2;
  if (rank < 0) return in.set(0, in.dtype(0));
  in.require((rank == 2 || rank == 3) && (!theta.ranked() || !theta[2].known() || theta[2].value == rank + 1),
             "theta is of shape {}, wanted [batch, 2, 3] or [batch, 3, 4]", theta.text());
  std::vector<Dim> out(static_cast<size_t>(rank) + 2);
  if (theta.ranked()) out[0] = theta[0];
  out.back() = rank;
  if (extents) {
    const std::vector<int64_t> values = to_ints(*extents);
    in.require(static_cast<int>(values.size()) == rank + 2, "size is of shape {}, wanted [{}]", size.text(), rank + 2);
    for (int i = 0; i < rank; ++i) {
      in.require(values[static_cast<size_t>(i) + 2] >= 0, "size has a value of {}", values[static_cast<size_t>(i) + 2]);
      out[static_cast<size_t>(i) + 1] = values[static_cast<size_t>(i) + 2];
    }
    in.require(!out[0].known() || out[0].value == values[0], "size asks for a batch of {}, theta is of shape {}",
               values[0], theta.text());
    out[0] = values[0];
  }
  in.set(0, in.dtype(0), out);
}

void affine(Eval& e) {
  const Dims& d = e.out().dims();
  const int rank = static_cast<int>(d.back());
  const bool align_corners = e.node.i("align_corners") != 0;
  ReadAs<double> theta(e.in(0));
  WriteAs<double> y(e.out());
  const int64_t places = d.count(1, rank + 1);
  for (int64_t i = 0; i < d[0] * places; ++i) {
    double at[4] = {};  // innermost axis first, then 1
    int64_t left = i % places;
    for (int axis = rank - 1, k = 0; axis >= 0; --axis, ++k) {
      const int64_t extent = d[axis + 1], o = left % extent;
      left /= extent;
      const auto n = static_cast<double>(extent), p = static_cast<double>(o);
      at[k] = !align_corners ? (2 * p + 1) / n - 1 : extent > 1 ? 2 * p / (n - 1) - 1 : -1;
    }
    at[rank] = 1;
    for (int row = 0; row < rank; ++row) {
      double sum = 0;
      for (int k = 0; k <= rank; ++k) sum += theta[(i / places * rank + row) * (rank + 1) + k] * at[k];
      y[i * rank + row] = sum;
    }
  }
  y.commit();
}

constexpr OpDef defs[] = {
    {.name = "GridSample",
     .since = 16,
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = sample_attrs,
     .upgrade = upgrade,
     .infer = infer,
     .reference = sample},
    {.name = "AffineGrid",
     .since = 20,
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = affine_attrs,
     .infer = infer_affine,
     .reference = affine},
};

}  // namespace

std::span<const OpDef> grid_sample_ops() { return defs; }

}  // namespace hf::ops

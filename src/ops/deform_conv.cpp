// DeformConv: a convolution whose taps are moved by offsets, and weighted by a mask. https://arxiv.org/abs/1811.11168
#include <algorithm>
#include <cmath>

#include "ops/convolve.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    optional_attr("dilations", AttrType::Ints),    int_attr("group", 1),
    optional_attr("kernel_shape", AttrType::Ints), int_attr("offset_group", 1),
    optional_attr("pads", AttrType::Ints),         optional_attr("strides", AttrType::Ints),
};

// Input `i`, if its shape is known, is [batch, count, outputs...].
void check_map(const Infer& in, int i, const Shape& out, int64_t count) {
  if (!in.has(i) || !in.shape(i).ranked()) return;
  const Shape& s = in.shape(i);
  bool fits = s.rank() == out.rank();
  for (int d = 0; fits && d < s.rank(); ++d) {
    const Dim wanted = d == 1 ? Dim(count) : out[d];
    fits = !s[d].known() || !wanted.known() || s[d].value == wanted.value;
  }
  in.require(fits, "input {} is of shape {}, wanted {} values at each place of an output of shape {}", i, s.text(),
             count, out.text());
}

void infer(Infer& in) {
  const Shape out = infer_convolution(in, 0, 1, 3);
  const int64_t groups = in.node.i("offset_group");
  in.require(groups >= 1 && groups < (1 << 30), "attribute 'offset_group' is {}", groups);
  const Shape &x = in.shape(0), &w = in.shape(1);
  if (x.ranked() && x[1].known())
    in.require(x[1].value % groups == 0, "{} channels do not make {} offset groups", x[1].value, groups);
  if (w.is_static() && x.ranked()) {
    const int64_t taps = w.get().count(2, w.rank());
    in.require(taps < (1 << 30), "the weights are of shape {}", w.text());
    check_map(in, 2, out, groups * taps * (w.rank() - 2));
    check_map(in, 4, out, groups * taps);
  }
  in.set(0, in.dtype(0), out);
}

// A place between elements, along one axis. An element outside counts as zero: its weight is 0.
struct Between {
  int64_t low, high;
  double low_weight, high_weight;
};

Between between(double x, int64_t extent) {
  if (!(x > -1 && x < static_cast<double>(extent))) return {0, 0, 0, 0};
  const double base = std::floor(x), f = x - base;
  const auto low = static_cast<int64_t>(base);
  return {std::max<int64_t>(low, 0), std::min(low + 1, extent - 1), low < 0 ? 0 : 1 - f, low + 1 < extent ? f : 0};
}

template <class T>
double interpolate(const T* x, const Between* at, const int64_t* strides, int axis, int rank) {
  if (axis == rank) return static_cast<double>(*x);
  double sum = 0;
  if (at[axis].low_weight != 0)
    sum += at[axis].low_weight * interpolate(x + at[axis].low * strides[axis], at, strides, axis + 1, rank);
  if (at[axis].high_weight != 0)
    sum += at[axis].high_weight * interpolate(x + at[axis].high * strides[axis], at, strides, axis + 1, rank);
  return sum;
}

template <class T>
struct Deformed {
  const Convolution& c;
  int64_t offset_groups;
  const T *x, *offset, *mask;  // mask may be null
  Dims strides;                // of x

  // Where tap `tap` of output `o` of image n lies.
  void place(int64_t n, int64_t group, int64_t tap, int64_t o, Between* at) const {
    const Window& w = c.window;
    const int64_t outputs = w.outputs(), rank = w.rank();
    int64_t left_o = o, left_tap = tap;
    for (int64_t d = rank - 1; d >= 0; --d) {
      const WindowAxis& a = w.axes[static_cast<size_t>(d)];
      const int64_t p = left_o % a.output * a.stride + left_tap % a.kernel * a.dilation - a.begin;
      left_o /= a.output;
      left_tap /= a.kernel;
      const int64_t channel = ((n * offset_groups + group) * w.taps() + tap) * rank + d;
      at[d] = between(static_cast<double>(p) + static_cast<double>(offset[channel * outputs + o]), a.input);
    }
  }

  // The moved windows of outputs [from, from + size) of image n, as [channels * taps, size].
  void gather(int64_t n, int64_t from, int64_t size, T* columns) const {
    const int64_t taps = c.window.taps(), inputs = c.window.inputs(), outputs = c.window.outputs();
    const int64_t channels = c.groups * c.channels, in_group = channels / offset_groups;
    const int rank = c.window.rank();
    Between at[kMaxRank];
    for (int64_t group = 0; group < offset_groups; ++group)
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t i = 0; i < size; ++i) {
          place(n, group, tap, from + i, at);
          const double m =
              mask ? static_cast<double>(mask[((n * offset_groups + group) * taps + tap) * outputs + from + i]) : 1;
          for (int64_t ch = group * in_group; ch < (group + 1) * in_group; ++ch)
            columns[(ch * taps + tap) * size + i] =
                static_cast<T>(m * interpolate(x + (n * channels + ch) * inputs, at, strides.data() + 2, 0, rank));
        }
  }
};

template <class T>
void run(Eval& e) {
  const Convolution c = convolution_of(e.node, e.in(0), e.in(1));
  ReadAs<T> x(e.in(0)), w(e.in(1)), offset(e.in(2));
  WriteAs<T> y(e.out());
  std::unique_ptr<ReadAs<T>> bias, mask;
  if (e.has(3)) bias = std::make_unique<ReadAs<T>>(e.in(3));
  if (e.has(4)) mask = std::make_unique<ReadAs<T>>(e.in(4));
  const Deformed<T> deformed{
      c, e.node.i("offset_group"), x.data(), offset.data(), mask ? mask->data() : nullptr, e.in(0).dims().strides()};
  const int64_t outputs = c.window.outputs(), depth = c.channels * c.window.taps(), all = c.groups * depth;
  if (e.out().size() == 0) return;
  const int64_t size = block_size(all, outputs), blocks = (outputs + size - 1) / size;
  parallel_for(c.batch * blocks, static_cast<double>(size * all) * 20, [&](int64_t from, int64_t to) {
    std::vector<T> columns;
    for (int64_t i = from; i < to; ++i) {
      const int64_t n = i / blocks, at = i % blocks * size, count = std::min(size, outputs - at);
      columns.assign(static_cast<size_t>(all * count), T(0));
      deformed.gather(n, at, count, columns.data());
      for (int64_t g = 0; g < c.groups; ++g) {
        T* out = y.data() + (n * c.groups + g) * c.filters * outputs + at;
        for (int64_t f = 0; f < c.filters; ++f)
          std::fill_n(out + f * outputs, count, bias ? (*bias)[g * c.filters + f] : T(0));
        multiply_add(c.filters, count, depth, w.data() + g * c.filters * depth, depth,
                     columns.data() + g * depth * count, count, out, outputs);
      }
    }
  });
  y.commit();
}

void reference(Eval& e) {
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) { run<T>(e); });
}

constexpr OpDef defs[] = {
    {.name = "DeformConv",
     .since = 19,
     .min_inputs = 3,
     .max_inputs = 5,
     .attrs = attrs,
     .infer = infer,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> deform_conv_ops() { return defs; }

}  // namespace hf::ops

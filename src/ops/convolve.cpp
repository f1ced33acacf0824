// The loops of a convolution: gather the windows of a block of outputs into a matrix, multiply it by the weights.
#include "ops/convolve.h"

#include <algorithm>

#include "ops/op.h"

namespace hf::ops {

Convolution convolution_of(const Node& n, const Tensor& x, const Tensor& w) {
  Convolution c;
  c.batch = x.dims()[0];
  c.groups = n.i("group");
  c.channels = w.dims()[1];
  c.filters = w.dims()[0] / c.groups;
  c.window = window_of(n, std::span<const int64_t>(x.dims()).subspan(2), std::span<const int64_t>(w.dims()).subspan(2));
  return c;
}

Shape infer_convolution(const Infer& in, int x, int w, int bias) {
  const Shape &xs = in.shape(x), &ws = in.shape(w);
  const int64_t groups = in.node.i("group");
  in.require(groups >= 1, "attribute 'group' is {}", groups);
  in.require(!xs.ranked() || xs.rank() >= 3, "the input is of shape {}, wanted [batch, channels, ...]", xs.text());
  in.require(!ws.ranked() || ws.rank() >= 3, "the weights are of shape {}, wanted [filters, channels, ...]", ws.text());
  if (ws.ranked()) {
    in.require(!xs.ranked() || xs.rank() == ws.rank(), "the input is of shape {}, the weights of shape {}", xs.text(),
               ws.text());
    in.require(!ws[0].known() || ws[0].value % groups == 0, "{} filters do not make {} groups", ws[0].value, groups);
    if (xs.ranked() && xs[1].known() && ws[1].known())
      in.require(ws[1].value <= (int64_t{1} << 40) / groups && xs[1].value == ws[1].value * groups,
                 "the input has {} channels, the weights want {} in each of {} groups", xs[1].value, ws[1].value,
                 groups);
    if (bias >= 0 && in.has(bias) && in.shape(bias).ranked()) {
      const Shape& bs = in.shape(bias);
      in.require(bs.rank() == 1 && (!bs[0].known() || !ws[0].known() || bs[0].value == ws[0].value),
                 "the bias is of shape {}, the weights of shape {}", bs.text(), ws.text());
    }
  }
  if (!xs.ranked()) return ws.ranked() ? Shape::unknown_of_rank(ws.rank()) : Shape();
  std::vector<int64_t> kernel = known_extents(ws, 2);
  Window window = window_of(in.node, known_extents(xs, 2), kernel);
  std::vector<Dim> out = window_dims(window, std::span(xs.dims()).subspan(2));
  out.insert(out.begin(), {xs[0], ws.ranked() ? ws[0] : Dim()});
  return out;
}

namespace {

template <class T>
void gather(const WindowBlock& b, int64_t channels, int64_t inputs, const T* x, T* columns) {
  const int64_t rows = static_cast<int64_t>(b.offsets.size());
  for (int64_t c = 0; c < channels; ++c, x += inputs)
    for (int64_t i = 0; i < rows; ++i)
      *columns++ = b.offsets[static_cast<size_t>(i)] < 0 ? T(0) : x[b.offsets[static_cast<size_t>(i)]];
}

}  // namespace

template <class T>
void convolve(const Convolution& c, const T* x, const T* w, T* y) {
  const Window& win = c.window;
  const int64_t inputs = win.inputs(), outputs = win.outputs(), taps = win.taps(), depth = c.channels * taps;
  if (outputs == 0 || c.batch == 0 || c.filters == 0) return;
  std::fill_n(y, c.batch * c.groups * c.filters * outputs, T(0));
  if (depth == 0) return;
  // Work is shared out by block of outputs, then batch and group.
  const int64_t size = block_size(depth, outputs);
  const int64_t blocks = (outputs + size - 1) / size, planes = c.batch * c.groups;
  const double cost = static_cast<double>(size * depth) * (1 + 0.15 * static_cast<double>(c.filters));
  parallel_for(blocks * planes, cost, [&](int64_t from, int64_t to) {
    std::vector<T> columns;
    WindowBlock block;
    for (int64_t i = from; i < to; ++i) {
      const int64_t at = i / planes * size, n = std::min(size, outputs - at), plane = i % planes,
                    group = plane % c.groups;
      const T* xp = x + plane * c.channels * inputs;
      T* yp = y + plane * c.filters * outputs + at;
      const T* wp = w + group * c.filters * depth;
      if (win.pointwise()) {
        multiply_add(c.filters, n, depth, wp, depth, xp + at, inputs, yp, outputs);
        continue;
      }
      block.move_to(win, at, n);
      columns.resize(static_cast<size_t>(depth * n));
      gather(block, c.channels, inputs, xp, columns.data());
      multiply_add(c.filters, n, depth, wp, depth, columns.data(), n, yp, outputs);
    }
  });
}

#define HF_INSTANTIATE(T) template void convolve<T>(const Convolution&, const T*, const T*, T*);
HF_INSTANTIATE(float)
HF_INSTANTIATE(double)
HF_INSTANTIATE(int32_t)
#undef HF_INSTANTIATE

}  // namespace hf::ops

// ConvTranspose.
#include <algorithm>

#include "ops/matrix.h"
#include "ops/op.h"
#include "ops/window.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    string_attr("auto_pad", "NOTSET"),
    optional_attr("dilations", AttrType::Ints),
    int_attr("group", 1),
    optional_attr("kernel_shape", AttrType::Ints),
    optional_attr("output_padding", AttrType::Ints),
    optional_attr("output_shape", AttrType::Ints),
    optional_attr("pads", AttrType::Ints),
    optional_attr("strides", AttrType::Ints),
};

void infer(Infer& in) {
  const Shape &xs = in.shape(0), &ws = in.shape(1);
  const int64_t groups = in.node.i("group");
  in.require(groups >= 1 && groups < (1 << 30), "attribute 'group' is {}", groups);
  in.require(!xs.ranked() || xs.rank() >= 3, "the input is of shape {}, wanted [batch, channels, ...]", xs.text());
  in.require(!ws.ranked() || ws.rank() >= 3, "the weights are of shape {}, wanted [channels, filters, ...]", ws.text());
  Dim filters;
  if (ws.ranked()) {
    in.require(!xs.ranked() || xs.rank() == ws.rank(), "the input is of shape {}, the weights of shape {}", xs.text(),
               ws.text());
    in.require(!ws[0].known() || ws[0].value % groups == 0, "{} channels do not make {} groups", ws[0].value, groups);
    if (xs.ranked() && xs[1].known() && ws[0].known())
      in.require(xs[1].value == ws[0].value, "the input has {} channels, the weights {}", xs[1].value, ws[0].value);
    if (ws[1].known()) {
      in.require(ws[1].value < (int64_t{1} << 31), "the weights are of shape {}", ws.text());
      filters = ws[1].value * groups;
    }
    if (in.has(2) && in.shape(2).ranked())
      in.require(in.shape(2).rank() == 1 &&
                     (!in.shape(2)[0].known() || !filters.known() || in.shape(2)[0].value == filters.value),
                 "the bias is of shape {}, wanted [{}]", in.shape(2).text(), filters.text());
  }
  if (!xs.ranked()) return in.set(0, in.dtype(0), ws.ranked() ? Shape::unknown_of_rank(ws.rank()) : Shape());
  Window window = transposed_window_of(in.node, known_extents(xs, 2), known_extents(ws, 2));
  std::vector<Dim> out = window_dims(window, std::span(xs.dims()).subspan(2));
  out.insert(out.begin(), {xs[0], filters});
  in.set(0, in.dtype(0), out);
}

// The transposed window seen from its output: a convolution's window whose "outputs" are our inputs.
Window mirrored(const Window& w) {
  Window m = w;
  for (WindowAxis& a : m.axes) std::swap(a.input, a.output);
  return m;
}

// One output plane: for each tap, the row sum over channels of w * x, scattered to where the tap puts it.
template <class T>
struct Plane {
  const WindowReader& reader;
  int64_t channels, inputs, taps;
  std::vector<T> row;
  std::vector<int64_t> places;

  void operator()(const T* x, const T* w, T* y) {  // x [channels, inputs], w [taps, channels]
    for (int64_t from = 0; from < inputs; from += 512) {
      const int64_t n = std::min<int64_t>(512, inputs - from);
      for (int64_t t = 0; t < taps; ++t) {
        std::fill_n(row.begin(), n, T(0));
        multiply_add<T>(1, n, channels, w + t * channels, channels, x + from, inputs, row.data(), n);
        reader.offsets(t, from, from + n, places.data());
        for (size_t i = 0; i < static_cast<size_t>(n); ++i)
          if (places[i] >= 0) y[places[i]] += row[i];
      }
    }
  }
};

template <class T>
void run(Eval& e) {
  const Dims &xd = e.in(0).dims(), &wd = e.in(1).dims();
  const Window window =
      transposed_window_of(e.node, std::span<const int64_t>(xd).subspan(2), std::span<const int64_t>(wd).subspan(2));
  const Window mirror = mirrored(window);
  const WindowReader reader(mirror);
  const int64_t groups = e.node.i("group"), channels = wd[0] / groups, filters = wd[1];
  const int64_t inputs = window.inputs(), outputs = window.outputs(), taps = window.taps();
  ReadAs<T> x(e.in(0)), w(e.in(1));
  WriteAs<T> y(e.out());
  std::vector<T> wt(static_cast<size_t>(w.size()));  // [groups, filters, taps, channels]
  for (int64_t g = 0, at = 0; g < groups; ++g)
    for (int64_t f = 0; f < filters; ++f)
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t c = 0; c < channels; ++c, ++at)
          wt[static_cast<size_t>(at)] = w[((g * channels + c) * filters + f) * taps + t];
  std::unique_ptr<ReadAs<T>> bias;
  if (e.has(2)) bias = std::make_unique<ReadAs<T>>(e.in(2));
  const double cost = static_cast<double>(taps * inputs) * (2 + 0.3 * static_cast<double>(channels));
  parallel_for(xd[0] * groups * filters, cost, [&](int64_t from, int64_t to) {
    Plane<T> plane{reader, channels, inputs, taps, std::vector<T>(512), std::vector<int64_t>(512)};
    for (int64_t i = from; i < to; ++i) {
      const int64_t n = i / (groups * filters), filter = i % (groups * filters), g = filter / filters;
      T* out = y.data() + i * outputs;
      std::fill_n(out, outputs, bias ? (*bias)[filter] : T(0));
      plane(x.data() + (n * groups + g) * channels * inputs, wt.data() + filter * taps * channels, out);
    }
  });
  y.commit();
}

void reference(Eval& e) {
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) { run<T>(e); });
}

constexpr OpDef defs[] = {
    {.name = "ConvTranspose", .min_inputs = 2, .max_inputs = 3, .attrs = attrs, .infer = infer, .reference = reference},
};

}  // namespace

std::span<const OpDef> conv_transpose_ops() { return defs; }

}  // namespace hf::ops

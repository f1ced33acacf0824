// hipforge.ConvShortcut: a convolution plus a convolution of one tap over another input, as at the end of a residual
// block whose shortcut changes the channels. Passes make it; inputs x, w, x2, w2, b, b2, the biases optional.
#include "ops/convolve.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    string_attr("auto_pad", "NOTSET"),
    optional_attr("dilations", AttrType::Ints),
    int_attr("group", 1),
    optional_attr("kernel_shape", AttrType::Ints),
    optional_attr("pads", AttrType::Ints),
    optional_attr("strides", AttrType::Ints),
    required_attr("strides2", AttrType::Ints),
};

void infer(Infer& in) {
  const Shape y = infer_convolution(in, 0, 1, 4);
  in.set(0, in.dtype(0), y);
  const Shape &x = in.shape(2), &w = in.shape(3);
  if (!y.is_static() || !x.is_static() || !w.is_static()) return;
  const std::vector<int64_t> strides = in.node.ints("strides2");
  in.require(in.node.i("group") == 1, "a shortcut of {} groups", in.node.i("group"));
  in.require(x.rank() == y.rank() && w.rank() == y.rank() && static_cast<int>(strides.size()) == y.rank() - 2,
             "the shortcut's ranks are {} and {}, wanted {}", x.rank(), w.rank(), y.rank());
  in.require(x[0].value == y[0].value && x[1].value == w[1].value && w[0].value == y[1].value,
             "the shortcut of {} by {} does not fit {}", x.text(), w.text(), y.text());
  for (int i = 2; i < y.rank(); ++i) {
    const int64_t stride = strides[static_cast<size_t>(i - 2)];
    in.require(stride >= 1 && w[i].value == 1 && x[i].value >= 1 && (x[i].value - 1) / stride + 1 == y[i].value,
               "the shortcut of {} by {} does not fit {}", x.text(), w.text(), y.text());
  }
}

// The shortcut alone: its outputs are the main convolution's.
Convolution shortcut_of(const Convolution& main, const Eval& e) {
  const std::vector<int64_t> strides = e.node.ints("strides2");
  Convolution c{.batch = main.batch, .channels = e.in(3).dims()[1], .filters = main.filters};
  for (size_t i = 0; i < strides.size(); ++i)
    c.window.axes.push_back({.input = e.in(2).dims()[static_cast<int>(i) + 2],
                             .kernel = 1,
                             .output = main.window.axes[i].output,
                             .stride = strides[i]});
  return c;
}

void reference(Eval& e) {
  const Convolution main = convolution_of(e.node, e.in(0), e.in(1)), shortcut = shortcut_of(main, e);
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0)), w(e.in(1)), x2(e.in(2)), w2(e.in(3));
    WriteAs<T> y(e.out());
    std::vector<T> more(static_cast<size_t>(e.out().size()));
    convolve(main, x.data(), w.data(), y.data());
    convolve(shortcut, x2.data(), w2.data(), more.data());
    for (int64_t i = 0; i < e.out().size(); ++i) y[i] += more[static_cast<size_t>(i)];
    for (int b : {4, 5}) {
      if (!e.has(b)) continue;
      ReadAs<T> bias(e.in(b));
      const int64_t outputs = main.window.outputs();
      for (int64_t i = 0; i < e.out().size(); ++i) y[i] += bias[i / outputs % main.filters];
    }
    y.commit();
  });
}

constexpr OpDef defs[] = {{.name = "ConvShortcut",
                           .domain = "hipforge",
                           .min_inputs = 4,
                           .max_inputs = 6,
                           .attrs = attrs,
                           .infer = infer,
                           .reference = reference}};

}  // namespace

std::span<const OpDef> conv_shortcut_ops() { return defs; }

}  // namespace hf::ops

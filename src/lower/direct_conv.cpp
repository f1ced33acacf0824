// Convolutions and transposed convolutions that no faster lowering takes.
#include "kernel/direct_conv.h"

#include "lower/spatial.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

// Groups, channels and filters of a group, taps: [groups * filters, channels, taps] or, transposed, [groups * channels,
// filters, taps].
struct Weights {
  int64_t groups, channels, filters, taps;
  bool transposed;

  kernel::WeightStrides strides() const {
    if (transposed) return {channels * filters * taps, taps, filters * taps, 1};
    return {filters * channels * taps, channels * taps, taps, 1};
  }
  /// As packed: [taps, channels, groups * filters].
  kernel::WeightStrides packed_strides() const { return {filters, 1, groups * filters, channels * groups * filters}; }
};

std::vector<std::byte> pack(const Weights& s, const Tensor& weights) {
  ReadAs<float> w(weights);
  const kernel::WeightStrides from = s.strides(), to = s.packed_strides();
  std::vector<float> all(static_cast<size_t>(w.size()));
  for (int64_t g = 0; g < s.groups; ++g)
    for (int64_t f = 0; f < s.filters; ++f)
      for (int64_t c = 0; c < s.channels; ++c)
        for (int64_t t = 0; t < s.taps; ++t)
          all[static_cast<size_t>(g * to.group + f * to.filter + c * to.channel + t * to.tap)] =
              w[g * from.group + f * from.filter + c * from.channel + t * from.tap];
  return bytes_of(all);
}

std::vector<std::byte> floats_of(const Tensor& t) {
  ReadAs<float> v(t);
  return bytes_of(std::vector<float>(v.begin(), v.end()));
}

// Weights and bias: packed where they are constants, else inputs as they lie.
void place_weights(const Request& r, const Weights& s, kernel::DirectConvProblem& p, Lowered& l) {
  l.absorbed.assign(3, false);
  if (const Tensor* w = r.constant(1)) {
    p.strides = s.packed_strides();
    p.weights = kernel::Argument::packed(static_cast<int>(l.packings.size()));
    l.packings.push_back({.host = [s, w = *w] { return pack(s, w); },
                          .bytes = w->size() * 4,
                          .key = fmt::format("direct {} {}", s.groups, s.transposed)});
    l.absorbed[1] = true;
  } else {
    p.weight = element_of(r.stored_input(1));
    p.strides = s.strides();
    p.weights = kernel::Argument::input(1);
    l.inputs[1] = r.rows(1);
  }
  p.has_bias = r.has(2);
  if (!p.has_bias) return;
  if (const Tensor* b = r.constant(2)) {
    p.biases = kernel::Argument::packed(static_cast<int>(l.packings.size()));
    l.packings.push_back({.host = [b = *b] { return floats_of(b); }, .bytes = b->size() * 4, .key = "direct bias"});
    l.absorbed[2] = true;
  } else {
    p.bias = element_of(r.stored_input(2));
    p.biases = kernel::Argument::input(2);
    l.inputs[2] = r.rows(2);
  }
}

Answer lower(const Request& r, bool transposed) {
  const Dims x = r.dims(0), w = r.dims(1);
  if (x.rank() > 5) return Refusal{fmt::format("a convolution of {} axes", x.rank() - 2)};
  if (r.empty()) return Refusal{"a tensor without elements"};
  for (int i = 0; i < r.node.own_inputs(); ++i)
    if (r.has(i) && !is_float_element(r.stored_input(i)))
      return Refusal{fmt::format("a convolution of {}", name(r.dtype(i)))};

  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  auto epilogue = epilogue_of(r, true, l.inputs);
  if (auto* why = std::get_if<Refusal>(&epilogue)) return *why;
  const int64_t groups = r.node.i("group"), out = r.out_dims()[1];
  const Weights s{groups, x[1] / groups, out / groups, w.count(2, w.rank()), transposed};
  const auto window = transposed ? ops::transposed_window_of(r.node, spatial_extents(x), spatial_extents(w))
                                 : ops::window_of(r.node, spatial_extents(x), spatial_extents(w));
  const auto axes = spatial_axes(window);
  kernel::DirectConvProblem p{.batch = x[0],
                              .groups = groups,
                              .channels = s.channels,
                              .filters = s.filters,
                              .axes = {axes[0], axes[1], axes[2]},
                              .transposed = transposed,
                              .in_pitch = channel_pitch(x[1]),
                              .out_pitch = channel_pitch(out),
                              .in = element_of(r.stored_input(0)),
                              .out = element_of(r.stored_output()),
                              .inputs = r.node.own_inputs(),
                              .epilogue = std::get<kernel::Epilogue>(epilogue)};
  place_weights(r, s, p, l);
  l.launches = {kernel::direct_conv(p, r.target)};
  l.inputs[0] = r.channels_last(0);
  l.outputs = {r.out_channels_last()};
  l.text = "direct conv " + l.launches[0][0].variant;
  return l;
}

}  // namespace

Answer lower_direct_conv(const Request& r) { return lower(r, false); }
Answer lower_direct_conv_transpose(const Request& r) { return lower(r, true); }

}  // namespace hf::lower

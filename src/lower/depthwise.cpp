// Depthwise convolutions.
#include "kernel/depthwise.h"

#include "lower/spatial.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

// [taps + 1, pitch]: the weights [filters, 1, taps] of each tap and the bias, in float.
std::vector<std::byte> pack(const Tensor& weights, const Tensor* bias, int64_t pitch) {
  ReadAs<float> w(weights);
  const int64_t filters = weights.dims()[0], taps = w.size() / filters;
  std::vector<float> all(static_cast<size_t>((taps + 1) * pitch));
  for (int64_t f = 0; f < filters; ++f)
    for (int64_t t = 0; t < taps; ++t) all[static_cast<size_t>(t * pitch + f)] = w[f * taps + t];
  if (bias) {
    ReadAs<float> b(*bias);
    for (int64_t f = 0; f < filters; ++f) all[static_cast<size_t>(taps * pitch + f)] = b[f];
  }
  return bytes_of(all);
}

}  // namespace

Answer lower_depthwise(const Request& r) {
  const Dims x = r.dims(0), w = r.dims(1);
  const int64_t groups = r.node.i("group");
  if (groups != x[1] || w[1] != 1) return Refusal{"no depthwise convolution"};
  if (x.rank() > 4) return Refusal{fmt::format("a depthwise convolution of {} axes", x.rank() - 2)};
  const Tensor *weights = r.constant(1), *bias = r.constant(2);
  if (!weights || (r.has(2) && !bias)) return Refusal{"the weights are no constants"};
  if (r.empty()) return Refusal{"a tensor without elements"};
  if (!is_float_element(r.stored_input(0)) || !is_float_element(r.stored_output()))
    return Refusal{fmt::format("a convolution of {}", name(r.dtype(0)))};

  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  auto epilogue = epilogue_of(r, true, l.inputs);
  if (auto* why = std::get_if<Refusal>(&epilogue)) return *why;
  const auto axes = spatial_axes(ops::window_of(r.node, spatial_extents(x), spatial_extents(w)));
  kernel::DepthwiseProblem p{.batch = x[0],
                             .channels = x[1],
                             .multiplier = w[0] / x[1],
                             .axes = {axes[1], axes[2]},
                             .in_pitch = channel_pitch(x[1]),
                             .out_pitch = channel_pitch(w[0]),
                             .in = element_of(r.stored_input(0)),
                             .out = element_of(r.stored_output()),
                             .inputs = r.node.own_inputs(),
                             .epilogue = std::get<kernel::Epilogue>(epilogue)};
  l.launches = {kernel::depthwise(p, r.target)};
  l.packings = {{.host = [w = *weights, b = bias ? *bias : Tensor(),
                          pitch = p.out_pitch] { return pack(w, b.defined() ? &b : nullptr, pitch); },
                 .bytes = (axes[1].kernel * axes[2].kernel + 1) * p.out_pitch * 4,
                 .key = fmt::format("depthwise {}", p.out_pitch)}};
  l.inputs[0] = r.channels_last(0);
  l.outputs = {r.out_channels_last()};
  l.absorbed = {false, true, true};
  l.text = "depthwise " + l.launches[0][0].variant;
  return l;
}

}  // namespace hf::lower

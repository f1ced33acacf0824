// Convolutions as implicit matrix products.
#include "kernel/conv.h"

#include <algorithm>

#include "lower/spatial.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

using kernel::ConvProblem;
using kernel::Element;

bool can_pack(const Tensor* t) { return t && is_float_element(t->dtype()); }

// Weights [k, c / groups, taps...] with one or two axes of taps.
kernel::WeightSource source_of(const Tensor& w) {
  const Dims d = w.dims();
  const int64_t columns = d.back(), rows = d.rank() == 4 ? d[2] : 1;
  return {.type = element_of(w.dtype()),
          .k_stride = d[1] * rows * columns,
          .c_stride = rows * columns,
          .r_stride = columns,
          .s_stride = 1};
}

// Extents, taps and so on of the node's first three inputs.
ConvProblem problem_of(const Request& r) {
  const Dims x = r.dims(0), w = r.dims(1);
  const auto axes = spatial_axes(ops::window_of(r.node, spatial_extents(x), spatial_extents(w)));
  const kernel::SpatialAxis &row = axes[1], &column = axes[2];
  return {.n = x[0],
          .h = row.input,
          .w = column.input,
          .c = x[1],
          .pitch = channel_pitch(x[1]),
          .k = w[0],
          .out_pitch = channel_pitch(w[0]),
          .p = row.output,
          .q = column.output,
          .r = row.kernel,
          .s = column.kernel,
          .stride = {row.stride, column.stride},
          .dilation = {row.dilation, column.dilation},
          .pad = {row.begin, column.begin},
          .groups = r.node.i("group"),
          .in = element_of(r.stored_input(0)),
          .out = element_of(r.stored_output())};
}

// Images have few channels: half of a pixel of 8 would be padding. A value that a kernel has written has 8 already.
void narrow(const Request& r, ConvProblem& p) {
  if (p.c > 4 || r.is_channels_last(0)) return;
  if (wants_pairs(p) || p.in == Element::F32) p.pitch = 4;
}

std::optional<Refusal> refused(const Request& r, int x, int w, int b) {
  if (r.dims(x).rank() > 4) return Refusal{fmt::format("a convolution of {} axes", r.dims(x).rank() - 2)};
  if (!is_float_element(r.stored_input(x))) return Refusal{fmt::format("a convolution of {}", name(r.dtype(x)))};
  if (!can_pack(r.constant(w)) || (r.has(b) && !can_pack(r.constant(b))))
    return Refusal{"the weights are no constants"};
  return std::nullopt;
}

// The second input of a ConvShortcut, and where the inputs are.
void add_shortcut(const Request& r, ConvProblem& p, Lowered& l) {
  const Dims x = r.dims(2);
  const std::vector<int64_t> strides = r.node.ints("strides2");
  p.c2 = x[1];
  p.pitch2 = channel_pitch(x[1]);
  p.h2 = x[2], p.w2 = x[3];
  p.stride2[0] = strides[0], p.stride2[1] = strides[1];
  p.second_input = 2;
  l.inputs[2] = device_channels_last(x, r.stored_input(0));
  l.absorbed = {false, true, false, true, true, true};
}

void add_packings(const Request& r, const ConvProblem& p, std::initializer_list<int> biases, Lowered& l) {
  Packing weights;
  weights.inputs = {1};
  if (p.c2) weights.inputs.push_back(3);
  weights.kernel =
      conv_weights(p, r.target, source_of(*r.constant(1)), p.c2 ? source_of(*r.constant(3)) : kernel::WeightSource{}, 1,
                   weights.bytes, weights.key);
  l.packings = {std::move(weights)};
  if (!p.bias) return;
  Packing bias;
  for (int b : biases)
    if (r.has(b)) bias.inputs.push_back(b);
  bias.kernel = conv_bias(p, r.target, element_of(r.dtype(bias.inputs[0])), false, bias.inputs.size() == 2, 1,
                          bias.bytes, bias.key);
  l.packings.push_back(std::move(bias));
}

Answer lower(const Request& r, bool shortcut, std::initializer_list<int> biases) {
  if (r.empty()) return Refusal{"a tensor without elements"};
  if (!is_float_element(r.stored_output())) return Refusal{fmt::format("a result of {}", name(r.stored_output()))};
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  auto epilogue = epilogue_of(r, true, l.inputs);
  if (auto* why = std::get_if<Refusal>(&epilogue)) return *why;
  l.absorbed = {false, true, true};
  ConvProblem p = problem_of(r);
  if (shortcut)
    add_shortcut(r, p, l);
  else
    narrow(r, p);
  p.bias = std::any_of(biases.begin(), biases.end(), [&](int b) { return r.has(b); });
  p.epilogue = std::get<kernel::Epilogue>(std::move(epilogue));
  for (size_t i = 0; i < p.epilogue.operands.size(); ++i)
    p.operand_inputs.push_back(r.node.own_inputs() + static_cast<int>(i));
  l.launches = {kernel::conv(p, r.target)};
  add_packings(r, p, biases, l);
  l.inputs[0] = device_channels_last(r.dims(0), r.stored_input(0), p.pitch);
  l.outputs = {r.out_channels_last()};
  l.text = "conv " + l.launches[0][0].variant;
  return l;
}

}  // namespace

Answer lower_conv(const Request& r) {
  if (auto why = refused(r, 0, 1, 2)) return *why;
  return lower(r, false, {2});
}

Answer lower_conv_shortcut(const Request& r) {
  if (auto why = refused(r, 0, 1, 4)) return *why;
  if (auto why = refused(r, 2, 3, 5)) return *why;
  if (r.has(4) && r.has(5) && r.dtype(4) != r.dtype(5)) return Refusal{"biases of two types"};
  return lower(r, true, {4, 5});
}

}  // namespace hf::lower

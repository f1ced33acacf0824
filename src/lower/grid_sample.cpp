// GridSample.
#include "kernel/grid_sample.h"

#include "lower/spatial.h"
#include "lower/table.h"

namespace hf::lower {

Answer lower_grid_sample(const Request& r) {
  const Dims x = r.dims(0), y = r.out_dims();
  if (x.rank() > 5) return Refusal{fmt::format("sampling a tensor of {} axes", x.rank())};
  if (r.empty()) return Refusal{"a tensor without elements"};
  if (!is_float_element(r.stored_input(0)) || !is_float_element(r.dtype(1)))
    return Refusal{fmt::format("sampling {} at {}", name(r.dtype(0)), name(r.dtype(1)))};
  // Coordinates need more bits than a small float has: they are stored as the model has them where there is a choice.
  const bool placed = r.layouts.size() > 1 && device_layout(r.layouts[1]);
  const DType grid = placed ? r.stored_input(1) : r.dtype(1);

  using P = kernel::GridSampleProblem;
  const std::string &mode = r.node.s("mode"), &padding = r.node.s("padding_mode");
  P p{.mode = mode == "nearest"  ? P::Mode::Nearest
              : mode == "linear" ? P::Mode::Linear
                                 : P::Mode::Cubic,
      .padding = padding == "zeros"    ? P::Padding::Zeros
                 : padding == "border" ? P::Padding::Border
                                       : P::Padding::Reflection,
      .align_corners = r.node.i("align_corners") != 0,
      .batch = x[0],
      .channels = x[1],
      .rank = x.rank() - 2,
      .in = element_of(r.stored_input(0)),
      .grid = element_of(grid),
      .out = element_of(r.stored_output())};
  for (int i = 2; i < x.rank(); ++i) {
    p.input[i + 3 - x.rank()] = x[i];
    p.output[i + 3 - x.rank()] = y[i];
  }
  Lowered l;
  l.launches = {kernel::grid_sample(p, r.target)};
  l.inputs.resize(r.node.inputs().size());
  l.inputs[0] = r.channels_last(0);
  l.inputs[1] = device_rows(r.dims(1), grid);
  l.outputs = {r.out_channels_last()};
  l.text = "grid sample";
  return l;
}

}  // namespace hf::lower

// MaxPool, AveragePool and LpPool.
#include "kernel/pool.h"

#include "lower/spatial.h"
#include "lower/table.h"

namespace hf::lower {

Answer lower_pool(const Request& r) {
  const Dims x = r.dims(0);
  if (x.rank() > 5) return Refusal{fmt::format("a pool of {} axes", x.rank() - 2)};
  if (r.wants(1)) return Refusal{"a maximum pool's indices"};
  if (r.empty()) return Refusal{"a tensor without elements"};
  if (!is_float_element(r.stored_input(0))) return Refusal{fmt::format("a pool of {}", name(r.dtype(0)))};

  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  const bool last = r.is_channels_last(0);
  auto epilogue = epilogue_of(r, last, l.inputs);
  if (auto* why = std::get_if<Refusal>(&epilogue)) return *why;
  const auto axes = spatial_axes(ops::window_of(r.node, spatial_extents(x)));
  using Kind = kernel::PoolProblem::Kind;
  const bool average = r.node.op == "AveragePool", lp = r.node.op == "LpPool";
  kernel::PoolProblem p{.kind = average ? Kind::Average
                                : lp    ? Kind::Lp
                                        : Kind::Max,
                        .p = lp ? r.node.i("p") : 2,
                        .counts_padding = average && r.node.i("count_include_pad") != 0,
                        .batch = x[0],
                        .channels = x[1],
                        .axes = {axes[0], axes[1], axes[2]},
                        .channels_last = last,
                        .in = element_of(r.stored_input(0)),
                        .out = element_of(r.stored_output()),
                        .epilogue = std::get<kernel::Epilogue>(epilogue)};
  if (p.p < 1 || p.p > 64) return Refusal{fmt::format("an Lp pool with p = {}", p.p)};
  l.launches = {kernel::pool(p, r.target)};
  l.inputs[0] = last ? r.channels_last(0) : r.rows(0);
  l.outputs = {last ? r.out_channels_last() : r.out_rows()};
  l.text = "pool " + l.launches[0][0].variant;
  return l;
}

}  // namespace hf::lower

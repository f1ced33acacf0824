// Strided copies between device layouts.
#include "lower/moves.h"

#include <algorithm>

#include "kernel/cells.h"

namespace hf::lower {

Move move_box(const DeviceLayout& from, const DeviceLayout& to, const Dims& extents) {
  std::vector<int64_t> f = strides_of(from), t = strides_of(to);
  Move m;
  for (size_t i = 0; i < t.size(); ++i)
    m.axes.push_back({.extent = extents[static_cast<int>(i)], .from = i < f.size() ? f[i] : 0, .to = t[i]});
  return m;
}

void pad_channels(CopyAxis& channels, const DeviceLayout& to) {
  if (!to.channels_last()) return;
  if (channels.valid < 0) channels.valid = channels.extent;
  channels.extent += to.pitch - to.dims[1];
}

void add_move(Lowered& l, const Move& move, const kernel::Target& target) {
  const DeviceLayout &from = *device_layout(l.inputs[static_cast<size_t>(move.input)]),
                     &to = *device_layout(l.outputs[static_cast<size_t>(move.output)]);
  kernel::CopyProblem p{.axes = move.axes,
                        .in = from.stored,
                        .out = to.stored,
                        .from_offset = move.from_offset,
                        .to_offset = move.to_offset,
                        .fill = move.fill};
  // In the order in which the output lies, so that neighbours are written together.
  std::stable_sort(p.axes.begin(), p.axes.end(), [](const CopyAxis& a, const CopyAxis& b) { return a.to > b.to; });
  kernel::Candidates all = kernel::copy(p, target);
  for (kernel::KernelSpec& spec : all)
    for (kernel::Argument& a : spec.arguments) {
      if (a.kind == kernel::Argument::Kind::Input) a.index = move.input;
      if (a.kind == kernel::Argument::Kind::Output) a.index = move.output;
    }
  l.launches.push_back(std::move(all));
}

bool is_movable(DType dtype) {
  int size = bits(dtype);
  return size == 8 || size == 16 || size == 32 || size == 64;
}

Layout as_it_lies(const Request& r, int i) {
  bool lies = i < static_cast<int>(r.layouts.size()) && device_layout(r.layouts[static_cast<size_t>(i)]);
  return lies ? r.layouts[static_cast<size_t>(i)] : r.rows(i);
}

void leave_out(Lowered& l, const Request& r, int i) {
  if (!r.has(i)) return;
  if (r.constant(i)) {
    l.absorbed.resize(r.node.inputs().size());
    l.absorbed[static_cast<size_t>(i)] = true;
  } else if (i < static_cast<int>(r.layouts.size())) {
    l.inputs[static_cast<size_t>(i)] = r.layouts[static_cast<size_t>(i)];
  }
}

Lowered begin_move(const Request& r, bool may_be_last) {
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  l.inputs[0] = as_it_lies(r, 0);
  for (int i = 1; i < r.node.own_inputs(); ++i) leave_out(l, r, i);
  const DeviceLayout& in = *device_layout(l.inputs[0]);
  for (int k = 0; k < static_cast<int>(r.node.outputs().size()); ++k) {
    if (!r.wants(k)) {
      l.outputs.emplace_back();
      continue;
    }
    Dims dims = r.out_dims(k);
    bool last = may_be_last && in.channels_last() && dims.rank() == in.dims.rank();
    l.outputs.push_back(last ? device_channels_last(dims, in.stored) : device_rows(dims, in.stored));
  }
  l.text = r.node.op;
  return l;
}

std::optional<Refusal> refuse_move(const Request& r) {
  for (int k = 0; k < static_cast<int>(r.node.outputs().size()); ++k)
    if (r.wants(k) && r.out_dims(k).count() == 0) return Refusal{"no elements"};
  if (!is_movable(r.dtype(0))) return Refusal{fmt::format("elements of {}", name(r.dtype(0)))};
  return std::nullopt;
}

}  // namespace hf::lower

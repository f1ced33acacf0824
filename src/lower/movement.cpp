// Operators that are one strided copy, or a few: each input is read as it lies, in either order of its axes.
#include <algorithm>

#include "lower/moves.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

// Both sides' channel axes are whole axes of the box.
bool both_last(const Lowered& l) {
  return device_layout(l.inputs[0])->channels_last() && device_layout(l.outputs[0])->channels_last();
}

}  // namespace

Answer lower_transpose(const Request& r) {
  if (auto refusal = refuse_move(r)) return *refusal;
  Lowered l = begin_move(r, false);
  const DeviceLayout &in = *device_layout(l.inputs[0]), &out = *device_layout(l.outputs[0]);
  std::vector<int64_t> from = strides_of(in), perm = r.node.ints_or_empty("perm");
  if (perm.empty())
    for (int i = in.dims.rank() - 1; i >= 0; --i) perm.push_back(i);
  Move m = move_box(out, out, out.dims);
  for (size_t i = 0; i < perm.size(); ++i)
    m.axes[i].from = from[static_cast<size_t>(normalize_axis(perm[i], in.dims.rank()))];
  add_move(l, m, r.target);
  return l;
}

Answer lower_slice(const Request& r) {
  if (auto refusal = refuse_move(r)) return *refusal;
  auto starts = r.constant_ints(1), axes = r.constant_ints(3), steps = r.constant_ints(4);
  if (!starts || (r.has(3) && !axes) || (r.has(4) && !steps)) return Refusal{"bounds that are computed"};
  Lowered l = begin_move(r);
  const DeviceLayout &in = *device_layout(l.inputs[0]), &out = *device_layout(l.outputs[0]);
  Move m = move_box(in, out, out.dims);
  for (size_t i = 0; i < starts->size(); ++i) {
    const int axis = axes ? normalize_axis((*axes)[i], in.dims.rank()) : static_cast<int>(i);
    const int64_t step = steps ? (*steps)[i] : 1, extent = in.dims[axis], given = (*starts)[i];
    const int64_t start = std::clamp<int64_t>(given < 0 ? given + extent : given, 0, step > 0 ? extent : extent - 1);
    CopyAxis& a = m.axes[static_cast<size_t>(axis)];
    m.from_offset += start * a.from;
    if (a.extent > 1) a.from *= step;  // |step| < the extent
  }
  if (out.channels_last()) pad_channels(m.axes[1], out);
  add_move(l, m, r.target);
  return l;
}

Answer lower_split(const Request& r) {
  if (!is_movable(r.dtype(0))) return Refusal{fmt::format("elements of {}", name(r.dtype(0)))};
  auto sizes = r.constant_ints(1);
  Lowered l = begin_move(r);
  const DeviceLayout& in = *device_layout(l.inputs[0]);
  const int axis = normalize_axis(r.node.i("axis"), in.dims.rank());
  int64_t at = 0;
  for (int k = 0; k < static_cast<int>(r.node.outputs().size()); ++k) {
    if (!r.wants(k)) {
      if (!sizes) return Refusal{"an output is not wanted"};
      at += (*sizes)[static_cast<size_t>(k)];
      continue;
    }
    const DeviceLayout& out = *device_layout(l.outputs[static_cast<size_t>(k)]);
    if (out.dims.count() == 0) return Refusal{"no elements"};
    Move m = move_box(in, out, out.dims);
    m.output = k;
    m.from_offset = at * m.axes[static_cast<size_t>(axis)].from;
    if (out.channels_last()) pad_channels(m.axes[1], out);
    add_move(l, m, r.target);
    at += out.dims[axis];
  }
  return l;
}

Answer lower_concat(const Request& r) {
  if (r.out_dims().count() == 0) return Refusal{"no elements"};
  const int rank = r.out_dims().rank(), axis = normalize_axis(r.node.i("axis"), rank);
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  bool last = false;
  DType stored = r.stored_input(0);
  for (int i = 0; i < r.node.own_inputs(); ++i) {
    if (!is_movable(r.dtype(i))) return Refusal{fmt::format("elements of {}", name(r.dtype(i)))};
    l.inputs[static_cast<size_t>(i)] = as_it_lies(r, i);
    last |= r.is_channels_last(i);
    if (r.stored_input(i) != stored) stored = r.stored_output();
  }
  l.outputs = {last ? device_channels_last(r.out_dims(), stored) : device_rows(r.out_dims(), stored)};
  const DeviceLayout& out = *device_layout(l.outputs[0]);
  int64_t at = 0;
  for (int i = 0; i < r.node.own_inputs(); ++i) {
    const DeviceLayout& in = *device_layout(l.inputs[static_cast<size_t>(i)]);
    if (in.dims.count() == 0) continue;
    Move m = move_box(in, out, in.dims);
    m.input = i;
    m.to_offset = at * m.axes[static_cast<size_t>(axis)].to;
    at += in.dims[axis];
    if (out.channels_last() && (axis != 1 || at == out.dims[1])) pad_channels(m.axes[1], out);
    add_move(l, m, r.target);
  }
  l.text = fmt::format("Concat of {}", l.launches.size());
  return l;
}

Answer lower_expand(const Request& r) {
  if (auto refusal = refuse_move(r)) return *refusal;
  Lowered l = begin_move(r);
  const DeviceLayout &in = *device_layout(l.inputs[0]), &out = *device_layout(l.outputs[0]);
  std::vector<int64_t> from = strides_of(in);
  const size_t missing = static_cast<size_t>(out.dims.rank() - in.dims.rank());
  Move m = move_box(out, out, out.dims);
  for (size_t i = 0; i < m.axes.size(); ++i)
    m.axes[i].from = i < missing || in.dims[static_cast<int>(i - missing)] == 1 ? 0 : from[i - missing];
  if (out.channels_last()) pad_channels(m.axes[1], out);
  add_move(l, m, r.target);
  return l;
}

Answer lower_tile(const Request& r) {
  if (auto refusal = refuse_move(r)) return *refusal;
  // Repeated channels would be padded in the middle.
  const bool channels = r.dims(0).rank() > 1 && r.out_dims()[1] != r.dims(0)[1];
  Lowered l = begin_move(r, !channels);
  const DeviceLayout &in = *device_layout(l.inputs[0]), &out = *device_layout(l.outputs[0]);
  Move m = move_box(in, out, in.dims);
  if (both_last(l)) pad_channels(m.axes[1], out);
  for (int i = 0; i < in.dims.rank(); ++i)
    m.axes.push_back({.extent = out.dims[i] / in.dims[i], .to = in.dims[i] * m.axes[static_cast<size_t>(i)].to});
  add_move(l, m, r.target);
  return l;
}

// Axes: batch, channel, row, row in the block, column, column in the block. `deep` has more channels; there the blocks
// come before (DCR) or after (CRD) the channel.
Answer lower_depth_space(const Request& r) {
  if (auto refusal = refuse_move(r)) return *refusal;
  const bool to_space = r.node.op == "DepthToSpace";
  Lowered l = begin_move(r);
  const DeviceLayout &in = *device_layout(l.inputs[0]), &out = *device_layout(l.outputs[0]);
  const DeviceLayout &deep = to_space ? in : out, &wide = to_space ? out : in;
  const int64_t b = r.node.i("blocksize"), channels = wide.dims[1];
  const bool blocks_first = r.node.s("mode") == "DCR";
  std::vector<int64_t> d = strides_of(deep), w = strides_of(wide);
  const int64_t channel = blocks_first ? d[1] : d[1] * b * b, block = blocks_first ? d[1] * channels : d[1];
  const int64_t extent[] = {deep.dims[0], channels, deep.dims[2], b, deep.dims[3], b};
  const int64_t in_deep[] = {d[0], channel, d[2], block * b, d[3], block};
  const int64_t in_wide[] = {w[0], w[1], w[2] * b, w[2], w[3] * b, w[3]};
  Move m;
  for (int i = 0; i < 6; ++i)
    m.axes.push_back(
        {.extent = extent[i], .from = to_space ? in_deep[i] : in_wide[i], .to = to_space ? in_wide[i] : in_deep[i]});
  if (to_space) {
    pad_channels(m.axes[1], out);
  } else if (out.channels_last() && out.pitch != out.dims[1]) {
    return Refusal{"blocks in channels with padding"};
  }
  add_move(l, m, r.target);
  return l;
}

}  // namespace hf::lower

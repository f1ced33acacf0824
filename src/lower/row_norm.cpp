// Normalisations whose rows are contiguous.
#include "kernel/row_norm.h"

#include "kernel/channel_norm.h"
#include "lower/renumber.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

using kernel::RowNorm;
using kernel::RowNormProblem;

std::optional<Refusal> refused(const Request& r) {
  if (auto refusal = refused_size(r)) return *refusal;
  for (int i = 0; i < r.node.own_inputs(); ++i)
    if (r.has(i) && !is_float_element(r.stored_input(i)))
      return Refusal{fmt::format("input {} is {}", i, name(r.stored_input(i)))};
  if (!is_float_element(r.stored_output())) return Refusal{fmt::format("the result is {}", name(r.stored_output()))};
  return std::nullopt;
}

RowNormProblem problem(const Request& r, RowNorm kind, float epsilon, int64_t cols) {
  RowNormProblem p{.rows = r.dims(0).count() / cols, .cols = cols, .kind = kind, .epsilon = epsilon};
  p.in = element_of(r.stored_input(0));
  p.out = element_of(r.stored_output());
  p.scale = r.has(1), p.bias = r.has(2);
  if (p.scale) p.scale_type = element_of(r.stored_input(1));
  if (p.bias) p.bias_type = element_of(r.stored_input(2));
  return p;
}

// Row-major unless `pitch`, which is that of a channels-last input normalised over its channels.
Answer lower(const Request& r, RowNormProblem p) {
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  auto epilogue = epilogue_of(r, false, l.inputs);
  if (auto* refusal = std::get_if<Refusal>(&epilogue)) return *refusal;
  p.epilogue = std::get<kernel::Epilogue>(std::move(epilogue));
  std::vector<int> own = {0}, outputs = {0};
  for (int i : {1, 2})
    if (i == 1 ? p.scale : p.bias) own.push_back(i), l.inputs[static_cast<size_t>(i)] = r.rows(i);
  if (p.mean) outputs.push_back(1);
  if (p.inverse) outputs.push_back(2);
  l.inputs[0] = p.pitch ? device_channels_last(r.dims(0), r.stored_input(0), p.pitch) : r.rows(0);
  l.outputs = {p.pitch ? device_channels_last(r.out_dims(), r.stored_output(), p.pitch) : r.out_rows()};
  l.outputs.resize(r.node.outputs().size());
  for (int o : {1, 2})
    if (r.wants(o)) l.outputs[static_cast<size_t>(o)] = device_rows(r.out_dims(o), DType::F32);
  l.launches = kernel::row_norm_split(p, r.target);
  if (l.launches.empty()) l.launches = {kernel::row_norm(p, r.target)};
  renumber(l.launches, with_operands(r, std::move(own)), outputs);
  if (p.in == p.out) l.in_place = {0};
  l.text =
      fmt::format("row norm {}, {} of {}", l.launches.size() > 1 ? "split" : l.launches[0][0].variant, p.rows, p.cols);
  return l;
}

Answer lower_layer(const Request& r, RowNorm kind) {
  if (auto refusal = refused(r)) return *refusal;
  const Dims d = r.dims(0);
  const int axis = normalize_axis(r.node.i("axis"), d.rank());
  const int64_t cols = d.count(axis, d.rank());
  RowNormProblem p = problem(r, kind, r.node.f("epsilon"), cols);
  for (int i : {1, 2}) {
    if (!r.has(i)) continue;
    const int64_t run = r.dims(i).count() == cols ? 1 : cols;
    if (run > 1 && r.dims(i).count() != 1)
      return Refusal{fmt::format("input {} {} is repeated over rows of {}", i, r.dims(i).text(), d.text())};
    if (i == 2 && run != p.parameter_run) return Refusal{"scale and bias differ in shape"};
    p.parameter_run = run;
  }
  for (int o : {1, 2})
    if (r.wants(o) && r.node.output(o)->dtype != DType::F32)
      return Refusal{fmt::format("output {} is {}", o, name(r.node.output(o)->dtype))};
  p.mean = r.wants(1), p.inverse = r.wants(2);
  if (r.node.epilogue && cols != d.back()) return Refusal{"an epilogue on rows of several axes"};
  return lower(r, std::move(p));
}

}  // namespace

Answer lower_layer_norm(const Request& r) { return lower_layer(r, RowNorm::Layer); }
Answer lower_rms_norm(const Request& r) { return lower_layer(r, RowNorm::Rms); }

namespace {

// InstanceNormalization has a group for each channel. An old GroupNormalization has a scale for each group.
struct Groups {
  int64_t count, channels, inner;
  bool scale_by_group;
};

std::variant<Groups, Refusal> groups_of(const Request& r) {
  if (auto refusal = refused(r)) return *refusal;
  const Dims d = r.dims(0);
  const Groups g{.count = r.node.has("num_groups") ? r.node.i("num_groups") : d[1],
                 .channels = d[1],
                 .inner = d.count(2, d.rank()),
                 .scale_by_group = r.node.has("scale_by_group")};
  for (int i : {1, 2})
    if (r.dims(i).count() != (g.scale_by_group ? g.count : g.channels))
      return Refusal{fmt::format("input {} has {} elements", i, r.dims(i).count())};
  return g;
}

}  // namespace

Answer lower_group_norm_channels(const Request& r) {
  if (!r.is_channels_last(0)) return Refusal{"the input is row-major"};
  auto found = groups_of(r);
  if (auto* refusal = std::get_if<Refusal>(&found)) return *refusal;
  const Groups& g = std::get<Groups>(found);
  if (g.channels > kernel::ChannelNormProblem::kMostChannels) return Refusal{fmt::format("{} channels", g.channels)};
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  auto epilogue = epilogue_of(r, true, l.inputs);
  if (auto* refusal = std::get_if<Refusal>(&epilogue)) return *refusal;
  const DeviceLayout& now = *device_layout(r.layouts[0]);
  const kernel::ChannelNormProblem p{.images = now.dims[0],
                                     .positions = g.inner,
                                     .channels = g.channels,
                                     .pitch = now.pitch,
                                     .groups = g.count,
                                     .epsilon = r.node.f("epsilon"),
                                     .in = element_of(now.stored),
                                     .out = element_of(r.stored_output()),
                                     .scale_type = element_of(r.stored_input(1)),
                                     .bias_type = element_of(r.stored_input(2)),
                                     .parameter_run = g.scale_by_group ? g.channels / g.count : 1,
                                     .epilogue = std::get<kernel::Epilogue>(std::move(epilogue))};
  l.inputs[0] = device_channels_last(now.dims, now.stored, now.pitch);
  for (int i : {1, 2}) l.inputs[static_cast<size_t>(i)] = r.rows(i);
  l.outputs = {device_channels_last(now.dims, r.stored_output(), now.pitch)};
  l.launches = kernel::channel_norm(p, r.target);
  if (p.in == p.out) l.in_place = {0};
  l.text = fmt::format("channel norm, {} groups", g.count);
  return l;
}

Answer lower_group_norm_rows(const Request& r) {
  auto found = groups_of(r);
  if (auto* refusal = std::get_if<Refusal>(&found)) return *refusal;
  if (r.node.epilogue) return Refusal{"an epilogue on rows of several axes"};
  const auto [groups, channels, inner, by_group] = std::get<Groups>(found);
  RowNormProblem p = problem(r, RowNorm::Layer, r.node.f("epsilon"), channels / groups * inner);
  p.parameter_rows = groups;
  p.parameter_run = by_group ? p.cols : inner;
  return lower(r, std::move(p));
}

namespace {

// Over one axis: of channels-last data the channels, of row-major data any.
Answer lower_axis(const Request& r, RowNorm kind, float epsilon, int axis) {
  const Dims d = r.dims(0);
  const int64_t inner = d.count(axis + 1, d.rank());
  RowNormProblem p = problem(r, kind, epsilon, d[axis]);
  if (axis == 1 && r.is_channels_last(0)) {
    p.pitch = device_layout(r.layouts[0])->pitch;
    return lower(r, std::move(p));
  }
  if (inner == 1) return lower(r, std::move(p));
  p.rows = d.count(0, axis);
  Lowered l;
  l.inputs = {r.rows(0)};
  l.outputs = {r.out_rows()};
  l.launches = {kernel::row_norm_columns(p, inner)};
  if (p.in == p.out) l.in_place = {0};
  l.text = fmt::format("row norm columns, {} of {}", p.rows * inner, p.cols);
  return l;
}

}  // namespace

Answer lower_lp_norm(const Request& r) {
  if (auto refusal = refused(r)) return *refusal;
  const int axis = normalize_axis(r.node.i("axis"), r.dims(0).rank());
  return lower_axis(r, r.node.i("p") == 1 ? RowNorm::L1 : RowNorm::L2, 0, axis);
}

Answer lower_mean_variance(const Request& r) {
  if (auto refusal = refused(r)) return *refusal;
  const Dims d = r.dims(0);
  std::vector<bool> over(static_cast<size_t>(d.rank()));
  for (int64_t a : r.node.has("axes") ? r.node.ints("axes") : std::vector<int64_t>{0, 2, 3})
    over[static_cast<size_t>(normalize_axis(a, d.rank()))] = true;
  // The axes of more than one element among them are to be neighbours.
  int first = -1, last = -1;
  int64_t cols = 1;
  for (int i = 0; i < d.rank(); ++i) {
    if (!over[static_cast<size_t>(i)] || d[i] == 1) continue;
    if (first >= 0 && d.count(last + 1, i) != 1) return Refusal{"the axes are no neighbours"};
    if (first < 0) first = i;
    last = i;
    cols *= d[i];
  }
  constexpr float kEpsilon = 1e-9f;
  if (first >= 0 && first == last) return lower_axis(r, RowNorm::Deviation, kEpsilon, first);
  if (first >= 0 && d.count(last + 1, d.rank()) != 1) return Refusal{"the axes are not the last ones"};
  return lower(r, problem(r, RowNorm::Deviation, kEpsilon, cols));
}

}  // namespace hf::lower

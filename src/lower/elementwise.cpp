// Elementwise work as launches: strides of values that are broadcast.
#include "lower/elementwise.h"

#include "kernel/cells.h"

namespace hf::lower {
namespace {

constexpr int64_t kSmall = 1 << 16;  // elements of a constant that is worth keeping exact

// The value varies along channels and positions both, so that their order matters.
bool is_ordered(const Dims& dims) { return dims.rank() > 2 && dims[1] > 1 && dims.count(2, dims.rank()) > 1; }

// Strides along the axes of the result; 0 where the value is repeated. None where its extents do not fit.
std::optional<std::vector<int64_t>> broadcast_strides(const DeviceLayout& l, const Dims& to) {
  std::vector<int64_t> own = strides_of(l), out(static_cast<size_t>(to.rank()));
  if (l.dims.count() == 1) return out;
  int missing = to.rank() - l.dims.rank();
  if (missing < 0) return std::nullopt;
  for (int i = 0; i < l.dims.rank(); ++i) {
    if (l.dims[i] == 1) continue;
    if (l.dims[i] != to[i + missing]) return std::nullopt;
    out[static_cast<size_t>(i + missing)] = own[static_cast<size_t>(i)];
  }
  return out;
}

// Channels come last.
template <class T>
void to_order(std::vector<T>& axes, bool channels_last) {
  if (!channels_last) return;
  axes.push_back(axes[1]);
  axes.erase(axes.begin() + 1);
}

}  // namespace

std::vector<int64_t> strides_of(const DeviceLayout& l) {
  Dims rows = l.dims.strides();
  std::vector<int64_t> s(rows.begin(), rows.end());
  if (!l.channels_last()) return s;
  int64_t stride = l.pitch;
  for (int i = l.dims.rank() - 1; i >= 2; --i) {
    s[static_cast<size_t>(i)] = stride;
    stride *= l.dims[i];
  }
  s[0] = stride;
  s[1] = 1;
  return s;
}

std::variant<kernel::Candidates, Refusal> pointwise_launch(const kernel::Expression& expression,
                                                           const std::vector<Source>& sources, const Layout& to,
                                                           kernel::Argument at, const kernel::Target& target) {
  const DeviceLayout& out = *device_layout(to);
  if (!kernel::has_cell(out.stored)) return Refusal{fmt::format("the result is {}", name(out.stored))};
  kernel::PointwiseProblem p{
      .extents = {out.dims.begin(), out.dims.end()}, .out = out.stored, .expression = expression};
  to_order(p.extents, out.channels_last());
  if (out.channels_last()) p.extents.back() = out.pitch, p.valid = out.dims[1];
  for (size_t i = 0; i < sources.size(); ++i) {
    const DeviceLayout& l = *device_layout(sources[i].layout);
    if (!kernel::has_cell(l.stored)) return Refusal{fmt::format("input {} is {}", i, name(l.stored))};
    auto strides = broadcast_strides(l, out.dims);
    if (!strides) return Refusal{fmt::format("{} does not broadcast to {}", l.dims.text(), out.dims.text())};
    to_order(*strides, out.channels_last());
    p.inputs.push_back({l.stored, std::move(*strides), l.channels_last() && l.pitch >= out.pitch});
  }
  kernel::Candidates all = kernel::pointwise(p, target);
  for (kernel::KernelSpec& spec : all)
    for (kernel::Argument& a : spec.arguments) {
      if (a.kind == kernel::Argument::Kind::Input)
        a = sources[static_cast<size_t>(a.index)].at;
      else if (a.kind == kernel::Argument::Kind::Output)
        a = at;
    }
  return all;
}

Layout operand_layout(const Request& r, int i, const Layout& to) {
  Dims dims = r.dims(i);
  DType stored = r.stored_input(i);
  if (r.constant(i) && is_float_element(r.dtype(i)) && dims.count() <= kSmall) stored = DType::F32;
  bool lies = i < static_cast<int>(r.layouts.size()) && device_layout(r.layouts[static_cast<size_t>(i)]);
  bool wanted = device_layout(to)->channels_last() && dims.rank() == device_layout(to)->dims.rank();
  if (lies && (r.is_channels_last(i) == wanted || !is_ordered(dims))) return r.layouts[static_cast<size_t>(i)];
  return wanted && is_ordered(dims) ? device_channels_last(dims, stored) : device_rows(dims, stored);
}

Layout result_layout(const Request& r, std::span<const int> inputs) {
  for (int i : inputs)
    if (r.is_channels_last(i) && r.dims(i) == r.out_dims())
      return device_channels_last(r.out_dims(), r.stored_output(),
                                  device_layout(r.layouts[static_cast<size_t>(i)])->pitch);
  return r.out_rows();
}

std::string steps_text(const ir::Program& program) {
  std::string text;
  for (const ir::Step& s : program.steps) text += (text.empty() ? "" : " + ") + s.op;
  return text;
}

}  // namespace hf::lower

// Resize; Upsample is an older name of it, which the loader rewrites.
#include "kernel/resize.h"

#include <algorithm>
#include <functional>

#include "lower/renumber.h"
#include "lower/spatial.h"
#include "lower/table.h"
#include "ops/resize.h"

namespace hf::lower {
namespace {

// As many taps for every output as the one with most has; those that are added weigh nothing.
kernel::ResizeTable table_of(const ops::ResizeTaps& taps, int64_t input) {
  kernel::ResizeTable t{.input = input, .output = taps.size(), .taps = 1, .index = {}, .weight = {}};
  for (int64_t o = 0; o < t.output; ++o) {
    const auto at = static_cast<size_t>(o);
    t.taps = std::max(t.taps, taps.first[at + 1] - taps.first[at]);
  }
  Dims{t.output, t.taps}.count();
  for (size_t o = 0; o < static_cast<size_t>(t.output); ++o) {
    const int64_t count = taps.first[o + 1] - taps.first[o];
    for (int64_t i = 0; i < t.taps; ++i) {
      const auto from = static_cast<size_t>(taps.first[o] + std::min(i, std::max<int64_t>(count - 1, 0)));
      t.index.push_back(taps.outside[o] ? -1 : count ? static_cast<int32_t>(taps.index[from]) : 0);
      t.weight.push_back(i < count ? static_cast<float>(taps.weight[from]) : 0.f);
    }
  }
  return t;
}

template <class T>
Packing table_packing(std::vector<T> values) {
  std::vector<std::byte> bytes = bytes_of(values);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto size = static_cast<int64_t>(bytes.size());
  std::string key = fmt::format("resize {} {:x}", size, std::hash<std::string_view>()(text));
  return {.host = [bytes = std::move(bytes)] { return bytes; }, .bytes = size, .key = std::move(key)};
}

}  // namespace

Answer lower_resize(const Request& r) {
  const Dims x = r.dims(0);
  if (x.rank() < 3 || x.rank() > 5) return Refusal{fmt::format("resizing a tensor of {} axes", x.rank())};
  if (r.empty()) return Refusal{"a tensor without elements"};
  if (!is_float_element(r.stored_input(0))) return Refusal{fmt::format("resizing {}", name(r.dtype(0)))};
  for (int i = 1; i < r.node.own_inputs(); ++i)
    if (r.has(i) && !r.constant(i)) return Refusal{"scales or sizes are no constants"};

  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  const bool last = r.is_channels_last(0);
  auto epilogue = epilogue_of(r, last, l.inputs);
  if (auto* why = std::get_if<Refusal>(&epilogue)) return *why;
  const auto axes = ops::resize_axes(r.node, x, r.constant(1), r.constant(2), r.constant(3));
  if (!axes[0].same() || !axes[1].same()) return Refusal{"resizing batch or channels"};
  kernel::ResizeProblem p{.batch = x[0],
                          .channels = x[1],
                          .filler = r.node.f("extrapolation_value"),
                          .channels_last = last,
                          .in = element_of(r.stored_input(0)),
                          .out = element_of(r.stored_output()),
                          .epilogue = std::get<kernel::Epilogue>(epilogue)};
  for (int i = 2; i < x.rank(); ++i)
    p.axes[i + 3 - x.rank()] = table_of(ops::resize_taps(r.node, axes[static_cast<size_t>(i)]), x[i]);
  l.launches = {kernel::resize(p, r.target)};
  renumber(l.launches, with_operands(r, {0}));
  l.packings.push_back(table_packing(kernel::resize_indices(p)));
  l.packings.push_back(table_packing(kernel::resize_weights(p)));
  l.inputs[0] = last ? r.channels_last(0) : r.rows(0);
  l.outputs = {last ? r.out_channels_last() : r.out_rows()};
  l.absorbed = {false, true, true, true};
  l.text = "resize " + l.launches[0][0].variant;
  return l;
}

}  // namespace hf::lower

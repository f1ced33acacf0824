// Pad and CenterCropPad: one copy whose axes go beyond the input.
#include <algorithm>
#include <cstring>

#include "lower/moves.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

using Beyond = CopyAxis::Beyond;

struct Mode {
  std::string_view name;
  Beyond beyond;
};
constexpr Mode kModes[] = {
    {"constant", Beyond::Fill}, {"edge", Beyond::Edge}, {"reflect", Beyond::Reflect}, {"wrap", Beyond::Wrap}};

// The filling as stored: the bits of one element.
uint64_t fill_bits(const Tensor& value, DType stored) {
  Tensor one(stored, {});
  const double number = to_number(value);
  write_elements(&number, one);
  uint64_t bytes = 0;
  std::memcpy(&bytes, one.raw(), static_cast<size_t>(bits(stored)) / 8);
  return bytes;
}

// What of an axis stays when negative pads crop it, and where it begins in the output.
void pad_axis(Move& m, CopyAxis& a, int64_t extent, int64_t begin, int64_t end, Beyond beyond) {
  const int64_t first = std::min(std::max<int64_t>(-begin, 0), extent);
  const int64_t last = std::max(extent - std::max<int64_t>(-end, 0), first);
  m.from_offset += first * a.from;
  a.begin = std::max<int64_t>(begin, 0);
  a.valid = last - first;
  a.beyond = beyond;
}

Answer lower(const Request& r, const std::vector<int64_t>& begins, const std::vector<int64_t>& ends, Beyond beyond,
             const Tensor* value) {
  const bool channels = r.dims(0).rank() > 1 && (begins[1] || ends[1] || (value && to_number(*value) != 0));
  Lowered l = begin_move(r, !channels);
  const DeviceLayout &in = *device_layout(l.inputs[0]), &out = *device_layout(l.outputs[0]);
  Move m = move_box(in, out, out.dims);
  if (value) m.fill = fill_bits(*value, in.stored);
  for (int i = 0; i < in.dims.rank(); ++i) {
    auto k = static_cast<size_t>(i);
    pad_axis(m, m.axes[k], in.dims[i], begins[k], ends[k], beyond);
    if (beyond != Beyond::Fill && m.axes[k].valid == 0) return Refusal{"nothing is left to continue"};
    if (beyond != Beyond::Fill && begins[k] <= 0 && ends[k] <= 0) m.axes[k].beyond = Beyond::Fill;
  }
  if (out.channels_last()) pad_channels(m.axes[1], out);
  add_move(l, m, r.target);
  return l;
}

}  // namespace

Answer lower_pad(const Request& r) {
  if (auto refusal = refuse_move(r)) return *refusal;
  auto pads = r.constant_ints(1), on = r.constant_ints(3);
  if (!pads || (r.has(3) && !on)) return Refusal{"pads that are computed"};
  const Tensor* value = r.constant(2);
  if (r.has(2) && !value) return Refusal{"a filling that is computed"};
  const auto* mode =
      std::find_if(std::begin(kModes), std::end(kModes), [&](const Mode& m) { return m.name == r.node.s("mode"); });
  if (mode == std::end(kModes)) return Refusal{"mode " + r.node.s("mode")};
  const auto rank = static_cast<size_t>(r.dims(0).rank());
  std::vector<int64_t> begins(rank), ends(rank);
  const size_t count = pads->size() / 2;
  for (size_t i = 0; i < count; ++i) {
    size_t axis = on ? static_cast<size_t>(normalize_axis((*on)[i], static_cast<int>(rank))) : i;
    begins[axis] = (*pads)[i];
    ends[axis] = (*pads)[count + i];
  }
  return lower(r, begins, ends, mode->beyond, mode->beyond == Beyond::Fill ? value : nullptr);
}

// Half of the difference in front, rounded down; the rest behind.
Answer lower_center_crop_pad(const Request& r) {
  if (auto refusal = refuse_move(r)) return *refusal;
  std::vector<int64_t> begins, ends;
  for (int i = 0; i < r.dims(0).rank(); ++i) {
    const int64_t more = r.out_dims()[i] - r.dims(0)[i];
    begins.push_back(more / 2);
    ends.push_back(more - more / 2);
  }
  return lower(r, begins, ends, Beyond::Fill, nullptr);
}

}  // namespace hf::lower

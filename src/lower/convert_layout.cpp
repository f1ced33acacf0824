// Values from one device layout to another.
#include "kernel/cells.h"
#include "kernel/copy.h"
#include "lower/lowering.h"

namespace hf::lower {
namespace {

// Elements from one position to the next along images, channels and positions of an image.
struct Strides {
  int64_t image, channel, position;
};

Strides strides(const DeviceLayout& l) {
  int64_t positions = l.dims.count(2, l.dims.rank());
  if (l.channels_last()) return {positions * l.pitch, 1, l.pitch};
  return {positions * l.dims[1], positions, 1};
}

}  // namespace

kernel::Candidates convert_layout(const DeviceLayout& from, const DeviceLayout& to, const kernel::Target& target) {
  check(from.dims == to.dims, "a value keeps its extents in another layout");
  int size = bits(from.stored);
  bool moved = from.stored == to.stored ? size == 8 || size == 16 || size == 32 || size == 64
                                        : kernel::has_cell(from.stored) && kernel::has_cell(to.stored);
  if (!moved) fail(Code::Unsupported, "{} to {} on the device", name(from.stored), name(to.stored));
  kernel::CopyProblem p{.in = from.stored, .out = to.stored};
  if ((!from.channels_last() && !to.channels_last()) || !from.dims.count()) {
    p.axes = {{.extent = from.dims.count(), .from = 1, .to = 1}};
    return kernel::copy(p, target);
  }
  Strides f = strides(from), t = strides(to);
  kernel::CopyAxis channels{.extent = from.dims[1], .from = f.channel, .to = t.channel};
  kernel::CopyAxis positions{.extent = from.dims.count(2, from.dims.rank()), .from = f.position, .to = t.position};
  p.axes = {{.extent = from.dims[0], .from = f.image, .to = t.image}, channels, positions};
  if (to.channels_last()) {
    p.axes[1] = positions;
    p.axes[2] = channels;
    p.axes[2].valid = channels.extent;
    p.axes[2].extent = to.pitch;
  }
  return kernel::copy(p, target);
}

}  // namespace hf::lower

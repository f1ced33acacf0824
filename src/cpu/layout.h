// Layouts that oneDNN chooses (nhwc, nChw16c, ...), and what our own kernels need to know of them.
#pragma once
#include <vector>

#include "cpu/dnnl_compat.h"
#include "plan/backend.h"

namespace hf::cpu {

using compat::memory;
using plan::Layout;

/// The layout that a descriptor means; plain if its bytes lie as a plain tensor's do. Float32 only.
Layout layout_of(const memory::desc& md);
/// The descriptor of a float32 value of these extents in this layout.
memory::desc desc_of(const Layout& layout, const Dims& dims);
memory::desc plain_desc(const Dims& dims);
/// Any layout, for oneDNN to choose.
memory::desc any_desc(const Dims& dims);
memory::dims to_dims(const Dims& dims);

/// One loop over the elements of a value: `extent` steps along a logical axis, each `step` indices of it.
struct PhysicalAxis {
  int axis;
  int64_t extent, step;
};
/// The loops that walk a value's bytes in order, outermost first, without those of extent 1. Empty `ok` where it is
/// padded or has gaps, so that no loop nest covers just the elements.
struct Walk {
  bool ok = false;
  std::vector<PhysicalAxis> axes;
};
Walk walk_of(const Layout& layout, const Dims& dims);

/// The axes of more than one element, from the outermost in memory to the innermost; none if the value is blocked,
/// padded or has gaps. Plain: ascending.
using Order = std::vector<int>;
std::optional<Order> order_of(const Layout& layout, const Dims& dims);
/// The layout in which a value's axes lie in this order; axes that it leaves out have one element.
Layout ordered_layout(const Order& order, const Dims& dims);

}  // namespace hf::cpu

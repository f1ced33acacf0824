// Data movement as strided copies between device layouts, for lowerings that launch them.
#pragma once
#include "kernel/copy.h"
#include "lower/elementwise.h"
#include "lower/lowering.h"

namespace hf::lower {

using kernel::CopyAxis;

/// Part of an output that is copied from one input. Axes in any order, each with its strides in both layouts.
struct Move {
  int input = 0, output = 0;
  std::vector<CopyAxis> axes;
  int64_t from_offset = 0, to_offset = 0;
  uint64_t fill = 0;
};

/// One copy: the box of `extents` at the origin of `from` to the origin of `to`, an axis a dimension.
Move move_box(const DeviceLayout& from, const DeviceLayout& to, const Dims& extents);
/// Makes the axis, whose box ends with the last channel, write the zeros between C and the pitch too.
void pad_channels(CopyAxis& channels, const DeviceLayout& to);
/// The launch of a copy from l.inputs[input] to l.outputs[output], which must be set.
void add_move(Lowered& l, const Move& move, const kernel::Target& target);

/// Kernels move elements of 1, 2, 4 or 8 bytes.
bool is_movable(DType dtype);
/// Sets how input 0 lies as it does now, and the outputs' layouts alike: channels last where `may_be_last`, input 0
/// lies so and the ranks are one; else rows. Other inputs, which no kernel reads, stay where they are.
Lowered begin_move(const Request& r, bool may_be_last = true);
/// Why nothing can be moved: a type, no elements.
std::optional<Refusal> refuse_move(const Request& r);
/// Input i as it lies now if that is on the device, else rows.
Layout as_it_lies(const Request& r, int i);
/// Input i is not read at run time.
void leave_out(Lowered& l, const Request& r, int i);

}  // namespace hf::lower

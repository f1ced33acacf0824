// ScatterElements and ScatterND: a copy of the data, then the updates.
#include "kernel/scatter.h"

#include <algorithm>
#include <array>

#include "kernel/cells.h"
#include "lower/moves.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

using kernel::ScatterReduction;

constexpr std::array<std::string_view, 5> kReductions = {"none", "add", "mul", "min", "max"};

ScatterReduction reduction_of(const ir::Node& n) {
  auto at = std::find(kReductions.begin(), kReductions.end(), n.s("reduction"));
  check(at != kReductions.end(), "infer checked the reduction");
  return static_cast<ScatterReduction>(at - kReductions.begin());
}

std::optional<Refusal> refused(const Request& r, int64_t in_order) {
  if (r.empty()) return Refusal{"no elements"};
  if (r.dtype(1) != DType::I64 && r.dtype(1) != DType::I32) return Refusal{"indices that are no integers"};
  const bool plain = reduction_of(r.node) == ScatterReduction::None;
  if (!plain && in_order > kernel::kMostInOrder) return Refusal{"too many updates to bring in in order"};
  const bool cells = kernel::has_cell(r.stored_input(0)) && kernel::has_cell(r.stored_input(2));
  if (!cells && !(plain && is_movable(r.stored_input(0))))
    return Refusal{fmt::format("elements of {}", name(r.dtype(0)))};
  return std::nullopt;
}

// The data first, as it is stored; then the updates into it.
Lowered launches(const Request& r, kernel::Candidates updates) {
  Lowered l;
  l.inputs = {r.rows(0), r.rows(1), r.rows(2)};
  l.outputs = {device_rows(r.out_dims(), r.stored_input(0))};
  add_move(l, move_box(*device_layout(l.inputs[0]), *device_layout(l.outputs[0]), r.out_dims()), r.target);
  l.launches.push_back(std::move(updates));
  l.text = r.node.op;
  return l;
}

}  // namespace

Answer lower_scatter_nd(const Request& r) {
  Dims data = r.dims(0), indices = r.dims(1);
  const int tuple = static_cast<int>(indices.back());
  const int64_t tuples = indices.count(0, indices.rank() - 1);
  if (auto refusal = refused(r, tuples)) return *refusal;
  return launches(r, kernel::scatter({.tuples = tuples,
                                      .extents = {data.begin(), data.begin() + tuple},
                                      .run = data.count(tuple, data.rank()),
                                      .data = r.stored_input(0),
                                      .updates = r.stored_input(2),
                                      .index = r.dtype(1),
                                      .reduction = reduction_of(r.node)},
                                     r.target));
}

Answer lower_scatter_elements(const Request& r) {
  Dims data = r.dims(0), indices = r.dims(1), strides = data.strides();
  if (data.rank() == 0) return Refusal{"a scalar"};
  const int axis = normalize_axis(r.node.i("axis"), data.rank());
  if (auto refusal = refused(r, indices[axis])) return *refusal;
  return launches(r, kernel::scatter_elements({.extents = {indices.begin(), indices.end()},
                                               .strides = {strides.begin(), strides.end()},
                                               .axis = axis,
                                               .limit = data[axis],
                                               .data = r.stored_input(0),
                                               .updates = r.stored_input(2),
                                               .index = r.dtype(1),
                                               .reduction = reduction_of(r.node)},
                                              r.target));
}

}  // namespace hf::lower

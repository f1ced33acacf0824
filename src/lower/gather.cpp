// Gather, GatherElements, GatherND: rows of the data are read by index.
#include "kernel/gather.h"

#include "lower/moves.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

std::optional<Refusal> refused(const Request& r) {
  if (r.empty()) return Refusal{"no elements"};
  if (!is_movable(r.stored_input(0))) return Refusal{fmt::format("elements of {}", name(r.dtype(0)))};
  if (r.dtype(1) != DType::I64 && r.dtype(1) != DType::I32) return Refusal{"indices that are no integers"};
  return std::nullopt;
}

Lowered launch(const Request& r, kernel::Candidates candidates) {
  Lowered l;
  l.inputs = {r.rows(0), r.rows(1)};
  l.outputs = {device_rows(r.out_dims(), r.stored_input(0))};
  l.launches.push_back(std::move(candidates));
  l.text = r.node.op;
  return l;
}

}  // namespace

Answer lower_gather(const Request& r) {
  if (auto refusal = refused(r)) return *refusal;
  Dims data = r.dims(0);
  const int axis = normalize_axis(r.node.i("axis"), data.rank());
  return launch(r, kernel::gather({.batches = data.count(0, axis),
                                   .tuples = r.dims(1).count(),
                                   .extents = {data[axis]},
                                   .run = data.count(axis + 1, data.rank()),
                                   .shared = true,
                                   .type = r.stored_input(0),
                                   .index = r.dtype(1)},
                                  r.target));
}

Answer lower_gather_nd(const Request& r) {
  if (auto refusal = refused(r)) return *refusal;
  Dims data = r.dims(0), indices = r.dims(1);
  const int batch = static_cast<int>(r.node.i("batch_dims")), tuple = static_cast<int>(indices.back());
  return launch(r, kernel::gather({.batches = data.count(0, batch),
                                   .tuples = indices.count(batch, indices.rank() - 1),
                                   .extents = {data.begin() + batch, data.begin() + batch + tuple},
                                   .run = data.count(batch + tuple, data.rank()),
                                   .type = r.stored_input(0),
                                   .index = r.dtype(1)},
                                  r.target));
}

Answer lower_gather_elements(const Request& r) {
  if (auto refusal = refused(r)) return *refusal;
  Dims data = r.dims(0), out = r.out_dims(), strides = data.strides();
  const int axis = normalize_axis(r.node.i("axis"), data.rank());
  return launch(r, kernel::gather_elements({.extents = {out.begin(), out.end()},
                                            .strides = {strides.begin(), strides.end()},
                                            .axis = axis,
                                            .limit = data[axis],
                                            .type = r.stored_input(0),
                                            .index = r.dtype(1)},
                                           r.target));
}

}  // namespace hf::lower

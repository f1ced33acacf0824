// Trilu, OneHot, CumSum, CumProd.
#include "kernel/patterns.h"

#include <algorithm>

#include "kernel/cells.h"
#include "lower/moves.h"
#include "lower/table.h"

namespace hf::lower {

Answer lower_trilu(const Request& r) {
  if (auto refusal = refuse_move(r)) return *refusal;
  auto k = r.constant_ints(1);
  if (r.has(1) && (!k || k->size() != 1)) return Refusal{"a diagonal that is computed"};
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  leave_out(l, r, 1);
  l.inputs[0] = r.rows(0);
  l.outputs = {device_rows(r.out_dims(), r.stored_input(0))};
  l.in_place = {0};
  Dims d = r.dims(0);
  const int64_t rows = d[d.rank() - 2], columns = d.back();
  l.launches.push_back(kernel::trilu({.matrices = d.count(0, d.rank() - 2),
                                      .rows = rows,
                                      .columns = columns,
                                      .k = std::clamp(k ? (*k)[0] : 0, -rows - 1, columns + 1),
                                      .upper = r.node.i("upper") != 0,
                                      .type = r.stored_input(0)},
                                     r.target));
  l.text = "Trilu";
  return l;
}

Answer lower_one_hot(const Request& r) {
  if (r.empty()) return Refusal{"no elements"};
  for (int i : {0, 2})
    if (!kernel::has_cell(r.stored_input(i))) return Refusal{fmt::format("input {} is {}", i, name(r.dtype(i)))};
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  leave_out(l, r, 1);
  l.inputs[0] = r.rows(0);
  l.inputs[2] = r.rows(2);
  l.outputs = {r.out_rows()};
  Dims d = r.out_dims();
  const int axis = normalize_axis(r.node.i("axis"), d.rank());
  l.launches.push_back(kernel::one_hot({.outer = d.count(0, axis),
                                        .depth = d[axis],
                                        .inner = d.count(axis + 1, d.rank()),
                                        .index = r.stored_input(0),
                                        .values = r.stored_input(2),
                                        .out = r.stored_output()},
                                       r.target));
  l.text = "OneHot";
  return l;
}

Answer lower_cumulative(const Request& r) {
  if (r.empty() || r.dims(0).rank() == 0) return Refusal{"no elements, or no axis"};
  if (!kernel::has_cell(r.stored_input(0))) return Refusal{fmt::format("input 0 is {}", name(r.dtype(0)))};
  auto wanted = r.constant_ints(1);
  if (!wanted || wanted->size() != 1) return Refusal{"an axis that is computed"};
  Dims d = r.dims(0);
  if ((*wanted)[0] < -d.rank() || (*wanted)[0] >= d.rank()) return Refusal{"an axis that is not there"};
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  leave_out(l, r, 1);
  l.inputs[0] = r.rows(0);
  l.outputs = {r.out_rows()};
  const int axis = normalize_axis((*wanted)[0], d.rank());
  l.launches.push_back(kernel::scan({.outer = d.count(0, axis),
                                     .steps = d[axis],
                                     .inner = d.count(axis + 1, d.rank()),
                                     .in = r.stored_input(0),
                                     .out = r.stored_output(),
                                     .product = r.node.op == "CumProd",
                                     .exclusive = r.node.i("exclusive") != 0,
                                     .reverse = r.node.i("reverse") != 0},
                                    r.target));
  l.text = r.node.op;
  return l;
}

}  // namespace hf::lower

// Softmax and LogSoftmax.
#include "kernel/softmax.h"

#include "lower/renumber.h"
#include "lower/table.h"

namespace hf::lower {

Answer lower_softmax(const Request& r) {
  if (auto refusal = refused_size(r)) return *refusal;
  if (!is_float_element(r.stored_input(0))) return Refusal{fmt::format("it is of {}", name(r.stored_input(0)))};
  const Dims d = r.dims(0);
  const int rank = d.rank(), axis = rank ? normalize_axis(r.node.i("axis"), rank) : 0;
  const bool flatten = r.node.has("flatten");
  kernel::SoftmaxProblem p{.rows = d.count(0, axis),
                           .cols = rank == 0 ? 1
                                   : flatten ? d.count(axis, rank)
                                             : d[axis],
                           .inner = flatten || !rank ? 1 : d.count(axis + 1, rank),
                           .in = element_of(r.stored_input(0)),
                           .out = element_of(r.stored_output()),
                           .log = r.node.op == "LogSoftmax"};
  Lowered l;
  l.inputs = {r.rows(0)};
  l.outputs = {r.out_rows()};
  const DeviceLayout* now = r.is_channels_last(0) ? device_layout(r.layouts[0]) : nullptr;
  if (now && axis == 1 && !flatten) {
    p.rows = d[0] * p.inner;
    p.inner = 1;
    p.pitch = now->pitch;
  } else if (now && axis > 1 && !flatten && now->pitch == d[1]) {
    // Not where there is padding: it would become other than zero.
    p.rows = d[0] * d.count(2, axis);
    p.inner *= d[1];
  } else {
    now = nullptr;
  }
  if (now) {
    l.inputs = {device_channels_last(d, now->stored, now->pitch)};
    l.outputs = {device_channels_last(d, r.stored_output(), now->pitch)};
  }
  l.launches = {kernel::softmax(p, r.target)};
  if (p.in == p.out) l.in_place = {0};
  l.text = "softmax " + l.launches[0][0].variant;
  return l;
}

}  // namespace hf::lower

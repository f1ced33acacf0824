// Operators that change no byte: Reshape and its kin.
#include "lower/moves.h"
#include "lower/table.h"

namespace hf::lower {

Answer lower_alias(const Request& r) {
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  for (int i = 1; i < r.node.own_inputs(); ++i) leave_out(l, r, i);
  l.inputs[0] = r.rows(0);
  l.outputs = {device_rows(r.out_dims(), r.stored_input(0))};
  l.alias = 0;
  l.text = "alias";
  return l;
}

Answer lower_identity(const Request& r) {
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  for (int i = 1; i < r.node.own_inputs(); ++i) leave_out(l, r, i);
  l.inputs[0] = as_it_lies(r, 0);
  l.outputs = {l.inputs[0]};
  l.alias = 0;
  l.text = "alias";
  return l;
}

Answer lower_dropout(const Request& r) {
  if (r.wants(1)) return Refusal{"a mask"};
  if (r.has(2)) {
    const Tensor* training = r.constant(2);
    if (!training || to_int(*training) != 0) return Refusal{"training"};
  }
  return lower_identity(r);
}

}  // namespace hf::lower

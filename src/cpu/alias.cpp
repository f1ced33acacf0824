// Operators that only give the same bytes other extents.
#include "base/convert.h"
#include "cpu/candidate.h"

namespace hf::cpu {

Answer try_alias(const Request& r) {
  for (size_t i = 1; i < r.node.outputs().size(); ++i)
    if (r.node.outputs()[i]) return Refusal{"more than one output"};
  const ir::Value *in = r.node.input(0), *out = r.node.output();
  if (in->dtype == DType::String) return Refusal{"strings have no buffers"};
  if (in->dtype != out->dtype || in->shape.count() != out->shape.count()) return Refusal{"not the same bytes"};
  if (r.node.is("Dropout") && r.has(2)) {
    const Tensor* training = r.constant(2);
    if (!training || to_int(*training) != 0) return Refusal{"training mode"};
  }
  plan::Prepared p;
  p.alias = 0;
  return p;
}

}  // namespace hf::cpu

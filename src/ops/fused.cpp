// Pointwise: a fused chain of elementwise operators, made by a pass. The chain is the node's epilogue.
#include "ops/pointwise.h"

namespace hf::ops {
namespace {

void infer(Infer& in) {
  Shape shape = in.shape(0);
  for (int i = 1; in.has(i); ++i) shape = broadcast_shapes(shape, in.shape(i));
  in.set(0, in.dtype(0), shape);
}

void reference(Eval& e) { broadcast_copy(e.in(0), e.out()); }

constexpr OpDef defs[] = {
    {.name = "Pointwise", .domain = "hipforge", .infer = infer, .reference = reference},
};

}  // namespace

std::span<const OpDef> fused_ops() { return defs; }

}  // namespace hf::ops

// onnxruntime's normalisations outside the standard, rewritten as LayerNormalization and RMSNormalization.
#include "ops/rewrite.h"

namespace hf::ops {
namespace {

constexpr std::string_view kDomain = "com.microsoft";
constexpr AttrDef skip_attrs[] = {float_attr("epsilon", 1e-12f)};
constexpr AttrDef simplified_attrs[] = {int_attr("axis", -1), float_attr("epsilon", 1e-5f), int_attr("stash_type", 1)};

// input + skip [+ bias], which is also output 3.
ir::Value* skip_sum(ir::Graph& g, Node& n, ir::Value* bias) {
  Node* sum = emit_before(g, n, "Add", {n.input(0), n.input(1)});
  if (bias) sum = emit_before(g, n, "Add", {sum->output(), bias});
  take_output(g, n, 3, sum);
  return sum->output();
}

void skip_layer(ir::Graph& g, Node& n, int) {
  ir::Value* sum = skip_sum(g, n, n.input(4));
  replace_by(g, n, emit_before(g, n, "LayerNormalization", {sum, n.input(2), n.input(3)}, n.attrs));
}

void skip_simplified(ir::Graph& g, Node& n, int) {
  ir::Value* sum = skip_sum(g, n, n.input(3));
  replace_by(g, n, emit_before(g, n, "RMSNormalization", {sum, n.input(2)}, n.attrs));
}

void simplified(ir::Graph& g, Node& n, int) {
  replace_by(g, n, emit_before(g, n, "RMSNormalization", {n.input(0), n.input(1)}, n.attrs));
}

constexpr OpDef defs[] = {
    {.name = "SimplifiedLayerNormalization",
     .min_inputs = 2,
     .max_inputs = 2,
     .max_outputs = 2,
     .attrs = simplified_attrs,
     .upgrade = simplified,
     .infer = infer_same},
    {.name = "SkipLayerNormalization",
     .domain = kDomain,
     .min_inputs = 3,
     .max_inputs = 5,
     .max_outputs = 4,
     .attrs = skip_attrs,
     .upgrade = skip_layer,
     .infer = infer_same},
    {.name = "SkipSimplifiedLayerNormalization",
     .domain = kDomain,
     .min_inputs = 3,
     .max_inputs = 4,
     .max_outputs = 4,
     .attrs = skip_attrs,
     .upgrade = skip_simplified,
     .infer = infer_same},
};

}  // namespace

std::span<const OpDef> microsoft_norm_ops() { return defs; }

}  // namespace hf::ops

// The Gelu family of onnxruntime's domain com.microsoft, rewritten as standard operators.
#include "ops/rewrite.h"

namespace hf::ops {
namespace {

constexpr std::string_view kDomain = "com.microsoft";
constexpr AttrDef quick_attrs[] = {float_attr("alpha", 1.702f)};

// Gelu of the first input, plus the second if there is one.
void to_gelu(ir::Graph& g, Node& n, const char* approximate) {
  ir::Value* x = n.input(0);
  if (n.input(1)) x = emit_before(g, n, "Add", {x, n.input(1)})->output();
  replace_by(g, n, emit_before(g, n, "Gelu", {x}, {{"approximate", std::string(approximate)}}));
}

void exact(ir::Graph& g, Node& n, int) { to_gelu(g, n, "none"); }
void fast(ir::Graph& g, Node& n, int) { to_gelu(g, n, "tanh"); }
void quick(ir::Graph& g, Node& n, int) {
  replace_by(g, n, emit_before(g, n, "Swish", {n.input(0)}, {{"alpha", n.f("alpha")}}));
}

constexpr OpDef defs[] = {
    {.name = "BiasGelu", .domain = kDomain, .min_inputs = 2, .max_inputs = 2, .upgrade = exact, .infer = infer_same},
    {.name = "FastGelu", .domain = kDomain, .max_inputs = 2, .upgrade = fast, .infer = infer_same},
    {.name = "Gelu", .domain = kDomain, .upgrade = exact, .infer = infer_same},
    {.name = "QuickGelu", .domain = kDomain, .attrs = quick_attrs, .upgrade = quick, .infer = infer_same},
};

}  // namespace

std::span<const OpDef> microsoft_activation_ops() { return defs; }

}  // namespace hf::ops

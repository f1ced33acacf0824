// A Gemm of flattened rows becomes a product of all axes, so that what follows in their shape can be its epilogue.
#include "passes/rewrite.h"

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;

// The Reshape after it, if that only divides the rows again.
Node* divided_rows(const Node* n) {
  if (!n->is("Gemm") || n->epilogue || n->i("transA") || !n->output()->shape.is_static()) return nullptr;
  const Value *w = n->input(1), *c = n->input(2);
  if (!w->is_constant() || !n->input(0)->shape.is_static()) return nullptr;
  if (c && (!c->is_constant() || n->f("beta") != 1 || (c->constant.rank() == 2 && c->constant.dims()[0] != 1)))
    return nullptr;
  Node* reshape = n->output()->only_user();
  if (!reshape || !reshape->is("Reshape") || reshape->epilogue || reshape->input(0) != n->output()) return nullptr;
  if (!reshape->output()->shape.is_static()) return nullptr;
  Dims d = reshape->output()->shape.get(), from = n->output()->shape.get();
  return d.rank() > 2 && d.back() == from[1] && d.count() > 0 ? reshape : nullptr;
}

void rewrite(ir::Graph& g, Node* n, Node* reshape) {
  Dims d = reshape->output()->shape.get();
  d[d.rank() - 1] = n->input(0)->shape.get()[1];
  Value* x = n->input(0);
  const Node* flat = x->producer();
  if (flat && flat->is("Reshape") && !flat->epilogue && flat->input(0)->shape.is_static() &&
      flat->input(0)->shape.get() == d) {
    x = flat->input(0);
  } else {
    Value* shape = g.add_constant("shape", Tensor::ints(std::span(d.begin(), d.end())));
    x = ops::add_op(g, "Reshape", {x, shape}, {}, 1, reshape)->output();
  }
  Node* made = ops::add_op(g, "FusedMatMul", {x, n->input(1)}, {{"alpha", n->f("alpha")}, {"transB", n->i("transB")}},
                           1, reshape, "com.microsoft");
  made->name = n->name;
  made->origins = n->origins;
  if (n->input(2)) made = ops::add_op(g, "Add", {made->output(), n->input(2)}, {}, 1, reshape);
  replace_node(g, reshape, made);
  g.erase(n);
}

}  // namespace

bool unflatten_gemm(ir::Graph& g, const PassOptions& options) {
  if (!options.gpu) return false;
  bool changed = false;
  for (Node* n : g.nodes()) {
    Node* reshape = n->erased() ? nullptr : divided_rows(n);
    if (reshape) rewrite(g, n, reshape);
    changed |= reshape != nullptr;
  }
  if (changed) clean_up(g, options);  // Reshapes of Reshapes
  return changed;
}

}  // namespace hf::passes

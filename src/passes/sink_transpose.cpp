// Transposes of the axes before the last go behind products with constant matrices and sums with constant rows, which
// do the same to every row: nearer to what reads them by strides.
#include <algorithm>

#include "passes/rewrite.h"

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;

// Which input of `n` may be permuted in its rows, with the result permuted likewise.
int row_input(const Node* n) {
  auto constant = [&](int i) { return n->input(i) && n->input(i)->is_constant(); };
  if (n->epilogue) return -1;
  if (n->is("MatMul")) return constant(1) && n->input(1)->constant.rank() == 2 ? 0 : -1;
  if (!n->is("Add")) return -1;
  for (int i = 0; i < 2; ++i) {
    const Value* x = n->input(i);
    if (constant(1 - i) && n->input(1 - i)->constant.rank() <= 1 && x->shape.ranked() && x->shape.rank() > 1) return i;
  }
  return -1;
}

bool keeps_last(const Node* n) {
  std::vector<int64_t> perm = n->ints_or_empty("perm");
  return perm.size() > 2 && perm.back() == static_cast<int64_t>(perm.size()) - 1;
}

bool sink(ir::Graph& g, Node* n) {
  int at = row_input(n);
  Node* transpose = at < 0 ? nullptr : n->input(at)->producer();
  if (!transpose || !transpose->is("Transpose") || transpose->epilogue || n->input(at)->only_user() != n ||
      !keeps_last(transpose))
    return false;
  std::vector<Value*> inputs = n->inputs();
  inputs[static_cast<size_t>(at)] = transpose->input(0);
  Node* same = ops::add_op(g, n->op, inputs, n->attrs, 1, n);
  same->name = n->name;
  same->origins = n->origins;
  Node* after = ops::add_op(g, "Transpose", {same->output()}, {{"perm", transpose->ints_or_empty("perm")}}, 1, n);
  replace_node(g, n, after);
  g.erase(transpose);
  return true;
}

}  // namespace

bool sink_transpose(ir::Graph& g, const PassOptions& options) {
  if (!options.gpu) return false;
  bool changed = false;
  for (Node* n : g.nodes())
    if (!n->erased()) changed |= sink(g, n);
  return changed;
}

}  // namespace hf::passes

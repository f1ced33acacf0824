// Removal of what does nothing.
#include <algorithm>

#include "ops/op.h"
#include "passes/pass.h"

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;

bool same_shape(const Value* a, const Value* b) {
  return a->shape.is_static() && b->shape.is_static() && a->shape.get() == b->shape.get();
}

bool all_equal(const Value* v, double number) {
  if (!v || !v->is_constant() || v->constant.dtype() == DType::String) return false;
  ReadAs<double> r(v->constant);
  return std::all_of(r.begin(), r.end(), [&](double x) { return x == number; });
}

bool transpose_in_order(const Node* n) {
  std::vector<int64_t> perm = n->ints_or_empty("perm");
  return !perm.empty() && std::is_sorted(perm.begin(), perm.end());
}

bool dropout_idle(const Node* n) {
  const Value* training = n->input(2);
  bool idle = !training || (training->is_constant() && all_equal(training, 0));
  return idle && (!n->output(1) || n->output(1)->unused());
}

// An operator whose output 0 may be its input 0, and when.
struct Idle {
  std::string_view op;
  bool (*when)(const Node*);
};

constexpr Idle kIdle[] = {
    {"Identity", [](const Node*) { return true; }},
    {"Dropout", dropout_idle},
    {"Cast", [](const Node* n) { return n->input(0)->dtype == n->output()->dtype; }},
    {"CastLike", [](const Node* n) { return n->input(0)->dtype == n->output()->dtype; }},
    {"Transpose", transpose_in_order},
    {"Reshape", [](const Node* n) { return same_shape(n->input(0), n->output()); }},
    {"Flatten", [](const Node* n) { return same_shape(n->input(0), n->output()); }},
    {"Squeeze", [](const Node* n) { return same_shape(n->input(0), n->output()); }},
    {"Unsqueeze", [](const Node* n) { return same_shape(n->input(0), n->output()); }},
    {"Expand", [](const Node* n) { return same_shape(n->input(0), n->output()); }},
    {"Tile", [](const Node* n) { return all_equal(n->input(1), 1); }},
    {"Pad", [](const Node* n) { return all_equal(n->input(1), 0); }},
    {"Concat", [](const Node* n) { return n->inputs().size() == 1; }},
    {"Sum", [](const Node* n) { return n->inputs().size() == 1; }},
    {"Max", [](const Node* n) { return n->inputs().size() == 1; }},
    {"Min", [](const Node* n) { return n->inputs().size() == 1; }},
    {"Mul", [](const Node* n) { return all_equal(n->input(1), 1) && same_shape(n->input(0), n->output()); }},
    {"Div", [](const Node* n) { return all_equal(n->input(1), 1) && same_shape(n->input(0), n->output()); }},
};

bool is_idle(const Node* n) {
  if (!n->domain.empty() || n->epilogue) return false;
  for (const Idle& row : kIdle)
    if (row.op == n->op) return row.when(n);
  return false;
}

// A Slice that takes everything: the same static shape means the same elements unless a step is negative.
bool idle_slice(const Node* n) {
  if (!n->is("Slice") || !same_shape(n->input(0), n->output())) return false;
  const Value* steps = n->input(4);
  return !steps || all_equal(steps, 1);
}

// Transpose of a Transpose is one Transpose.
bool merge_transposes(ir::Graph& g, Node* n) {
  if (!n->is("Transpose")) return false;
  Node* before = n->input(0)->producer();
  if (!before || !before->is("Transpose")) return false;
  std::vector<int64_t> outer = n->ints_or_empty("perm"), inner = before->ints_or_empty("perm");
  if (outer.empty() || outer.size() != inner.size()) return false;
  for (int64_t& p : outer) p = inner[static_cast<size_t>(p)];
  n->attrs["perm"] = outer;
  g.set_input(n, 0, before->input(0));
  return true;
}

// A Reshape (or the like) of a Reshape is one Reshape when the final shape is known.
bool merge_reshapes(ir::Graph& g, Node* n) {
  auto reshapes = [](const Node* x) {
    return x->is("Reshape") || x->is("Flatten") || x->is("Squeeze") || x->is("Unsqueeze");
  };
  if (!reshapes(n) || !n->output()->shape.is_static()) return false;
  Node* before = n->input(0)->producer();
  if (!before || !reshapes(before)) return false;
  Dims dims = n->output()->shape.get();
  if (dims.count() == 0) return false;
  Value* shape = g.add_constant(n->output()->name + "/shape", Tensor::ints(dims));
  Node* merged = ops::add_op(g, "Reshape", {before->input(0), shape}, {}, 1, n);
  merged->name = n->name;
  g.replace_uses(n->output(), merged->output());
  return true;
}

bool remove_dead(ir::Graph& g) {
  bool changed = false;
  for (Node* n = g.last(); n;) {
    Node* prev = n->prev();
    bool used = false;
    for (const Value* v : n->outputs()) used |= v && !v->unused();
    if (!used) {
      g.erase(n);
      changed = true;
    }
    n = prev;
  }
  return changed;
}

}  // namespace

bool clean_up(ir::Graph& g, const PassOptions&) {
  bool changed = false;
  for (Node* n : g.nodes()) {
    if (n->erased()) continue;
    changed |= merge_transposes(g, n) || merge_reshapes(g, n);
    if (is_idle(n) || idle_slice(n)) {
      g.replace_uses(n->output(), n->input(0));
      changed = true;
    }
  }
  return remove_dead(g) || changed;
}

}  // namespace hf::passes

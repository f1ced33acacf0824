// Transposes from channels-last to channels-first move behind the elementwise work that follows them: for a GPU, which
// keeps images channels last, they then cost nothing, and the product before them takes the work as its epilogue.
#include <algorithm>

#include "ops/pointwise.h"
#include "passes/rewrite.h"

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;

std::vector<int64_t> channels_first(int rank) {
  std::vector<int64_t> perm = {0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}

std::vector<int64_t> channels_last(int rank) {
  std::vector<int64_t> perm = {0};
  for (int i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

// The channels-last source of a value that such a Transpose makes, or null.
Value* source_of(const Value* v) {
  const Node* n = v ? v->producer() : nullptr;
  if (!n || !n->is("Transpose") || !v->shape.ranked() || v->shape.rank() < 3) return nullptr;
  return n->ints("perm") == channels_first(v->shape.rank()) ? n->input(0) : nullptr;
}

bool is_elementwise(const Node* n) {
  if (!n->domain.empty() || n->epilogue || n->captures || n->outputs().size() != 1) return false;
  if (!is_static_f32(n->output())) return false;
  ir::Program trial;
  std::vector<int> args;
  for (Value* v : n->inputs()) {
    if (v && !is_static_f32(v)) return false;
    args.push_back(v ? trial.inputs++ : -1);
  }
  return ops::add_steps(trial, *n, args) >= 0;
}

// The operand as it is to be for a result that lies channels last: null if there is no cheap way.
Value* moved(ir::Graph& g, Value* v, Node* before, const ir::Shape& result) {
  int rank = result.rank();
  if (v->shape.count() == 1) return v->shape.rank() <= rank ? v : nullptr;
  if (Value* source = source_of(v)) return source;
  if (v->is_constant()) {
    std::vector<int64_t> extents(static_cast<size_t>(rank - v->shape.rank()), 1);
    Dims dims = v->shape.get();
    extents.insert(extents.end(), dims.begin(), dims.end());
    Dims aligned{std::span<const int64_t>(extents)};
    Value* same = g.add_constant(v->name + "/aligned", v->constant.reshaped(aligned));
    Node* transpose = ops::add_op(g, "Transpose", {same}, {{"perm", channels_last(rank)}}, 1, before);
    const Tensor* given[] = {&same->constant};
    Value* made = g.add_constant(v->name + "/channels_last", ops::evaluate(*transpose, given)[0]);
    g.erase(transpose);
    return made;
  }
  if (v->shape.get() == result.get())
    return ops::add_op(g, "Transpose", {v}, {{"perm", channels_last(rank)}}, 1, before)->output();
  return nullptr;
}

bool sink(ir::Graph& g, Node* n) {
  const ir::Shape shape = n->output()->shape;
  bool any = false, all = true;
  for (Value* v : n->inputs()) {
    if (!v) continue;
    bool transposed = source_of(v) && v->shape.get() == shape.get();
    any |= transposed && v->only_user();
    all &= transposed || v->shape.count() == 1 || v->is_constant() || v->shape.get() == shape.get();
  }
  if (!any || !all) return false;
  std::vector<Value*> inputs;
  for (Value* v : n->inputs()) {
    inputs.push_back(v ? moved(g, v, n, shape) : nullptr);
    if (v && !inputs.back()) return false;
  }
  Node* made = ops::add_op(g, n->op, inputs, n->attrs, 1, n);
  made->name = n->name;
  made->origins = n->origins;
  Node* back = ops::add_op(g, "Transpose", {made->output()}, {{"perm", channels_first(shape.rank())}}, 1, n);
  replace_node(g, n, back);
  return true;
}

}  // namespace

bool sink_transposes(ir::Graph& g, const PassOptions& options) {
  if (!options.gpu) return false;
  bool changed = false;
  for (Node* n : g.nodes())
    if (!n->erased() && is_elementwise(n)) changed |= sink(g, n);
  return changed;
}

}  // namespace hf::passes

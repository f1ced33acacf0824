// Shape inference and constant folding, in one sweep.
#include <algorithm>

#include "passes/rewrite.h"

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr int64_t kShapeArithmetic = 4096;  // elements of an integer constant that is folded without optimisation

// Shape of a value, where the extents asked for are known though others may not be.
bool fold_shape(ir::Graph& g, Node* n) {
  const ir::Shape& shape = n->input(0)->shape;
  if (!shape.ranked()) return false;
  std::vector<int64_t> dims;
  if (n->is("Size")) {
    if (!shape.is_static()) return false;
    dims = {shape.get().count()};
  } else {
    int64_t rank = shape.rank();
    auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
    int64_t start = clamp(n->has("start") ? n->i("start") : 0), end = clamp(n->has("end") ? n->i("end") : rank);
    for (int64_t i = start; i < end; ++i) {
      if (!shape[static_cast<int>(i)].known()) return false;
      dims.push_back(shape[static_cast<int>(i)].value);
    }
  }
  Tensor t = n->is("Size") ? Tensor::scalar(dims[0]) : Tensor::ints(dims);
  g.replace_uses(n->output(), g.add_constant(n->output()->name, t));
  return true;
}

// `budget`: how many bytes the constants may still grow by.
bool foldable(const Node* n, const PassOptions& options, int64_t& budget) {
  if (n->def->random || !n->def->reference || !n->subgraphs().empty()) return false;
  int64_t in_bytes = 0, out_bytes = 0;
  for (const Value* v : n->inputs()) {
    if (v && !v->is_constant()) return false;
    if (v) in_bytes += v->constant.size_bytes();
  }
  for (const Value* v : n->outputs()) {
    if (!v) continue;
    if (v->kind != ir::TypeKind::Tensor) return false;
    if (!options.optimize && !is_int(v->dtype) && v->dtype != DType::Bool) return false;
    std::optional<int64_t> count = v->shape.count();
    if (!count) continue;
    if (!options.optimize && *count > kShapeArithmetic) return false;
    out_bytes += storage_bytes(v->dtype, *count);
  }
  int64_t growth = std::max<int64_t>(out_bytes - in_bytes, 0);
  if (growth > budget) return false;
  budget -= growth;
  return true;
}

bool fold(ir::Graph& g, Node* n) {
  std::vector<const Tensor*> inputs;
  for (const Value* v : n->inputs()) inputs.push_back(v ? &v->constant : nullptr);
  std::vector<Tensor> results;
  try {
    results = ops::evaluate(*n, inputs);
  } catch (const Error& e) {
    if (e.code() == Code::Internal) throw;
    return false;  // bad data or too large: the fault belongs to the run, if it ever gets there
  }
  for (size_t i = 0; i < results.size(); ++i)
    if (Value* v = n->outputs()[i]) g.replace_uses(v, g.add_constant(v->name, results[i]));
  return true;
}

// A captured constant becomes the subgraph's own; what it does not use is captured no more.
bool tidy_captures(ir::Graph& g, Node* n) {
  bool changed = false;
  int at = static_cast<int>(n->inputs().size()) - n->captures;
  for (const auto& sub : n->subgraphs())
    for (int k = 0; k < static_cast<int>(sub->captures().size());) {
      Value* inner = sub->captures()[static_cast<size_t>(k)];
      Value* outer = n->input(at);
      if (outer && outer->is_constant()) sub->replace_uses(inner, sub->add_constant(inner->name, outer->constant));
      if (!inner->unused()) {
        ++at, ++k;
        continue;
      }
      sub->remove_capture(k);
      --n->captures;
      g.remove_input(n, at);
      changed = true;
    }
  return changed;
}

}  // namespace

bool propagate(ir::Graph& g, const PassOptions& options) {
  bool changed = false;
  int64_t budget = options.max_folded_bytes;
  for (Node *n = g.first(), *next = nullptr; n; n = next) {
    if (is_decided_if(n)) {
      next = inline_if(g, n);
      changed = true;
      continue;
    }
    next = n->next();
    if (n->captures) changed |= tidy_captures(g, n);
    ops::infer_node(*n);
    for (const auto& sub : n->subgraphs()) {
      try {
        changed |= propagate(*sub, options);
      } catch (const Error& e) {  // a branch of If that could not run; it may never be taken
        if (!n->is("If") || e.code() != Code::InvalidModel) throw;
      }
      sub->sweep();
    }
    bool gone = (n->is("Shape") || n->is("Size")) ? fold_shape(g, n) : false;
    if (!gone && foldable(n, options, budget)) gone = fold(g, n);
    if (gone) g.erase(n);
    changed |= gone;
  }
  return changed;
}

}  // namespace hf::passes

// One node in the place of equal ones.
#include <cstring>
#include <map>

#include "passes/rewrite.h"

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr int64_t kSmallBytes = 256;

bool equal(const ir::Attr& a, const ir::Attr& b) {
  if (a.index() != b.index() || std::holds_alternative<std::shared_ptr<ir::Graph>>(a)) return false;
  if (const auto* t = std::get_if<Tensor>(&a)) {
    const Tensor& u = std::get<Tensor>(b);
    return t->dtype() == u.dtype() && t->dims() == u.dims() && t->dtype() != DType::String &&
           std::memcmp(t->raw(), u.raw(), static_cast<size_t>(t->size_bytes())) == 0;
  }
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, Tensor>)
          return false;
        else
          return x == std::get<T>(b);
      },
      a);
}

bool equal(const Node* a, const Node* b) {
  if (a->op != b->op || a->domain != b->domain || a->inputs() != b->inputs() ||
      a->outputs().size() != b->outputs().size() || a->attrs.size() != b->attrs.size() || a->epilogue || b->epilogue ||
      a->def->random || !a->subgraphs().empty())
    return false;
  for (size_t i = 0; i < a->outputs().size(); ++i)
    if (!a->outputs()[i] != !b->outputs()[i]) return false;
  for (auto x = a->attrs.begin(), y = b->attrs.begin(); x != a->attrs.end(); ++x, ++y)
    if (x->first != y->first || !equal(x->second, y->second)) return false;
  return true;
}

// Equal small constants share a value, so that the nodes that read them can be seen to be equal.
bool merge_constants(ir::Graph& g) {
  std::map<std::string, Value*> first;
  bool changed = false;
  std::vector<std::pair<Value*, Value*>> same;
  for (const auto& v : g.values()) {
    if (!v->is_constant() || v->dtype == DType::String || v->constant.size_bytes() > kSmallBytes || v->uses().empty())
      continue;
    std::string key = v->constant.text();
    key.append(static_cast<const char*>(v->constant.raw()), static_cast<size_t>(v->constant.size_bytes()));
    auto [it, fresh] = first.emplace(std::move(key), v.get());
    if (!fresh) same.emplace_back(v.get(), it->second);
  }
  for (auto [from, to] : same) {
    if (from->graph_outputs()) continue;
    g.replace_uses(from, to);
    changed = true;
  }
  return changed;
}

}  // namespace

bool merge_equal(ir::Graph& g, const PassOptions&) {
  bool changed = merge_constants(g);
  std::map<std::pair<std::string, const Value*>, std::vector<Node*>> met;  // by operator and first input
  for (Node* n : g.nodes()) {
    if (n->inputs().empty() || n->def->random) continue;
    std::vector<Node*>& others = met[{n->op, n->input(0)}];
    bool merged = false;
    for (Node* other : others) {
      if (!equal(n, other)) continue;
      for (size_t i = 0; i < n->outputs().size(); ++i)
        if (n->outputs()[i]) g.replace_uses(n->outputs()[i], other->outputs()[i]);
      g.erase(n);
      changed = merged = true;
      break;
    }
    if (!merged) others.push_back(n);
  }
  return changed;
}

}  // namespace hf::passes

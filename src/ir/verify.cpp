// The IR's invariants, checked after every pass in development builds.
#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "ir/graph.h"

namespace hf::ir {

void verify(const Graph& g) {
  std::unordered_set<const Value*> owned, ready;
  for (const auto& v : g.values()) {
    owned.insert(v.get());
    if (v->is_constant() || v->is_graph_input()) ready.insert(v.get());
    check(!(v->is_constant() && v->producer()), "a constant has no producer");
    if (v->is_constant()) check(v->constant.dtype() == v->dtype, "a constant's value has its tensor's dtype");
    for (const Use& u : v->uses()) {
      check(!u.node->erased(), "no erased node uses a value");
      check(u.node->input(u.index) == v.get(), "a use names an input that is the value");
    }
  }
  int count = 0;
  for (const Node* n = g.first(); n; n = n->next()) {
    auto in = context([&] { return "node " + n->text(); });
    ++count;
    check(!n->erased(), "a listed node is not erased");
    check(&n->graph() == &g, "a node knows its graph");
    check(n->own_inputs() >= 0, "a node has at least its epilogue's operands and captures");
    for (size_t i = 0; i < n->inputs().size(); ++i) {
      const Value* v = n->inputs()[i];
      if (!v) continue;
      check(owned.count(v) != 0, "a node's input belongs to the graph");
      check(ready.count(v) != 0, "a node's input is made before it");
      bool known = std::any_of(v->uses().begin(), v->uses().end(),
                               [&](const Use& u) { return u.node == n && u.index == static_cast<int>(i); });
      check(known, "a value knows its uses");
    }
    for (size_t i = 0; i < n->outputs().size(); ++i) {
      const Value* v = n->outputs()[i];
      if (!v) continue;
      check(owned.count(v) != 0, "a node's output belongs to the graph");
      check(v->producer() == n && v->producer_index() == static_cast<int>(i), "an output knows its producer");
      check(ready.insert(v).second, "a value is made once");
    }
    if (n->epilogue) check(n->epilogue->inputs == n->epilogue_inputs + 1, "an epilogue's operands are inputs");
    int captures = 0;
    for (const auto& sub : n->subgraphs()) {
      captures += static_cast<int>(sub->captures().size());
      verify(*sub);
    }
    check(captures == n->captures, "a node's captures are its subgraphs'");
  }
  check(count == g.node_count(), "the node count is right");
  for (const Value* v : g.outputs()) check(ready.count(v) != 0, "a graph output is made");
}

}  // namespace hf::ir

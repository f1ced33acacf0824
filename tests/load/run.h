// Runs a loaded graph with the operators' reference functions: enough to see that the loader has wired it as the file
// says.
#pragma once
#include <unordered_map>
#include <vector>

#include "ops/op.h"

namespace hf::load {

/// False if a node, of a subgraph too, has no definition yet.
inline bool can_run(const ir::Graph& g) {
  for (const ir::Node* n = g.first(); n; n = n->next()) {
    if (!n->def || !n->def->reference) return false;
    for (const auto& sub : n->subgraphs())
      if (!can_run(*sub)) return false;
  }
  return true;
}

class Runner : public ops::SubgraphRunner {
 public:
  std::vector<Tensor> run(const ir::Graph& g, std::span<const Tensor> inputs,
                          std::span<const Tensor> captures) override {
    std::unordered_map<const ir::Value*, Tensor> values;
    for (const auto& v : g.values())
      if (v->is_constant()) values[v.get()] = v->constant;
    for (size_t i = 0; i < g.inputs().size(); ++i)
      values[g.inputs()[i]] = i < inputs.size() && inputs[i].defined() ? inputs[i] : g.inputs()[i]->default_value;
    for (size_t i = 0; i < g.captures().size(); ++i) values[g.captures()[i]] = captures[i];
    for (const ir::Node* n = g.first(); n; n = n->next()) {
      std::vector<const Tensor*> given;
      for (const ir::Value* v : n->inputs()) given.push_back(v ? &values.at(v) : nullptr);
      std::vector<Tensor> made = ops::evaluate(*n, given, this);
      for (size_t i = 0; i < n->outputs().size(); ++i)
        if (n->outputs()[i]) values[n->outputs()[i]] = made[i];
    }
    std::vector<Tensor> out;
    for (const ir::Value* v : g.outputs()) out.push_back(values.at(v));
    return out;
  }
};

}  // namespace hf::load

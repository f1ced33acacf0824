// The branch of an If whose condition is known, in the place of the If.
#include <unordered_map>

#include "passes/rewrite.h"

namespace hf::passes {

bool is_decided_if(const ir::Node* n) {
  return n->is("If") && n->input(0)->is_constant() && n->input(0)->constant.size() == 1;
}

ir::Node* inline_if(ir::Graph& g, ir::Node* n) {
  bool taken = to_int(n->input(0)->constant) != 0;
  ir::Graph& branch = n->subgraph(taken ? "then_branch" : "else_branch");
  // Captures stand in the order of the attributes' names: else_branch before then_branch.
  int at = static_cast<int>(n->inputs().size()) - n->captures;
  if (taken) at += static_cast<int>(n->subgraph("else_branch").captures().size());
  std::unordered_map<const ir::Value*, ir::Value*> to;
  for (ir::Value* v : branch.captures()) to[v] = n->input(at++);
  for (const auto& v : branch.values())
    if (v->is_constant()) to[v.get()] = g.add_constant(v->name, v->constant);
  auto map = [&](const std::vector<ir::Value*>& values) {
    std::vector<ir::Value*> out;
    for (ir::Value* v : values) out.push_back(v ? to.at(v) : nullptr);
    return out;
  };
  ir::Node* first = nullptr;
  for (ir::Node* inner = branch.first(); inner; inner = inner->next()) {
    std::vector<ir::Value*> outputs;
    for (ir::Value* v : inner->outputs()) {
      ir::Value* made = v ? g.add_value(v->name, v->dtype, v->shape) : nullptr;
      if (v) to[v] = made, made->kind = v->kind;
      outputs.push_back(made);
    }
    ir::Node* copy = g.add_copy(*inner, map(inner->inputs()), outputs);
    copy->origins.push_back(n->name);
    g.move_before(copy, n);
    if (!first) first = copy;
  }
  for (size_t i = 0; i < n->outputs().size(); ++i)
    if (ir::Value* v = n->outputs()[i]) g.replace_uses(v, to.at(branch.outputs()[i]));
  ir::Node* after = n->next();
  g.erase(n);
  return first ? first : after;
}

}  // namespace hf::passes

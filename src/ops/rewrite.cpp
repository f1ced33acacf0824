// Rewriting an operator as others.
#include "ops/rewrite.h"

namespace hf::ops {

Node* emit_before(ir::Graph& g, Node& n, std::string op, std::vector<ir::Value*> inputs, ir::Attrs attrs) {
  Node* made = g.add_node(std::move(op), std::move(inputs), 1, &n);
  made->name = n.name + "/" + made->op;
  made->attrs = std::move(attrs);
  made->origins = n.origins;
  bind(g, *made, kNewest - 1);
  return made;
}

void take_output(ir::Graph& g, Node& n, int i, Node* by) {
  if (n.output(i)) g.move_output(&n, i, by, 0);
}

void replace_by(ir::Graph& g, Node& n, Node* last) {
  take_output(g, n, 0, last);
  last->name = n.name;
  for (size_t i = 1; i < n.outputs().size(); ++i)
    if (n.outputs()[i] && !n.outputs()[i]->unused())
      fail(Code::Unsupported, "output {} ('{}') of {}", i, n.outputs()[i]->name, n.op);
  g.erase(&n);
}

}  // namespace hf::ops

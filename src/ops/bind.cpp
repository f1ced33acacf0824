// bind: from a node as the model has it to a node of the newest form, with its definition and all attributes.
#include <algorithm>

#include "ops/op.h"

namespace hf::ops {
namespace {

const AttrDef* find_attr(const OpDef& def, std::string_view attr, int opset) {
  const AttrDef* other = nullptr;
  for (const AttrDef& a : def.attrs) {
    if (a.name != attr) continue;
    if (opset >= a.since && opset <= a.until) return &a;
    other = &a;
  }
  if (other) fail(Code::InvalidModel, "attribute '{}' does not belong to {} at opset {}", attr, def.name, opset);
  return nullptr;
}

void check_count(const char* what, int got, int least, int most) {
  if (got < least || (most >= 0 && got > most))
    fail(Code::InvalidModel, "{} {}, wanted {}", got, what,
         most < 0        ? fmt::format("at least {}", least)
         : least == most ? std::to_string(least)
                         : fmt::format("{} to {}", least, most));
}

ir::Attr default_of(const AttrDef& a) {
  switch (a.type) {
    case AttrType::Float: return a.f;
    case AttrType::Int: return a.i;
    case AttrType::String: return std::string(a.s);
    default: check(false, "only numbers and strings have defaults"); return {};
  }
}

}  // namespace

void bind(ir::Graph& g, Node& n, int opset) {
  auto where = context([&] { return "node " + n.text(); });
  const OpDef* def = find_op(n.op, n.domain);
  if (!def)
    fail(Code::Unsupported, "operator {}{}{} is not known to hipforge", n.domain, n.domain.empty() ? "" : ".", n.op);
  if (opset < def->since || opset > def->until)
    fail(Code::InvalidModel, "operator {} does not exist at opset {} (it is in {}{})", n.op, opset, def->since,
         def->until == kNewest ? " and newer" : fmt::format(" to {}", def->until));
  n.def = def;
  int inputs = n.own_inputs();
  while (inputs > 0 && !n.input(inputs - 1) && n.captures == 0) g.resize_inputs(&n, --inputs);  // trailing absent ones
  check_count("inputs", inputs, 0, def->max_inputs);
  for (int i = 0; i < def->min_inputs; ++i)
    if (i >= inputs || !n.input(i)) fail(Code::InvalidModel, "input {} is missing", i);
  check_count("outputs", static_cast<int>(n.outputs().size()), def->min_outputs, def->max_outputs);
  for (const auto& [key, value] : n.attrs) {
    const AttrDef* a = find_attr(*def, key, opset);
    if (!a) fail(Code::InvalidModel, "attribute '{}' is not one of {}'s", key, n.op);
    if (a->type != ir::type_of(value))
      fail(Code::InvalidModel, "attribute '{}' is of type {}, wanted {}", key, ir::name(ir::type_of(value)),
           ir::name(a->type));
  }
  for (const AttrDef& a : def->attrs) {
    if (opset < a.since || opset > a.until || n.has(a.name)) continue;
    if (a.presence == AttrDef::Required) fail(Code::InvalidModel, "attribute '{}' is missing", a.name);
    if (a.presence == AttrDef::Default) n.attrs.emplace(std::string(a.name), default_of(a));
  }
  if (def->upgrade) def->upgrade(g, n, opset);
}

Node* add_op(ir::Graph& g, std::string op, std::vector<ir::Value*> inputs, ir::Attrs attrs, int outputs, Node* before,
             std::string domain) {
  Node* n = g.add_node(std::move(op), std::move(inputs), outputs, before, std::move(domain));
  n->name = n->output()->name;
  n->attrs = std::move(attrs);
  bind(g, *n, kNewest - 1);
  infer_node(*n);
  return n;
}

void attach_epilogue(ir::Graph& g, Node& n, std::shared_ptr<const ir::Program> program,
                     std::span<ir::Value* const> operands) {
  check(!n.epilogue && n.captures == 0, "a node gets one epilogue");
  check(program->inputs == static_cast<int>(operands.size()) + 1, "an epilogue has its operands");
  if (n.def->max_inputs > n.own_inputs()) g.resize_inputs(&n, n.def->max_inputs);
  for (ir::Value* v : operands) g.add_node_input(&n, v);
  n.epilogue = std::move(program);
  n.epilogue_inputs = static_cast<int>(operands.size());
}

}  // namespace hf::ops

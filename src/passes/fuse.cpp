// Elementwise work joined: to the product before it, or among itself.
#include <algorithm>
#include <map>

#include "ops/pointwise.h"
#include "passes/rewrite.h"

namespace hf::passes {
namespace {

using ir::Node;
using ir::Program;
using ir::Value;

constexpr size_t kMaxSteps = 32;
constexpr size_t kMaxInputs = 8;
constexpr std::pair<std::string_view, std::string_view> kProducts[] = {
    {"Conv", ""},  {"ConvShortcut", "hipforge"}, {"ConvTranspose", ""}, {"FusedMatMul", "com.microsoft"}, {"Gemm", ""},
    {"MatMul", ""}};

bool is_product(const Node* n) {
  return n && std::any_of(std::begin(kProducts), std::end(kProducts),
                          [&](const auto& p) { return n->is(p.first, p.second); });
}

// An elementwise operator on floats alone, with a shape that is known.
bool is_fusable(const Node* n) {
  if (!n || !n->domain.empty() || n->epilogue || n->captures || n->outputs().size() != 1) return false;
  Program trial;
  trial.inputs = static_cast<int>(n->inputs().size());
  std::vector<int> args;
  for (size_t i = 0; i < n->inputs().size(); ++i) {
    const Value* v = n->inputs()[i];
    if (v && !is_static_f32(v)) return false;
    args.push_back(v ? static_cast<int>(i) : -1);
  }
  return is_static_f32(n->output()) && ops::add_steps(trial, *n, args) >= 0;
}

// The program with `more` further inputs; the steps' registers move up.
Program widened(const Program& p, int more) {
  Program out = p;
  out.inputs += more;
  for (ir::Step& s : out.steps)
    for (int& a : s.args)
      if (a >= p.inputs) a += more;
  return out;
}

// Makes elementwise node `n`, one of whose inputs is the product's output, the next steps of its epilogue.
bool absorb(ir::Graph& g, Node* product, Node* n) {
  Value* made = product->output();
  if (made->uses().size() != 1 || made->graph_outputs() || !is_fusable(n)) return false;
  if (!(made->shape.get() == n->output()->shape.get()) || !is_static_f32(made)) return false;
  Program program = product->epilogue ? *product->epilogue : Program{.inputs = 1};
  std::vector<Value*> operands;
  for (Value* v : n->inputs()) {
    if (!v || v == made || std::find(operands.begin(), operands.end(), v) != operands.end()) continue;
    if (!broadcasts_into(v->shape, made->shape)) return false;
    operands.push_back(v);
  }
  int first_new = program.inputs;
  program = widened(program, static_cast<int>(operands.size()));
  std::vector<int> args;
  for (Value* v : n->inputs()) {
    auto at = std::find(operands.begin(), operands.end(), v);
    args.push_back(!v ? -1 : v == made ? program.result() : first_new + static_cast<int>(at - operands.begin()));
  }
  if (ops::add_steps(program, *n, args) != program.result()) return false;  // it did nothing, or is no row
  if (program.steps.size() > kMaxSteps || static_cast<size_t>(program.inputs) > kMaxInputs) return false;
  g.move_before(product, n);  // its operands may be made after it; nobody else waits for it
  auto shared = std::make_shared<const Program>(std::move(program));
  if (product->epilogue) {
    for (Value* v : operands) g.add_node_input(product, v);
    product->epilogue = shared;
    product->epilogue_inputs += static_cast<int>(operands.size());
  } else {
    ops::attach_epilogue(g, *product, shared, operands);
  }
  product->origins.push_back(n->name);
  g.replace_uses(n->output(), made);
  g.erase(n);
  return true;
}

std::map<const Node*, int> positions(const ir::Graph& g) {
  std::map<const Node*, int> at;
  for (const Node* n = g.first(); n; n = n->next()) at.emplace(n, static_cast<int>(at.size()));
  return at;
}

// The nodes whose work `root` can do: elementwise producers of the same shape that only the cluster uses.
std::vector<Node*> cluster_of(Node* root) {
  std::vector<Node*> cluster = {root};
  auto inside = [&](const Node* n) { return std::find(cluster.begin(), cluster.end(), n) != cluster.end(); };
  for (bool grown = true; grown && cluster.size() < kMaxSteps / 2;) {
    grown = false;
    for (size_t i = 0; i < cluster.size() && !grown; ++i)
      for (Value* v : cluster[i]->inputs()) {
        Node* p = v ? v->producer() : nullptr;
        if (!p || inside(p) || v->graph_outputs() || !is_fusable(p) || !(v->shape.get() == root->output()->shape.get()))
          continue;
        if (!std::all_of(v->uses().begin(), v->uses().end(), [&](const ir::Use& u) { return inside(u.node); }))
          continue;
        cluster.push_back(p);
        grown = true;
        break;
      }
  }
  return cluster;
}

bool fuse_cluster(ir::Graph& g, Node* root, std::vector<Node*> cluster, const std::map<const Node*, int>& position) {
  std::sort(cluster.begin(), cluster.end(), [&](Node* a, Node* b) { return position.at(a) < position.at(b); });
  std::vector<Value*> inputs;
  std::map<const Value*, int> registers;
  for (Node* n : cluster)
    for (Value* v : n->inputs()) {
      bool inner = v && v->producer() && std::find(cluster.begin(), cluster.end(), v->producer()) != cluster.end();
      if (!v || inner || registers.count(v)) continue;
      registers[v] = static_cast<int>(inputs.size());
      inputs.push_back(v);
    }
  if (inputs.empty() || inputs.size() > kMaxInputs) return false;
  Program program{.inputs = static_cast<int>(inputs.size())};
  for (Node* n : cluster) {
    std::vector<int> args;
    for (Value* v : n->inputs()) args.push_back(v ? registers.at(v) : -1);
    registers[n->output()] = ops::add_steps(program, *n, args);
  }
  if (registers[root->output()] != program.result() || program.steps.empty() || program.steps.size() > kMaxSteps)
    return false;
  Node* fused = g.add_node("Pointwise", {inputs[0]}, 1, root, "hipforge");
  fused->name = root->name;
  fused->def = ops::find_op("Pointwise", "hipforge");
  for (Node* n : cluster) {
    fused->origins.push_back(n->name);
    fused->origins.insert(fused->origins.end(), n->origins.begin(), n->origins.end());
  }
  ops::attach_epilogue(g, *fused, std::make_shared<const Program>(std::move(program)), std::span(inputs).subspan(1));
  ops::infer_node(*fused);
  g.replace_uses(root->output(), fused->output());
  std::reverse(cluster.begin(), cluster.end());  // users before producers
  for (Node* n : cluster) g.erase(n);
  return true;
}

}  // namespace

bool fuse_epilogues(ir::Graph& g, const PassOptions&) {
  bool changed = false;
  const auto position = positions(g);
  for (Node* n : g.nodes()) {
    if (n->erased() || !is_fusable(n)) continue;
    // Of two products that meet here, the later one takes the work: the other's result exists already.
    Node* best = nullptr;
    for (Value* v : n->inputs()) {
      Node* p = v ? v->producer() : nullptr;
      if (is_product(p) && v->uses().size() == 1 && !v->graph_outputs() &&
          (!best || position.at(p) > position.at(best)))
        best = p;
    }
    changed |= best && absorb(g, best, n);
  }
  return changed;
}

bool fuse_pointwise(ir::Graph& g, const PassOptions&) {
  bool changed = false;
  const auto position = positions(g);
  std::vector<Node*> nodes = g.nodes();
  std::reverse(nodes.begin(), nodes.end());
  for (Node* n : nodes) {
    if (n->erased() || !is_fusable(n)) continue;
    std::vector<Node*> cluster = cluster_of(n);
    if (cluster.size() > 1) changed |= fuse_cluster(g, n, cluster, position);
  }
  return changed;
}

}  // namespace hf::passes

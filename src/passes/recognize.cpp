// Activations and normalisations that exporters spell out in elementary operators.
#include <algorithm>
#include <cmath>

#include "passes/rewrite.h"

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;

bool near(double a, double b) { return std::fabs(a - b) <= 2e-4 * std::fabs(b); }

const Node* made_by(const Value* v, std::string_view op) {
  const Node* n = v ? v->producer() : nullptr;
  return n && n->is(op) ? n : nullptr;
}

// x where v = op(x, c) or, for a commutative op, op(c, x); c goes to `number`.
Value* beside_scalar(const Value* v, std::string_view op, double& number) {
  const Node* n = made_by(v, op);
  if (!n) return nullptr;
  bool commutes = op == "Add" || op == "Mul";
  for (int i = commutes ? 0 : 1; i < 2; ++i)
    if (auto c = scalar_of(n->input(i))) {
      number = *c;
      return n->input(1 - i);
    }
  return nullptr;
}

// A product of values and one number, from a tree of Mul, and Div by numbers.
struct Product {
  std::vector<Value*> factors;
  double number = 1;
};

void collect(Value* v, bool root, Product& out) {
  double c = 0;
  Node* n = v->producer();
  bool inside = n && (root || v->uses().size() == 1) && out.factors.size() < 4;
  if (inside && n->is("Div")) {
    if (Value* x = beside_scalar(v, "Div", c); x && c != 0) {
      out.number /= c;
      return collect(x, false, out);
    }
  }
  if (inside && n->is("Mul")) {
    if (Value* x = beside_scalar(v, "Mul", c)) {
      out.number *= c;
      return collect(x, false, out);
    }
    collect(n->input(0), false, out);
    collect(n->input(1), false, out);
    return;
  }
  out.factors.push_back(v);
}

// v = x * number, whichever way it is written.
bool is_scaled(Value* v, const Value* x, double number) {
  Product p;
  collect(v, true, p);
  return p.factors.size() == 1 && p.factors[0] == x && near(p.number, number);
}

bool is_cube(const Value* v, const Value* x) {
  double e = 0;
  if (beside_scalar(v, "Pow", e) == x) return e == 3;
  Product p;
  collect(const_cast<Value*>(v), true, p);
  return p.number == 1 && p.factors.size() == 3 && std::count(p.factors.begin(), p.factors.end(), x) == 3;
}

// sqrt(2 / pi) * (x + 0.044715 x^3)
bool is_tanh_argument(Value* v, const Value* x) {
  Product p;
  collect(v, true, p);
  if (p.factors.size() != 1 || !near(p.number, 0.7978845608)) return false;
  const Node* add = made_by(p.factors[0], "Add");
  if (!add) return false;
  for (int i = 0; i < 2; ++i) {
    if (add->input(i) != x) continue;
    Product cubic;
    collect(add->input(1 - i), true, cubic);
    if (!near(cubic.number, 0.044715)) continue;
    if (cubic.factors.size() == 1 && is_cube(cubic.factors[0], x)) return true;
    if (cubic.factors.size() == 3 && std::count(cubic.factors.begin(), cubic.factors.end(), x) == 3) return true;
  }
  return false;
}

struct Activation {
  std::string_view op;
  ir::Attrs attrs;
};

// x * v * number as a known activation of x.
std::optional<Activation> activation(const Value* x, const Value* v, double number) {
  double c = 0;
  if (Value* inner = beside_scalar(v, "Add", c); inner && c == 1 && near(number, 0.5)) {
    if (const Node* erf = made_by(inner, "Erf"); erf && is_scaled(erf->input(0), x, std::sqrt(0.5)))
      return Activation{"Gelu", {{"approximate", std::string("none")}}};
    if (const Node* tanh = made_by(inner, "Tanh"); tanh && is_tanh_argument(tanh->input(0), x))
      return Activation{"Gelu", {{"approximate", std::string("tanh")}}};
  }
  if (const Node* sigmoid = made_by(v, "Sigmoid"); sigmoid && number == 1) {
    if (sigmoid->input(0) == x) return Activation{"Swish", {{"alpha", 1.0f}}};
    Product p;
    collect(sigmoid->input(0), true, p);
    if (p.factors.size() == 1 && p.factors[0] == x)
      return Activation{"Swish", {{"alpha", static_cast<float>(p.number)}}};
  }
  if (const Node* hard = made_by(v, "HardSigmoid");
      hard && number == 1 && hard->input(0) == x && near(hard->f("alpha"), 1.0 / 6) && hard->f("beta") == 0.5f)
    return Activation{"HardSwish", {}};
  if (const Node* clip = made_by(v, "Clip"); clip && near(number, 1.0 / 6)) {
    auto low = scalar_of(clip->input(1)), high = scalar_of(clip->input(2));
    if (low == 0.0 && high == 6.0 && beside_scalar(clip->input(0), "Add", c) == x && c == 3)
      return Activation{"HardSwish", {}};
  }
  return std::nullopt;
}

bool recognize_activation(ir::Graph& g, Node* n) {
  if (!(n->is("Mul") || n->is("Div")) || n->output()->dtype != DType::F32) return false;
  Product p;
  collect(n->output(), true, p);
  if (p.factors.size() != 2) return false;
  for (int i = 0; i < 2; ++i) {
    Value* x = p.factors[static_cast<size_t>(i)];
    if (auto a = activation(x, p.factors[static_cast<size_t>(1 - i)], p.number)) {
      Node* made = ops::add_op(g, std::string(a->op), {x}, a->attrs, 1, n);
      made->origins.push_back(n->name);
      replace_node(g, n, made);
      return true;
    }
  }
  return false;
}

// Mean over the last axis, kept.
Value* last_mean_of(const Value* v) {
  const Node* n = made_by(v, "ReduceMean");
  if (!n || !n->i("keepdims") || !n->input(1) || !n->input(1)->is_constant() || !n->input(0)->shape.ranked())
    return nullptr;
  std::vector<int64_t> axes = to_ints(n->input(1)->constant);
  bool last = axes.size() == 1 && (axes[0] == -1 || axes[0] == n->input(0)->shape.rank() - 1);
  return last ? n->input(0) : nullptr;
}

// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * scale [+ bias], found at the Div.
bool recognize_layer_norm(ir::Graph& g, Node* div) {
  if (!div->is("Div") || div->output()->dtype != DType::F32) return false;
  Value* centred = div->input(0);
  const Node* sub = made_by(centred, "Sub");
  const Node* root = made_by(div->input(1), "Sqrt");
  if (!sub || !root) return false;
  Value* x = sub->input(0);
  double epsilon = 0, exponent = 0;
  Value* variance = beside_scalar(root->input(0), "Add", epsilon);
  if (!variance || last_mean_of(sub->input(1)) != x) return false;
  Value* square = last_mean_of(variance);
  if (!square) return false;
  const Node* mul = made_by(square, "Mul");
  bool squared = (beside_scalar(square, "Pow", exponent) == centred && exponent == 2) ||
                 (mul && mul->input(0) == centred && mul->input(1) == centred);
  if (!squared) return false;
  // scale and bias: constants as long as the last axis
  auto vector_beside = [&](Node* n, const Value* v) -> Value* {
    Value* other = n->input(0) == v ? n->input(1) : n->input(0);
    bool fits = other->is_constant() && other->dtype == DType::F32 && other->constant.rank() == 1 &&
                x->shape[x->shape.rank() - 1].value == other->constant.size();
    return fits ? other : nullptr;
  };
  Node* scaled = div->output()->only_user();
  Value* scale = scaled && scaled->is("Mul") ? vector_beside(scaled, div->output()) : nullptr;
  if (!scale) return false;
  Node* last = scaled;
  Value* bias = nullptr;
  if (Node* add = scaled->output()->only_user(); add && add->is("Add")) {
    bias = vector_beside(add, scaled->output());
    if (bias) last = add;
  }
  std::vector<Value*> inputs = {x, scale};
  if (bias) inputs.push_back(bias);
  Node* made = ops::add_op(g, "LayerNormalization", inputs,
                           {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(epsilon)}}, 1, last);
  made->origins.push_back(div->name);
  replace_node(g, last, made);
  return true;
}

}  // namespace

bool recognize(ir::Graph& g, const PassOptions& options) {
  bool changed = false;
  std::vector<Node*> nodes = g.nodes();
  std::reverse(nodes.begin(), nodes.end());  // the end of a spelling is met before its parts
  for (Node* n : nodes) {
    if (n->erased()) continue;
    changed |= recognize_activation(g, n) || recognize_layer_norm(g, n);
  }
  if (changed) clean_up(g, options);
  return changed;
}

}  // namespace hf::passes

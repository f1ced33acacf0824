// Taking com.microsoft's fused operators apart.
#include "ops/unfuse.h"

#include <algorithm>

namespace hf::ops {

Node* push_down(ir::Graph& g, Node& n, std::string op, int inputs) {
  std::vector<ir::Value*> kept(n.inputs().begin(), n.inputs().begin() + std::min(inputs, n.own_inputs()));
  Node* inner = g.add_node(std::move(op), kept, 1, &n);
  inner->name = n.name;
  inner->attrs = std::move(n.attrs);
  n.attrs.clear();
  bind(g, *inner, kNewest - 1);
  return inner;
}

ir::Value* add_before(ir::Graph& g, Node& n, std::string op, std::vector<ir::Value*> inputs, ir::Attrs attrs,
                      int outputs, int opset) {
  Node* before = g.add_node(std::move(op), std::move(inputs), outputs, &n);
  before->name = n.name + "/" + before->op;
  before->attrs = std::move(attrs);
  bind(g, *before, opset);
  return before->output();
}

void follow_with(ir::Graph& g, Node& n, std::string op, std::vector<ir::Value*> inputs, ir::Attrs attrs) {
  n.op = std::move(op);
  n.domain = "";
  n.attrs = std::move(attrs);
  g.resize_inputs(&n, static_cast<int>(inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) g.set_input(&n, static_cast<int>(i), inputs[i]);
  bind(g, n, kNewest - 1);
}

namespace {

struct Activation {
  std::string_view name;
  std::vector<std::string_view> params;  // the attributes that take the parameters, in order
};

const Activation* find_activation(std::string_view name) {
  static const std::vector<Activation> known = {
      {"", {}},
      {"Elu", {"alpha"}},
      {"Gelu", {}},
      {"HardSigmoid", {"alpha", "beta"}},
      {"LeakyRelu", {"alpha"}},
      {"Relu", {}},
      {"Sigmoid", {}},
      {"Softplus", {}},
      {"Softsign", {}},
      {"Tanh", {}},
      {"ThresholdedRelu", {"alpha"}},
  };
  auto it = std::find_if(known.begin(), known.end(), [&](const Activation& a) { return a.name == name; });
  return it == known.end() ? nullptr : &*it;
}

}  // namespace

void follow_with_activation(ir::Graph& g, Node& n, ir::Value* x, std::string_view activation,
                            std::span<const float> params) {
  if (activation == "Clip") {
    std::vector<ir::Value*> inputs = {x};
    for (size_t i = 0; i < std::min<size_t>(params.size(), 2); ++i)
      inputs.push_back(g.add_constant(n.name + (i ? "/max" : "/min"), Tensor::scalar(params[i])));
    return follow_with(g, n, "Clip", inputs);
  }
  const Activation* a = find_activation(activation);
  if (!a) fail(Code::Unsupported, "activation '{}' of {}", activation, n.op);
  ir::Attrs attrs;
  for (size_t i = 0; i < std::min(params.size(), a->params.size()); ++i)
    attrs.emplace(std::string(a->params[i]), params[i]);
  follow_with(g, n, activation.empty() ? "Identity" : std::string(activation), {x}, attrs);
}

}  // namespace hf::ops

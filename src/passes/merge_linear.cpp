// The linear layers that make queries, keys and values of one input become one product.
#include <algorithm>

#include "passes/rewrite.h"

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;

struct Layer {
  Node* product;
  Node* add = nullptr;  // of the bias, if there is one
  Value* bias = nullptr;

  Value* result() const { return add ? add->output() : product->output(); }
  int64_t features() const { return product->input(1)->constant.dims()[1]; }
};

bool is_plain(const Node* n, std::string_view op) { return n && n->is(op) && !n->epilogue; }

// Heads are made of it, and used by products at once, perhaps scaled or turned: what fuse_attention reads by strides.
bool becomes_heads(const Value* v) {
  const Node* reshape = v->only_user();
  if (!is_plain(reshape, "Reshape") || reshape->input(0) != v) return false;
  const Node* n = reshape->output()->only_user();
  // Where batch and heads become one axis, strides cannot say where in a wider row a head begins.
  if (!is_plain(n, "Transpose") || n->ints_or_empty("perm").size() < 4) return false;
  for (int steps = 0; steps < 4; ++steps) {
    const Node* user = n->output()->only_user();
    if (is_plain(user, "MatMul")) return true;
    bool scales = is_plain(user, "Mul") || is_plain(user, "Div");
    if (!is_plain(user, "Transpose") && !(scales && (scalar_of(user->input(0)) || scalar_of(user->input(1)))))
      return false;
    n = user;
  }
  return false;
}

// v = x * constant matrix (+ constant bias), made into heads.
std::optional<Layer> layer_of(Node* n) {
  const Value* w = n->input(1);
  if (!is_plain(n, "MatMul") || !w->is_constant() || w->dtype != DType::F32 || w->constant.rank() != 2)
    return std::nullopt;
  Layer layer{.product = n};
  Node* add = n->output()->only_user();
  if (is_plain(add, "Add")) {
    Value* bias = add->input(0) == n->output() ? add->input(1) : add->input(0);
    if (!bias->is_constant() || bias->dtype != DType::F32 || bias->constant.dims() != Dims{layer.features()})
      return std::nullopt;
    layer.add = add, layer.bias = bias;
  }
  return becomes_heads(layer.result()) ? std::optional(layer) : std::nullopt;
}

// The matrices beside each other.
Tensor beside(const std::vector<Layer>& layers) {
  int64_t rows = layers[0].product->input(1)->constant.dims()[0], all = 0, first = 0;
  for (const Layer& layer : layers) all += layer.features();
  Tensor t(DType::F32, {rows, all});
  for (const Layer& layer : layers) {
    const float* from = layer.product->input(1)->constant.data<float>();
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(from + r * layer.features(), layer.features(), t.data<float>() + r * all + first);
    first += layer.features();
  }
  return t;
}

Tensor after(const std::vector<Layer>& layers, int64_t all) {
  Tensor t(DType::F32, {all});
  float* to = t.data<float>();
  for (const Layer& layer : layers) {
    if (layer.bias)
      std::copy_n(layer.bias->constant.data<float>(), layer.features(), to);
    else
      std::fill_n(to, layer.features(), 0.f);
    to += layer.features();
  }
  return t;
}

void merge(ir::Graph& g, const std::vector<Layer>& layers) {
  // Before the first of the results' uses: where the first layer is, all have their input.
  Node* first = layers[0].product;
  Value* x = first->input(0);
  Tensor matrix = beside(layers);
  int64_t all = matrix.dims()[1];
  auto origins = [&](Node* n) {
    for (const Layer& layer : layers)
      n->origins.insert(n->origins.end(), layer.product->origins.begin(), layer.product->origins.end());
    return n;
  };
  Node* product =
      origins(ops::add_op(g, "MatMul", {x, g.add_constant("merged_weights", std::move(matrix))}, {}, 1, first));
  product->name = first->name;
  Value* result = product->output();
  if (std::any_of(layers.begin(), layers.end(), [](const Layer& layer) { return layer.bias; }))
    result = ops::add_op(g, "Add", {result, g.add_constant("merged_bias", after(layers, all))}, {}, 1, first)->output();
  std::vector<int64_t> sizes;
  for (const Layer& layer : layers) sizes.push_back(layer.features());
  Node* split = ops::add_op(g, "Split", {result, g.add_constant("merged_sizes", Tensor::ints(sizes))},
                            {{"axis", int64_t{-1}}}, static_cast<int>(layers.size()), first);
  for (size_t i = 0; i < layers.size(); ++i) {
    g.replace_uses(layers[i].result(), split->output(static_cast<int>(i)));
    if (layers[i].add) g.erase(layers[i].add);
    g.erase(layers[i].product);
  }
}

// All layers of one input, in order; only those with equally many rows, of course, are products with it.
bool merge_layers_of(ir::Graph& g, const Value* x) {
  std::vector<Layer> layers;
  for (const ir::Use& use : x->uses())
    if (use.index == 0)
      if (auto layer = layer_of(use.node)) layers.push_back(*layer);
  if (layers.size() < 2 || layers.size() > 3) return false;
  // In the nodes' order, so that the first one's place is before all uses.
  std::vector<Layer> sorted;
  for (Node* n : g.nodes())
    for (const Layer& layer : layers)
      if (layer.product == n) sorted.push_back(layer);
  merge(g, sorted);
  return true;
}

}  // namespace

bool merge_linear(ir::Graph& g, const PassOptions& options) {
  if (!options.gpu) return false;
  bool changed = false;
  for (Node* n : g.nodes())
    if (!n->erased() && n->is("MatMul") && n->input(0) && !n->input(0)->is_constant())
      changed |= merge_layers_of(g, n->input(0));
  return changed;
}

}  // namespace hf::passes

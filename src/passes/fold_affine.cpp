// BatchNormalization as Mul and Add, and both of them into the weights before them.
#include <algorithm>
#include <cmath>

#include "passes/rewrite.h"

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;

Tensor channel_constant(const std::vector<float>& values, int rank) {
  Dims dims = Dims::filled(rank, 1);
  if (rank >= 2) dims[1] = static_cast<int64_t>(values.size());
  Tensor t(DType::F32, dims);
  std::copy(values.begin(), values.end(), t.data<float>());
  return t;
}

// A weighted operator whose output channels can be scaled.
struct Weighted {
  std::string_view op;
  // Extent index of the output channel in the weights, given the node.
  int (*channel_axis)(const Node*);
};

constexpr Weighted kWeighted[] = {
    {"Conv", [](const Node*) { return 0; }},
    {"ConvTranspose", [](const Node*) { return 1; }},
    {"Gemm", [](const Node* n) { return n->i("transB") ? 0 : 1; }},
};

const Weighted* weighted(const Node* n) {
  if (!n || !n->domain.empty() || n->epilogue) return nullptr;
  for (const Weighted& w : kWeighted)
    if (w.op == n->op) return &w;
  return nullptr;
}

int64_t output_channels(const Node* n, const Weighted& w) {
  int64_t per_group = n->input(1)->constant.dims()[w.channel_axis(n)];
  return n->is("ConvTranspose") ? per_group * n->i("group") : per_group;
}

// weights[..., c, ...] *= scale[c]; ConvTranspose holds its groups along axis 0.
Tensor scaled_weights(const Node* n, const Weighted& w, const std::vector<float>& scale) {
  Tensor t = n->input(1)->constant.clone();
  int axis = w.channel_axis(n);
  int64_t outer = t.dims().count(0, axis), channels = t.dims()[axis], inner = t.dims().count(axis + 1, t.rank());
  int64_t rows_per_group = n->is("ConvTranspose") ? std::max<int64_t>(outer / n->i("group"), 1) : outer;
  float* p = t.data<float>();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < inner; ++i)
        *p++ *= scale[static_cast<size_t>(n->is("ConvTranspose") ? o / rows_per_group * channels + c : c)];
  return t;
}

// The bias as one float a channel: zeros if there is none; none if it is not constant or of another form.
std::optional<std::vector<float>> bias_of(const Node* n, int64_t channels) {
  const Value* b = n->input(2);
  if (!b) return std::vector<float>(static_cast<size_t>(channels), 0.0f);
  if (!b->is_constant() || b->dtype != DType::F32) return std::nullopt;
  if (b->constant.size() == 1) return std::vector<float>(static_cast<size_t>(channels), b->constant.data<float>()[0]);
  if (b->constant.size() != channels || b->constant.dims().back() != channels) return std::nullopt;
  return std::vector<float>(b->constant.data<float>(), b->constant.data<float>() + channels);
}

bool fold_into(ir::Graph& g, Node* n, Node* product, const Weighted& w) {
  const Value* weights = product->input(1);
  if (!weights->is_constant() || weights->dtype != DType::F32 || product->output()->only_user() != n) return false;
  if (product->is("Gemm") && product->f("beta") != 1.0f && product->input(2)) return false;
  int64_t channels = output_channels(product, w);
  const ir::Shape& shape = product->output()->shape;
  if (!shape.ranked() || shape.rank() < 2) return false;
  int operand = n->input(0) == product->output() ? 1 : 0;
  if (n->input(1 - operand) != product->output()) return false;
  auto numbers = per_channel(n->input(operand), shape.rank(), channels);
  auto bias = bias_of(product, channels);
  if (!numbers || !bias) return false;
  if (n->is("Mul")) {
    g.set_input(product, 1, g.add_constant(weights->name, scaled_weights(product, w, *numbers)));
    for (size_t c = 0; c < bias->size(); ++c) (*bias)[c] *= (*numbers)[c];
  } else {
    for (size_t c = 0; c < bias->size(); ++c) (*bias)[c] += (*numbers)[c];
  }
  if (product->input(2) || n->is("Add")) {
    Tensor t(DType::F32, {channels});
    std::copy(bias->begin(), bias->end(), t.data<float>());
    if (product->own_inputs() < 3) g.resize_inputs(product, 3);
    g.set_input(product, 2, g.add_constant(product->name + "/bias", t));
    if (product->is("Gemm")) product->attrs["beta"] = 1.0f;
  }
  product->origins.push_back(n->name);
  g.replace_uses(n->output(), product->output());
  g.erase(n);
  return true;
}

}  // namespace

bool expand_batch_norm(ir::Graph& g, const PassOptions&) {
  bool changed = false;
  for (Node* n : g.nodes()) {
    if (!n->is("BatchNormalization") || (n->has("training_mode") && n->i("training_mode"))) continue;
    const Value* x = n->input(0);
    if (x->dtype != DType::F32 || !x->shape.ranked() || x->shape.rank() < 2) continue;
    bool constant = true;
    for (int i = 1; i < 5; ++i)
      constant &= n->input(i)->is_constant() && n->input(i)->dtype == DType::F32 && n->input(i)->constant.rank() == 1 &&
                  n->input(i)->constant.size() == n->input(1)->constant.size();
    for (size_t i = 1; i < n->outputs().size(); ++i) constant &= !n->outputs()[i] || n->outputs()[i]->unused();
    if (!constant) continue;
    auto p = [&](int i) { return n->input(i)->constant.data<float>(); };
    size_t channels = static_cast<size_t>(n->input(1)->constant.size());
    std::vector<float> scale(channels), shift(channels);
    for (size_t c = 0; c < channels; ++c) {
      double s = p(1)[c] / std::sqrt(static_cast<double>(p(4)[c]) + n->f("epsilon"));
      scale[c] = static_cast<float>(s);
      shift[c] = static_cast<float>(p(2)[c] - s * p(3)[c]);
    }
    int rank = x->shape.rank();
    Node* mul = ops::add_op(g, "Mul", {n->input(0), g.add_constant(n->name + "/scale", channel_constant(scale, rank))},
                            {}, 1, n);
    Node* add = ops::add_op(
        g, "Add", {mul->output(), g.add_constant(n->name + "/shift", channel_constant(shift, rank))}, {}, 1, n);
    mul->name = n->name + "/scale";
    add->origins.push_back(n->name);
    replace_node(g, n, add);
    changed = true;
  }
  return changed;
}

bool fold_affine(ir::Graph& g, const PassOptions&) {
  bool changed = false;
  for (Node* n : g.nodes()) {
    if (n->erased() || !(n->is("Mul") || n->is("Add")) || n->epilogue) continue;
    for (int i = 0; i < 2; ++i) {
      Node* product = n->input(i)->producer();
      const Weighted* w = weighted(product);
      if (w && fold_into(g, n, product, *w)) {
        changed = true;
        break;
      }
    }
  }
  return changed;
}

}  // namespace hf::passes

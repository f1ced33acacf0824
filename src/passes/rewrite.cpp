// What several passes ask of a graph.
#include "passes/rewrite.h"

namespace hf::passes {

std::optional<double> scalar_of(const ir::Value* v) {
  if (!v || !v->is_constant() || v->constant.size() != 1 || v->dtype == DType::String) return std::nullopt;
  return to_number(v->constant);
}

std::optional<std::vector<float>> per_channel(const ir::Value* v, int rank, int64_t channels) {
  if (!v || !v->is_constant() || v->dtype != DType::F32) return std::nullopt;
  const Tensor& t = v->constant;
  const size_t n = static_cast<size_t>(channels);
  if (t.size() == 1 && t.rank() <= rank) return std::vector<float>(n, t.data<float>()[0]);
  int from_end = rank - 2;  // extents after the channel
  if (t.size() != channels || t.rank() < from_end + 1 || t.rank() > rank) return std::nullopt;
  if (t.dims()[t.rank() - from_end - 1] != channels) return std::nullopt;
  return std::vector<float>(t.data<float>(), t.data<float>() + channels);
}

void replace_node(ir::Graph& g, ir::Node* n, ir::Node* made) {
  made->name = n->name;
  made->origins.insert(made->origins.end(), n->origins.begin(), n->origins.end());
  g.replace_uses(n->output(), made->output());
  g.erase(n);
}

bool is_static_f32(const ir::Value* v) { return v && v->dtype == DType::F32 && v->shape.is_static(); }

bool broadcasts_into(const ir::Shape& shape, const ir::Shape& to) {
  if (!shape.is_static() || !to.is_static() || shape.rank() > to.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    int64_t d = shape[i].value, wanted = to[i + to.rank() - shape.rank()].value;
    if (d != 1 && d != wanted) return false;
  }
  return true;
}

}  // namespace hf::passes

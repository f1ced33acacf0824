// Counting a model.
#include "session/inspect.h"

#include <algorithm>

#include "session/random_inputs.h"

namespace hf {
namespace {

// Multiply-accumulates of one node: each output element of a convolution takes one for each weight of its channel, each
// of a product one for each step of the reduced extent.
int64_t macs_of(const ir::Node* n) {
  const ir::Value* y = n->output();
  if (!y || !y->shape.is_static()) return 0;
  auto elements = [](const ir::Value* v) { return v->shape.get().count(); };
  if (n->is("Conv") && n->input(1)->shape.is_static()) {
    Dims w = n->input(1)->shape.get();
    return elements(y) * (w[0] ? w.count() / w[0] : 0);
  }
  if (n->is("ConvTranspose") && n->input(0)->shape.is_static() && n->input(1)->shape.is_static()) {
    Dims w = n->input(1)->shape.get();
    return elements(n->input(0)) * (w[0] ? w.count() / w[0] : 0);
  }
  bool product = n->op == "MatMul" || n->op == "FusedMatMul" || n->op == "Gemm";
  if (!product || !n->input(0)->shape.is_static() || n->input(0)->shape.rank() == 0) return 0;
  Dims a = n->input(0)->shape.get();
  bool transposed = n->has("transA") && n->i("transA");
  return elements(y) * (transposed && a.rank() > 1 ? a[a.rank() - 2] : a.back());
}

}  // namespace

Inspection inspect(const Session& session, const std::map<std::string, Dims>& shapes) {
  Inspection out;
  const ir::Graph& g = *session.model().graph;
  std::map<std::string, int> counts;
  for (const ir::Node* n = g.first(); n; n = n->next()) ++counts[n->domain.empty() ? n->op : n->domain + "." + n->op];
  for (const auto& [op, count] : counts) out.operators.push_back({op, count});
  std::stable_sort(out.operators.begin(), out.operators.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  for (const auto& v : g.values())
    if (v->is_constant() && is_float(v->dtype)) {
      out.parameters += v->constant.size();
      out.parameter_bytes += v->constant.size_bytes();
    }
  std::shared_ptr<const plan::Plan> plan = session.plan_for(random_inputs(session, shapes));
  for (const ir::Node* n = plan->graph->first(); n; n = n->next()) out.macs += macs_of(n);
  out.arena_bytes = plan->arena_bytes;
  out.scratch_bytes = plan->scratch_bytes;
  out.placements = plan->placements;
  out.split = !plan->breakers.empty();
  return out;
}

}  // namespace hf

// Constant zero padding as the pads of the convolution after it.
#include "passes/rewrite.h"

namespace hf::passes {

bool fold_pad(ir::Graph& g, const PassOptions&) {
  bool changed = false;
  for (ir::Node* n : g.nodes()) {
    if (!n->is("Conv") || n->s("auto_pad") != "NOTSET") continue;
    ir::Node* pad = n->input(0)->producer();
    if (!pad || !pad->is("Pad") || pad->s("mode") != "constant" || pad->input(3)) continue;
    const ir::Value* amounts = pad->input(1);
    if (!amounts->is_constant() || (pad->input(2) && scalar_of(pad->input(2)) != 0.0)) continue;
    std::vector<int64_t> p = to_ints(amounts->constant), pads = n->ints_or_empty("pads");
    size_t rank = p.size() / 2;
    if (rank < 3 || !n->input(0)->shape.ranked() || n->input(0)->shape.rank() != static_cast<int>(rank)) continue;
    bool fits = p[0] == 0 && p[1] == 0 && p[rank] == 0 && p[rank + 1] == 0;
    for (int64_t v : p) fits &= v >= 0;
    if (!fits) continue;
    if (pads.empty()) pads.assign(2 * (rank - 2), 0);
    for (size_t i = 0; i < rank - 2; ++i) {
      pads[i] += p[i + 2];
      pads[i + rank - 2] += p[rank + i + 2];
    }
    n->attrs["pads"] = pads;
    n->origins.push_back(pad->name);
    g.set_input(n, 0, pad->input(0));
    changed = true;
  }
  return changed;
}

}  // namespace hf::passes

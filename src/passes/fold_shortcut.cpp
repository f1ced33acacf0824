// A residual block's convolution of its shortcut joins the convolution whose result it is added to.
#include "ops/window.h"
#include "passes/rewrite.h"

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;

// A two-dimensional convolution by constants that only `sum` uses.
Node* convolution(const Value* v, const Node* sum) {
  Node* n = v ? v->producer() : nullptr;
  if (!n || !n->is("Conv") || n->epilogue || v->graph_outputs() || v->uses().size() != 1) return nullptr;
  if (v->uses()[0].node != sum || n->i("group") != 1 || v->shape.rank() != 4) return nullptr;
  if (!n->input(0)->shape.is_static() || !n->input(1)->is_constant()) return nullptr;
  return n->input(2) && !n->input(2)->is_constant() ? nullptr : n;
}

// The strides of a convolution of one tap without padding.
std::optional<std::vector<int64_t>> strides_of_one_tap(const Node* n) {
  const Dims x = n->input(0)->shape.get(), w = n->input(1)->shape.get();
  const ops::Window window =
      ops::window_of(*n, std::span<const int64_t>(x).subspan(2), std::span<const int64_t>(w).subspan(2));
  std::vector<int64_t> strides;
  for (const ops::WindowAxis& axis : window.axes) {
    if (axis.kernel != 1 || axis.begin || axis.end || (axis.input - 1) / axis.stride + 1 != axis.output)
      return std::nullopt;
    strides.push_back(axis.stride);
  }
  return strides;
}

bool fold(ir::Graph& g, Node* sum) {
  Node *main = convolution(sum->input(0), sum), *shortcut = convolution(sum->input(1), sum);
  if (!main || !shortcut || main == shortcut) return false;
  if (!(main->output()->shape.get() == shortcut->output()->shape.get())) return false;
  // The shortcut is the one that cannot be the main one as well, or that has the strides.
  auto strides = strides_of_one_tap(shortcut), others = strides_of_one_tap(main);
  const bool swap = !strides || (others && *strides == std::vector<int64_t>{1, 1} && *others != *strides);
  if (swap) {
    std::swap(main, shortcut);
    std::swap(strides, others);
  }
  // Kernels keep a bit a tap.
  if (!strides || main->input(1)->shape.get().count(2, 4) > 31) return false;
  ir::Attrs attrs = main->attrs;
  attrs["strides2"] = *strides;
  std::vector<Value*> inputs = {main->input(0), main->input(1), shortcut->input(0), shortcut->input(1)};
  if (main->input(2) || shortcut->input(2)) inputs.push_back(main->input(2));
  if (shortcut->input(2)) inputs.push_back(shortcut->input(2));
  Node* made = ops::add_op(g, "ConvShortcut", inputs, attrs, 1, sum, "hipforge");
  for (const Node* n : {main, shortcut}) made->origins.push_back(n->name);
  replace_node(g, sum, made);
  return true;
}

}  // namespace

bool fold_shortcut(ir::Graph& g, const PassOptions& options) {
  if (!options.gpu) return false;
  bool changed = false;
  for (Node* n : g.nodes())
    if (!n->erased() && n->is("Add") && n->output()->shape.is_static()) changed |= fold(g, n);
  if (changed) clean_up(g, options);
  return changed;
}

}  // namespace hf::passes

// Nodes of opsets 1 to 6, from before broadcasting was NumPy's, as nodes of opset 7.
#pragma once
#include "ir/graph.h"

namespace hf::load {

/// Rewrites a node of ai.onnx that is not bound yet. Throws Unsupported for a form that opset 7 cannot say, or where
/// the ranks that a rewrite needs are not declared.
void modernize(ir::Graph& g, ir::Node& n, int opset);

}  // namespace hf::load

// com.microsoft's fused operators, as what they are fused of: the standard operator and elementwise ones after it.
#pragma once
#include <span>
#include <string_view>

#include "ops/op.h"

namespace hf::ops {

/// Moves what `n` is into a new node before it, the standard operator `op` with n's attributes and its first `inputs`
/// inputs, and returns that; `n` is to become what comes after (follow_with). For upgrades.
Node* push_down(ir::Graph& g, Node& n, std::string op, int inputs);

/// A new bound node of the standard domain before `n`; its first output. `opset`: whose form it has.
ir::Value* add_before(ir::Graph& g, Node& n, std::string op, std::vector<ir::Value*> inputs, ir::Attrs attrs = {},
                      int outputs = 1, int opset = kNewest - 1);

/// Makes `n` the operator `op` of `inputs`.
void follow_with(ir::Graph& g, Node& n, std::string op, std::vector<ir::Value*> inputs, ir::Attrs attrs = {});

/// Makes `n` the activation of `x`: "" (none), "LeakyRelu" (alpha), "HardSigmoid" (alpha, beta), "Clip" (min, max) or
/// an elementwise operator without parameters. Parameters left out keep the operator's defaults. Throws Unsupported for
/// an activation that is not known.
void follow_with_activation(ir::Graph& g, Node& n, ir::Value* x, std::string_view activation,
                            std::span<const float> params);

}  // namespace hf::ops

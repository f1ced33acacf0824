// What several passes ask of a graph.
#pragma once
#include <optional>

#include "ops/op.h"
#include "passes/pass.h"

namespace hf::passes {

/// The number, if the value is a constant of one element.
std::optional<double> scalar_of(const ir::Value* v);

/// If `v` is a constant that gives one number a channel of a tensor of this rank (shape [1, C, 1, ...], [C, 1, ...] or
/// one element): the numbers, C of them (one repeated). None else.
std::optional<std::vector<float>> per_channel(const ir::Value* v, int rank, int64_t channels);

/// Puts `made` in the place of `n`'s output 0: uses, name and origins. `n` must have no other used output.
void replace_node(ir::Graph& g, ir::Node* n, ir::Node* made);

/// Is this value float32 with a static shape?
bool is_static_f32(const ir::Value* v);

/// Can a value of this shape be broadcast to `to` without enlarging it?
bool broadcasts_into(const ir::Shape& shape, const ir::Shape& to);

/// Is it an If whose condition is a constant?
bool is_decided_if(const ir::Node* n);
/// Puts the branch that is taken in the place of a decided If. Returns the first node of it (not yet inferred anew), or
/// the node after it if the branch has none; null at the end of the graph.
ir::Node* inline_if(ir::Graph& g, ir::Node* n);

}  // namespace hf::passes

// Rewriting an operator as others when it is bound: for operators outside the standard that standard ones can express.
#pragma once
#include "ops/op.h"

namespace hf::ops {

/// A new bound node just before `n`, standing for part of it. Its outputs are not inferred yet.
Node* emit_before(ir::Graph& g, Node& n, std::string op, std::vector<ir::Value*> inputs, ir::Attrs attrs = {});

/// Output i of `n` becomes output 0 of `by`; nothing happens if n has no such output.
void take_output(ir::Graph& g, Node& n, int i, Node* by);

/// Ends a rewriting: `last` gives output 0, and n is erased. Throws Unsupported if a further output is still in use.
void replace_by(ir::Graph& g, Node& n, Node* last);

}  // namespace hf::ops

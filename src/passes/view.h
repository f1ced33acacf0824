// Values as views of others: what a chain of Transpose, Reshape, Split and the like makes of one tensor.
#pragma once
#include "passes/rewrite.h"

namespace hf::passes {

/// The value is `number` times the elements of `base` that begin at `offset`, with these extents and strides.
struct View {
  ir::Value* base = nullptr;
  int64_t offset = 0;
  Dims dims, strides;
  double number = 1;
};

/// The view that reaches furthest back; of the value itself where its producer is none. The value's shape must be
/// static. `scaled`: products with one constant number are views too.
View view_of(ir::Value* v, bool scaled);

/// The view with an extent of 1 in front until it has `rank` axes.
View with_rank(View view, int rank);

}  // namespace hf::passes

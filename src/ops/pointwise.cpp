// Elementwise operators: the rows, and running programs of them.
#include "ops/pointwise.h"

namespace hf::ops {

const PointwiseOp* find_pointwise(std::string_view) { return nullptr; }
std::span<const PointwiseOp> pointwise_rows() { return {}; }
void run_program(const ir::Program&, std::span<const Tensor* const>, Tensor&) { check(false, "rows exist"); }
void broadcast_copy(const Tensor&, Tensor&) { check(false, "rows exist"); }

}  // namespace hf::ops

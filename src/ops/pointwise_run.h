// Evaluating programs in any compute type; what run_program and the operators' reference share.
#pragma once
#include "ops/pointwise.h"

namespace hf::ops {

/// run_program() with everything computed in T: float, double, int64_t or uint64_t. Throws Unsupported if a row of the
/// program does not take T.
template <class T>
void run_program_as(const ir::Program& program, std::span<const Tensor* const> inputs, Tensor& out);

/// Where and Equal, whose elements may be of any type: strings and complex numbers too.
void where_reference(Eval& e);
void equal_reference(Eval& e);

}  // namespace hf::ops

// What kernels of integers share: parameters, and the end of a sum.
#pragma once
#include <string>

#include "kernel/integer_gemm.h"

namespace hf::kernel {

/// Text that defines HF_INT_PARAMS and HF_INT_ARGS, the parameters ("a_zero", ...) that there are; types a_type,
/// b_type, out_type; zero_of_a(row ...), zero_of_b(column ...), and finished(sum, row, column ...), the result of a
/// sum.
std::string integer_text(const IntegerTypes& types);
/// Appends the parameters' arguments.
void add_parameters(KernelSpec& spec, const IntegerTypes& types);

}  // namespace hf::kernel

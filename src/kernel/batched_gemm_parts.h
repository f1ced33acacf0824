// Inside the batched_gemm family: what its kernels share.
#pragma once
#include "kernel/batched_gemm.h"

namespace hf::kernel::gemm {

/// The text in front of each kernel: element types `ta`, `tb`, `tout`; batch_offsets(); `operands` and
/// finish(operands, product, row, column), the value to store. $(parameters) and $(operands) in a kernel's text stand
/// for the operands' parameters and for making an `operands` of them.
std::string with_operands(const BatchedGemmProblem& p, const char* text);
/// A specification with everything but text, defines of its own, grid and block.
KernelSpec begin_spec(const BatchedGemmProblem& p, const char* variant, const char* text);
/// How many elements along its contiguous axis, of at most `most`, every row of an operand can be read at once:
/// `extent` of them in a row, rows and products these strides apart.
int vector_along(int64_t extent, std::initializer_list<int64_t> strides, int most);

/// Tiles by fused multiply-add; takes everything.
KernelSpec fma(const BatchedGemmProblem& p, int tile);
/// Tiles by matrix instructions, of 128 x 128 or of 64 x 64: operands of one 16-bit type.
bool takes_matrix(const BatchedGemmProblem& p);
KernelSpec matrix(const BatchedGemmProblem& p, bool large, const Target& target);
/// At most 16 rows.
bool takes_skinny(const BatchedGemmProblem& p);
KernelSpec skinny(const BatchedGemmProblem& p, const Target& target);

}  // namespace hf::kernel::gemm

// What the launches of row normalisation share.
#pragma once
#include "kernel/row_norm.h"

namespace hf::kernel {

extern const char* const kRowNormTypes;    // in, out, CENTRED
extern const char* const kRowNormMeasure;  // distance(v, mean), to be summed over a row
extern const char* const kRowNormFactor;   // factor_of(that sum, epsilon)
extern const char* const kRowNormScale;    // write(y, row, col, v, ...)
/// Fills the holes: $(own) and $(own_arguments), the further outputs, scale and bias; and those of the epilogue.
std::string row_norm_source(const RowNormProblem& p, std::string text);
std::vector<std::string> row_norm_defines(const RowNormProblem& p);
/// Scale, bias and the epilogue's operands, in the order of the holes.
void add_row_norm_inputs(KernelSpec& spec, const RowNormProblem& p);

}  // namespace hf::kernel

// Rows divided by what they are as a whole: layer, instance and group normalisation, RMS, L1 and L2.
#pragma once
#include "kernel/expression.h"

namespace hf::kernel {

enum class RowNorm {
  Layer = 0,      // (x - mean) / sqrt(variance + epsilon)
  Rms = 1,        // x / sqrt(mean of squares + epsilon)
  L1 = 2,         // x / sum of |x|; 0 where that is 0
  L2 = 3,         // x / sqrt(sum of squares); 0 where that is 0
  Deviation = 4,  // (x - mean) / (sqrt(variance) + epsilon)
};

struct RowNormProblem {
  int64_t rows = 0, cols = 0;  // both > 0
  int64_t pitch = 0;           // elements from one row to the next; those beyond the row become 0. 0: cols
  RowNorm kind = RowNorm::Layer;
  float epsilon = 1e-5f;
  Element in = Element::F32, out = Element::F32;
  bool scale = false, bias = false;  // y * scale + bias
  Element scale_type = Element::F32, bias_type = Element::F32;
  // Element (row % parameter_rows) * ceil(cols / parameter_run) + col / parameter_run of scale and bias: a parameter
  // serves that many neighbours of a row.
  int64_t parameter_rows = 1, parameter_run = 1;
  bool mean = false, inverse = false;  // outputs: of each row the mean, and what the row was multiplied by
  Epilogue epilogue;                   // sees [rows, cols]
};

/// What a row is normalised by in the reference's terms is computed in float, the variance about the mean. The number
/// of rows and epsilon are arguments of the kernel. Inputs: x, then scale and bias if asked for, then the epilogue's
/// operands; all aligned to 16 bytes. Outputs: y, then (float) mean and inverse if asked for.
Candidates row_norm(const RowNormProblem& problem, const Target& target);

/// The same in two launches for rows that are too long for a block or too few for the device, without pitch and without
/// the further outputs; they share a workspace. Empty where row_norm() is the better choice.
std::vector<Candidates> row_norm_split(const RowNormProblem& problem, const Target& target);

/// Over the middle axis of [rows, cols, inner], without pitch, parameters, further outputs and epilogue.
Candidates row_norm_columns(const RowNormProblem& problem, int64_t inner);

}  // namespace hf::kernel

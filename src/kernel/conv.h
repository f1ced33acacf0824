// Convolution as an implicit matrix product over channels-last values, and the product with a constant matrix, which is
// a convolution of one tap. Weights and bias are packed once; an elementwise epilogue is part of the kernel.
#pragma once
#include "kernel/expression.h"
#include "kernel/kernel_spec.h"

namespace hf::kernel {

/// y[n, p, q, k] = epilogue(bias[k] + sum over r, s, c of x[n, p * stride - pad + r * dilation, ..., c] * w[k, r, s,
/// c]) in float32. A product of [rows, c] with [c, k] has n = rows, so that its code is the same for all numbers of
/// rows, and everything else 1.
struct ConvProblem {
  int64_t n = 1;                // images: at run time
  int64_t h = 1, w = 1, c = 1;  // of the input; all its channels
  int64_t pitch = 0;            // elements from one pixel of the input to the next: whole 16-byte vectors
  int64_t k = 1;                // channels of the output
  int64_t out_pitch = 0;        // k for rows; for channels last a multiple of 8, channels beyond k become zeros
  int64_t p = 1, q = 1;         // of the output
  int64_t r = 1, s = 1;         // taps
  int64_t stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[2] = {0, 0};  // the pads at the beginning
  int64_t groups = 1;
  Element in = Element::F32, out = Element::F32;
  bool bias = false;
  Epilogue epilogue;
  std::vector<int> operand_inputs;  // which inputs its operands are; empty: those after the kernel's own
  int second_input = 1;             // which input the second one is
  /// A second input, seen through one tap at its own stride, whose products with weights of its own are added: c2 = 0
  /// for none. Its extents h2 x w2; groups must be 1.
  int64_t c2 = 0, pitch2 = 0, h2 = 1, w2 = 1, stride2[2] = {1, 1};
};

/// Where constant weights lie: element (k, c, r, s), with c within the group, is at k * k_stride + c * c_stride + ...
struct WeightSource {
  Element type = Element::F32;
  int64_t k_stride = 1, c_stride = 1, r_stride = 0, s_stride = 0;
};

/// Does the problem's input want a pitch of 4 channels in place of 8? Then two of its pixels are one vector.
bool wants_pairs(const ConvProblem& p);

/// Inputs: x, the second input if there is one, the epilogue's operands. Packed 0: weights; 1: bias, if any.
/// Throws Unsupported for more than 2^31 elements.
Candidates conv(const ConvProblem& p, const Target& target);
/// Writes the weights as conv() reads them. Inputs: the weights; the second input's weights if there is one. All are
/// multiplied by `factor`. `key` gets what the data depends on.
KernelSpec conv_weights(const ConvProblem& p, const Target& target, const WeightSource& w, const WeightSource& w2,
                        float factor, int64_t& bytes, std::string& key);
/// Writes the bias: factor times input 0 (of one element or of k), and input 1 of k elements if `two`.
KernelSpec conv_bias(const ConvProblem& p, const Target& target, Element type, bool one_element, bool two, float factor,
                     int64_t& bytes, std::string& key);

/// Rows of `cols` elements copied to rows of `pitch`, a whole number of vectors, zeros behind: for products whose rows
/// are not.
KernelSpec pad_rows(int64_t rows, int64_t cols, int64_t pitch, Element type);

}  // namespace hf::kernel

// The parts of the convolution's text, and the shape that the host and the text agree on.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kernel/conv.h"

namespace hf::kernel {

/// A problem as the kernel sees it: groups joined until they fill vectors, pixels in pairs, the reduction in chunks.
struct ConvShape {
  int64_t w, c, pitch;         // of the input, in the kernel's pixels; c of a group, a multiple of the vector
  int64_t s, stride_w, pad_w;  // taps and so on along w, in the kernel's pixels
  int64_t groups, k;           // the kernel's groups, output channels of one
  int64_t joined;              // how many of the problem's groups are one of the kernel's
  bool pairs;                  // wants_pairs
  int pair_shift;              // the first tap is this many pixels after the first of a pair
  int chunks;                  // 16-byte chunks of a reduction step: 4 or 8
  int vec;                     // elements of a chunk
  int64_t krows;               // rows of packed weights of a group
  int64_t steps1, steps2;      // reduction steps of the input, and of the second input
};
ConvShape conv_shape(const ConvProblem& p, const Target& target);

extern const std::string_view kConvShape;     // constants, what a block works on
extern const std::string_view kConvFeeder;    // copies to LDS
extern const std::string_view kConvMultiply;  // the matrix work of a step
extern const std::string_view kConvKernel;    // joining of splits, output, the kernel
extern const std::string_view kConvPack;      // packing

/// Text between kConvMultiply and kConvKernel: struct operands, HF_OPERANDS and so on for an epilogue.
std::string conv_epilogue_text(const ConvProblem& p, const ConvShape& shape);
}  // namespace hf::kernel

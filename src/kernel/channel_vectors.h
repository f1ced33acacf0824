// Text that channels-last kernels share: a few channels of one place as floats.
#pragma once
#include <string_view>

#include "kernel/expression.h"

namespace hf::kernel {

/// Defines
///   pieces<N, T>::load(p, keep, v), store(p, v)   N elements, a power of two, to which p is aligned: one access of up
///                                                 to 16 bytes, or several. keep: ~0, or 0 for zeros
///   fetch(p), unpack(raw, keep, v)                load in two parts, the first of which is the access
extern const std::string_view kPieces;

/// vector_epilogue_text(), kPieces and
///   finish(v, y, row, c HF_EPI_ARGS)   epilogue and store of N channels from c on at position `row`, where HF_OUT is
///                                      the result's type, HF_COLUMNS its channels, HF_YP its pitch; zeros beyond its
///                                      channels
std::string channel_vectors(const Epilogue& epilogue);

}  // namespace hf::kernel

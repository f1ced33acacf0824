// Epilogues of kernels that finish several columns at once (epilogue_text.h: one at a time).
#pragma once
#include "kernel/epilogue_text.h"

namespace hf::kernel {

/// Text that defines, for a kernel whose result is seen as rows and columns:
///   HF_EPI_PARAMS   ", const u16* e0, ...": goes at the end of the kernel's parameters
///   HF_EPI_ARGS     ", e0, ...": goes at the end of the arguments of epilogue()
///   template <int N> void epilogue(float (&v)[N], i64 row, int column, int columns HF_EPI_PARAMS)
///                   v, the values at columns [column, column + N) of a row, becomes the result. `column` is a multiple
///                   of N and less than `columns`, beyond which no operand is read.
/// Both macros are empty, and epilogue() does nothing, for the identity.
std::string vector_epilogue_text(const Epilogue& epilogue);

/// What the numbers of an epilogue are called in text: "HF_F16".
std::string_view element_name(Element type);

}  // namespace hf::kernel

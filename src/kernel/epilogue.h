// Epilogues inside kernels: the text that a family puts in front of its own, and the arguments that go with it.
#pragma once
#include "kernel/expression.h"

namespace hf::kernel {

/// Text that defines, for a kernel whose result is seen as rows and columns:
///   HF_EPI_PARAMS   ", const u16* e0, ...": goes at the end of the kernel's parameters
///   HF_EPI_ARGS     ", e0, ...": goes at the end of the arguments of epilogue()
///   template <int N> void epilogue(float (&v)[N], i64 row, int column, int columns HF_EPI_PARAMS)
///                   v, the values at columns [column, column + N) of a row, becomes the result. `column` is a multiple
///                   of N and less than `columns`, beyond which no operand is read.
/// Both macros are empty, and epilogue() does nothing, for the identity.
std::string epilogue_text(const Epilogue& epilogue);

/// Appends the operands' arguments to those of the kernel, which has `own_inputs` inputs of its own.
void add_operands(KernelSpec& spec, const Epilogue& epilogue, int own_inputs);

/// What the numbers of an epilogue are called in text: "HF_F16".
std::string_view element_name(Element type);

}  // namespace hf::kernel

// An epilogue as text, for kernels that finish one value at a time.
#pragma once
#include "kernel/expression.h"

namespace hf::kernel {

/// `functions` go before the kernel: float finish(float v, i64 row, i64 column, operands...). `parameters` and
/// `arguments`, each with its leading comma, go to the end of the kernel's and the call's lists; both are empty for the
/// identity.
struct EpilogueText {
  std::string functions, parameters, arguments;
};
EpilogueText epilogue_text(const Epilogue& epilogue);
/// Adds the operands to a kernel's arguments as inputs first, first + 1, ...
void add_operands(KernelSpec& spec, const Epilogue& epilogue, int first);
/// Replaces $(functions), $(parameters) and $(arguments) in a kernel's text.
std::string with_epilogue(std::string text, const Epilogue& epilogue);

}  // namespace hf::kernel

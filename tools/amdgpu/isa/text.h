// The disassembler's text of one instruction, parsed into operands and modifiers.
#pragma once
#include <string>

#include "isa/inst.h"

namespace amdgpu {

/// Fills name, text, operands and modifiers. False with the reason in error for text that is not understood.
bool parse(Inst& in, std::string line, std::string& error);

}  // namespace amdgpu

// Machine code to a decoded instruction: LLVM's disassembler gives the canonical text, which is parsed and bound to a
// handler by its mnemonic. It is done once for each instruction of a code object.
#pragma once
#include <memory>
#include <string>

#include "device/arch.h"
#include "isa/inst.h"

namespace amdgpu {

/// The instruction at `code`, of which `available` bytes may be read; null with the reason in error if it is not one or
/// is not emulated.
std::unique_ptr<Inst> decode(const Arch& arch, const u8* code, size_t available, u64 pc, std::string& error);

/// Like decode(), but an instruction that is not emulated comes back without a handler, with its name and size.
std::unique_ptr<Inst> decode_any(const Arch& arch, const u8* code, size_t available, u64 pc, std::string& error);

/// Instructions decoded so far.
u64 decoded_count();

}  // namespace amdgpu

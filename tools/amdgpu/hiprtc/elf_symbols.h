// Which symbol a pointer variable of a code object points to.
#pragma once
#include <string>

namespace amdgpu {

/// The name of the symbol that the relocation of `variable` refers to; empty if there is none.
std::string pointee(const std::string& object, const std::string& variable);

}  // namespace amdgpu

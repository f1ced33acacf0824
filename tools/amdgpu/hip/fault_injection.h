// AMDEMU_FAIL=function:n[+][=code],... makes the n-th call of a function fail, with + also all later ones.
#pragma once
#include <cstdint>

namespace amdgpu {

/// The error that this call of a function must return, or -1; number counts the calls of the function.
int injected_failure(const char* function, uint64_t& number);

}  // namespace amdgpu

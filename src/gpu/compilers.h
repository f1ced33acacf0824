// The compilers' makers; compiler() of compiler.h is what others call. Each throws NotFound with what was tried.
#pragma once
#include "gpu/compiler.h"

namespace hf::gpu {

std::unique_ptr<Compiler> make_hiprtc();
std::unique_ptr<Compiler> make_nvrtc();
std::unique_ptr<Compiler> make_clang();
std::unique_ptr<Compiler> make_host_compiler();

}  // namespace hf::gpu

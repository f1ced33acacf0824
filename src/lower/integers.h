// Integer types that kernels know.
#pragma once
#include <optional>

#include "base/dtype.h"
#include "kernel/quantize.h"

namespace hf::lower {

inline std::optional<kernel::Integer> integer_of(DType dtype) {
  switch (dtype) {
    case DType::U8: return kernel::Integer::U8;
    case DType::I8: return kernel::Integer::I8;
    case DType::U16: return kernel::Integer::U16;
    case DType::I16: return kernel::Integer::I16;
    case DType::I32: return kernel::Integer::I32;
    default: return std::nullopt;
  }
}

}  // namespace hf::lower

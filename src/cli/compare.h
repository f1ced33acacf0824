// When a tensor counts as equal to a stored one: the one table of tolerances by dtype.
#pragma once
#include <optional>
#include <string>

#include "base/tensor.h"

namespace hf::cli {

/// |got - wanted| <= absolute + relative * |wanted| + of_largest * (the largest |wanted| of the tensor).
struct Tolerance {
  double relative = 0, absolute = 0, of_largest = 0;
};

/// For results that were computed in this dtype. Integers, bools and strings are exact.
Tolerance tolerance_of(DType dtype);

/// Why `got` is not `wanted`, in one line; empty if it is. Dtypes and shapes must be the same, NaN equals NaN, an
/// infinity only itself. `given` replaces both numbers of the table for floats.
std::string difference(const Tensor& got, const Tensor& wanted, std::optional<double> given = std::nullopt);

}  // namespace hf::cli

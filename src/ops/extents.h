// Arithmetic on extents and axes for shape inference: symbolic where it can be, checked where a model could overflow
// it.
#pragma once
#include <vector>

#include "ops/op.h"

namespace hf::ops {

/// a + b and a * b; InvalidModel if the result does not fit.
int64_t add_extents(int64_t a, int64_t b);
int64_t multiply_extents(int64_t a, int64_t b);

/// The product of the extents [from, to): known if all are or one is 0; the one symbol if the others are 1; else
/// unknown.
Dim product(const Shape& s, int from, int to);

/// Axes in [-rank, rank-1] as [0, rank-1]. InvalidModel outside it or if one comes twice.
std::vector<int> normalize_axes(std::span<const int64_t> axes, int rank);

/// The length of 1-D input i where it is known, else -1; InvalidModel if the input is not 1-D, or longer than kMaxRank.
int list_length(const Infer& in, int i);

/// The value of input i as a list of ints, at most kMaxRank of them (InvalidModel); `known` must hold for it.
std::vector<int64_t> list_of(const Infer& in, int i);

}  // namespace hf::ops

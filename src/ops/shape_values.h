// What is known of a list of extents that the model computes from shapes: Concat(Gather(Shape(x), 0), 64) is [batch,
// 64].
#pragma once
#include <optional>
#include <vector>

#include "ops/op.h"

namespace hf::ops {

/// One number of such a list: known (of any sign), an extent with a symbol, or unknown.
struct ShapeEntry {
  std::optional<int64_t> number;
  std::string symbol;

  /// As an extent; unknown if it is negative.
  Dim dim() const { return number ? Dim(*number) : symbol.empty() ? Dim() : Dim::named(symbol); }
};

/// The entries of input i, as far as its constant or the nodes that compute it tell; none if even their number is
/// unknown or above kMaxRank. A scalar is a list of one.
std::optional<std::vector<ShapeEntry>> shape_entries(const Infer& in, int i);

}  // namespace hf::ops

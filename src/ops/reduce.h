// Reducing over any set of axes: the walk that every Reduce operator shares.
#pragma once
#include <functional>
#include <vector>

#include "base/dims.h"

namespace hf::ops {

/// The extents of a tensor split into those that are kept and those that are reduced, neighbours of a kind merged.
class ReducePlan {
 public:
  /// `reduced[i]`: axis i is reduced.
  ReducePlan(const Dims& dims, const std::vector<bool>& reduced);

  /// Elements of the result, and how many each is made of.
  int64_t results() const { return results_; }
  int64_t group() const { return group_; }

  /// Walks the results in pieces, in parallel. body(first, width, rows) is to reduce results [first, first + width),
  /// where rows(f) calls f(at, n, stride) for runs of elements: for each i < n, the elements x[at + i * stride + j], j
  /// < width, belong to result first + j. width is at most kWidth; it is 1 when the innermost axis is reduced (stride 1
  /// then).
  static constexpr int64_t kWidth = 256;
  using RunFn = std::function<void(int64_t at, int64_t n, int64_t stride)>;
  using Rows = std::function<void(const RunFn&)>;
  void each(double cost_ns, const std::function<void(int64_t first, int64_t width, const Rows& rows)>& body) const;

 private:
  struct Axis {
    int64_t extent, stride;
  };
  int64_t offset_of(int64_t outer) const;
  void walk(int64_t base, const RunFn& f) const;

  std::vector<Axis> kept_, reduced_;  // without the innermost kept axis when that is contiguous
  int64_t inner_ = 1;                 // its extent
  int64_t results_ = 1, group_ = 1;
};

}  // namespace hf::ops

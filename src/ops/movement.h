// Data movement: the one mechanism behind Transpose, Slice, Expand, Tile, Pad, Concat, Split, Gather and their like.
//
// Elements are moved by their size, whatever they mean. Strings are assigned, 4- and 2-bit elements moved one by one.
#pragma once
#include <span>
#include <vector>

#include "ops/op.h"

namespace hf::ops {

/// One axis of a strided copy: its extent, and how far one step along it goes in each tensor, in elements. `from` may
/// be 0 (the same element again) or negative (backwards); steps in `to` must not make two of its elements meet.
struct CopyAxis {
  int64_t extent;
  int64_t from;
  int64_t to;
};

/// to[to_at + sum(i_k * axis_k.to)] = from[from_at + sum(i_k * axis_k.from)] for all i in the extents, outermost axis
/// first; at most 2 * kMaxRank axes. Both tensors have one dtype, any at all; they may be the same tensor if what is
/// read is not written. Throws Internal if the copy would leave a tensor. Runs in parallel.
void copy_strided(const Tensor& from, int64_t from_at, Tensor& to, int64_t to_at, std::span<const CopyAxis> axes);

/// The axes of a copy of a box of `extent` with these strides on its two sides.
std::vector<CopyAxis> copy_axes(const Dims& extent, const Dims& from, const Dims& to);

/// The elements of `from` in their order, to a tensor of the same dtype and size.
void copy_all(const Tensor& from, Tensor& to);

/// Every element becomes the only element of `value`, of the same dtype; zero, false or "" if it is undefined.
void fill(Tensor& to, const Tensor& value = {});

/// Copies runs of contiguous elements from one tensor to another of the same dtype.
class Mover {
 public:
  Mover(const Tensor& from, Tensor& to);
  /// to[to_at, to_at + count) = from[from_at, from_at + count), unchecked.
  void copy(int64_t from_at, int64_t to_at, int64_t count) const;
  /// parallel_for over runs of `length` elements each; serial where neighbours share bytes.
  void for_each(int64_t runs, int64_t length, const std::function<void(int64_t, int64_t)>& f) const;

 private:
  const Tensor& from_;
  Tensor& to_;
  int bits_;
};

/// An index in [-extent, extent-1] as [0, extent-1]. Throws InvalidArgument outside it, naming both.
inline int64_t checked_index(int64_t index, int64_t extent) {
  if (index < -extent || index >= extent)
    fail(Code::InvalidArgument, "index {} is outside [{}, {}]", index, -extent, extent - 1);
  return index < 0 ? index + extent : index;
}

}  // namespace hf::ops

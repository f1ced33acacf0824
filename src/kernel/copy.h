// Strided copies: permutations, slices, broadcasts, paddings, conversions of the element type.
#pragma once
#include "base/dtype.h"
#include "kernel/kernel_spec.h"

namespace hf::kernel {

/// One axis of the destination. Its position p is the source's p - begin where that is in [0, valid); what lies beyond
/// is filled, or read from the nearest position, the mirrored one (the edge itself not repeated), the one a multiple of
/// `valid` away.
struct CopyAxis {
  enum class Beyond : uint8_t { Fill, Edge, Reflect, Wrap };
  int64_t extent = 1;
  int64_t from = 0, to = 0;  // from one position to the next, in elements; `from` may be 0 or negative
  int64_t begin = 0;         // may be negative: positions of the source cut away
  int64_t valid = -1;        // -1: as `extent`
  Beyond beyond = Beyond::Fill;
};

struct CopyProblem {
  std::vector<CopyAxis> axes;  // outermost first. valid may be 0 where all is filled
  /// The same type (any of 1, 2, 4 or 8 bytes), or two that has_cell().
  DType in = DType::F32, out = DType::F32;
  int64_t from_offset = 0, to_offset = 0;  // of the elements at position 0, in elements
  uint64_t fill = 0;                       // what Beyond::Fill writes: the bits of one element
};

/// Arguments: input 0, output 0; buffers aligned to 16 bytes. Writes the positions of the axes and nothing else. The
/// outermost extent is an argument of the kernel where no axis is filled. Throws Unsupported beyond a grid's size.
Candidates copy(const CopyProblem& problem, const Target& target);

/// Joins axes that are one in source and destination, and drops those of one position.
std::vector<CopyAxis> collapsed(const std::vector<CopyAxis>& axes);

}  // namespace hf::kernel

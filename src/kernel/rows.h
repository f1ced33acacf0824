// What kernels over rows share: how lanes divide rows among themselves, and the text of a reduction over a row.
#pragma once
#include "kernel/kernel_spec.h"

namespace hf::kernel {

/// How the threads of a block share rows of a matrix.
struct RowPlan {
  std::string variant;  // "wave", "block"
  int threads = 256;    // of a block
  int lanes = 32;       // that share a row: a power of two up to the wave, or all threads
  int vec = 1;          // elements of one access; divides the row's length
  int keep = 0;         // accesses of a lane that cover the row, few enough for registers; 0: too many
  int together = 1;     // rows that the same lanes have at once

  /// HF_THREADS, HF_LANES, HF_VEC, HF_KEEP and HF_TOGETHER.
  std::vector<std::string> defines() const;
  uint32_t blocks(int64_t rows) const { return blocks_for(rows, int64_t{together} * (threads / lanes)); }
};

/// Plans for rows of `length` elements, of which one access takes `vec`; the best first. Throws Unsupported for a row
/// that ints cannot index.
std::vector<RowPlan> row_plans(int64_t rows, int64_t length, int vec, const Target& target);
/// Two rows at once for lanes that would read little and of which there are enough: more reads are under way.
RowPlan paired(RowPlan plan, int64_t rows, const Target& target);
/// The widest access, in elements of either type, that divides `length`.
int row_vector(int64_t length, Element in, Element out);

/// Goes before the text of such a kernel: STEP, the elements that one access of all lanes covers; row_of_thread(),
/// of the first of its rows or another; place_of(row, access); lane_of_row(); over_row<Op>(value, scratch), with
/// `scratch` kRowLds bytes of LDS.
extern const char* const kRowsText;
inline constexpr uint32_t kRowLds = 128;

}  // namespace hf::kernel

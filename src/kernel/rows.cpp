// Lanes to rows.
#include "kernel/rows.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"

namespace hf::kernel {
namespace {

constexpr int kMostKept = 32;  // values a lane keeps in registers; more would spill beside the rest

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

// A wave may hold several short rows, and a row beyond the last is computed once more rather than left out: every lane
// takes part in the shuffles.
const char* const kRowsText = R"hip(
constexpr bool WHOLE_BLOCK = HF_LANES == HF_THREADS;
constexpr int STEP = HF_LANES * HF_VEC;
constexpr int ROW_BLOCKS = HF_THREADS > 256 ? 1 : 2;  // that should fit a compute unit

DEV i64 row_of_thread(int k = 0) {
  return ((i64)block_x() * HF_TOGETHER + k) * (HF_THREADS / HF_LANES) + thread_x() / HF_LANES;
}
// Where an access of a row begins: seen to be a multiple of its elements, or NVIDIA's compiler splits what is stored.
DEV i64 place_of(i64 row, int access) { return (row * (HF_PITCH / HF_VEC) + access) * HF_VEC; }
DEV int lane_of_row() { return thread_x() % HF_LANES; }
template <class Op> DEV float over_row(float v, float* scratch) {
  if constexpr (WHOLE_BLOCK) {
    return block_reduce<Op, HF_THREADS>(v, scratch);
  } else {
#pragma unroll
    for (int mask = HF_LANES / 2; mask; mask >>= 1) v = Op::run(v, shuffle_xor(v, mask));
    return v;
  }
}
)hip";

std::vector<std::string> RowPlan::defines() const {
  return {fmt::format("HF_THREADS={}", threads), fmt::format("HF_LANES={}", lanes), fmt::format("HF_VEC={}", vec),
          fmt::format("HF_KEEP={}", keep), fmt::format("HF_TOGETHER={}", together)};
}

RowPlan paired(RowPlan plan, int64_t rows, const Target& target) {
  const int64_t threads = rows * plan.lanes;
  if (plan.keep && plan.keep * plan.vec <= 8 && plan.lanes <= target.wave_size &&
      threads >= int64_t{2048} * 2 * target.compute_units)
    plan.together = 2;
  return plan;
}

int row_vector(int64_t length, Element in, Element out) {
  int vec = std::max(vector_of(in), vector_of(out));
  while (length % vec) vec /= 2;
  return vec;
}

std::vector<RowPlan> row_plans(int64_t rows, int64_t length, int vec, const Target& target) {
  // Columns are ints in the kernels, with room for one step beyond the row.
  if (length > INT32_MAX / 2) fail(Code::Unsupported, "a row of {} elements; at most {}", length, INT32_MAX / 2);
  const int64_t accesses = length / vec;
  RowPlan wave{.variant = "wave", .lanes = target.wave_size, .vec = vec}, block{.variant = "block", .vec = vec};
  while (wave.lanes > 1 && wave.lanes / 2 >= accesses) wave.lanes /= 2;
  // Few rows are spread over more compute units.
  if (rows * wave.lanes < int64_t{256} * 2 * target.compute_units) wave.threads = 2 * target.wave_size;
  const int64_t wave_keep = divide_up(accesses, wave.lanes);
  if (wave_keep * vec <= kMostKept) wave.keep = static_cast<int>(wave_keep);
  if (divide_up(accesses, block.threads) * vec > kMostKept) block.threads = 512;
  const int64_t block_keep = divide_up(accesses, block.threads);
  if (block_keep * vec <= kMostKept) block.keep = static_cast<int>(block_keep);
  block.lanes = block.threads;

  // A wave is best as long as it holds the row, unless there are too few rows to give every compute unit some and it
  // would have to read long.
  bool enough_rows = rows >= int64_t{2} * target.compute_units || length <= int64_t{target.wave_size} * 4;
  if (length <= int64_t{block.threads}) return {wave};
  if (wave.keep && (enough_rows || wave.keep <= 3)) return {wave, block};
  return {block, wave};
}

}  // namespace hf::kernel

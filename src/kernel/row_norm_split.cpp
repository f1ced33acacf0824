// Rows normalised in two launches: pieces of rows are measured, then scaled by what the pieces say together.
#include <fmt/core.h>

#include <algorithm>

#include "kernel/row_norm.h"
#include "kernel/row_norm_text.h"
#include "kernel/rows.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostPieces = 4096;  // that every block of the second launch reads

// A piece is what a block keeps in registers: HF_KEEP accesses a thread. Of each the workspace has the mean (0 where it
// does not matter) and the sum of the distances from it.
const char* const kPieces = R"hip(
constexpr int PIECE = HF_THREADS * HF_KEEP * HF_VEC;
constexpr int PIECES = (HF_COLS + PIECE - 1) / PIECE;
struct moments { float mean, sum; };
DEV int piece_size(int piece) { return piece < PIECES - 1 ? PIECE : HF_COLS - (PIECES - 1) * PIECE; }
DEV int access_of(int k) { return block_x() % PIECES * (PIECE / HF_VEC) + k * HF_THREADS + thread_x(); }
DEV int column(int k) { return access_of(k) * HF_VEC; }
DEV void read_piece(const in::type* row, float (&v)[HF_KEEP][HF_VEC]) {
#pragma unroll
  for (int k = 0; k < HF_KEEP; k++) {
    if (column(k) < HF_COLS) {
      pack<HF_VEC, HF_IN>::load(row + column(k), v[k]);
    } else {
      for (int i = 0; i < HF_VEC; i++) v[k][i] = 0;
    }
  }
}
)hip";

const char* const kMeasure = R"hip(
KERNEL(HF_THREADS, 2) row_norm_measure(const in::type* x, moments* all) {
  LDS(lds, 128);
  float* scratch = (float*)lds;
  float v[HF_KEEP][HF_VEC], mean = 0, sum = 0;
  read_piece(x + (i64)(block_x() / PIECES) * HF_COLS, v);
  if (CENTRED) {
#pragma unroll
    for (int k = 0; k < HF_KEEP; k++)
      for (int i = 0; i < HF_VEC; i++) mean += v[k][i];
    mean = block_reduce<add_f32_op, HF_THREADS>(mean, scratch) / piece_size(block_x() % PIECES);
  }
#pragma unroll
  for (int k = 0; k < HF_KEEP; k++)
    for (int i = 0; i < HF_VEC; i++)
      if (column(k) < HF_COLS) sum += distance(v[k][i], mean);
  sum = block_reduce<add_f32_op, HF_THREADS>(sum, scratch);
  if (thread_x() == 0) {
    all[block_x()].mean = mean;
    all[block_x()].sum = sum;
  }
}
)hip";

const char* const kScale = R"hip(
KERNEL(HF_THREADS, 2) row_norm_scale(const in::type* x, out::type* y, const moments* all, float epsilon$(own)$(parameters)) {
  LDS(lds, 128);
  float* scratch = (float*)lds;
  i64 row = block_x() / PIECES;
  all += row * PIECES;
  float v[HF_KEEP][HF_VEC], mean = 0, sum = 0;
  read_piece(x + row * HF_COLS, v);
  if (CENTRED) {
    for (int i = thread_x(); i < PIECES; i += HF_THREADS) mean += all[i].mean * piece_size(i);
    mean = block_reduce<add_f32_op, HF_THREADS>(mean, scratch) / HF_COLS;
  }
  for (int i = thread_x(); i < PIECES; i += HF_THREADS) {
    float apart = all[i].mean - mean;
    sum += CENTRED ? all[i].sum + apart * apart * piece_size(i) : all[i].sum;
  }
  sum = block_reduce<add_f32_op, HF_THREADS>(sum, scratch);
  float factor = factor_of(sum, epsilon);
#pragma unroll
  for (int k = 0; k < HF_KEEP; k++)
    if (column(k) < HF_COLS) write(y + (row * (HF_COLS / HF_VEC) + access_of(k)) * HF_VEC, row, column(k), v[k], mean, factor$(own_arguments)$(arguments));
}
)hip";

}  // namespace

std::vector<Candidates> row_norm_split(const RowNormProblem& p, const Target& target) {
  const bool too_long = p.cols > 16384, too_few = p.rows < target.compute_units && p.cols > 4096;
  if (p.pitch || p.mean || p.inverse || p.cols > INT32_MAX / 2 || !(too_long || too_few)) return {};
  const int vec = row_vector(p.cols, p.in, p.out);
  int keep = 32 / vec;
  auto pieces = [&] { return p.cols / (int64_t{kThreads} * keep * vec) + 1; };
  while (keep * vec > 8 && p.rows * pieces() < 4 * target.compute_units) keep /= 2;
  while (keep * vec < 32 && pieces() > kMostPieces) keep *= 2;
  const int64_t piece = int64_t{kThreads} * keep * vec, count = (p.cols + piece - 1) / piece;
  if (count > kMostPieces) return {};

  const uint32_t grid = blocks_for(p.rows * count, 1);
  KernelSpec measure{.family = "row_norm",
                     .variant = "measure",
                     .source = row_norm_source(p, std::string(kRowNormTypes) + kRowNormMeasure + kPieces + kMeasure),
                     .entry = "row_norm_measure",
                     .defines = row_norm_defines(p),
                     .grid = {grid, 1, 1},
                     .block = {kThreads, 1, 1},
                     .lds_bytes = kRowLds,
                     .arguments = {Argument::input(0), Argument::workspace()},
                     .workspace_bytes = p.rows * count * 8};
  for (const auto& [name, value] : {std::pair("THREADS", kThreads), {"KEEP", keep}, {"VEC", vec}})
    measure.defines.push_back(fmt::format("HF_{}={}", name, value));
  KernelSpec scale = measure;
  scale.variant = "scale";
  scale.source = row_norm_source(p, std::string(kRowNormTypes) + kRowNormFactor + kRowNormScale + kPieces + kScale);
  scale.entry = "row_norm_scale";
  scale.arguments = {Argument::input(0), Argument::output(0), Argument::workspace(), Argument::float32(p.epsilon)};
  add_row_norm_inputs(scale, p);
  return {{std::move(measure)}, {std::move(scale)}};
}

}  // namespace hf::kernel

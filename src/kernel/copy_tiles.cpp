// Copies whose source and destination run along different axes: square tiles, turned in LDS.
#include <fmt/core.h>

#include "kernel/cells.h"
#include "kernel/copy_parts.h"
#include "kernel/text.h"

namespace hf::kernel::parts {
namespace {

// Rows are positions along the source's contiguous axis, columns along the destination's. A block has one tile.
// HF_TILE          rows and columns of a tile
// HF_VIN, HF_VOUT  elements of one load and one store
// $(at)            where this block's images lie, from the other axes
const char* const kSource = R"hip(
typedef HF_FROM in;
typedef HF_TO out;
// An odd number of words a line, so that columns meet all banks.
constexpr int PITCH = HF_TILE + (sizeof(in::type) < 4 ? 4 / sizeof(in::type) : 1);

KERNEL(HF_THREADS, 2) copy(const in::type* x, out::type* y, int rows, int columns, int row_tiles, int column_tiles) {
  LDS(lds, HF_TILE * PITCH * sizeof(in::type));
  in::type* tile = (in::type*)lds;
  int rest = block_x(), at;
  int c0 = rest % column_tiles * HF_TILE;
  rest /= column_tiles;
  int r0 = rest % row_tiles * HF_TILE;
  rest /= row_tiles;
$(at)  x += (i64)c0 * HF_COLUMN + r0;
  y += (i64)r0 * HF_ROW + c0;
#pragma unroll
  for (int k = thread_x(); k < HF_TILE * HF_TILE / HF_VIN; k += HF_THREADS) {
    int c = k / (HF_TILE / HF_VIN), r = k % (HF_TILE / HF_VIN) * HF_VIN;
    alignas(16) in::type raw[HF_VIN] = {};
    if (c0 + c < HF_VALID && r0 + r < rows) move_bytes<HF_VIN * sizeof(in::type)>(raw, x + (i64)c * HF_COLUMN + r);
    for (int i = 0; i < HF_VIN; i++) tile[c * PITCH + r + i] = raw[i];
  }
  barrier();
#pragma unroll
  for (int k = thread_x(); k < HF_TILE * HF_TILE / HF_VOUT; k += HF_THREADS) {
    int r = k / (HF_TILE / HF_VOUT), c = k % (HF_TILE / HF_VOUT) * HF_VOUT;
    alignas(16) out::type v[HF_VOUT];
    for (int i = 0; i < HF_VOUT; i++) v[i] = out::of(in::value(tile[(c + i) * PITCH + r]));
    if (r0 + r < rows && c0 + c < columns) move_bytes<HF_VOUT * sizeof(out::type)>(y + (i64)r * HF_ROW + c, v);
  }
}
)hip";

constexpr int kLeast = 12;  // rows and columns below which most of a tile would be empty

}  // namespace

Candidates copy_tiles(const CopyProblem& p, const std::vector<CopyAxis>& axes) {
  const CopyAxis& column = axes.back();
  if (axes.size() < 2 || column.to != 1 || column.from <= 1 || column.begin || p.fill) return {};
  int source = -1;
  for (size_t k = 0; k + 1 < axes.size(); ++k) {
    if (is_padded(axes[k])) return {};
    if (axes[k].from == 1) source = static_cast<int>(k);
  }
  // Padding columns read nothing and are zeros, as LDS was given them.
  if (source < 0 || (is_padded(column) && column.beyond != CopyAxis::Beyond::Fill)) return {};
  const CopyAxis& row = axes[static_cast<size_t>(source)];
  if (row.extent < kLeast || column.extent < kLeast || row.extent > INT32_MAX / 2 || column.extent > INT32_MAX / 2)
    return {};
  int64_t in_bytes = bits(p.in) / 8, out_bytes = bits(p.out) / 8;
  int vin = widest(in_bytes, {row.extent, p.from_offset, column.from});
  int vout = widest(out_bytes, {column.extent, p.to_offset, row.to});
  std::string at;
  for (size_t k = axes.size() - 1; k-- > 0;) {
    if (static_cast<int>(k) == source) continue;
    const CopyAxis& a = axes[k];
    while (a.from % vin) vin /= 2;
    while (a.to % vout) vout /= 2;
    bool outermost = k == 0 || (k == 1 && source == 0);
    at += outermost ? "  at = rest;\n" : fmt::format("  at = rest % {0};\n  rest /= {0};\n", a.extent);
    at += fmt::format("  x += (i64)at * {};\n  y += (i64)at * {};\n", a.from, a.to);
  }
  int tile = in_bytes == 8 ? 32 : 64;
  int64_t row_tiles = (row.extent + tile - 1) / tile, column_tiles = (column.extent + tile - 1) / tile;
  int64_t pitch = tile + (in_bytes < 4 ? 4 / in_bytes : 1);
  int64_t blocks = count_of(axes) / row.extent / column.extent * row_tiles * column_tiles;
  return {
      {.family = "copy",
       .variant = "tile",
       .source = std::string(kCells) + with_hole(kSource, "$(at)", at),
       .entry = "copy",
       .defines = {"HF_FROM=" + source_cell(p), "HF_TO=" + target_cell(p), fmt::format("HF_THREADS={}", kCopyThreads),
                   fmt::format("HF_TILE={}", tile), fmt::format("HF_VIN={}", vin), fmt::format("HF_VOUT={}", vout),
                   fmt::format("HF_COLUMN={}", column.from), fmt::format("HF_ROW={}", row.to),
                   fmt::format("HF_VALID={}", column.valid)},
       .grid = {blocks_for(blocks, 1), 1, 1},
       .block = {kCopyThreads, 1, 1},
       .lds_bytes = static_cast<uint32_t>(tile * pitch * in_bytes),
       .arguments = {Argument::input(0, p.from_offset * in_bytes), Argument::output(0, p.to_offset * out_bytes),
                     Argument::int32(row.extent), Argument::int32(column.extent), Argument::int32(row_tiles),
                     Argument::int32(column_tiles)}}};
}

}  // namespace hf::kernel::parts

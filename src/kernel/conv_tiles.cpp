// Choosing tiles by a model of the machine: matrix rate, LDS and L2 traffic, latency of a step, whole rounds of tiles.
#include "kernel/conv_tiles.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.h"
#include "kernel/matrix_tile.h"

namespace hf::kernel {
namespace {

// Waves are given for the smallest matrix tile; a tile is left out where they are not whole.
constexpr ConvTile kWarpgroup[] = {{192, 256, 3, 1, 1, true}, {128, 256, 2, 1, 1, true}, {64, 256, 1, 1, 1, true},
                                   {192, 128, 3, 1, 1, true}, {256, 128, 2, 1, 1, true}, {128, 128, 2, 1, 1, true},
                                   {64, 128, 1, 1, 2, true},  {128, 64, 2, 1, 2, true},  {128, 64, 1, 1, 2, true},
                                   {192, 192, 3, 1, 1, true}, {128, 192, 2, 1, 1, true}, {64, 192, 1, 1, 1, true},
                                   {128, 96, 2, 1, 2, true},  {64, 64, 1, 1, 3, true},   {64, 32, 1, 1, 2, true}};
constexpr ConvTile kAsync[] = {{128, 256, 2, 4, 1}, {96, 256, 2, 4, 1}, {128, 128, 2, 2, 2}, {96, 128, 2, 2, 2},
                               {128, 64, 4, 1, 3},  {128, 64, 2, 2, 2}, {64, 128, 2, 2, 2},  {64, 64, 2, 2, 3},
                               {64, 32, 4, 1, 2},   {32, 64, 2, 2, 2},  {32, 128, 1, 4, 2},  {16, 64, 1, 2, 2},
                               {128, 32, 4, 1, 3},  {32, 32, 2, 1, 2}};
// One matrix tile of 64 x 32 a wave.
constexpr ConvTile kAsyncLanes[] = {{128, 128, 2, 4, 1}, {128, 64, 2, 2, 2}, {64, 128, 1, 4, 2},
                                    {64, 64, 1, 2, 4},   {64, 32, 1, 1, 8},  {128, 32, 2, 1, 4}};
constexpr ConvTile kSync[] = {{128, 128, 2, 2, 2}, {128, 128, 4, 2, 1}, {128, 128, 2, 4, 1}, {128, 64, 2, 2, 2},
                              {64, 128, 2, 2, 2},  {64, 128, 1, 4, 2},  {64, 64, 2, 2, 3},   {64, 64, 1, 2, 3},
                              {128, 32, 4, 1, 3},  {128, 32, 2, 1, 3},  {64, 32, 2, 1, 4},   {64, 32, 1, 1, 4},
                              {32, 64, 1, 2, 4},   {32, 32, 1, 1, 4}};

// What a compute unit does in a cycle, from vendors' data sheets; the rest is fitted to measurements on an H200. There
// pixels come slower from L2 than weights, which many units read at once.
struct Machine {
  double flops;                      // of the matrix unit, or of lanes
  double efficiency = 1;             // what of it is reached beside everything else
  double pixels = 24, weights = 70;  // bytes from L2
  double dram = 18, lds = 128;       // bytes
  double step = 250;                 // least cycles of a step of one block alone
  double fill = 1500;                // to fill an empty pipeline
};

struct Rate {
  std::string_view arch;
  double half, single;
};
constexpr Rate kRates[] = {{"sm_8", 2048, 256},  {"sm_", 4096, 256},    {"gfx908", 1024, 256}, {"gfx90a", 1024, 256},
                           {"gfx94", 2048, 256}, {"gfx950", 4096, 256}, {"gfx12", 1024, 256},  {"gfx11", 512, 256},
                           {"gfx103", 256, 128}, {"", 256, 128}};

Machine machine_of(const Target& target, Element type, const MatrixTile& unit) {
  Machine m{};
  for (const Rate& rate : kRates) {
    if (!target.arch.starts_with(rate.arch)) continue;
    m.flops = type == Element::F32 ? rate.single : rate.half;
    break;
  }
  if (!unit.matrix) m.efficiency = 0.9;
  if (unit.matrix && unit.async) m.efficiency = 0.6;  // mma.sync; wgmma reaches all
  if (!unit.async) m.step = 600, m.fill = 2500;       // a step waits for its loads
  return m;
}

bool fits(const ConvTile& t, const ConvShape& shape, const Target& target, const MatrixTile& unit) {
  const int group = t.wgmma ? 128 : target.wave_size, threads = t.wm * t.wn * group;
  const int pixels = t.wgmma ? 64 : unit.pixels, rows = threads / shape.chunks;
  if (t.m / t.wm % pixels || t.n / t.wn % unit.channels || shape.chunks % unit.chunks) return false;
  // Lanes without a matrix unit hold whole rows of weights; WMMA keeps its factors twice.
  if (!unit.matrix && !t.wgmma && (t.n / t.wn > 32 || t.m / t.wm > 64)) return false;
  if (unit.pixels == 16 && !unit.async && t.m / t.wm * (t.n / t.wn) > 32 * 64) return false;
  if (!unit.async && (rows == 0 || t.m % rows || t.n % rows)) return false;
  if (threads > 1024 || (shape.k + t.n - 1) / t.n * t.n > shape.krows) return false;
  return (t.m + t.n) * shape.chunks * 16 * t.stages + 16 <= target.lds_bytes;
}

double cost_of(const ConvTile& t, const ConvProblem& p, const ConvShape& shape, const Target& target,
               const MatrixTile& unit, const Machine& m) {
  const double pixels = static_cast<double>(p.n * p.p * p.q), row = shape.chunks * 16.0;
  const double tiles = std::ceil(pixels / t.m) * std::ceil(static_cast<double>(shape.k) / t.n) *
                       static_cast<double>(shape.groups) * t.splits;
  const double rounds = std::ceil(tiles / target.compute_units);
  const double steps = std::ceil(static_cast<double>(shape.steps1 + shape.steps2) / t.splits);
  // Waves with small tiles load more for each product.
  const double load = t.wgmma ? 1 : 1 + 8.0 * t.wm / t.m + 8.0 * t.wn / t.n;
  const double together = std::min<double>(rounds, t.blocks);
  const double busy = t.wgmma ? 1 : std::min(1.0, together * t.wm * t.wn / 8);  // too few waves leave gaps
  const double mac =
      load / busy * 2.0 * t.m * t.n * shape.chunks * shape.vec / (m.flops * (t.wgmma ? 1 : m.efficiency));
  const double reads = t.wgmma ? t.m / 64.0 * (64 + t.n / t.wn) : t.wm * t.wn * (t.m / t.wm + t.n / t.wn);
  const double lds = (reads + t.m + t.n) * row / m.lds, l2 = t.m * row / m.pixels + t.n * row / m.weights;
  // Addresses, and moves through registers, take issue slots from the products.
  const double moves = unit.async && unit.matrix ? 0 : 2.0 * (t.m + t.n) * shape.chunks / target.wave_size;
  const double step = moves + std::max({mac, lds, l2, (t.wgmma ? 1 : 1.4) * m.step / together});
  double cycles = rounds * steps * step + m.fill;
  // Output, and what the epilogue reads, of a tile that nothing overlaps when one block fills the unit.
  const double wide = size_of(p.out) + 2.0 * static_cast<double>(p.epilogue.operands.size());
  cycles += rounds * t.m * t.n * wide / m.dram / (1 + together) / t.splits;
  // What the epilogue reads waits for the tile unless registers hold it by then (HF_HELD_VECTORS).
  const int vectors = t.m * t.n / 8 / (t.wm * t.wn * (t.wgmma ? 128 : target.wave_size));
  if (vectors > 8) cycles += rounds * t.m * t.n * 0.4 * static_cast<double>(p.epilogue.operands.size()) / m.dram;
  if (t.splits > 1) cycles += 4500 + 8.0 * t.m * t.n * t.splits / m.weights;
  const double bytes =
      static_cast<double>(p.n) * static_cast<double>(p.h * p.w * p.pitch + p.h2 * p.w2 * p.c2) * size_of(p.in) +
      pixels * static_cast<double>(p.k) * wide;
  // A block alone on its unit leaves the memory idle between its tiles.
  const double dram = bytes / m.dram / target.compute_units * (together >= 2 ? 1 : 1.3);
  const double copies = unit.wgmma && !t.wgmma ? 1.15 : 1;  // wgmma overlaps better, at every size
  const double doubt = t.splits > 1 ? 1.15 : 1;
  return doubt * copies * (std::max(cycles, dram) + 0.25 * std::min(cycles, dram));
}

void add(std::vector<ConvTile>& all, ConvTile t, const ConvProblem& p, const ConvShape& shape, const Target& target,
         const MatrixTile& unit, const Machine& machine) {
  if (unit.async) {
    const int64_t room = (target.lds_bytes + 1024) / t.blocks - 1024 - 16,
                  stage = (t.m + t.n) * shape.chunks * int64_t{16};
    t.stages = static_cast<int>(std::clamp<int64_t>(room / stage, 3, 8));
  }
  if (!fits(t, shape, target, unit)) return;
  const int64_t steps = shape.steps1 + shape.steps2, pixels = p.n * p.p * p.q;
  const int64_t blocks = (pixels + t.m - 1) / t.m * ((shape.k + t.n - 1) / t.n) * shape.groups;
  for (int splits : {1, 2, 4, 8}) {
    // Each part must be worth its way through memory; all must have steps to do.
    if (splits > 1 && (steps < 4 * splits || (steps + splits - 1) / splits * (splits - 1) >= steps)) continue;
    if (splits > 1 && 2 * blocks > target.compute_units) continue;
    t.splits = splits;
    t.cost = cost_of(t, p, shape, target, unit, machine);
    all.push_back(t);
  }
}

}  // namespace

std::vector<ConvTile> conv_tiles(const ConvProblem& p, const ConvShape& shape, const Target& target, size_t most) {
  const MatrixTile unit = matrix_tile(target, p.in);
  const Machine machine = machine_of(target, p.in, unit);
  std::vector<ConvTile> all;
  auto table = [&](std::span<const ConvTile> tiles) {
    for (const ConvTile& t : tiles) add(all, t, p, shape, target, unit, machine);
  };
  if (unit.wgmma) table(kWarpgroup);
  if (unit.async && unit.matrix) table(kAsync);
  if (unit.async && !unit.matrix) table(kAsyncLanes);
  if (!unit.async) table(kSync);
  check(!all.empty(), "some tile fits every target");
  std::ranges::stable_sort(all, {}, &ConvTile::cost);
  // The rest of the list is for tuning: one way of splitting a tile is enough, and some without wgmma.
  std::vector<ConvTile> best;
  size_t plain = 0;
  for (const ConvTile& t : all) {
    bool known = std::ranges::any_of(best, [&](const ConvTile& b) {
      return b.m == t.m && b.n == t.n && b.wgmma == t.wgmma && b.blocks == t.blocks;
    });
    if (known || (!t.wgmma && unit.wgmma && ++plain > most / 3)) continue;
    best.push_back(t);
    if (best.size() == most) break;
  }
  return best;
}

}  // namespace hf::kernel

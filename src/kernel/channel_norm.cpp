// Group normalisation of channels-last data: every block measures some channels at some positions, the last one of an
// image joins what they found; then all is scaled.
#include "kernel/channel_norm.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernel/epilogue_text.h"
#include "kernel/rows.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;
constexpr int kPositions = 8;  // that a thread of the second launch scales

// A block is HF_TX vectors of channels by HF_TY positions. Blocks follow each other by channels, pieces, images.
const char* const kTiles = R"hip(
typedef element<HF_IN> in;
typedef element<HF_OUT> out;
constexpr int TILE = HF_TX * HF_VEC, TILES = (HF_PITCH + TILE - 1) / TILE, VECTORS = HF_PITCH / HF_VEC;
constexpr int WIDTH = HF_CHANNELS / HF_GROUPS;
struct moments { float mean, scale; };
DEV int tile_x() { return thread_x() % HF_TX; }
DEV int tile_y() { return thread_x() / HF_TX; }
DEV int tile_vector() { return block_x() % TILES * HF_TX + tile_x(); }
DEV int tile_column() { return tile_vector() * HF_VEC; }
)hip";

// Sums are of the distances from the piece's first position, which is near the mean. Then, in the image's last block,
// threads join a channel's pieces each, and a group's channels each.
const char* const kMeasure = R"hip(
constexpr int PIECE = (HF_POSITIONS + HF_PIECES - 1) / HF_PIECES;
struct part { float mean, squares; };  // mean, sum of the squares of what is beside it
DEV float piece_size(int piece) { return (float)(piece < HF_PIECES - 1 ? PIECE : HF_POSITIONS - (HF_PIECES - 1) * PIECE); }

DEV void join(const part* parts, moments* results, float epsilon, part* scratch) {
  for (int c = thread_x(); c < HF_CHANNELS; c += HF_THREADS) {
    float mean = 0, squares = 0;
    for (int i = 0; i < HF_PIECES; i++) mean += parts[i * HF_PITCH + c].mean * piece_size(i);
    mean /= HF_POSITIONS;
    for (int i = 0; i < HF_PIECES; i++) {
      float apart = parts[i * HF_PITCH + c].mean - mean;
      squares += parts[i * HF_PITCH + c].squares + apart * apart * piece_size(i);
    }
    scratch[c].mean = mean;
    scratch[c].squares = squares;
  }
  barrier();
  for (int g = thread_x(); g < HF_GROUPS; g += HF_THREADS) {
    float mean = 0, squares = 0;
    for (int i = 0; i < WIDTH; i++) mean += scratch[g * WIDTH + i].mean;
    mean /= WIDTH;
    for (int i = 0; i < WIDTH; i++) {
      float apart = scratch[g * WIDTH + i].mean - mean;
      squares += scratch[g * WIDTH + i].squares + apart * apart * HF_POSITIONS;
    }
    results[g].mean = mean;
    results[g].scale = 1.f / sqrt_f32(squares / ((float)HF_POSITIONS * WIDTH) + epsilon);
  }
}

KERNEL(HF_THREADS, 2) channel_norm_measure(const in::type* x, part* parts, moments* results, u32* counters, float epsilon) {
  LDS(lds, HF_LDS);
  part* scratch = (part*)lds;  // [HF_TY][TILE]; at the end [HF_CHANNELS]
  int item = block_x() / TILES, piece = item % HF_PIECES, image = item / HF_PIECES;
  int first = piece * PIECE, end = HF_POSITIONS - first > PIECE ? first + PIECE : HF_POSITIONS;
  float sum[HF_VEC], squares[HF_VEC], pivot[HF_VEC], v[HF_VEC];
  for (int i = 0; i < HF_VEC; i++) sum[i] = squares[i] = pivot[i] = 0;
  if (tile_column() < HF_PITCH) {
    x += (i64)image * HF_POSITIONS * HF_PITCH + tile_column();
    pack<HF_VEC, HF_IN>::load(x + (i64)first * HF_PITCH, pivot);
#pragma unroll 4
    for (int p = first + tile_y(); p < end; p += HF_TY) {
      pack<HF_VEC, HF_IN>::load(x + (i64)p * HF_PITCH, v);
      for (int i = 0; i < HF_VEC; i++) {
        float apart = v[i] - pivot[i];
        sum[i] += apart;
        squares[i] = fma_f32(apart, apart, squares[i]);
      }
    }
  }
  for (int i = 0; i < HF_VEC; i++) {
    scratch[tile_y() * TILE + tile_x() * HF_VEC + i].mean = sum[i];
    scratch[tile_y() * TILE + tile_x() * HF_VEC + i].squares = squares[i];
  }
  barrier();
  if (tile_y() == 0 && tile_column() < HF_PITCH) {
    for (int i = 0; i < HF_VEC; i++) {
      for (int y = 1; y < HF_TY; y++) {
        sum[i] += scratch[y * TILE + tile_x() * HF_VEC + i].mean;
        squares[i] += scratch[y * TILE + tile_x() * HF_VEC + i].squares;
      }
      float apart = sum[i] / piece_size(piece);
      parts[(i64)item * HF_PITCH + tile_column() + i].mean = pivot[i] + apart;
      parts[(i64)item * HF_PITCH + tile_column() + i].squares = max_f32(squares[i] - apart * sum[i], 0.f);
    }
  }
  fence_device();
  barrier();
  u32* last = (u32*)lds;
  if (thread_x() == 0) *last = atomic_add(counters + image, 1) == TILES * HF_PIECES - 1;
  barrier();
  bool is_last = *last;
  barrier();
  if (!is_last) return;
  fence_device();
  if (thread_x() == 0) counters[image] = 0;
  join(parts + (i64)image * HF_PIECES * HF_PITCH, results + (i64)image * HF_GROUPS, epsilon, scratch);
}
)hip";

const char* const kScale = R"hip(
$(functions)
typedef element<HF_SCALE> scales;
typedef element<HF_BIAS> biases;

KERNEL(HF_THREADS, 2) channel_norm_scale(const in::type* x, out::type* y, const moments* results, const scales::type* scale, const biases::type* bias$(parameters)) {
  constexpr int SPAN = HF_TY * HF_SPAN, SPANS = (HF_POSITIONS + SPAN - 1) / SPAN;
  int item = block_x() / TILES, image = item / SPANS, column = tile_column();
  if (column >= HF_PITCH) return;
  results += (i64)image * HF_GROUPS;
  i64 row = (i64)image * HF_POSITIONS;
  float mean[HF_VEC], a[HF_VEC], b[HF_VEC], v[HF_VEC];
  for (int i = 0; i < HF_VEC; i++) {
    int c = column + i < HF_CHANNELS ? column + i : HF_CHANNELS - 1;
    moments m = results[c / WIDTH];
    mean[i] = m.mean;
    a[i] = m.scale * scales::load(scale[c / HF_RUN]);
    b[i] = biases::load(bias[c / HF_RUN]);
  }
  int first = item % SPANS * SPAN + tile_y();
#pragma unroll 4
  for (int k = 0; k < HF_SPAN; k++) {
    int p = first + k * HF_TY;
    if (p >= HF_POSITIONS) return;
    i64 at = ((row + p) * VECTORS + tile_vector()) * HF_VEC;  // seen by compilers as a multiple of whole vectors
    pack<HF_VEC, HF_IN>::load(x + at, v);
    for (int i = 0; i < HF_VEC; i++)
      v[i] = HF_PITCH == HF_CHANNELS || column + i < HF_CHANNELS
                 ? finish(fma_f32(v[i] - mean[i], a[i], b[i]), row + p, column + i$(arguments))
                 : 0.f;
    pack<HF_VEC, HF_OUT>::store(y + at, v);
  }
}
)hip";

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::vector<Candidates> channel_norm(const ChannelNormProblem& p, const Target& target) {
  const int vec = row_vector(p.pitch, p.in, p.out);
  const int64_t vectors = p.pitch / vec;
  const int64_t tx = std::min<int64_t>(std::bit_ceil(static_cast<uint64_t>(vectors)), 32), ty = kThreads / tx;
  const int64_t tiles = divide_up(vectors, tx);
  // Pieces to fill the device twice, each of some positions a thread.
  const int64_t wanted = 2 * target.compute_units, most = std::max<int64_t>(p.positions / (4 * ty), 1);
  int64_t pieces = std::clamp<int64_t>(divide_up(wanted, p.images * tiles), 1, std::min<int64_t>(most, 64));
  pieces = divide_up(p.positions, divide_up(p.positions, pieces));  // none is empty
  const int64_t parts_bytes = divide_up(p.images * pieces * p.pitch * 8, 256) * 256;
  const int64_t lds = std::max(int64_t{kThreads} * vec, p.channels) * 8;

  KernelSpec measure{.family = "channel_norm",
                     .variant = "measure",
                     .source = std::string(kTiles) + kMeasure,
                     .entry = "channel_norm_measure",
                     .grid = {blocks_for(p.images * pieces * tiles, 1), 1, 1},
                     .block = {kThreads, 1, 1},
                     .lds_bytes = static_cast<uint32_t>(lds),
                     .arguments = {Argument::input(0), Argument::workspace(), Argument::workspace(parts_bytes),
                                   Argument::counters(), Argument::float32(p.epsilon)},
                     .workspace_bytes = parts_bytes + p.images * p.groups * 8,
                     .counters = static_cast<int>(p.images)};
  const std::pair<const char*, int64_t> numbers[] = {{"IN", static_cast<int>(p.in)},
                                                     {"OUT", static_cast<int>(p.out)},
                                                     {"SCALE", static_cast<int>(p.scale_type)},
                                                     {"BIAS", static_cast<int>(p.bias_type)},
                                                     {"VEC", vec},
                                                     {"TX", tx},
                                                     {"TY", ty},
                                                     {"THREADS", kThreads},
                                                     {"POSITIONS", p.positions},
                                                     {"CHANNELS", p.channels},
                                                     {"PITCH", p.pitch},
                                                     {"GROUPS", p.groups},
                                                     {"PIECES", pieces},
                                                     {"RUN", p.parameter_run},
                                                     {"SPAN", kPositions},
                                                     {"LDS", lds}};
  for (const auto& [name, value] : numbers) measure.defines.push_back(fmt::format("HF_{}={}", name, value));
  KernelSpec scale = measure;
  scale.variant = "scale";
  scale.source = with_epilogue(std::string(kTiles) + kScale, p.epilogue);
  scale.entry = "channel_norm_scale";
  scale.grid[0] = blocks_for(p.images * divide_up(p.positions, ty * kPositions) * tiles, 1);
  scale.lds_bytes = 0;
  scale.counters = 0;
  scale.arguments = {Argument::input(0), Argument::output(0), Argument::workspace(parts_bytes), Argument::input(1),
                     Argument::input(2)};
  add_operands(scale, p.epilogue, 3);
  return {{std::move(measure)}, {std::move(scale)}};
}

}  // namespace hf::kernel

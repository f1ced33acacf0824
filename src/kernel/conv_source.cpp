// The convolution's text: what a block works on and how it feeds its pipeline.
#include "kernel/conv_source.h"

namespace hf::kernel {

// One block does tiles block, block + grid, ... as one unbroken pipeline of reduction steps: the copies run AHEAD steps
// before the matrix instructions, also across tiles. grid == tiles makes it an ordinary kernel.
const std::string_view kConvShape = R"hip(
typedef element<HF_T> in;
typedef element<HF_OUT> out;
typedef mma<HF_T> matrix;
constexpr int H = HF_H, W = HF_W, C = HF_C, XP = HF_XP, K = HF_K, YP = HF_YP, P = HF_P, Q = HF_Q, R = HF_R, S = HF_S;
constexpr int SH = HF_SH, SW = HF_SW, DH = HF_DH, DW = HF_DW, PH = HF_PH, PW = HF_PW, GROUPS = HF_GROUPS;
constexpr int C2 = HF_C2, XP2 = HF_XP2, H2 = HF_H2, W2 = HF_W2, SH2 = HF_SH2, SW2 = HF_SW2;
constexpr int BM = HF_BM, BN = HF_BN, WM = HF_WM, WN = HF_WN, STAGES = HF_STAGES, CHUNKS = HF_CHUNKS;
constexpr int VEC = in::VEC, BK = CHUNKS * VEC, ROW_BYTES = CHUNKS * 16;
constexpr bool WGMMA = HF_USE_WGMMA, SPLITK = HF_SPLITK;

// Waves: WM x WN, each PIXW x CHW outputs. With wgmma a wave in this sense is a warpgroup.
constexpr int GROUP = WGMMA ? 128 : WAVE, THREADS = WM * WN * GROUP;
constexpr int PIXW = BM / WM, CHW = BN / WN, PIX_STRIDE = WGMMA ? 64 : matrix::PIX;
constexpr int MI = PIXW / PIX_STRIDE, NI = CHW / matrix::CH;
constexpr int PIX_COPIES = (BM * CHUNKS + THREADS - 1) / THREADS, CH_COPIES = (BN * CHUNKS + THREADS - 1) / THREADS;
constexpr int ROW_STEP = THREADS / CHUNKS;  // rows between one thread's copies
constexpr bool PIX_EXACT = BM % ROW_STEP == 0, CH_EXACT = BN % ROW_STEP == 0;
constexpr int PIX_BYTES = BM * ROW_BYTES, STAGE_BYTES = PIX_BYTES + BN * ROW_BYTES;
constexpr int KT1 = (R * S * C + BK - 1) / BK, KT = KT1 + (C2 + BK - 1) / BK;  // reduction steps
constexpr int NT = (K + BN - 1) / BN;                                         // tiles along a group's channels
constexpr int KROWS = HF_KROWS;
constexpr bool TAP_UNIFORM = C % BK == 0;  // a reduction step lies within one tap
constexpr int AHEAD = WGMMA ? STAGES - 2 : STAGES - 1;
static_assert(C % VEC == 0 && XP % VEC == 0 && C2 % VEC == 0, "pixels are whole vectors");
static_assert(PIXW % PIX_STRIDE == 0 && CHW % matrix::CH == 0 && CHUNKS % matrix::KC == 0, "waves are whole tiles");
static_assert(THREADS % CHUNKS == 0 && NT * BN <= KROWS && AHEAD >= 1, "tile");
static_assert(HF_ASYNC_COPIES || (STAGES == 2 && PIX_EXACT && CH_EXACT), "registers hold one step, of all threads");

struct problem {
  const in::type* __restrict__ x;
  const in::type* __restrict__ x2;
  const u8* __restrict__ w;
  const float* __restrict__ bias;
  out::type* __restrict__ y;
  f32x4* ws;           // partial sums
  u32* arrived;        // how many blocks of a tile have come; zero before and after
  int pixels, tiles;   // tiles: splits * NT * GROUPS * ceil(pixels / BM)
  int grid;
  int splits, ksteps;  // reduction steps of a split
  operands o;
};
struct place { int tile, m, n, group, k, kend; };  // output tile, its first pixel and channel, reduction steps [k, kend)

struct work {
  int at;
  place t;
  MEMBER void aim(const problem& a) {
    t.tile = at; t.k = 0; t.kend = KT;
    if constexpr (SPLITK) {
      t.tile = at / a.splits;
      t.k = at % a.splits * a.ksteps;
      t.kend = t.k + a.ksteps < KT ? t.k + a.ksteps : KT;
    }
    t.n = t.tile % NT * BN;
    t.group = GROUPS == 1 ? 0 : t.tile / NT % GROUPS;
    t.m = t.tile / (NT * GROUPS) * BM;
  }
  MEMBER void begin(const problem& a) { at = block_x(); aim(a); }
  MEMBER bool more(const problem& a) const { return at < a.tiles; }
  MEMBER void next(const problem& a) { at += a.grid; aim(a); }
};
)hip";

// Lanes run along a pixel's chunks or, where a pixel has only a few channels, along pixels: addresses then stay
// contiguous. Which taps of a pixel lie inside the image is a few bits, packed; where there are too many taps, the
// pixel's coordinates are kept in their place, 16 bits each unless there is one row.
const std::string_view kConvFeeder = R"hip(
constexpr bool LINEAR = R * S == 1 && SH == 1 && SW == 1 && P == H && Q == W && PH == 0 && PW == 0;
constexpr bool THIN = C < 4 * VEC && !C2 && !LINEAR && PIX_EXACT && (BM % THREADS == 0 || THREADS % BM == 0);
constexpr int ROWS = BM < THREADS ? BM : THREADS;
constexpr int PIXELS = THIN ? BM / ROWS : PIX_COPIES;  // different pixels a thread copies from
constexpr int TAP_BITS = R * S + (C2 ? 1 : 0);
constexpr bool MANY_TAPS = TAP_BITS > 32, ONE_ROW = H == 1 && R == 1 && PH == 0;
constexpr int PER_WORD = MANY_TAPS ? 1 : 32 / TAP_BITS;
static_assert(!MANY_TAPS || !C2, "the second input's tap needs a bit");
struct feeder {
  copier<PIX_COPIES, HF_L1 || THIN> pix;
  copier<CH_COPIES, false> ch;
  int base[LINEAR ? 1 : PIXELS], base2[C2 ? PIXELS : 1];
  u32 taps[(PIXELS + PER_WORD - 1) / PER_WORD];
  int row, chunk;
  work at;
  place t;  // at.t with k advancing

  MEMBER int row_of(int i) const { return THIN ? row + i % PIXELS * ROWS : row + i * ROW_STEP; }
  MEMBER int chunk_of(int i) const { return THIN ? chunk + i / PIXELS * (THREADS / ROWS) : chunk; }
  MEMBER u32 taps_of(int h, int w) const {
    if constexpr (LINEAR) return C2 ? 3 : 1;
    if constexpr (MANY_TAPS) return ONE_ROW ? (u32)(w + PW) : (u32)(h + PH) << 16 | (u32)(w + PW);
    u32 cols = 0, all = 0;
#pragma unroll
    for (int s = 0; s < S; s++) cols |= (u32)((u32)(w + s * DW) < (u32)W) << s;
#pragma unroll
    for (int r = 0; r < R; r++) all |= (u32)(h + r * DH) < (u32)H ? cols << (r * S & 31) : 0;
    if constexpr (C2 != 0) all |= 1u << (TAP_BITS - 1 & 31);
    return all;
  }
  MEMBER bool tap_inside(int p, int tap) const {
    if constexpr (MANY_TAPS) {
      int h = ONE_ROW ? 0 : (int)(taps[p] >> 16) - PH + tap / S * DH;
      int w = (int)(ONE_ROW ? taps[p] : taps[p] & 0xffff) - PW + tap % S * DW;
      return taps[p] != ~0u && (u32)h < (u32)H && (u32)w < (u32)W;
    } else {
      return taps[p / PER_WORD] >> (tap + p % PER_WORD * TAP_BITS) & 1;
    }
  }
  MEMBER void aim(const problem& a) {
    if (!at.more(a)) return;
    t = at.t;
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
      int p = t.m + row_of(i);
      bool inside = p < a.pixels && (PIX_EXACT || row_of(i) < BM);
      int n = p / (P * Q), pq = p % (P * Q), h = pq / Q * SH - PH, w = pq % Q * SW - PW;
      int lane = t.group * C + (TAP_UNIFORM ? chunk * VEC : 0);
      if constexpr (LINEAR) {
        if (i == 0) base[0] = p * XP + lane;
      } else {
        base[i] = ((n * H + h) * W + w) * XP + lane;
      }
      if constexpr (C2 != 0) base2[i] = ((n * H2 + pq / Q * SH2) * W2 + pq % Q * SW2) * XP2 + chunk * VEC;
      u32 all = inside ? taps_of(h, w) : MANY_TAPS ? ~0u : 0;
      if (i % PER_WORD == 0) taps[i / PER_WORD] = all;
      else taps[i / PER_WORD] |= all << (i % PER_WORD * TAP_BITS);
    }
  }
  MEMBER void begin(const problem& a) {
    at.begin(a);
    row = THIN ? thread_x() % ROWS : thread_x() / CHUNKS;
    chunk = THIN ? thread_x() / ROWS : thread_x() % CHUNKS;
    aim(a);
  }
  MEMBER u8* pix_at(u8* stage, int i) const {  // ROW_STEP a multiple of 8 keeps the swizzle out of the unrolled loop
    if constexpr (!THIN && ROW_STEP % 8 == 0) return stage + i * ROW_STEP * ROW_BYTES + lds_offset<CHUNKS>(row, chunk);
    else return stage + lds_offset<CHUNKS>(row_of(i), chunk_of(i));
  }
  MEMBER u8* ch_at(u8* stage, int i) const { return stage + PIX_BYTES + thread_x() * 16 + i * THREADS * 16; }
  MEMBER bool more(const problem& a) const { return at.more(a); }
  MEMBER void fetch_pix(const problem& a, u8* stage) {
    const bool second = C2 && t.k >= KT1;
    const in::type* from = second ? a.x2 : a.x;
#pragma unroll
    for (int i = 0; i < PIX_COPIES; i++) {
      const int p = THIN ? i % PIXELS : i;
      int tap, off;
      bool real = true;
      if (second) {
        tap = TAP_BITS - 1;
        off = (t.k - KT1) * BK;
        if constexpr (C2 % BK != 0) real = off + chunk * VEC < C2;
      } else if constexpr (TAP_UNIFORM) {
        constexpr int PER = C / BK ? C / BK : 1;
        tap = t.k / PER;
        off = (tap / S * DH * W + tap % S * DW) * XP + t.k % PER * BK;
      } else {
        int k = t.k * BK + chunk_of(i) * VEC;
        tap = k / C;
        off = (tap / S * DH * W + tap % S * DW) * XP + k % C;
        real = tap < R * S;
        if (!real) tap = 0;
      }
      int where = LINEAR ? base[0] + p * ROW_STEP * XP : base[LINEAR ? 0 : p];
      if (C2 && second) where = base2[C2 ? p : 0];
      if (PIX_EXACT || row_of(i) < BM) pix.fetch(i, pix_at(stage, i), from + (where + off), real && tap_inside(p, tap));
    }
  }
  MEMBER void fetch_ch(const problem& a, u8* stage) {  // a tile of packed weights is contiguous
    const u8* from = a.w + ((u64)(t.group * KT + t.k) * KROWS + t.n) * ROW_BYTES + thread_x() * 16;
#pragma unroll
    for (int i = 0; i < CH_COPIES; i++)
      if (CH_EXACT || thread_x() / CHUNKS + i * ROW_STEP < BN) ch.fetch(i, ch_at(stage, i), from + i * THREADS * 16, true);
  }
  MEMBER void advance(const problem& a) {
    if (++t.k == t.kend) { at.next(a); aim(a); }
  }
  MEMBER void land(u8* stage) {
#pragma unroll
    for (int i = 0; i < PIX_COPIES; i++) pix.land(i, pix_at(stage, i));
#pragma unroll
    for (int i = 0; i < CH_COPIES; i++) ch.land(i, ch_at(stage, i));
  }
};
)hip";

}  // namespace hf::kernel

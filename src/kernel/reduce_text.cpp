// The texts of the kernels that reduce.
#include "kernel/reduce_text.h"

namespace hf::kernel {

// The functions are members, of which compilers do not say that one is not used. The logarithm of a sum of exponentials
// folds to the greatest value and the sum of e^(v - greatest).
const char* const kReduceText = R"hip(
enum { SUM, MEAN, MAX, MIN, PROD, L1, L2, LOG_SUM, LOG_SUM_EXP, SUM_SQUARE };
#if HF_INTEGER == 64
typedef i64 number;
typedef u64 wrapping;
#elif HF_INTEGER == 32
typedef int number;
typedef u32 wrapping;
#else
typedef float number;
typedef float wrapping;
#endif

struct words {
  DEV float exchanged(float v, int mask) { return shuffle_xor(v, mask); }
  DEV int exchanged(int v, int mask) { return (int)shuffle((u32)v, lane_id() ^ mask); }
  DEV i64 exchanged(i64 v, int mask) {
    u32 low = shuffle((u32)v, lane_id() ^ mask), high = shuffle((u32)((u64)v >> 32), lane_id() ^ mask);
    return (i64)((u64)high << 32 | low);
  }
};

#if HF_OP == 8
struct state {
  float top, sum;
  DEV state of(float top, float sum) { state s; s.top = top; s.sum = sum; return s; }
  DEV state nothing() { return of(-infinity(), 0); }
  DEV state element(float v) { return of(v, 1); }
  DEV void join(state& s, state o) {
    if (o.top > s.top) { state t = s; s = o; o = t; }
    s.sum += o.top == s.top ? o.sum : o.sum * exp_f32(o.top - s.top);
  }
  DEV state exchanged(state s, int mask) { return of(words::exchanged(s.top, mask), words::exchanged(s.sum, mask)); }
  DEV float value(state s) { return s.top + log_f32(s.sum); }
};
#else
struct state {
  number v;
  DEV state of(number v) { state s; s.v = v; return s; }
  DEV state nothing() {
#if HF_OP != 2 && HF_OP != 3
    return of(HF_OP == PROD);
#elif HF_INTEGER
    const number lowest = (number)((wrapping)1 << (HF_INTEGER - 1));
    return of(HF_OP == MAX ? lowest : ~lowest);
#else
    return of(HF_OP == MAX ? -infinity() : infinity());
#endif
  }
  DEV state element(number v) {
    if (HF_OP == L1) return of(v < 0 ? (number)(0 - (wrapping)v) : v);
    if (HF_OP == L2 || HF_OP == SUM_SQUARE) return of((number)((wrapping)v * (wrapping)v));
    return of(v);
  }
  DEV void join(state& s, state o) {
#if HF_OP != 2 && HF_OP != 3
    s.v = HF_OP == PROD ? (number)((wrapping)s.v * (wrapping)o.v) : (number)((wrapping)s.v + (wrapping)o.v);
#elif HF_INTEGER
    s.v = (HF_OP == MAX) == (s.v > o.v) ? s.v : o.v;
#else
    s.v = HF_OP == MAX ? max_f32(s.v, o.v) : min_f32(s.v, o.v);
#endif
  }
  DEV state exchanged(state s, int mask) { return of(words::exchanged(s.v, mask)); }
  DEV number value(state s) {
#if !HF_INTEGER
    if (HF_OP == MEAN) return s.v / (float)HF_COUNT;
    if (HF_OP == L2) return sqrt_f32(s.v);
    if (HF_OP == LOG_SUM) return log_f32(s.v);
#endif
    return s.v;
  }
};
#endif

#if HF_FROM_STATES
typedef state source;
#elif HF_INTEGER
typedef number source;
#else
typedef element<HF_IN>::type source;
#endif
// Takes HF_VEC neighbours into as many states.
DEV void take(const source* x, state (&s)[HF_VEC]) {
#if HF_FROM_STATES
  for (int i = 0; i < HF_VEC; i++) state::join(s[i], x[i]);
#elif HF_INTEGER
  for (int i = 0; i < HF_VEC; i++) state::join(s[i], state::element(x[i]));
#else
  float v[HF_VEC];
  pack<HF_VEC, HF_IN>::load(x, v);
  for (int i = 0; i < HF_VEC; i++) state::join(s[i], state::element(v[i]));
#endif
}

#if HF_TO_STATES
typedef state result;
DEV void put(result* y, i64 at, state s) { y[at] = s; }
#elif HF_INTEGER
typedef number result;
DEV void put(result* y, i64 at, state s) { y[at] = state::value(s); }
#else
$(functions)
typedef element<HF_OUT>::type result;
DEV void put(result* y, i64 at, state s$(parameters)) {
  y[at] = element<HF_OUT>::store(finish(state::value(s), at / HF_LAST, at % HF_LAST$(arguments)));
}
#endif
)hip";

const char* const kReduceRows = R"hip(
KERNEL(HF_THREADS, ROW_BLOCKS) reduce_rows(const source* x, result* y, i64 rows$(parameters)) {
  LDS(lds, 128);
  state* scratch = (state*)lds;
  i64 item = row_of_thread(), items = rows * HF_PIECES;
  bool live = item < items;
  if (!live) item = items - 1;
  constexpr int PIECE = (HF_COLS / HF_VEC + HF_PIECES - 1) / HF_PIECES * HF_VEC;
  int first = (int)(item % HF_PIECES) * PIECE, end = HF_COLS - first > PIECE ? first + PIECE : HF_COLS;
  x += item / HF_PIECES * HF_PITCH;
  state s[HF_VEC];
  for (int i = 0; i < HF_VEC; i++) s[i] = state::nothing();
#pragma unroll 4
  for (int col = first + lane_of_row() * HF_VEC; col < end; col += STEP) take(x + col, s);
#pragma unroll
  for (int half = HF_VEC / 2; half; half /= 2)
    for (int i = 0; i < half; i++) state::join(s[i], s[i + half]);
#pragma unroll
  for (int mask = (HF_LANES < WAVE ? HF_LANES : WAVE) / 2; mask; mask >>= 1) state::join(s[0], state::exchanged(s[0], mask));
  if (WHOLE_BLOCK) {
    if (lane_id() == 0) scratch[thread_x() / WAVE] = s[0];
    barrier();
    s[0] = scratch[0];
    for (int i = 1; i < HF_THREADS / WAVE; i++) state::join(s[0], scratch[i]);
  }
  if (live && lane_of_row() == 0) put(y, item, s[0]$(arguments));
}
)hip";

const char* const kReduceColumns = R"hip(
KERNEL(HF_THREADS, 2) reduce_columns(const source* x, result* y$(parameters)) {
  LDS(lds, HF_LDS);
  state* scratch = (state*)lds;  // [HF_TY][HF_TX * HF_VEC]
  constexpr int TILE = HF_TX * HF_VEC, TILES = (HF_PITCH + TILE - 1) / TILE;
  constexpr int PIECE = (HF_REDUCED + HF_PIECES - 1) / HF_PIECES;
  int tile = block_x() % TILES * TILE, item = block_x() / TILES;
  int first = item % HF_PIECES * PIECE, end = HF_REDUCED - first > PIECE ? first + PIECE : HF_REDUCED;
  int tx = thread_x() % HF_TX, ty = thread_x() / HF_TX, column = tile + tx * HF_VEC;
  state s[HF_VEC];
  for (int i = 0; i < HF_VEC; i++) s[i] = state::nothing();
  if (column < HF_PITCH) {
    x += (i64)(item / HF_PIECES) * HF_REDUCED * HF_PITCH + column;
#pragma unroll 4
    for (int r = first + ty; r < end; r += HF_TY) take(x + (i64)r * HF_PITCH, s);
  }
  for (int i = 0; i < HF_VEC; i++) scratch[ty * TILE + tx * HF_VEC + i] = s[i];
  barrier();
  for (int i = thread_x(); i < TILE; i += HF_THREADS) {
    if (tile + i >= HF_INNER) break;
    state all = scratch[i];
    for (int r = 1; r < HF_TY; r++) state::join(all, scratch[r * TILE + i]);
    put(y, (i64)item * HF_INNER + tile + i, all$(arguments));
  }
}
)hip";

}  // namespace hf::kernel

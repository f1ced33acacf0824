// The attention kernel. A block has HF_BM queries of one head; each wave its own rows of them, and all keys: scores,
// their softmax and its product with the values stay in the wave's registers. Keys and values come through LDS.
#include "kernel/attention_text.h"

namespace hf::kernel {

const char* const kAttentionTypes = R"hip(
typedef chained<HF_T> chain;
typedef chain::unit unit;
typedef element<HF_T>::type stored;
constexpr int WAVES = HF_THREADS / WAVE, E = 16 / sizeof(stored), PIX = unit::PIX, CH = unit::CH;
// Waves that have rows; where a wave's tile is tall the others only bring data.
constexpr int BUSY = WAVES * PIX <= HF_BM ? WAVES : HF_BM / PIX, MI = HF_BM / BUSY / PIX;
constexpr int NI = HF_BN / CH, DI = HF_VDP / CH;
constexpr int Q_CHUNKS = HF_DP / E, V_CHUNKS = chain::VALUES_TURNED ? HF_BN / E : HF_VDP / E;
constexpr int V_ROWS = chain::VALUES_TURNED ? HF_VDP : HF_BN;
constexpr int Q_BYTES = HF_BM * Q_CHUNKS * 16, K_BYTES = HF_BN * Q_CHUNKS * 16, STAGE = K_BYTES + V_ROWS * V_CHUNKS * 16;
static_assert(MI * PIX * BUSY == HF_BM && NI * CH == HF_BN && DI * CH == HF_VDP, "the waves cover the tile");
// The queries' fragments stay in registers where those are few; else they are read again for each step of keys.
constexpr bool KEEP_Q = Q_CHUNKS / unit::KC * MI * sizeof(unit::pix_frag) <= 128;
// Short loops where all the steps' reads at once would take the registers.
constexpr int UNROLL_Q = KEEP_Q ? Q_CHUNKS : HF_T == HF_F32 ? 2 : 4;
constexpr float LOG2E = 0x1.715476p+0f;

struct head_rows {
  const stored* data;
  i64 row;
};
// 16 bytes of a row, element by element; zeros beyond its end.
DEV u32x4 gather(const stored* from, int left) {
  u32x4 r = zero_u32x4();
#pragma unroll
  for (int e = 0; e < E; e++)
    if (e < left) {
      u32 v;
      if constexpr (HF_T == HF_F32) v = as_u32(from[e]);
      else v = (u32)from[e] << (e & 1 ? 16 : 0);
      int w = HF_T == HF_F32 ? e : e / 2;
      if (w == 0) r.x |= v;
      if (w == 1) r.y |= v;
      if (w == 2) r.z |= v;
      if (w == 3) r.w |= v;
    }
  return r;
}

// Brings rows as they lie. PERMUTED: row i of the tile is row channel_of_row(i) of the source.
template <int ROWS, int SIZE, int CHUNKS, bool PERMUTED> struct row_feeder {
  enum { ALL = ROWS * CHUNKS, COUNT = (ALL + HF_THREADS - 1) / HF_THREADS };
  copier<COUNT, false> copies;  // of whole rows
  u32x4 value[HF_WHOLE ? 1 : COUNT];
  DEV int at(int i) { return i * HF_THREADS + thread_x(); }
  DEV u8* place(u8* tile, int i) { return tile + lds_offset<CHUNKS>(at(i) / CHUNKS, at(i) % CHUNKS); }
  // The source's row for row r of the tile: a permutation of r's bits.
  DEV constexpr int line(int r) { return PERMUTED ? r / CH * CH + unit::channel_of_row(r % CH) : r; }
  MEMBER void fetch(u8* tile, const head_rows& from, int first, int end) {
    // Where the copies are a power of two rows apart, their distances in the source are constants.
    constexpr int APART = HF_THREADS / CHUNKS;
    constexpr bool EVEN = HF_THREADS % CHUNKS == 0 && (APART & (APART - 1)) == 0;
    const int row0 = first + line(at(0) / CHUNKS), chunk0 = at(0) % CHUNKS;
    const stored* source0 = from.data + row0 * from.row + chunk0 * E;
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      if (ALL % HF_THREADS && at(i) >= ALL) continue;
      int row, chunk;
      const stored* source;
      if constexpr (EVEN) {
        row = row0 + line(i * APART), chunk = chunk0;
        source = source0 + line(i * APART) * from.row;
      } else {
        row = first + line(at(i) / CHUNKS), chunk = at(i) % CHUNKS;
        source = from.data + row * from.row + chunk * E;
      }
      bool ok = row < end && chunk * E < SIZE;
      if constexpr (HF_WHOLE) copies.fetch(i, place(tile, i), source, ok);
      else value[i] = gather(source, ok ? SIZE - chunk * E : 0);
    }
  }
  MEMBER void land(u8* tile) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      if (ALL % HF_THREADS && at(i) >= ALL) continue;
      if constexpr (HF_WHOLE) copies.land(i, place(tile, i));
      else *(u32x4*)place(tile, i) = value[i];
    }
  }
};

// Brings values turned: squares of E keys x E columns, through registers.
template <class chain> struct turning_feeder {
  enum { KEYS = HF_BN / E, ALL = KEYS * (HF_VDP / E), COUNT = (ALL + HF_THREADS - 1) / HF_THREADS };
  u32x4 value[COUNT][E];
  // Threads without a square of their own repeat another's: a branch around landing would make the compiler move work
  // across it. Where only few have one, repeating costs more than the branch.
  static constexpr bool REPEAT = HF_T == HF_F32 || ALL * 2 >= HF_THREADS, BRANCH = !REPEAT && ALL % HF_THREADS != 0;
  DEV int at(int i) { return REPEAT ? (i * HF_THREADS + thread_x()) % ALL : i * HF_THREADS + thread_x(); }
  DEV int keys(int i) { return at(i) / (HF_VDP / E); }
  DEV int columns(int i) { return at(i) % (HF_VDP / E); }
  MEMBER void fetch(u8*, const head_rows& from, int first, int end) {
#pragma unroll
    for (int i = 0; i < COUNT; i++)
#pragma unroll
      for (int e = 0; e < E; e++) {
        int row = first + keys(i) * E + e, left = HF_VD - columns(i) * E;
        bool ok = row < end && left > 0 && keys(i) < KEYS;
        const stored* source = from.data + (ok ? row * from.row + columns(i) * E : 0);
        if constexpr (HF_WHOLE) value[i][e] = ok ? *(const u32x4*)source : zero_u32x4();
        else value[i][e] = gather(source, ok ? left : 0);
      }
  }
  MEMBER void land(u8* tile) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      if (BRANCH && keys(i) >= KEYS) continue;
#pragma unroll
      for (int e = 0; e < E; e++)
        *(u32x4*)(tile + lds_offset<V_CHUNKS>(chain::row_of_channel(columns(i) * E + e), keys(i))) = turned<HF_T>(value[i], e);
    }
  }
};
template <bool TURNED> struct value_feeder_of { typedef turning_feeder<chain> type; };
template <> struct value_feeder_of<false> { typedef row_feeder<HF_BN, HF_VD, V_CHUNKS, true> type; };
typedef row_feeder<HF_BM, HF_D, Q_CHUNKS, false> query_feeder;
typedef row_feeder<HF_BN, HF_D, Q_CHUNKS, true> key_feeder;
typedef value_feeder_of<chain::VALUES_TURNED>::type value_feeder;
)hip";

const char* const kAttentionScores = R"hip(
#if HF_MASK == 1
typedef element<HF_MASK_TYPE> mask_element;
#else
struct mask_element { typedef u8 type; };
#endif
// What a lane must know to place its scores.
struct place {
  int query, keys, position;        // the wave's first query; the sequence's keys; the position of query 0
  const mask_element::type* mask;   // of this sequence and head
  i64 mask_row;
  int mask_keys, window, queries;
  float scale, cap;                 // scale: times log2(e) where there is no cap
};
typedef float row_values[MI][chain::ROWS];

#if HF_MASK
// In units of the exponent of 2. The largest float in place of what overflows, so that only -inf closes a key.
DEV float exponent_of(float mask) {
  float x = mask * LOG2E;
  return mask > -infinity() && x < -0x1.fffffep+127f ? -0x1.fffffep+127f : x;
}
DEV void read_mask(const place& p, int query, int key, float (&bias)[8]) {
  const mask_element::type* row = p.mask + (query < p.queries ? query : p.queries - 1) * p.mask_row + key;
#if HF_MASK == 1
  if (HF_MASK_WHOLE && key + 8 <= p.mask_keys) {
    load8<HF_MASK_TYPE>(row, bias);
#pragma unroll
    for (int e = 0; e < 8; e++) bias[e] = exponent_of(bias[e]);
    return;
  }
#pragma unroll
  for (int e = 0; e < 8; e++) bias[e] = key + e < p.mask_keys ? exponent_of(mask_element::load(row[e])) : -infinity();
#else
#pragma unroll
  for (int e = 0; e < 8; e++) bias[e] = key + e < p.mask_keys && row[e] ? 0.f : -infinity();
#endif
}
#endif

// Products to exponents of 2 (or, with HF_FOLD, to what scale makes such); -inf for closed keys.
DEV void to_scores(unit::acc (&s)[MI][NI], const place& p, int first_key) {
  const int lane = lane_id();
#pragma unroll
  for (int j = 0; j < NI; j++)
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
      for (int v = 0; v < unit::VEC; v++) {
#if HF_MASK
        float bias[8];
        read_mask(p, HF_MASK_ROWS ? p.query + i * PIX + unit::pix_of(lane, v) : 0, first_key + j * CH + unit::ch_of(lane, v), bias);
#endif
#pragma unroll
        for (int e = 0; e < 8; e++) {
          float x = unit::get(s[i][j], v, e);
#if !HF_FOLD
#if HF_CAP
          x = p.cap * LOG2E * tanh_f32(x * p.scale);
#if HF_MASK
          x += bias[e];
#endif
#elif HF_MASK
          x = fma_f32(x, p.scale, bias[e]);
#else
          x *= p.scale;
#endif
#endif
          unit::set(s[i][j], v, e, x);
        }
      }
}
// Closes what lies beyond the sequence, after the query's position or before its window.
DEV void close(unit::acc (&s)[MI][NI], const place& p, int first_key) {
  const int lane = lane_id();
#pragma unroll
  for (int j = 0; j < NI; j++)
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
      for (int v = 0; v < unit::VEC; v++) {
        int key = first_key + j * CH + unit::ch_of(lane, v), end = p.keys;
        int position = p.position + p.query + i * PIX + unit::pix_of(lane, v);
        if (HF_CAUSAL && position + 1 < end) end = position + 1;
        if (HF_TOKENS_FIRST && p.query + i * PIX + unit::pix_of(lane, v) >= p.keys) end = 0;
#pragma unroll
        for (int e = 0; e < 8; e++)
          if (key + e >= end || (HF_WINDOW && key + e < position - p.window)) unit::set(s[i][j], v, e, -infinity());
      }
}

// One step of the online softmax: scores become weights relative to the new maximum; the results so far are scaled.
DEV void soften(unit::acc (&s)[MI][NI], unit::acc (&o)[MI][DI], row_values& top, row_values& sum, float scale) {
#pragma unroll
  for (int i = 0; i < MI; i++) {
    float most[chain::ROWS], base[chain::ROWS], shrink[chain::ROWS], part[chain::ROWS];
#pragma unroll
    for (int r = 0; r < chain::ROWS; r++) most[r] = top[i][r];
#pragma unroll
    for (int j = 0; j < NI; j++)
#pragma unroll
      for (int v = 0; v < unit::VEC; v++)
#pragma unroll
        for (int e = 0; e < 8; e++) most[chain::row(v)] = larger(most[chain::row(v)], unit::get(s[i][j], v, e));
#pragma unroll
    for (int r = 0; r < chain::ROWS; r++) {
#pragma unroll
      for (int mask = chain::SHARE; mask < chain::SHARE_END; mask *= 2) most[r] = larger(most[r], shuffle_xor(most[r], mask));
      base[r] = most[r] == -infinity() ? 0.f : HF_FOLD ? most[r] * scale : most[r];
      shrink[r] = exp2_raw(HF_FOLD ? fma_f32(top[i][r], scale, -base[r]) : top[i][r] - base[r]);
      top[i][r] = most[r];
      part[r] = 0.f;
    }
#pragma unroll
    for (int j = 0; j < NI; j++)
#pragma unroll
      for (int v = 0; v < unit::VEC; v++)
#pragma unroll
        for (int e = 0; e < 8; e++) {
          float x = unit::get(s[i][j], v, e), b = base[chain::row(v)];
          x = exp2_raw(HF_FOLD ? fma_f32(x, scale, -b) : x - b);
          part[chain::row(v)] += x;
          unit::set(s[i][j], v, e, x);
        }
#pragma unroll
    for (int r = 0; r < chain::ROWS; r++) sum[i][r] = fma_f32(sum[i][r], shrink[r], part[r]);
#pragma unroll
    for (int d = 0; d < DI; d++)
#pragma unroll
      for (int v = 0; v < unit::VEC; v++)
#pragma unroll
        for (int e = 0; e < 8; e++) unit::set(o[i][d], v, e, unit::get(o[i][d], v, e) * shrink[chain::row(v)]);
  }
}
)hip";

const char* const kAttentionKernel = R"hip(
struct query_fragments { unit::pix_frag f[KEEP_Q ? Q_CHUNKS / unit::KC : 1][MI]; };

DEV void load_queries(query_fragments& q, int at, const u8* tile, int row, int chunk) {
#pragma unroll
  for (int i = 0; i < MI; i++) unit::load_pix<Q_CHUNKS>(q.f[at][i], tile, row + i * PIX, chunk, lane_id());
}
DEV void clear(unit::acc& a) {
#pragma unroll
  for (int i = 0; i < unit::VEC * 8; i++) unit::set(a, i / 8, i % 8, 0.f);
}
DEV void multiply_keys(unit::acc (&s)[MI][NI], query_fragments& q, const u8* queries, const u8* keys, int row) {
#pragma unroll
  for (int i = 0; i < MI * NI; i++) clear(s[i / NI][i % NI]);
#pragma unroll UNROLL_Q
  for (int c = 0; c < Q_CHUNKS; c += unit::KC) {
    const int at = KEEP_Q ? c / unit::KC : 0;
    if (!KEEP_Q) load_queries(q, 0, queries, row, c);
#pragma unroll
    for (int j = 0; j < NI; j++) {
      unit::ch_frag k;
      unit::load_ch<Q_CHUNKS>(k, keys, j * CH, c, lane_id());
#pragma unroll
      for (int i = 0; i < MI; i++) unit::run(s[i][j], q.f[at][i], k);
    }
    schedule_fence();
  }
}
DEV void multiply_values(unit::acc (&o)[MI][DI], const unit::acc (&s)[MI][NI], const u8* values) {
#pragma unroll
  for (int j = 0; j < NI; j++)
#pragma unroll
    for (int step = 0; step < chain::STEPS; step++) {
      unit::pix_frag w[MI];
#pragma unroll
      for (int i = 0; i < MI; i++) chain::weights(w[i], s[i][j], step);
#pragma unroll
      for (int d = 0; d < DI; d++) {
        unit::ch_frag v;
        chain::load_values<V_CHUNKS>(v, values, d * CH, j * CH, step, lane_id());
#pragma unroll
        for (int i = 0; i < MI; i++) unit::run(o[i][d], w[i], v);
        if (d % 4 == 3 || d + 1 == DI) schedule_fence();
      }
    }
}
DEV void store(unit::acc (&o)[MI][DI], const row_values& sum, const place& p, element<HF_OUT>::type* out, i64 out_row) {
  const int lane = lane_id();
#pragma unroll
  for (int i = 0; i < MI; i++) {
    float scale[chain::ROWS];
#pragma unroll
    for (int r = 0; r < chain::ROWS; r++) {
      float all = sum[i][r];
#pragma unroll
      for (int mask = chain::SHARE; mask < chain::SHARE_END; mask *= 2) all += shuffle_xor(all, mask);
      scale[r] = all > 0.f ? reciprocal(all) : 0.f;
    }
#pragma unroll
    for (int d = 0; d < DI; d++) {
      chain::settle(o[i][d]);
#pragma unroll
      for (int v = 0; v < unit::VEC; v++) {
        int query = p.query + i * PIX + unit::pix_of(lane, v), column = d * CH + unit::ch_of(lane, v);
        float x[8];
#pragma unroll
        for (int e = 0; e < 8; e++) x[e] = unit::get(o[i][d], v, e) * scale[chain::row(v)];
        if (query >= p.queries || column >= HF_VD) continue;
        element<HF_OUT>::type* to = out + query * out_row + column;
        if constexpr (HF_OUT_WHOLE) store8<HF_OUT>(to, x);
        else
#pragma unroll
          for (int e = 0; e < 8; e++) if (column + e < HF_VD) to[e] = element<HF_OUT>::store(x[e]);
      }
    }
  }
}

#if HF_LENGTHS == 8
typedef i64 length;
#else
typedef int length;
#endif
KERNEL(HF_THREADS, HF_BLOCKS) attention(const stored* q, const stored* k, const stored* v, element<HF_OUT>::type* out,
    const mask_element::type* mask, const length* lengths, int heads, int group, int queries, int keys, float scale, float cap,
    int past, int window, int lengths_more, int mask_keys, i64 q_batch, i64 q_head, i64 q_row, i64 k_batch, i64 k_head,
    i64 k_row, i64 v_batch, i64 v_head, i64 v_row, i64 out_batch, i64 out_head, i64 out_row, i64 mask_batch, i64 mask_head,
    i64 mask_row) {
  LDS(lds, Q_BYTES + HF_STAGES * STAGE);
  const int tiles = (queries + HF_BM - 1) / HF_BM, at = block_x() / tiles, b = at / heads, h = at % heads;
  const int tile = HF_CAUSAL ? tiles - 1 - block_x() % tiles : block_x() % tiles;  // the longest first
  const int wave = thread_x() / WAVE, row = wave * (MI * PIX);
  place p = {tile * HF_BM + row, keys, past, mask + b * mask_batch + h * mask_head, mask_row, mask_keys, window, queries, scale, cap};
  if (HF_LENGTHS) {
    i64 all = lengths[b] + lengths_more;
    p.keys = all < keys ? (int)all : keys;
    p.position = p.keys - queries + past;
    if (HF_TOKENS_FIRST && p.keys < queries) p.position = past;
  }
  const head_rows from_q = {q + b * q_batch + h * q_head, q_row}, from_k = {k + b * k_batch + h / group * k_head, k_row},
                  from_v = {v + b * v_batch + h / group * v_head, v_row};
  // Steps of keys that some query of the block sees.
  int first = 0, end = p.keys, first_position = p.position + tile * HF_BM;
  if (HF_CAUSAL && first_position + HF_BM < end) end = first_position + HF_BM;
  if (HF_WINDOW && first_position - window > 0) first = (first_position - window) / HF_BN * HF_BN;

  u8* const stages = lds + Q_BYTES;
  query_feeder feed_q;
  key_feeder feed_k;
  value_feeder feed_v;
  feed_q.fetch(lds, from_q, tile * HF_BM, queries);
  feed_k.fetch(stages, from_k, first, end);
  feed_v.fetch(stages + K_BYTES, from_v, first, end);
  copies_commit();
  feed_q.land(lds);
  feed_k.land(stages);
  feed_v.land(stages + K_BYTES);

  const bool busy = BUSY == WAVES || wave < BUSY;
  unit::acc o[MI][DI], s[MI][NI];
  row_values top, sum;
  query_fragments fragments;
#pragma unroll
  for (int i = 0; i < MI * DI; i++) clear(o[i / DI][i % DI]);
#pragma unroll
  for (int i = 0; i < MI * chain::ROWS; i++) {
    top[i / chain::ROWS][i % chain::ROWS] = -infinity();
    sum[i / chain::ROWS][i % chain::ROWS] = 0.f;
  }
  if (KEEP_Q) {
    copies_wait<0>();
    barrier();
    if (busy)
#pragma unroll
      for (int c = 0; c < Q_CHUNKS; c += unit::KC) load_queries(fragments, c / unit::KC, lds, row, c);
  }
  int stage = 0;
#pragma unroll 1
  for (int key = first; key < end; key += HF_BN) {
    copies_wait<0>();
    barrier();
    const int next = HF_STAGES == 1 ? 0 : stage ^ 1;
    // Beyond the last step this brings zeros, which nobody reads.
    if (HF_STAGES == 2 || !HF_ASYNC_COPIES) {
      feed_k.fetch(stages + next * STAGE, from_k, key + HF_BN, end);
      feed_v.fetch(stages + next * STAGE + K_BYTES, from_v, key + HF_BN, end);
      copies_commit();
    }
    if (busy) {
      const u8* tile_k = stages + stage * STAGE;
      multiply_keys(s, fragments, lds, tile_k, row);
      to_scores(s, p, key);
      bool edge = key + HF_BN > p.keys || (HF_TOKENS_FIRST && p.query + MI * PIX > p.keys);
      if (HF_CAUSAL) edge |= key + HF_BN > p.position + p.query + 1;
      if (HF_WINDOW) edge |= key < p.position + p.query + MI * PIX - window;
      if (edge) close(s, p, key);
      soften(s, o, top, sum, scale);
      multiply_values(o, s, tile_k + K_BYTES);
    }
    if (HF_STAGES == 1) {
      barrier();
      if (HF_ASYNC_COPIES) {
        feed_k.fetch(stages, from_k, key + HF_BN, end);
        feed_v.fetch(stages + K_BYTES, from_v, key + HF_BN, end);
        copies_commit();
      }
    }
    feed_k.land(stages + next * STAGE);
    feed_v.land(stages + next * STAGE + K_BYTES);
    stage = next;
  }
  if (busy) store(o, sum, p, out + b * out_batch + h * out_head, out_row);
}
)hip";

}  // namespace hf::kernel

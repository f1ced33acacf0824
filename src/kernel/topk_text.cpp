// The texts of the kernels that sort.
#include "kernel/topk_text.h"

namespace hf::kernel {

// A key is the value's order in its upper half and its index in the lower one; all bits set is beyond every element.
const char* const kSortText = R"hip(
#if HF_INT32
typedef int source;
typedef int result;
#else
typedef element<HF_IN>::type source;
typedef element<HF_OUT>::type result;
#endif
struct keys {
#if HF_INT32
  DEV u32 order_of(source v) { return (u32)v ^ 0x80000000u; }
  DEV result convert(source v) { return v; }
#else
  DEV u32 order_of(source s) {
    float v = element<HF_IN>::load(s);
    u32 bits = v != v ? 0x7fc00000u : v == 0 ? 0 : as_u32(v);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  }
  DEV result convert(source v) { return element<HF_OUT>::store(element<HF_IN>::load(v)); }
#endif
  DEV i64 place(i64 row, i64 i, i64 axis) { return row / HF_INNER * (axis * HF_INNER) + row % HF_INNER + i * HF_INNER; }
  DEV u64 of(const source* x, i64 row, int i) {
    u32 order = order_of(x[place(row, i, HF_AXIS)]);
    return (u64)(HF_GREATEST ? ~order : order) << 32 | (u32)i;
  }
  DEV void swap(u64* a, u64* b, bool ascending) {
    u64 x = *a, y = *b;
    if ((x > y) == ascending) { *a = y; *b = x; }
  }
  // The steps of distance `from` down to 1 in sorting runs of `size`; element 0 is element `first` of all.
  DEV void steps(u64* all, int size, int from, u32 first) {
    for (int apart = from; apart; apart /= 2) {
      for (int t = thread_x(); t < HF_SIZE / 2; t += HF_THREADS) {
        int i = t / apart * (2 * apart) + t % apart;
        swap(all + i, all + i + apart, ((first + (u32)i) & (u32)size) == 0);
      }
      barrier();
    }
  }
  DEV void sort(u64* all, u32 first) {
    for (int size = 2; size <= HF_SIZE; size *= 2) steps(all, size, size / 2, first);
  }
};
#if HF_VALUES && HF_INDICES
#define HF_RESULTS , result* values, i64* indices
#define HF_WRITE(at, v, i) values[at] = v; indices[at] = i
#elif HF_VALUES
#define HF_RESULTS , result* values
#define HF_WRITE(at, v, i) values[at] = v
#else
#define HF_RESULTS , i64* indices
#define HF_WRITE(at, v, i) indices[at] = i
#endif
)hip";

const char* const kTopKPieces = R"hip(
#if HF_FROM_KEYS
#define HF_SOURCE , const u64* from
#else
#define HF_SOURCE
#endif
#if HF_TO_KEYS
#define HF_TARGET , u64* to
#else
#define HF_TARGET HF_RESULTS
#endif
KERNEL(HF_THREADS, 1) topk_pieces(const source* x HF_SOURCE HF_TARGET) {
  LDS(lds, HF_SIZE * 8);
  u64* all = (u64*)lds;
  i64 row = block_x() / HF_CHUNKS;
  int piece = block_x() % HF_CHUNKS;
  for (int i = thread_x(); i < HF_SIZE; i += HF_THREADS) {
    int at = piece * HF_SIZE + i;
#if HF_FROM_KEYS
    all[i] = at < HF_N ? from[row * HF_N + at] : ~(u64)0;
#else
    all[i] = at < HF_N ? keys::of(x, row, at) : ~(u64)0;
#endif
  }
  barrier();
  keys::sort(all, 0);
  for (int i = thread_x(); i < HF_K; i += HF_THREADS) {
#if HF_TO_KEYS
    to[((i64)block_x()) * HF_K + i] = all[i];
#else
    int index = (int)(u32)all[i];
    i64 at = keys::place(row, i, HF_K);
    HF_WRITE(at, keys::convert(x[keys::place(row, index, HF_AXIS)]), index);
#endif
  }
}
)hip";

const char* const kSortPieces = R"hip(
KERNEL(HF_THREADS, 1) sort_pieces(const source* x, u64* to) {
  LDS(lds, HF_SIZE * 8);
  u64* all = (u64*)lds;
  i64 first = (i64)block_x() * HF_SIZE, row = first / HF_PADDED;
  u32 base = (u32)(first % HF_PADDED);
  for (int i = thread_x(); i < HF_SIZE; i += HF_THREADS)
    all[i] = base + i < HF_AXIS ? keys::of(x, row, (int)base + i) : ~(u64)0;
  barrier();
  keys::sort(all, base);
  for (int i = thread_x(); i < HF_SIZE; i += HF_THREADS) to[first + i] = all[i];
}
)hip";

const char* const kSortStep = R"hip(
KERNEL(HF_THREADS, 1) sort_step(u64* all, u32 size, u32 apart) {
  i64 t = (i64)block_x() * HF_THREADS + thread_x();
  i64 i = t / apart * (2 * (i64)apart) + t % apart;
  keys::swap(all + i, all + i + apart, ((u32)(i % HF_PADDED) & size) == 0);
}
)hip";

const char* const kSortMerge = R"hip(
KERNEL(HF_THREADS, 1) sort_merge(u64* to, u32 size) {
  LDS(lds, HF_SIZE * 8);
  u64* all = (u64*)lds;
  i64 first = (i64)block_x() * HF_SIZE;
  for (int i = thread_x(); i < HF_SIZE; i += HF_THREADS) all[i] = to[first + i];
  barrier();
  keys::steps(all, (int)size, HF_SIZE / 2, (u32)(first % HF_PADDED));
  for (int i = thread_x(); i < HF_SIZE; i += HF_THREADS) to[first + i] = all[i];
}
)hip";

const char* const kTopKWrite = R"hip(
KERNEL(HF_THREADS, 1) topk_write(const source* x, const u64* from, i64 count HF_RESULTS) {
  i64 t = (i64)block_x() * HF_THREADS + thread_x();
  if (t >= count) return;
  i64 row = t / HF_K, k = t % HF_K, at = keys::place(row, k, HF_K);
  int index = (int)(u32)from[row * HF_PADDED + k];
  HF_WRITE(at, keys::convert(x[keys::place(row, index, HF_AXIS)]), index);
}
)hip";

}  // namespace hf::kernel

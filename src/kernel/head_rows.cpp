// Rotation and placing of rows of heads: a thread a pair of elements.
#include "kernel/head_rows.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;

const char* const kCommon = R"hip(
typedef element<HF_T> tin;
typedef element<HF_OUT> tout;
struct span { i64 first, length; };
// Of the tokens of a sequence: where they begin and end in its cache.
DEV span span_of(const int* lengths, i64 b, i64 first, int more, i64 rows, i64 capacity) {
  span s = {first, capacity};
  if (HF_LENGTHS) {
    s.length = (i64)lengths[b] + more;
    s.length = s.length < 0 ? 0 : s.length < capacity ? s.length : capacity;
    s.first = s.length > rows ? s.length - rows : 0;
  }
  return s;
}
)hip";

// HF_DIM of HF_SIZE elements are rotated. HF_POSITIONS as HeadRowsProblem::Positions.
const char* const kRows = R"hip(
typedef element<HF_ANGLE> angle;
constexpr int HALF = HF_DIM / 2, WORK = HALF + HF_SIZE - HF_DIM;  // pairs, then single elements

KERNEL(HF_THREADS, 2) head_rows(const tin::type* from, tout::type* to, const int* lengths, const angle::type* cosines,
    const angle::type* sines, const i64* positions, i64 count, i64 heads, i64 rows, i64 first, i64 capacity, i64 angles,
    int more, i64 from_batch, i64 from_head, i64 from_row, i64 to_batch, i64 to_head, i64 to_row) {
  i64 at = (i64)block_x() * HF_THREADS + thread_x();
  if (at >= count) return;
  int e = (int)(at % WORK);
  i64 h = at / WORK % heads, i = at / WORK / heads % rows, b = at / WORK / heads / rows;
  span s = span_of(lengths, b, first, more, rows, capacity);
  if (HF_LENGTHS && s.first + i >= s.length) return;
  from += b * from_batch + h * from_head + i * from_row;
  to += b * to_batch + h * to_head + (HF_KEEP_PLACE ? i : s.first + i) * to_row;
  if (e >= HALF) {
    e += HALF;
    to[e] = tout::store(tin::load(from[e]));
    return;
  }
  int first_of_pair = HF_INTERLEAVED ? 2 * e : e, second = HF_INTERLEAVED ? 2 * e + 1 : e + HALF;
  i64 p = b * rows + i;
#if HF_POSITIONS == 1
  p = s.first + i;
#elif HF_POSITIONS == 2
  p = positions[p];
#elif HF_POSITIONS == 3
  p = positions[0] + i;
#endif
  p = p < 0 ? 0 : p < angles ? p : angles - 1;
  float c = angle::load(cosines[p * HALF + e]), d = angle::load(sines[p * HALF + e]);
  float x = tin::load(from[first_of_pair]), y = tin::load(from[second]);
  to[first_of_pair] = tout::store(c * x - d * y);
  to[second] = tout::store(d * x + c * y);
}
)hip";

const char* const kPast = R"hip(
KERNEL(HF_THREADS, 2) head_past(const tin::type* past, tout::type* to, const int* lengths, i64 count, i64 heads, i64 rows,
    i64 first, i64 capacity, int more, i64 past_rows, i64 past_batch, i64 past_head, i64 past_row, i64 to_batch, i64 to_head,
    i64 to_row) {
  i64 at = (i64)block_x() * HF_THREADS + thread_x();
  if (at >= count) return;
  int e = (int)(at % HF_SIZE);
  i64 j = at / HF_SIZE % capacity, h = at / HF_SIZE / capacity % heads, b = at / HF_SIZE / capacity / heads;
  span s = span_of(lengths, b, first, more, rows, capacity);
  bool old = j < s.first;
  if (!old && j < (HF_LENGTHS ? s.length : s.first + rows)) return;
  tout::type zero = tout::store(0.f);
  to[b * to_batch + h * to_head + j * to_row + e] =
      old && j < past_rows ? tout::store(tin::load(past[b * past_batch + h * past_head + j * past_row + e])) : zero;
}
)hip";

Argument operand(const HeadRows& r, Element type) {
  return {.kind = r.place, .index = r.buffer, .integer = r.offset * size_of(type)};
}

KernelSpec begin(const char* entry, const char* text, int64_t count, Element type, Element out_type, int64_t size,
                 int lengths) {
  return {.family = entry,
          .variant = "scalar",
          .source = std::string(kCommon) + text,
          .entry = entry,
          .defines = {fmt::format("HF_T={}", static_cast<int>(type)),
                      fmt::format("HF_OUT={}", static_cast<int>(out_type)), fmt::format("HF_SIZE={}", size),
                      fmt::format("HF_LENGTHS={}", int{lengths >= 0}), fmt::format("HF_THREADS={}", kThreads)},
          .grid = {blocks_for(count, kThreads), 1, 1},
          .block = {kThreads, 1, 1}};
}

}  // namespace

Candidates head_rows(const HeadRowsProblem& p, const Target&) {
  if (p.size > INT32_MAX / 2) fail(Code::Unsupported, "heads of {} elements", p.size);
  int64_t work = p.dim / 2 + p.size - p.dim, count = p.batch * p.heads * p.rows * work;
  KernelSpec spec = begin("head_rows", kRows, count, p.type, p.out_type, p.size, p.lengths);
  for (const std::string& define :
       {fmt::format("HF_DIM={}", p.dim), fmt::format("HF_INTERLEAVED={}", int{p.interleaved}),
        fmt::format("HF_KEEP_PLACE={}", int{p.keep_place}), fmt::format("HF_ANGLE={}", static_cast<int>(p.angle_type)),
        fmt::format("HF_POSITIONS={}", static_cast<int>(p.positions))})
    spec.defines.push_back(define);
  Argument from = operand(p.from, p.type);
  auto input = [&](int i) { return i < 0 ? from : Argument::input(i); };
  spec.arguments = {from,         operand(p.to, p.out_type), input(p.lengths), input(p.cos),
                    input(p.sin), input(p.positions_input)};
  int64_t capacity = p.lengths < 0 ? p.first + p.rows : p.capacity;
  for (int64_t v : {count, p.heads, p.rows, p.first, capacity, p.angles}) spec.arguments.push_back(Argument::int64(v));
  spec.arguments.push_back(Argument::int32(p.lengths_more));
  for (const HeadRows& r : {p.from, p.to})
    for (int64_t v : {r.batch, r.head, r.row}) spec.arguments.push_back(Argument::int64(v));
  return {std::move(spec)};
}

Candidates head_past(const HeadPastProblem& p, const Target&) {
  if (p.size > INT32_MAX / 2) fail(Code::Unsupported, "heads of {} elements", p.size);
  int64_t count = p.batch * p.heads * p.capacity * p.size;
  KernelSpec spec = begin("head_past", kPast, count, p.type, p.out_type, p.size, p.lengths);
  Argument to = operand(p.to, p.out_type);
  spec.arguments = {p.past_rows ? operand(p.past, p.type) : to, to, p.lengths < 0 ? to : Argument::input(p.lengths)};
  for (int64_t v : {count, p.heads, p.rows, p.past_rows, p.capacity}) spec.arguments.push_back(Argument::int64(v));
  spec.arguments.push_back(Argument::int32(p.lengths_more));
  spec.arguments.push_back(Argument::int64(p.past_rows));
  for (const HeadRows& r : {p.past, p.to})
    for (int64_t v : {r.batch, r.head, r.row}) spec.arguments.push_back(Argument::int64(v));
  return {std::move(spec)};
}

}  // namespace hf::kernel

// Attention in its several forms as one kernel, after launches that fill caches where there are some.
#include "kernel/attention.h"

#include <algorithm>
#include <cmath>

#include "kernel/head_rows.h"
#include "lower/table.h"
#include "ops/strided_attention.h"

namespace hf::lower {
namespace {

using kernel::Argument;
using kernel::AttentionMask;
using kernel::AttentionProblem;
using kernel::HeadRows;

// [batch, heads, rows, size], and [batch, rows, heads * size].
HeadRows heads_outside(int buffer, int64_t heads, int64_t rows, int64_t size) {
  return {.buffer = buffer, .batch = heads * rows * size, .head = rows * size, .row = size};
}
HeadRows heads_inside(int buffer, int64_t heads, int64_t rows, int64_t size) {
  return {.buffer = buffer, .batch = rows * heads * size, .head = size, .row = heads * size};
}

// One node's launches in the making. Operands are stored as the first one is.
class Builder {
 public:
  explicit Builder(const Request& r) : r_(r), type_(r.stored_input(0)) {
    l_.inputs.resize(r.node.inputs().size());
    l_.outputs.resize(r.node.outputs().size());
    l_.outputs[0] = r.out_rows();
    p.type = kernel::Element::F32;
    if (is_float_element(type_)) p.type = element_of(type_);
    if (is_float_element(r.stored_output())) p.out_type = element_of(r.stored_output());
  }

  AttentionProblem p;

  /// Why none of these inputs, which are to be floats, can be taken.
  std::optional<Refusal> refused(std::initializer_list<int> operands) {
    if (r_.empty()) return Refusal{"no elements"};
    for (int i : operands) {
      if (!r_.has(i)) continue;
      if (!is_float_element(r_.stored_input(i)))
        return Refusal{fmt::format("input {} is {}", i, name(r_.stored_input(i)))};
      l_.inputs[static_cast<size_t>(i)] = device_rows(r_.dims(i), type_);
    }
    return std::nullopt;
  }

  /// The mask that input i is, of these strides and as many numbers a row.
  std::optional<Refusal> mask(int i, const AttentionMask& where) {
    p.mask = where;
    p.mask.buffer = i;
    DType stored = r_.stored_input(i);
    if (stored != DType::Bool && !is_float_element(stored)) return Refusal{fmt::format("a mask of {}", name(stored))};
    p.mask.kind = stored == DType::Bool ? AttentionMask::Kind::Bool : AttentionMask::Kind::Add;
    if (stored != DType::Bool) p.mask.type = element_of(stored);
    l_.inputs[static_cast<size_t>(i)] = r_.rows(i);
    return std::nullopt;
  }
  /// Of an input that broadcasts to [batch, heads, queries, ...], axes missing in front.
  std::optional<Refusal> broadcast_mask(int i) {
    Dims d = r_.dims(i), strides = d.strides();
    AttentionMask m{.keys = d.back()};
    int64_t* to[] = {&m.row, &m.head, &m.batch};
    for (int axis = d.rank() - 2, k = 0; axis >= 0 && k < 3; --axis, ++k) *to[k] = d[axis] == 1 ? 0 : strides[axis];
    return mask(i, m);
  }

  /// A place [batch, kv heads, capacity, size] that is output `output` if the node wants it, else in the workspace.
  HeadRows cache(int output, int64_t capacity, int64_t size) {
    HeadRows rows = heads_outside(output, p.kv_heads, capacity, size);
    rows.place = Argument::Kind::Output;
    if (r_.wants(output)) {
      l_.outputs[static_cast<size_t>(output)] = device_rows(r_.out_dims(output), type_);
      return rows;
    }
    return in_workspace(p.kv_heads, capacity, size);
  }
  HeadRows in_workspace(int64_t heads, int64_t rows, int64_t size) {
    HeadRows place = heads_outside(0, heads, rows, size);
    place.place = Argument::Kind::Workspace;
    place.offset = workspace_ / kernel::size_of(p.type);
    int64_t bytes = Dims{p.batch, heads, rows, size}.count() * kernel::size_of(p.type);
    workspace_ += (bytes + 255) / 256 * 256;
    return place;
  }
  /// Copies rows of heads; the caller says where angles and lengths are.
  void copy(kernel::HeadRowsProblem c) {
    c.batch = p.batch, c.type = c.out_type = p.type;
    l_.launches.push_back(kernel::head_rows(c, r_.target));
  }
  void fill_past(kernel::HeadPastProblem c) {
    c.batch = p.batch, c.type = c.out_type = p.type;
    l_.launches.push_back(kernel::head_past(c, r_.target));
  }
  /// `rows` new rows behind those of the input `past`, if the node has it or wants the result.
  void append(int past, int output, HeadRows& from, int64_t past_rows, int64_t rows, int64_t size) {
    if (!r_.has(past) && !r_.wants(output)) return;
    HeadRows to = cache(output, past_rows + rows, size);
    if (past_rows)
      copy({.heads = p.kv_heads,
            .rows = past_rows,
            .size = size,
            .from = heads_outside(past, p.kv_heads, past_rows, size),
            .to = to});
    if (rows) copy({.heads = p.kv_heads, .rows = rows, .size = size, .from = from, .to = to, .first = past_rows});
    from = to;
  }
  void read(int input) { l_.inputs[static_cast<size_t>(input)] = r_.rows(input); }

  Answer attend() {
    int64_t most = std::max(p.head_size, p.v_head_size);
    if (most > kernel::kMostHeadSize) return Refusal{fmt::format("heads of {} elements", most)};
    p.workspace_bytes = workspace_;
    l_.launches.push_back(kernel::attention(p, r_.target));
    for (kernel::Candidates& candidates : l_.launches)
      for (kernel::KernelSpec& spec : candidates) spec.workspace_bytes = workspace_;
    l_.text = fmt::format("attention {}x{}x{}", p.queries, p.keys, p.head_size);
    return std::move(l_);
  }

 private:
  const Request& r_;
  Lowered l_;
  DType type_;
  int64_t workspace_ = 0;
};

HeadRows placed(const ops::StridedAttention::Rows& rows, int buffer) {
  return {.buffer = buffer, .offset = rows.offset, .batch = rows.batch, .head = rows.head, .row = rows.row};
}

float scale_of(const Request& r, int64_t size) {
  float given = r.node.has("scale") ? r.node.f("scale") : 0;
  bool zero_means_none = r.node.domain == "com.microsoft";
  if (r.node.has("scale") && (given != 0 || !zero_means_none)) return given;
  return 1 / std::sqrt(static_cast<float>(size));
}

}  // namespace

Answer lower_strided_attention(const Request& r) {
  Builder b(r);
  if (auto refusal = b.refused({0, 1, 2})) return *refusal;
  ops::StridedAttention a = ops::StridedAttention::of(r.node);
  b.p.batch = a.batch, b.p.heads = a.heads, b.p.kv_heads = a.kv_heads, b.p.queries = a.queries, b.p.keys = a.keys;
  b.p.head_size = a.head_size, b.p.v_head_size = a.v_head_size, b.p.scale = a.scale;
  b.p.q = placed(a.q, 0), b.p.k = placed(a.k, 1), b.p.v = placed(a.v, 2), b.p.out = placed(a.out, 0);
  if (r.has(3)) {
    if (a.mask.offset) return Refusal{"a mask that begins inside its tensor"};
    if (auto refusal = b.mask(3, {.batch = a.mask.batch, .head = a.mask.head, .row = a.mask.row, .keys = a.keys}))
      return *refusal;
  }
  return b.attend();
}

// Inputs: q, k, v, mask, past key, past value, lengths.
Answer lower_attention(const Request& r) {
  Builder b(r);
  if (r.wants(3)) return Refusal{"the scores are an output"};
  if (auto refusal = b.refused({0, 1, 2, 4, 5})) return *refusal;
  AttentionProblem& p = b.p;
  Dims q = r.dims(0), k = r.dims(1), v = r.dims(2);
  bool inside = q.rank() == 3;
  p.batch = q[0];
  p.heads = inside ? r.node.i("q_num_heads") : q[1], p.kv_heads = inside ? r.node.i("kv_num_heads") : k[1];
  p.queries = q[inside ? 1 : 2];
  p.head_size = inside ? q[2] / p.heads : q[3], p.v_head_size = inside ? v[2] / p.kv_heads : v[3];
  int64_t rows = k[inside ? 1 : 2], past = r.has(4) ? r.dims(4)[2] : 0;
  p.keys = past + rows;
  auto place = inside ? heads_inside : heads_outside;
  p.q = place(0, p.heads, p.queries, p.head_size), p.out = place(0, p.heads, p.queries, p.v_head_size);
  p.k = place(1, p.kv_heads, rows, p.head_size), p.v = place(2, p.kv_heads, rows, p.v_head_size);
  if (p.batch * p.kv_heads * p.keys == 0) return Refusal{"no keys"};
  b.append(4, 1, p.k, past, rows, p.head_size);
  b.append(5, 2, p.v, past, rows, p.v_head_size);
  p.scale = scale_of(r, p.head_size), p.softcap = r.node.f("softcap");
  if (r.has(3))
    if (auto refusal = b.broadcast_mask(3)) return *refusal;
  constexpr int64_t kFar = int64_t{1} << 28;  // a window that no kernel's tensor fills
  int64_t right = std::min(r.node.i("right_window_size"), kFar), left = std::min(r.node.i("left_window_size"), kFar);
  p.past = past, p.window = left;
  p.causal = r.node.i("is_causal") != 0 || right >= 0;
  if (!r.node.i("is_causal")) p.ahead = std::max<int64_t>(right, 0);
  if (r.has(6)) {
    if (r.dtype(6) != DType::I64) return Refusal{fmt::format("lengths of {}", name(r.dtype(6)))};
    b.read(6);
    p.lengths = 6, p.lengths_wide = true;
  }
  return b.attend();
}

// Inputs: query, key, value, bias, padding mask, attention bias, past key, past value.
Answer lower_multi_head_attention(const Request& r) {
  Builder b(r);
  if (r.has(3)) return Refusal{"a bias of the projections"};
  if (r.has(4)) return Refusal{"a padding mask"};
  if (auto refusal = b.refused({0, 1, 2, 6, 7})) return *refusal;
  AttentionProblem& p = b.p;
  Dims q = r.dims(0);
  int64_t heads = r.node.i("num_heads"), rows = q[1], past = r.has(6) ? r.dims(6)[2] : 0;
  p.batch = q[0], p.heads = p.kv_heads = heads, p.queries = q[1];
  if (q.rank() == 5) {  // [batch, rows, heads, 3, size]
    int64_t size = p.head_size = p.v_head_size = q[4], row = heads * 3 * size;
    p.q = {.buffer = 0, .batch = rows * row, .head = 3 * size, .row = row};
    p.k = p.v = p.q;
    p.k.offset = size, p.v.offset = 2 * size;
  } else {
    Dims k = r.dims(1);
    int64_t size = p.head_size = p.v_head_size = q[2] / heads;
    p.q = heads_inside(0, heads, p.queries, size);
    rows = k[k.rank() == 4 ? 2 : 1];
    if (k.rank() == 5) {  // [batch, rows, heads, 2, size]
      p.k = {.buffer = 1, .batch = rows * heads * 2 * size, .head = 2 * size, .row = heads * 2 * size};
      p.v = p.k;
      p.v.offset = size;
    } else {
      p.v_head_size = k.rank() == 4 ? r.dims(2)[3] : r.dims(2)[2] / heads;
      auto place = k.rank() == 4 ? heads_outside : heads_inside;
      p.k = place(1, heads, rows, size), p.v = place(2, heads, rows, p.v_head_size);
    }
  }
  p.keys = past + rows;
  if (p.batch * p.heads * p.keys == 0) return Refusal{"no keys"};
  p.out = heads_inside(0, heads, p.queries, p.v_head_size);
  b.append(6, 1, p.k, past, rows, p.head_size);
  b.append(7, 2, p.v, past, rows, p.v_head_size);
  p.scale = scale_of(r, p.head_size);
  p.causal = r.node.i("unidirectional") != 0, p.past = past;
  if (r.has(5))
    if (auto refusal = b.broadcast_mask(5)) return *refusal;
  return b.attend();
}

// Inputs: query, key, value, past key, past value, last positions, total, cosines, sines, positions, bias, sink, ...
Answer lower_group_query_attention(const Request& r) {
  Builder b(r);
  for (int i : {10, 11, 16})
    if (r.has(i)) return Refusal{fmt::format("input {}", i)};
  if (r.node.i("smooth_softmax")) return Refusal{"smooth_softmax"};
  if (!r.node.i("causal") || r.dtype(5) != DType::I32) return Refusal{"attention that is not causal"};
  if (auto refusal = b.refused({0, 1, 2, 3, 4, 7, 8})) return *refusal;
  AttentionProblem& p = b.p;
  Dims q = r.dims(0);
  p.batch = q[0], p.queries = q[1], p.heads = r.node.i("num_heads"), p.kv_heads = r.node.i("kv_num_heads");
  bool merged = !r.has(1);
  int64_t rows = q[1], size = q[2] / (merged ? p.heads + 2 * p.kv_heads : p.heads);
  p.head_size = p.v_head_size = size;
  p.q = heads_inside(0, p.heads, rows, size), p.out = p.q;
  p.k = heads_inside(1, p.kv_heads, rows, size), p.v = heads_inside(2, p.kv_heads, rows, size);
  if (merged) {
    p.q.batch = rows * q[2], p.q.row = q[2];
    p.k = p.v = p.q;
    p.k.offset = p.heads * size, p.v.offset = (p.heads + p.kv_heads) * size;
  }
  // The caches' extent: that of the outputs, if there are some.
  const Tensor* total = r.constant(6);
  int64_t held = r.has(3) ? r.dims(3)[2] : 0, capacity = 0;
  if (r.wants(1))
    capacity = r.out_dims(1)[2];
  else if (total)
    capacity = std::max(to_int(*total), held);
  else
    return Refusal{"a cache of unknown extent"};
  if (capacity == 0) return Refusal{"no keys"};
  p.keys = capacity;
  b.read(5);
  kernel::HeadRowsProblem turn{.rows = rows, .size = size, .lengths = 5, .lengths_more = 1, .capacity = capacity};
  kernel::HeadRowsProblem place = turn;
  if (r.node.i("do_rotary")) {
    turn.cos = 7, turn.sin = 8, turn.dim = 2 * r.dims(7)[1], turn.angles = r.dims(7)[0];
    turn.angle_type = p.type, turn.interleaved = r.node.i("rotary_interleaved") != 0;
    turn.positions = kernel::HeadRowsProblem::Positions::Place;
    if (r.has(9)) {
      if (r.dtype(9) != DType::I64 || r.dims(9).count() != p.batch * rows)
        return Refusal{"position_ids of another form"};
      b.read(9);
      turn.positions = kernel::HeadRowsProblem::Positions::Given, turn.positions_input = 9;
    }
    if (turn.dim > size || turn.angles == 0) return Refusal{"caches that do not fit the heads"};
  }
  auto fill = [&](int past, int output, HeadRows& from, kernel::HeadRowsProblem rows_of) {
    HeadRows to = b.cache(output, capacity, size);
    b.fill_past({.heads = p.kv_heads,
                 .rows = rows,
                 .size = size,
                 .capacity = capacity,
                 .past = heads_outside(past, p.kv_heads, held, size),
                 .to = to,
                 .past_rows = held,
                 .lengths = 5,
                 .lengths_more = 1});
    rows_of.heads = p.kv_heads, rows_of.from = from, rows_of.to = to;
    b.copy(rows_of);
    from = to;
  };
  fill(3, 1, p.k, turn);
  fill(4, 2, p.v, place);
  if (turn.dim) {
    // Queries stay where they are in the chunk: their place gives the angles only.
    HeadRows to = b.in_workspace(p.heads, rows, size);
    turn.heads = p.heads, turn.from = p.q, turn.to = to, turn.keep_place = true;
    b.copy(turn);
    p.q = to;
  }
  p.scale = scale_of(r, size), p.softcap = r.node.f("softcap");
  p.lengths = 5, p.lengths_more = 1, p.tokens_first = true, p.causal = true;
  int64_t window = r.node.i("local_window_size");
  if (window > 0) p.window = std::min<int64_t>(window, int64_t{1} << 28) - 1;
  return b.attend();
}

// Inputs: X, cosines, sines, positions.
Answer lower_rotary(const Request& r) {
  if (r.empty()) return Refusal{"no elements"};
  for (int i : {0, 1, 2})
    if (!is_float_element(r.stored_input(i))) return Refusal{fmt::format("input {} is {}", i, name(r.stored_input(i)))};
  Dims x = r.dims(0), cos = r.dims(1);
  bool inside = x.rank() == 3;
  int64_t dim = r.node.i("rotary_embedding_dim"), heads = inside ? r.node.i("num_heads") : x[1];
  if (inside && heads == 0) heads = x[2] / (dim > 0 ? dim : 2 * cos.back());
  int64_t rows = x[inside ? 1 : 2], size = inside ? x[2] / heads : x[3];
  auto place = inside ? heads_inside : heads_outside;
  DType type = r.stored_input(0), angle = r.stored_input(1);
  kernel::HeadRowsProblem p{.batch = x[0],
                            .heads = heads,
                            .rows = rows,
                            .size = size,
                            .type = element_of(type),
                            .out_type = element_of(r.stored_output()),
                            .from = place(0, heads, rows, size),
                            .to = place(0, heads, rows, size),
                            .dim = dim ? dim : size,
                            .interleaved = r.node.i("interleaved") != 0,
                            .cos = 1,
                            .sin = 2,
                            .angle_type = element_of(angle),
                            .angles = cos.count(0, cos.rank() - 1)};
  p.to.place = Argument::Kind::Output;
  Lowered l;
  l.inputs = {device_rows(x, type), device_rows(cos, angle), device_rows(r.dims(2), angle)};
  l.inputs.resize(r.node.inputs().size());
  if (r.has(3)) {
    using Positions = kernel::HeadRowsProblem::Positions;
    if (r.dtype(3) != DType::I64) return Refusal{fmt::format("positions of {}", name(r.dtype(3)))};
    p.positions = r.dims(3).rank() == 2 ? Positions::Given : Positions::Start;
    p.positions_input = 3;
    l.inputs[3] = r.rows(3);
  }
  l.outputs = {r.out_rows()};
  l.launches.push_back(kernel::head_rows(p, r.target));
  l.text = "rotary";
  return l;
}

}  // namespace hf::lower

// Attention in its several forms as one kernel.
#include "kernel/attention.h"

#include <algorithm>

#include "lower/table.h"
#include "ops/strided_attention.h"

namespace hf::lower {
namespace {

using kernel::AttentionMask;
using kernel::AttentionProblem;
using kernel::HeadRows;

// Common refusals: the kernel multiplies operands of one float type.
std::optional<Refusal> refused(const Request& r, std::initializer_list<int> operands) {
  if (r.empty()) return Refusal{"no elements"};
  for (int i : operands)
    if (!is_float_element(r.stored_input(i))) return Refusal{fmt::format("input {} is {}", i, name(r.stored_input(i)))};
  return std::nullopt;
}

// The type that all of q, k and v are to be stored as: the first one's.
DType shared_type(const Request& r) { return r.stored_input(0); }

AttentionMask::Kind mask_kind(DType dtype) {
  return dtype == DType::Bool ? AttentionMask::Kind::Bool : AttentionMask::Kind::Add;
}

// The problem's launch; buffers are numbered as the node's inputs.
Answer attend(const Request& r, AttentionProblem p, std::initializer_list<int> operands) {
  DType type = shared_type(r);
  p.type = element_of(type);
  p.out_type = element_of(r.stored_output());
  int64_t most = std::max(p.head_size, p.v_head_size);
  if (most > kernel::kMostHeadSize) return Refusal{fmt::format("heads of {} elements", most)};
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  for (int i : operands) l.inputs[static_cast<size_t>(i)] = device_rows(r.dims(i), type);
  if (p.mask.kind != AttentionMask::Kind::None) {
    size_t at = static_cast<size_t>(p.mask.buffer);
    l.inputs[at] = r.rows(p.mask.buffer);
    if (p.mask.kind == AttentionMask::Kind::Add) {
      DType stored = r.stored_input(p.mask.buffer);
      if (!is_float_element(stored)) return Refusal{fmt::format("a mask of {}", name(stored))};
      p.mask.type = element_of(stored);
    }
  }
  l.outputs.resize(r.node.outputs().size());
  l.outputs[0] = r.out_rows();
  l.launches.push_back(kernel::attention(p, r.target));
  l.text = fmt::format("attention {}x{}x{}", p.queries, p.keys, p.head_size);
  return l;
}

HeadRows placed(const ops::StridedAttention::Rows& rows, int buffer) {
  return {.buffer = buffer, .offset = rows.offset, .batch = rows.batch, .head = rows.head, .row = rows.row};
}

}  // namespace

Answer lower_strided_attention(const Request& r) {
  if (auto refusal = refused(r, {0, 1, 2})) return *refusal;
  ops::StridedAttention a = ops::StridedAttention::of(r.node);
  AttentionProblem p{.batch = a.batch,
                     .heads = a.heads,
                     .kv_heads = a.kv_heads,
                     .queries = a.queries,
                     .keys = a.keys,
                     .head_size = a.head_size,
                     .v_head_size = a.v_head_size,
                     .q = placed(a.q, 0),
                     .k = placed(a.k, 1),
                     .v = placed(a.v, 2),
                     .out = placed(a.out, 0),
                     .scale = a.scale};
  if (r.has(3)) {
    if (a.mask.offset) return Refusal{"a mask that begins inside its tensor"};
    p.mask = {.kind = mask_kind(r.dtype(3)),
              .buffer = 3,
              .batch = a.mask.batch,
              .head = a.mask.head,
              .row = a.mask.row,
              .keys = a.keys};
  }
  return attend(r, p, {0, 1, 2});
}

}  // namespace hf::lower

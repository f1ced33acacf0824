// Scaled dot-product attention with an online softmax: the scores never reach memory.
#pragma once
#include "kernel/expression.h"

namespace hf::kernel {

/// The rows of one operand: row i of head h of sequence b begins at `offset` + b * batch + h * head + i * row elements
/// of the kernel's input (or output) `buffer`, and is contiguous. Operands may also lie in what launches before wrote:
/// an output, or the workspace.
struct HeadRows {
  int buffer = 0;
  int64_t offset = 0, batch = 0, head = 0, row = 0;
  Argument::Kind place = Argument::Kind::Input;
};

/// What is added to the scores, or closes some: a row of `keys` values (keys beyond are closed) at b * batch + h * head
/// + i * row elements. Bool: a byte a key, 0 closes. Where an added value is -inf the key is closed.
struct AttentionMask {
  enum class Kind { None, Add, Bool } kind = Kind::None;
  Element type = Element::F32;  // of Add
  int buffer = 0;
  int64_t batch = 0, head = 0, row = 0, keys = 0;
};

/// out = softmax(cap(scale * q k^T) + mask) v for each head. All extents > 0. Query heads share key heads in groups of
/// heads / kv_heads. Query i is at position past + i.
struct AttentionProblem {
  int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, head_size = 0, v_head_size = 0;
  Element type = Element::F32, out_type = Element::F32;  // of q, k and v; of out
  HeadRows q, k, v, out;
  float scale = 1;
  float softcap = 0;  // 0: none; else softcap * tanh(score / softcap)
  AttentionMask mask;
  bool causal = false;  // keys more than `ahead` after the query's position are closed
  int64_t ahead = 0;
  int64_t window = -1;  // >= 0: keys more than so many before the query's position are closed
  int64_t past = 0;
  /// Where the sequences differ in length: the input with a number for each, to which `lengths_more` is added; keys
  /// beyond are closed. Query i is then at position length - queries + i, where `tokens_first` at i if that is less,
  /// and queries after the length are closed too.
  int lengths = -1;
  bool lengths_wide = false, tokens_first = false;  // int64, not int32
  int64_t lengths_more = 0;
  int64_t workspace_bytes = 0;  // of the operands that lie there
};

/// The most elements of a head.
inline constexpr int64_t kMostHeadSize = 256;

/// Arguments: the buffers that the problem names, output 0. A query that no key is open to gets zeros. Everything but
/// head sizes, types and kinds is a run-time argument. Throws Unsupported for heads beyond kMostHeadSize.
Candidates attention(const AttentionProblem& problem, const Target& target);

}  // namespace hf::kernel

// StridedAttention: attention on operands that lie anywhere in larger tensors. Made by a pass, for GPUs.
#pragma once
#include "ops/op.h"

namespace hf::ops {

/// The node's attributes, read. Inputs: the tensors that hold q, k and v (perhaps one and the same), and the mask or
/// none; output: of the extents `dims`.
struct StridedAttention {
  struct Rows {
    int64_t offset = 0, batch = 0, head = 0, row = 0;  // in elements of the tensor; a row is contiguous
  };
  int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, head_size = 0, v_head_size = 0;
  Rows q, k, v, out;
  Rows mask;  // rows of `keys` numbers to add to the scores, or bools of which false closes a key
  float scale = 1;
  std::vector<int64_t> dims;

  /// Throws InvalidModel for attributes that are none.
  static StridedAttention of(const Node& n);
  ir::Attrs attrs() const;
};

}  // namespace hf::ops

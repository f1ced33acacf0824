// Sums of rows of tables by index: BERT's embeddings.
#pragma once
#include "kernel/kernel_spec.h"

namespace hf::kernel {

struct EmbeddingTable {
  int64_t rows = 1;
  Element type = Element::F32;
};

struct EmbeddingProblem {
  int64_t batch = 1, length = 1, width = 1;  // > 0
  EmbeddingTable words, positions, segments;
  bool has_segments = false;
  bool has_positions = false;         // else a token's position is its place in the sequence
  bool positions_are_shared = false;  // by all of the batch
  int index_bits = 32;                // of all indices: 32 or 64
  bool sums = false;                  // whether output 0 is wanted as well
  Element out = Element::F32;         // of it
};

/// Workspace, at its beginning: float [batch * length, width]; output 0: the same, if wanted. Inputs in this order:
/// words' indices, words, positions, then if there are any: positions' indices, segments' indices, segments. An index
/// outside a table is limited to it.
Candidates embedding(const EmbeddingProblem& problem, const Target& target);

struct MaskCountProblem {
  int64_t batch = 1, length = 1;
  int index_bits = 32;
  bool has_mask = true;
};
/// Output 0 [batch]: how many elements of each row of input 0 [batch, length] are 1; 0 without a mask.
Candidates mask_count(const MaskCountProblem& problem, const Target& target);

}  // namespace hf::kernel

// Rows of heads from one place to another: rotary embedding, and the filling of key and value caches.
#pragma once
#include "kernel/attention.h"

namespace hf::kernel {

/// Row i of head h of sequence b goes to row first(b) + i of `to`, its first `dim` elements rotated: the pair (x1, x2)
/// becomes (c x1 - s x2, s x1 + c x2) with the cosine and sine of the row's angles.
struct HeadRowsProblem {
  int64_t batch = 0, heads = 0, rows = 0, size = 0;
  Element type = Element::F32, out_type = Element::F32;
  HeadRows from, to;
  /// first(b): `first`, or with lengths the larger of 0 and length - rows. Rows that are no tokens (from length on) are
  /// not written.
  int64_t first = 0;
  int lengths = -1;  // as AttentionProblem's; int32
  int64_t lengths_more = 0;
  int64_t capacity = 0;  // with lengths: rows that `to` has room for; longer lengths count as this

  bool keep_place = false;  // rows stay rows i of `to`: first(b) counts for the angles only

  int64_t dim = 0;           // even; 0: no rotation
  bool interleaved = false;  // pairs are elements 2 j and 2 j + 1; else j and j + dim / 2
  int cos = -1, sin = -1;    // inputs [angles, dim / 2]
  Element angle_type = Element::F32;
  int64_t angles = 0;
  /// Which angles: of row b * rows + i; of first(b) + i; or of an int64 input [batch, rows], or one number that row 0
  /// of each sequence has. Positions beyond the angles take the nearest.
  enum class Positions { Row, Place, Given, Start } positions = Positions::Row;
  int positions_input = -1;
};
Candidates head_rows(const HeadRowsProblem& problem, const Target& target);

/// The part of a cache [batch, heads, capacity, size] that new rows do not fill: row j is that of `past` for j <
/// first(b) and zeros from the length on. Arguments as HeadRowsProblem's.
struct HeadPastProblem {
  int64_t batch = 0, heads = 0, rows = 0, size = 0, capacity = 0;
  Element type = Element::F32, out_type = Element::F32;
  HeadRows past, to;
  int64_t past_rows = 0;  // that `past` has; 0: there is none
  int lengths = -1;
  int64_t lengths_more = 0;
};
Candidates head_past(const HeadPastProblem& problem, const Target& target);

}  // namespace hf::kernel

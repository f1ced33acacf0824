// The recurrent part of RNN, GRU and LSTM: all steps in one launch, a block for each direction and slice of the batch.
#pragma once
#include "kernel/kernel_spec.h"

namespace hf::kernel {

struct RecurrentProblem {
  enum class Cell { Rnn, Gru, Lstm };
  Cell cell = Cell::Lstm;
  int64_t steps = 0, batch = 0, hidden = 0;  // all > 0
  int directions = 1;
  bool reverse = false;              // of the first direction; the second, if there is one, is the other way
  bool linear_before_reset = false;  // Gru
  bool batch_first = false;          // X and Y are [batch, steps, ...], states [batch, directions, hidden]
  Element state = Element::F32;      // of initial states and outputs
  Element weight = Element::F32;     // of packed 0
  // What there is: sequence lengths (int32), initial states; and outputs: all states, the last h, the last c.
  bool has_lengths = false, has_h = false, has_c = false;
  bool wants[3] = {true, true, true};

  int64_t gates() const { return cell == Cell::Rnn ? 1 : cell == Cell::Gru ? 3 : 4; }
  int64_t rows() const { return gates() * hidden; }
  int64_t padded() const { return (hidden + 3) / 4 * 4; }
  /// Elements of packed 0.
  int64_t weights() const { return directions * padded() * rows(); }
  /// The place in it of direction d's R[row][k].
  int64_t weight_at(int64_t d, int64_t row, int64_t k) const {
    return ((d * padded() / 4 + k / 4) * rows() + row) * 4 + k % 4;
  }
};

/// Arguments: workspace, float32 [directions, steps * batch (in X's order), gates * hidden], the products of X and W,
/// which is there already; packed 0, R as weight_at() says, zero behind `hidden`; packed 1, float32 [directions, 2 *
/// gates * hidden], the biases; inputs 4, 5 and 6: lengths, initial h and c; outputs 0 to 2. Gates, states and biases
/// are in the operators' order. Activations are the default ones. Lengths outside [0, steps] are taken as the nearer
/// end. Throws Unsupported if the states of one sequence do not fit LDS.
Candidates recurrent(const RecurrentProblem& problem, const Target& target);

}  // namespace hf::kernel

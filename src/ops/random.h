// Random: the numbers of the random operators.
#pragma once
#include <random>

#include "ops/op.h"

namespace hf::ops {

/// The Mersenne twister as numpy's RandomState draws from it, which the standard's own test data was made with; so that
/// a seed gives the same numbers everywhere.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  /// Seeded by the node's attribute "seed" (float or int), else from the system.
  explicit Random(const Node& n);

  /// In [0, 1), with 53 random bits.
  double uniform();
  /// Mean 0, variance 1 (Marsaglia's polar method).
  double normal();

 private:
  std::mt19937 engine_;
  double kept_ = 0;  // the second number of a pair
  bool has_kept_ = false;
};

}  // namespace hf::ops

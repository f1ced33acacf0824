// Tiles of the convolution: which there are, and which are expected to be fast.
#pragma once
#include <vector>

#include "kernel/conv_source.h"

namespace hf::kernel {

struct ConvTile {
  int m, n;    // pixels x channels of a block
  int wm, wn;  // waves (with wgmma warpgroups) along them
  int blocks;  // how many should fit a compute unit
  bool wgmma = false;
  int stages = 2;
  int splits = 1;   // parts of the reduction
  double cost = 0;  // expected cycles
};

/// The tiles that the problem and the target allow, the one expected to be fastest first; at most `most`. Never empty.
std::vector<ConvTile> conv_tiles(const ConvProblem& p, const ConvShape& shape, const Target& target, size_t most);

}  // namespace hf::kernel

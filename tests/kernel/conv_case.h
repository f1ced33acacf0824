// A convolution with random data: packed and run on a device, and computed by plain loops.
#pragma once
#include "kernel/conv.h"
#include "kernel/run.h"

namespace hf::kernel {

class ConvTest : public KernelTest {
 protected:
  /// Every candidate (or the first `most`) of the problem against loops in double. `after` is what the epilogue does to
  /// element [row, channel]; `operands` are its operands' bytes.
  void check(ConvProblem p, const std::function<double(double, size_t, size_t)>& after = {},
             const std::vector<Bytes>& operands = {}, size_t most = 100);

  Element weights = Element::F32;  // how the constants are stored
  int compute_units = 0;           // for choosing tiles; 0: the device's
  Target target_of_case() {
    Target t = target();
    if (compute_units) t.compute_units = compute_units;
    return t;
  }
};

}  // namespace hf::kernel

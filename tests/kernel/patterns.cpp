// Trilu, OneHot and running sums compile everywhere; running sums of every length, by both kernels.
#include "kernel/patterns.h"

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

class Scan : public KernelTest {};

TEST_P(Scan, EveryLength) {
  for (int64_t steps : {1, 255, 256, 257, 1000}) {
    auto n = static_cast<size_t>(steps);
    std::vector<float> x = random_floats(2 * n, -1, 1);
    for (const KernelSpec& spec : scan({.outer = 2, .steps = steps}, target())) {
      std::vector<float> got = floats(run(spec, {stored(x, Element::F32)}, {8 * n})[0], Element::F32);
      double sum = 0;
      for (size_t i = 0; i < 2 * n; ++i) {
        sum = i % n ? sum + x[i] : x[i];
        ASSERT_NEAR(got[i], sum, 1e-4) << spec.variant << " " << i << " of " << steps;
      }
    }
  }
}

HF_ON_ALL_DEVICES(Scan);

const OnEveryTarget kTargets{[](const Target& target) {
  Candidates all = scan({.outer = 9, .steps = 1000, .inner = 3}, target);
  all.push_back(trilu({.matrices = 3, .rows = 20, .columns = 30, .k = -2}, target)[0]);
  all.push_back(one_hot({.outer = 4, .depth = 10, .inner = 3, .out = DType::F16}, target)[0]);
  return all;
}};

}  // namespace
}  // namespace hf::kernel

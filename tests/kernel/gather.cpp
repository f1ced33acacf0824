// Gathering against plain loops: indices of both signs, and outside.
#include "kernel/gather.h"

#include <algorithm>

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

class Gather : public KernelTest {
 protected:
  static Bytes indices_of(const std::vector<int64_t>& v, DType t) {
    size_t n = t == DType::I32 ? 4 : 8;
    Bytes out(v.size() * n);
    for (size_t i = 0; i < v.size(); ++i) std::memcpy(&out[i * n], &v[i], n);
    return out;
  }
  static int64_t inside(int64_t i, int64_t extent) {
    return std::clamp<int64_t>(i < 0 ? i + extent : i, 0, extent - 1);
  }
  static Bytes counted(size_t elements, size_t n) {
    Bytes b(elements * n);
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<uint8_t>(i % 251 + i / 251 % 3);
    return b;
  }

  void check(const GatherProblem& p) {
    const size_t n = static_cast<size_t>(bits(p.type)) / 8, tuple = p.extents.size();
    int64_t batch = p.run;
    for (int64_t e : p.extents) batch *= e;
    Bytes x = counted(static_cast<size_t>(p.batches * batch), n);
    std::vector<int64_t> index(static_cast<size_t>((p.shared ? 1 : p.batches) * p.tuples) * tuple);
    for (size_t i = 0; i < index.size(); ++i) index[i] = static_cast<int64_t>(i * 7 % 23) - 11;
    Bytes want(static_cast<size_t>(p.batches * p.tuples * p.run) * n);
    for (int64_t b = 0; b < p.batches; ++b)
      for (int64_t j = 0; j < p.tuples; ++j) {
        int64_t at = 0;
        for (size_t k = 0; k < tuple; ++k)
          at = at * p.extents[k] +
               inside(index[static_cast<size_t>(p.shared ? j : b * p.tuples + j) * tuple + k], p.extents[k]);
        const size_t run = static_cast<size_t>(p.run) * n;
        std::copy_n(&x[static_cast<size_t>(b * batch) * n + static_cast<size_t>(at) * run], run,
                    &want[static_cast<size_t>(b * p.tuples + j) * run]);
      }
    for (const KernelSpec& spec : gather(p, target()))
      ASSERT_EQ(run(spec, {x, indices_of(index, p.index)}, {want.size()})[0], want) << p.run << " of " << n << " bytes";
  }
};

TEST_P(Gather, Runs) {
  for (DType t : {DType::U8, DType::F16, DType::F32, DType::I64})
    for (int64_t run : {1, 3, 64}) {
      check({.tuples = 300, .extents = {9}, .run = run, .shared = true, .type = t});
      check({.batches = 3, .tuples = 50, .extents = {9}, .run = run, .shared = true, .type = t, .index = DType::I32});
    }
}

TEST_P(Gather, Tuples) {
  check({.tuples = 40, .extents = {3, 4, 5}, .run = 6});
  check({.batches = 4, .tuples = 10, .extents = {7, 2}, .run = 8, .type = DType::F16, .index = DType::I32});
}

TEST_P(Gather, Elements) {
  // x [4, 9, 6], indices [3, 20, 5] on axis 1.
  Bytes x = counted(216, 4);
  std::vector<int64_t> index(300);
  for (size_t i = 0; i < index.size(); ++i) index[i] = static_cast<int64_t>(i * 7 % 23) - 11;
  Bytes want(1200);
  for (int64_t i = 0; i < 300; ++i) {
    int64_t at = i / 100 * 54 + inside(index[static_cast<size_t>(i)], 9) * 6 + i % 5;
    std::copy_n(&x[static_cast<size_t>(at) * 4], 4, &want[static_cast<size_t>(i) * 4]);
  }
  for (DType t : {DType::I64, DType::I32})
    for (const KernelSpec& spec :
         gather_elements({.extents = {3, 20, 5}, .strides = {54, 6, 1}, .axis = 1, .limit = 9, .index = t}, target()))
      EXPECT_EQ(run(spec, {x, indices_of(index, t)}, {1200})[0], want);
}

HF_ON_ALL_DEVICES(Gather);

const OnEveryTarget kTargets{[](const Target& target) {
  Candidates all = gather({.batches = 3, .tuples = 50, .extents = {9, 4}, .run = 64, .type = DType::F16}, target);
  all.push_back(gather_elements({.extents = {3, 20, 5}, .strides = {54, 6, 1}, .axis = 1, .limit = 9}, target)[0]);
  return all;
}};

}  // namespace
}  // namespace hf::kernel

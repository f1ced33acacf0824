// Scattering against plain loops: repeated indices, some of them outside.
#include "kernel/scatter.h"

#include <algorithm>

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

constexpr ScatterReduction kAll[] = {ScatterReduction::Add, ScatterReduction::Mul, ScatterReduction::Min,
                                     ScatterReduction::Max};

// Runs a kernel on an output that has data already.
class Scatter : public KernelTest {
 protected:
  std::vector<float> updated(const KernelSpec& spec, const std::vector<float>& data, const std::vector<int32_t>& index,
                             const std::vector<float>& updates, DType t) {
    Element e = t == DType::F16 ? Element::F16 : Element::F32;
    gpu::LoadedKernel kernel(device, spec);
    DeviceBuffer y = to_device(stored(data, e)), i = to_device(index), u = to_device(stored(updates, e));
    std::vector<void*> in{nullptr, i.get(), u.get()}, out{y.get()};
    kernel.launch(stream, {.inputs = in, .outputs = out});
    return floats(to_host<uint8_t>(y), e);
  }
  static float reduced(ScatterReduction r, float a, float b) {
    switch (r) {
      case ScatterReduction::Add: return a + b;
      case ScatterReduction::Mul: return a * b;
      case ScatterReduction::Min: return std::min(a, b);
      case ScatterReduction::Max: return std::max(a, b);
      default: return b;
    }
  }
};

TEST_P(Scatter, Tuples) {
  // y [5, 4, 6], twenty tuples of two, some outside.
  std::vector<float> data = random_floats(120, -2, 2), updates = random_floats(120, -2, 2, 2);
  std::vector<int32_t> index(40);
  for (size_t i = 0; i < 40; ++i) index[i] = static_cast<int32_t>(i * 7 % 13) - 6;
  for (ScatterReduction r : kAll) {
    std::vector<float> want = data;
    for (size_t j = 0; j < 20; ++j) {
      int32_t a = index[2 * j] + (index[2 * j] < 0 ? 5 : 0), b = index[2 * j + 1] + (index[2 * j + 1] < 0 ? 4 : 0);
      for (int k = 0; k < 6 && a >= 0 && a < 5 && b >= 0 && b < 4; ++k) {
        float& w = want[static_cast<size_t>((a * 4 + b) * 6 + k)];
        w = reduced(r, w, updates[j * 6 + static_cast<size_t>(k)]);
      }
    }
    auto spec = scatter({.tuples = 20, .extents = {5, 4}, .run = 6, .index = DType::I32, .reduction = r}, target())[0];
    EXPECT_EQ(updated(spec, data, index, updates, DType::F32), want) << static_cast<int>(r);
  }
}

TEST_P(Scatter, Elements) {
  // y [3, 5, 4], indices [3, 9, 2] on axis 1, some outside.
  std::vector<float> data = random_floats(60, -2, 2), updates = random_floats(54, -2, 2, 2);
  std::vector<int32_t> index(54);
  for (size_t i = 0; i < 54; ++i) index[i] = static_cast<int32_t>(i * 5 % 13) - 6;
  for (ScatterReduction r : kAll) {
    std::vector<float> want = data;
    for (size_t i = 0; i < 54; ++i) {
      int32_t at = index[i] + (index[i] < 0 ? 5 : 0);
      if (at < 0 || at >= 5) continue;
      float& w = want[i / 18 * 20 + static_cast<size_t>(at) * 4 + i % 2];
      w = reduced(r, w, updates[i]);
    }
    auto spec = scatter_elements(
        {.extents = {3, 9, 2}, .strides = {20, 4, 1}, .axis = 1, .limit = 5, .index = DType::I32, .reduction = r},
        target())[0];
    EXPECT_EQ(updated(spec, data, index, updates, DType::F32), want) << static_cast<int>(r);
  }
}

TEST_P(Scatter, WithoutAReduction) {
  std::vector<float> data = rounded(random_floats(40, -2, 2), Element::F16),
                     updates = rounded(random_floats(24, -2, 2, 2), Element::F16);
  std::vector<float> want = data;
  for (size_t k = 0; k < 8; ++k) want[32 + k] = updates[k], want[8 + k] = updates[8 + k];
  auto spec =
      scatter({.tuples = 3, .extents = {5}, .run = 8, .data = DType::F16, .updates = DType::F16, .index = DType::I32},
              target())[0];
  EXPECT_EQ(updated(spec, data, {-1, 1, 5}, updates, DType::F16), want);
}

HF_ON_ALL_DEVICES(Scatter);

TEST(ScatterSpec, RefusesLongReductions) {
  EXPECT_THROW(scatter({.tuples = kMostInOrder + 1, .extents = {5}, .reduction = ScatterReduction::Add}, {}), Error);
}

const OnEveryTarget kTargets{[](const Target& target) {
  Candidates all = scatter({.tuples = 20, .extents = {5, 4}, .run = 64}, target);
  all.push_back(scatter({.tuples = 20,
                         .extents = {5, 4},
                         .run = 64,
                         .data = DType::F16,
                         .updates = DType::F32,
                         .reduction = ScatterReduction::Add},
                        target)[0]);
  for (ScatterReduction r : {ScatterReduction::None, ScatterReduction::Max})
    all.push_back(scatter_elements({.extents = {3, 9, 2}, .strides = {20, 4, 1}, .axis = 1, .limit = 5, .reduction = r},
                                   target)[0]);
  return all;
}};

}  // namespace
}  // namespace hf::kernel

// GridSample kernels: bilinear sampling against plain loops, and places whose result is known. All modes are compared
// with the reference in tests/lower.
#include "kernel/grid_sample.h"

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

using P = GridSampleProblem;

class GridSample : public KernelTest {};

TEST_P(GridSample, Bilinear) {
  for (Element type : {Element::F32, Element::F16, Element::BF16}) {
    P p{.batch = 2, .channels = 11, .input = {1, 5, 6}, .output = {1, 3, 7}, .in = type, .out = type};
    std::vector<float> x = rounded(random_floats(2 * 30 * 16, -1, 1), type),
                       grid = random_floats(2 * 21 * 2, -1.5f, 1.5f, 2);
    for (const KernelSpec& spec : grid_sample(p, target())) {
      std::vector<float> y = floats(
          run(spec, {stored(x, type), stored(grid, Element::F32)}, {42u * 16 * static_cast<size_t>(size_of(type))})[0],
          type);
      for (size_t at = 0; at < 42; ++at)
        for (size_t c = 0; c < 16; ++c) {
          double fx = ((double{grid[at * 2]} + 1) * 6 - 1) / 2, fy = ((double{grid[at * 2 + 1]} + 1) * 5 - 1) / 2,
                 want = 0;
          for (int dy = 0; dy < 2; ++dy)
            for (int dx = 0; dx < 2; ++dx) {
              double px = std::floor(fx) + dx, py = std::floor(fy) + dy;
              if (c >= 11 || px < 0 || px > 5 || py < 0 || py > 4) continue;
              want += (1 - std::abs(fx - px)) * (1 - std::abs(fy - py)) *
                      x[(at / 21 * 30 + static_cast<size_t>(py) * 6 + static_cast<size_t>(px)) * 16 + c];
            }
          ASSERT_NEAR(y[at * 16 + c], want, std::abs(want) * unit_of(type) + 5e-6) << at << " " << c;
        }
    }
  }
}

// A row 0..7 read at and beyond its ends, and at what is no number.
TEST_P(GridSample, TheEdges) {
  std::vector<float> x(64);
  for (size_t i = 0; i < 64; i += 8) x[i] = static_cast<float>(i / 8);
  const std::vector<float> at = {-1, 1, -0.75f, 1.25f, -1.5f, 1e30f, NAN, 5};
  auto sample = [&](P::Padding padding, P::Mode mode) {
    P p{.mode = mode,
        .padding = padding,
        .align_corners = true,
        .channels = 1,
        .rank = 1,
        .input = {1, 1, 8},
        .output = {1, 1, 8}};
    std::vector<float> y = floats(run(grid_sample(p, target())[0], {stored(x, Element::F32), stored(at, Element::F32)},
                                      {256})[0],
                                  Element::F32),
                       first;
    for (size_t i = 0; i < 64; i += 8) first.push_back(y[i]);
    return first;
  };
  EXPECT_EQ(sample(P::Padding::Zeros, P::Mode::Linear), (std::vector<float>{0, 7, 0.875f, 0.875f, 0, 0, 0, 0}));
  EXPECT_EQ(sample(P::Padding::Border, P::Mode::Linear), (std::vector<float>{0, 7, 0.875f, 7, 0, 7, 0, 7}));
  EXPECT_EQ(sample(P::Padding::Border, P::Mode::Nearest), (std::vector<float>{0, 7, 1, 7, 0, 7, 0, 7}));
  std::vector<float> mirrored = sample(P::Padding::Reflection, P::Mode::Linear);
  EXPECT_EQ(mirrored[3], 7 - 0.875f);
  EXPECT_EQ(mirrored[4], 1.75f);
  EXPECT_EQ(mirrored[7], 7.f);  // 21: once there and back and there again
}

HF_ON_ALL_DEVICES(GridSample);

const OnEveryTarget listed([](const Target& target) {
  Candidates all;
  for (P::Mode mode : {P::Mode::Nearest, P::Mode::Linear, P::Mode::Cubic}) {
    P p{.mode = mode,
        .padding = P::Padding::Reflection,
        .channels = 64,
        .rank = mode == P::Mode::Linear ? 3 : 2,
        .input = {4, 28, 28},
        .output = {4, 28, 28}};
    p.in = p.out = mode == P::Mode::Cubic ? Element::F32 : Element::F16;
    for (KernelSpec& spec : grid_sample(p, target)) all.push_back(std::move(spec));
  }
  return all;
});

}  // namespace
}  // namespace hf::kernel

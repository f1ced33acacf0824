// Measured candidates are remembered, also by later sessions.
#include "engine/tuner.h"

#include <gtest/gtest.h>

namespace hf::engine {
namespace {

kernel::KernelSpec doubling(const std::string& variant, int repeats) {
  return {.family = "tuner_test",
          .variant = variant,
          .source =
              "KERNEL(64, 1) twice(const float* x, float* y) {\n  float v = x[thread_x()];\n"
              "  for (int i = 0; i < HF_REPEATS; i++) v = v * 2.f;\n  y[thread_x()] = v;\n}\n",
          .entry = "twice",
          .defines = {fmt::format("HF_REPEATS={}", repeats)},
          .grid = {1, 1, 1},
          .block = {64, 1, 1},
          .arguments = {kernel::Argument::input(0), kernel::Argument::output(0)}};
}

TEST(Tuner, RemembersWhatItMeasured) {
  auto device = gpu::open_device("emu");
  KernelStore kernels(device->info().arch, device, 1);
  // Told apart from those of other runs by what they are called.
  std::string run = std::to_string(reinterpret_cast<uintptr_t>(device.get()) ^ static_cast<uintptr_t>(time(nullptr)));
  Work work;
  work.text = "test";
  work.candidates = {{doubling("short", 1), doubling("long", 3)}};
  for (kernel::KernelSpec& s : work.candidates[0]) s.source += "// " + run + "\n";
  work.inputs = work.outputs = {{256, DType::F32}};
  for (const kernel::KernelSpec& s : work.candidates[0]) kernels.want(s);
  ASSERT_TRUE(kernels.load());
  Tuner tuner(device);
  EXPECT_EQ(tuner.known(work.candidates[0]), -1);
  int best = tuner.measure(work, 0, kernels);
  EXPECT_TRUE(best == 0 || best == 1);
  EXPECT_EQ(tuner.known(work.candidates[0]), best);
  EXPECT_EQ(Tuner(device).known(work.candidates[0]), best);
  EXPECT_EQ(Tuner(device).known({work.candidates[0][0]}), 0) << "nothing to choose";
}

}  // namespace
}  // namespace hf::engine

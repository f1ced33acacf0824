// A model compiled for a device that is there, opened from its package and run on it, against the cpu.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/devices.h"
#include "gpu/packaged.h"
#include "gpu/process.h"
#include "kernel/target_facts.h"
#include "session/compile.h"
#include "session/package.h"
#include "session/random_inputs.h"

namespace hf {
namespace {

class PackagedRun : public gpu::OnDevice {};

TEST_P(PackagedRun, TheResultsAreTheModels) {
  if (!device) return;
  const std::string model = std::string(HIPFORGE_SOURCE_DIR) + "/tests/models/small/resnet/model.onnx";
  gpu::TemporaryFolder folder;
  CompileRequest request{.model = model,
                         .output = folder.path() / "model.hfp",
                         .targets = {std::string(kernel::plain_arch(device->info().arch))},
                         .options = {.precision = DType::F16, .fallback = Fallback::Allow}};
  const ShapeOverrides two = {{"N", Dims{2}}};
  request.for_each_shapes = [&](const Session& session, const auto& plan) { plan(input_shapes(session, two)); };
  CompileReport report = compile_model(request);
  auto packed = Session::open(request.output, {.device = GetParam(), .fallback = Fallback::Allow});
  auto original = Session::open(model, {.device = "cpu"});
  EXPECT_EQ(packed->precision(), DType::F16);
  ASSERT_NE(packed->package(), nullptr);
  ASSERT_EQ(packed->package()->code.size(), 1u);
  EXPECT_EQ(packed->package()->code[0].objects->objects.size(), report.targets[0].kernels.size());
  EXPECT_EQ(packed->package()->shapes[0].begin()->second, (Dims{2, 3, 32, 32}));

  NamedTensors inputs = random_inputs(*packed, input_shapes(*packed, two));
  Tensor wanted = original->run(inputs)[0];
  for (int round = 0; round < 3; ++round) {
    Tensor got = packed->run(inputs)[0];
    ASSERT_EQ(got.dims(), wanted.dims());
    for (int64_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got.data<float>()[i], wanted.data<float>()[i], 0.02) << "element " << i << " of round " << round;
  }
  // All that the plan uses came from the package: what it would have compiled is what was compiled for the target.
  auto target = Session::open(request.output, {.device = "target:" + request.targets[0], .fallback = Fallback::Allow});
  auto a = packed->plan_for(inputs), b = target->plan_for(inputs);
  ASSERT_EQ(a->placements.size(), b->placements.size());
  for (size_t i = 0; i < a->placements.size(); ++i) EXPECT_EQ(a->placements[i].kernel, b->placements[i].kernel);
}

HF_ON_ALL_DEVICES(PackagedRun);

}  // namespace
}  // namespace hf

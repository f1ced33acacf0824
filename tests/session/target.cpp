// Sessions of targets that are not there: plans, and refusals to run.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "session/random_inputs.h"

namespace hf {
namespace {

const std::string kModel = std::string(HIPFORGE_SOURCE_DIR) + "/tests/models/small/resnet/model.onnx";

TEST(Target, PlansWithoutADevice) {
  for (const char* arch : {"gfx942", "gfx1100", "sm_90", "emu:gfx942"}) {
    std::string device = std::string("target:") + arch;
    auto session = Session::open(kModel, {.device = device, .fallback = Fallback::Allow});
    EXPECT_TRUE(session->device().starts_with(device + " (")) << session->device();
    NamedTensors inputs = random_inputs(*session, input_shapes(*session, {}));
    auto plan = session->plan_for(inputs);
    EXPECT_TRUE(std::any_of(plan->placements.begin(), plan->placements.end(),
                            [&](const plan::Placement& p) { return p.backend == device; }));
    for (const auto& attempt : {std::function<void()>([&] { session->run(inputs); }),
                                std::function<void()>([&] { session->replay(inputs, 1); })}) {
      try {
        attempt();
        ADD_FAILURE() << "ran on " << device;
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), Code::Unsupported);
        EXPECT_NE(std::string(e.what()).find("without a device"), std::string::npos) << e.what();
      }
    }
  }
}

// Features of an architecture change nothing: the plan is the architecture's.
TEST(Target, NamesAreChecked) {
  EXPECT_TRUE(Session::open(kModel, {.device = "target:gfx90a:xnack-"})->device().starts_with("target:gfx90a ("));
  for (const char* bad : {"target:", "target:gfx", "target:mi300", "target"})
    EXPECT_THROW(Session::open(kModel, {.device = bad}), Error) << bad;
}

}  // namespace
}  // namespace hf

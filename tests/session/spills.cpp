// Whole models compiled for AMD targets: every kernel keeps its values in registers.
#include <gtest/gtest.h>

#include "base/error.h"
#include "session/compile.h"
#include "session/random_inputs.h"

namespace hf {
namespace {

struct Model {
  const char* path;
  ShapeOverrides shapes = {};
};
const Model kModels[] = {{"assets/efficientnet_lite0.onnx"},
                         {"tests/models/small/resnet/model.onnx"},
                         {"tests/models/small/bert/model.onnx"},
                         {"tests/models/small/mobilenet_v2/model.onnx"}};

class Spills : public testing::TestWithParam<const char*> {};

TEST_P(Spills, NoKernelOfTheModelsHasAny) {
  for (const Model& model : kModels)
    for (DType precision : {DType::F32, DType::F16}) {
      CompileRequest request{.model = std::string(HIPFORGE_SOURCE_DIR) + "/" + model.path,
                             .targets = {GetParam()},
                             .options = {.precision = precision, .fallback = Fallback::Allow}};
      request.for_each_shapes = [&](const Session& session, const auto& plan) {
        plan(input_shapes(session, model.shapes));
      };
      CompileReport report;
      try {
        report = compile_model(request);
      } catch (const Error& e) {
        if (e.code() != Code::NotFound) throw;
        GTEST_SKIP() << e.what();
      }
      const TargetReport& target = report.targets.at(0);
      EXPECT_LT(target.on_cpu, target.nodes) << model.path;
      for (const KernelReport& k : target.kernels) {
        std::string which = fmt::format("{} {}: {} {}", model.path, name(precision), k.family, k.variant);
        EXPECT_EQ(k.spills, 0) << which;
        EXPECT_EQ(k.private_bytes, 0) << which;
        EXPECT_GE(k.waves.value_or(0), 1) << which;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Target, Spills, testing::Values("gfx90a", "gfx942", "gfx1100", "gfx1201"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace hf

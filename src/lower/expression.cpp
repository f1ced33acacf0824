// Programs of elementwise operators as text for kernels.
#include <cmath>

#include "lower/lowering.h"
#include "ops/pointwise.h"

namespace hf::lower {
namespace {

std::string literal(float v) {
  if (std::isnan(v)) return "as_float(0x7fc00000u)";
  if (std::isinf(v)) return v > 0 ? "infinity()" : "-infinity()";
  return fmt::format("{:a}f", v);
}

// One step: the row's expression over x, y, z and its attributes a, b.
std::string statement(const ir::Step& step, int result, std::string_view type) {
  const ops::PointwiseOp* row = ops::find_pointwise(step.op);
  check(row, "a program's steps are rows of pointwise.def");
  std::string text = fmt::format("{0} r{1}; {{ typedef {0} T;", type, result);
  for (size_t i = 0; i < step.args.size(); ++i) text += fmt::format(" const T {} = r{};", "xyz"[i], step.args[i]);
  for (size_t i = 0; i < step.attrs.size(); ++i)
    text += fmt::format(" const T {} = {};", "ab"[i], literal(step.attrs[i]));
  return text + fmt::format(" r{} = {}; }}\n", result, row->expression);
}

}  // namespace

kernel::Expression expression_of(const ir::Program& program, bool whole) {
  kernel::Expression e{.inputs = program.inputs, .whole = whole};
  if (program.steps.empty()) return e;
  int result = program.inputs;
  for (const ir::Step& step : program.steps) e.body += statement(step, result++, whole ? "i64" : "float");
  e.body += fmt::format("return r{};", program.result());
  return e;
}

}  // namespace hf::lower

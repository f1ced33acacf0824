// Expressions as text of a device function.
#include "kernel/expression.h"

#include <fmt/core.h>

namespace hf::kernel {

std::string function_text(const Expression& expression, const std::string& name) {
  const char* type = expression.whole ? "i64" : "float";
  std::string parameters;
  for (int i = 0; i < expression.inputs; ++i) parameters += fmt::format("{}{} r{}", i ? ", " : "", type, i);
  return fmt::format("namespace pw {{ DEV {} {}({}) {{\n{}\n}} }}\nusing pw::{};\n", type, name, parameters,
                     expression.identity() ? "return r0;" : expression.body, name);
}

}  // namespace hf::kernel

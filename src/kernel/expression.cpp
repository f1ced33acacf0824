// Expressions as text of a device function.
#include "kernel/expression.h"

#include <fmt/core.h>

namespace hf::kernel {

std::string function_text(const Expression& expression, const std::string& name) {
  std::string parameters;
  for (int i = 0; i < expression.inputs; ++i) parameters += fmt::format("{}float r{}", i ? ", " : "", i);
  return fmt::format("namespace pw {{ DEV float {}({}) {{\n{}\n}} }}\nusing pw::{};\n", name, parameters,
                     expression.identity() ? "return r0;" : expression.body, name);
}

}  // namespace hf::kernel

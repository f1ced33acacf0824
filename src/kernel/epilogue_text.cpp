// Epilogues as text of device functions.
#include "kernel/epilogue_text.h"

#include <fmt/core.h>

namespace hf::kernel {
namespace {

void fill(std::string& text, std::string_view hole, const std::string& with) {
  for (size_t at = 0; (at = text.find(hole, at)) != std::string::npos; at += with.size())
    text.replace(at, hole.size(), with);
}

std::string index_text(const Operand& o) {
  std::string text;
  if (o.row_stride) {
    std::string row = o.row_divisor == 1 ? "row" : fmt::format("row / {}", o.row_divisor);
    text = o.row_stride == 1 ? row : fmt::format("{} * {}", row, o.row_stride);
  }
  if (o.column_stride) text += fmt::format("{}column * {}", text.empty() ? "" : " + ", o.column_stride);
  return text.empty() ? "0" : text;
}

}  // namespace

EpilogueText epilogue_text(const Epilogue& e) {
  EpilogueText text;
  std::string loads;
  for (size_t i = 0; i < e.operands.size(); ++i) {
    const int type = static_cast<int>(e.operands[i].type);
    text.parameters += fmt::format(", const element<{}>::type* operand{}", type, i);
    text.arguments += fmt::format(", operand{}", i);
    loads += fmt::format(", element<{}>::load(operand{}[{}])", type, i, index_text(e.operands[i]));
  }
  text.functions = function_text(e.expression, "epilogue") +
                   fmt::format("DEV float finish(float v, i64 row, i64 column{}) {{ return epilogue(v{}); }}\n",
                               text.parameters, loads);
  return text;
}

void add_operands(KernelSpec& spec, const Epilogue& e, int first) {
  for (size_t i = 0; i < e.operands.size(); ++i) spec.arguments.push_back(Argument::input(first + static_cast<int>(i)));
}

std::string with_epilogue(std::string text, const Epilogue& epilogue) {
  EpilogueText e = epilogue_text(epilogue);
  fill(text, "$(functions)", e.functions);
  fill(text, "$(parameters)", e.parameters);
  fill(text, "$(arguments)", e.arguments);
  return text;
}

}  // namespace hf::kernel

// hipforge operators: what is supported. docs/operators.md is its Markdown form.
#include "session/operators.h"

#include <map>

#include "cli/program.h"
#include "cli/reports.h"

namespace hf::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string s;
  for (const std::string& w : words) s += (s.empty() ? "" : ", ") + w;
  return s;
}

std::string opsets(const OperatorInfo& op) {
  return op.until ? fmt::format("{} to {}", op.since, op.until) : fmt::format("{}", op.since);
}

void print_markdown(const std::vector<OperatorInfo>& all) {
  fmt::print(
      "# Operators\n\nMade by `hipforge operators --markdown`; a test compares the two. An operator is taken at every "
      "opset "
      "from \"since\" to 28,\nin every form that its opset allows. The CPU tries its kernels in the order given: "
      "`onednn ...` "
      "is a oneDNN primitive, `simd` a vector\nkernel of our own, `reference` plain loops that take every attribute "
      "and "
      "element type. `hipforge inspect MODEL --nodes` says for each node\nof a model which one it got, and why not an "
      "earlier "
      "one.\n");
  std::map<std::string, int> counts;
  for (const OperatorInfo& op : all) ++counts[op.domain];
  const std::string* domain = nullptr;
  for (const OperatorInfo& op : all) {
    if (!domain || *domain != op.domain)
      fmt::print("\n## {} ({})\n\n| operator | since | cpu |\n|---|---|---|\n",
                 op.domain.empty() ? "ai.onnx" : op.domain, counts[op.domain]);
    domain = &op.domain;
    fmt::print("| {} | {} | {} |\n", op.name, opsets(op), joined(op.cpu));
  }
}

}  // namespace

int list_operators(const Command& command, const Arguments& arguments) {
  bool json = false, markdown = false;
  if (!parse(command,
             {{"--json", "", &json, "report as JSON"}, {"--markdown", "", &markdown, "report as docs/operators.md"}},
             arguments))
    return 0;
  std::vector<OperatorInfo> all = operators();
  if (json) return fmt::print("{}", to_json(all)), 0;
  if (markdown) return print_markdown(all), 0;
  for (const OperatorInfo& op : all)
    fmt::print("{:<14}{:<36}{:<10}{}\n", op.domain.empty() ? "ai.onnx" : op.domain, op.name, opsets(op),
               joined(op.cpu));
  return 0;
}

}  // namespace hf::cli

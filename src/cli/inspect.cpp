// hipforge inspect: what a model holds, and where and why its nodes run.
#include "session/inspect.h"

#include <algorithm>

#include "base/error.h"
#include "cli/made_up.h"
#include "cli/program.h"
#include "cli/reports.h"
#include "cli/session_flags.h"
#include "cli/terminal.h"

namespace hf::cli {
namespace {

constexpr const char* kNotes =
    R"(Extents that the model leaves open become 1, the sides of pictures 224; --shape sets them. A node's reason says why no
earlier backend or kernel took it; the first choice needs none.)";

struct Flags {
  std::string model;
  bool json = false, nodes = false;
  SessionFlags session;
};

void print_ports(const char* title, const std::vector<Port>& ports) {
  size_t width = 0;
  for (const Port& p : ports) width = std::max(width, p.name.size());
  for (const Port& p : ports)
    fmt::print("{:<11}{:<{}}  {} {}{}\n", &p == &ports[0] ? title : "", printable(p.name), width, name(p.dtype),
               printable(p.shape.text()), p.optional ? "  (has a default)" : "");
}

// Counts of a key of the placements, most frequent first.
template <class Key>
std::vector<std::pair<std::string, int>> count_by(const std::vector<plan::Placement>& placements, Key key) {
  std::map<std::string, int> counts;
  for (const plan::Placement& p : placements)
    if (std::string k = key(p); !k.empty()) ++counts[k];
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

void print_facts(const InspectReport& r) {
  const ir::Model& m = r.session->model();
  std::string opsets;
  for (const auto& [domain, version] : m.opsets)
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ", domain.empty() ? "ai.onnx" : domain, version);
  fmt::print("{}\n{:<11}{}\n{:<11}{}\n", coloured(Colour::Bold, r.model), "IR version", m.ir_version, "opsets", opsets);
  if (!m.producer.empty())
    fmt::print("{:<11}{} {}\n", "producer", printable(m.producer), printable(m.producer_version));
  print_ports("inputs", r.session->inputs());
  print_ports("outputs", r.session->outputs());
  int total = 0;
  std::string operators;
  for (const Inspection::Operator& o : r.found.operators) {
    total += o.count;
    operators += fmt::format("{}{} x {}", operators.empty() ? "" : ", ", o.count, o.name);
  }
  fmt::print("{:<11}{}: {}\n", "nodes", total, operators);
  fmt::print("{:<11}{} ({})\n", "parameters", count_text(static_cast<double>(r.found.parameters)),
             bytes_text(static_cast<double>(r.found.parameter_bytes)));
}

void print_plan(const InspectReport& r) {
  std::string shapes;
  for (const auto& [name, dims] : r.shapes)
    shapes += fmt::format("{}{} {}", shapes.empty() ? "" : ", ", name, dims.text());
  fmt::print("\n{}\n", coloured(Colour::Bold, fmt::format("plan on {}", r.device)));
  fmt::print("{:<11}{}\n{:<11}{}\n", "shapes", shapes.empty() ? "none" : shapes, "MACs",
             count_text(static_cast<double>(r.found.macs)));
  fmt::print("{:<11}weights {}, arena {}, scratch {}\n", "memory",
             bytes_text(static_cast<double>(r.session->memory().weights_bytes)),
             bytes_text(static_cast<double>(r.found.arena_bytes)),
             bytes_text(static_cast<double>(r.found.scratch_bytes)));
  if (r.found.split) fmt::print("{:<11}in parts: data decides shapes; this is the first part\n", "split");
  const auto& placements = r.found.placements;
  for (const auto& [backend, count] : count_by(placements, [](const auto& p) { return p.backend; })) {
    fmt::print("{:<11}{} nodes on {}\n", "placement", count, backend.empty() ? "none" : backend);
    for (const auto& [kernel, n] :
         count_by(placements, [&on = backend](const auto& p) { return p.backend == on ? p.kernel : ""; }))
      fmt::print("{:<11}{:>5} x {}\n", "", n, kernel);
  }
  std::string reasons;
  int refused = 0;
  for (const auto& [reason, count] : count_by(placements, [](const auto& p) { return p.reason; })) {
    refused += count;
    reasons += fmt::format("{:<11}{:>5} x {}\n", "", count, reason);
  }
  if (refused) fmt::print("{:<11}{} nodes are not by their first choice:\n{}", "reasons", refused, reasons);
}

void print_nodes(const std::vector<plan::Placement>& placements) {
  fmt::print("\n{}\n", coloured(Colour::Bold, "nodes"));
  size_t node = 0, op = 0;
  for (const plan::Placement& p : placements) {
    node = std::max(node, p.node.size());
    op = std::max(op, p.op.size());
  }
  for (const plan::Placement& p : placements)
    fmt::print("{:<{}}  {:<{}}  {}  {}{}{}\n", printable(p.node), std::min<size_t>(node, 60), p.op, op, p.backend,
               p.kernel, p.reason.empty() ? "" : "  # ", p.reason);
}

}  // namespace

int inspect_model(const Command& command, const Arguments& arguments) {
  Flags f;
  std::vector<Option> options = {
      {"MODEL", "", &f.model, "an ONNX file"},
      {"--nodes", "", &f.nodes, "list every node: name, operator, backend, kernel, reason"},
      {"--json", "", &f.json, "report as JSON"},
  };
  add_session_options(options, f.session);
  if (!parse(command, options, arguments, kNotes)) return 0;
  ShapeOverrides overrides = f.session.overrides();
  std::unique_ptr<Session> session = Session::open(f.model, f.session.options());
  InspectReport report{.model = f.model, .device = session->device(), .session = session.get()};
  report.shapes = made_up_shapes(*session, overrides);
  report.found = with_shape_hint(*session, overrides, report.shapes, [&] { return inspect(*session, report.shapes); });
  if (f.json) return fmt::print("{}", to_json(report)), 0;
  print_facts(report);
  print_plan(report);
  if (f.nodes) print_nodes(report.found.placements);
  return 0;
}

}  // namespace hf::cli

// Choosing a node's lowering; epilogues that no lowering takes as a launch of their own.
#include <algorithm>

#include "lower/elementwise.h"
#include "lower/lowering.h"

namespace hf::lower {
namespace {

using kernel::Argument;

// The launches write output 0 behind their own workspace. Returns where.
Argument to_workspace(Lowered& l) {
  int64_t at = 0;
  for (const kernel::Candidates& launch : l.launches)
    for (const kernel::KernelSpec& spec : launch) at = std::max(at, spec.workspace_bytes);
  at = (at + 255) / 256 * 256;
  for (kernel::Candidates& launch : l.launches)
    for (kernel::KernelSpec& spec : launch) {
      spec.workspace_bytes = at + device_layout(l.outputs[0])->bytes();
      for (Argument& a : spec.arguments)
        if (a.kind == Argument::Kind::Output && a.index == 0) a = Argument::workspace(at + a.integer);
    }
  return Argument::workspace(at);
}

// The epilogue as one more launch on output 0, which is rounded in between only if it is stored alike.
std::optional<Refusal> append_epilogue(const Request& r, Lowered& l) {
  const DeviceLayout before = *device_layout(l.outputs[0]);
  const DType stored = r.stored_output();
  Layout to = before.channels_last() ? device_channels_last(r.out_dims(), stored, before.pitch)
                                     : device_rows(r.out_dims(), stored);
  std::vector<Source> sources(1);
  if (l.alias >= 0)
    sources[0] = {Argument::input(l.alias), l.outputs[0]};
  else
    sources[0] = {before.stored == stored ? Argument::output(0) : to_workspace(l), l.outputs[0]};
  l.alias = -1;
  l.inputs.resize(r.node.inputs().size());
  for (int k = 0; k < r.node.epilogue_inputs; ++k) {
    int i = r.node.own_inputs() + k;
    Layout layout = operand_layout(r, i, to);
    l.inputs[static_cast<size_t>(i)] = layout;
    sources.push_back({Argument::input(i), std::move(layout)});
  }
  auto launch = pointwise_launch(expression_of(*r.node.epilogue), sources, to, Argument::output(0), r.target);
  if (auto* refusal = std::get_if<Refusal>(&launch)) return *refusal;
  l.launches.push_back(std::get<kernel::Candidates>(std::move(launch)));
  l.outputs[0] = std::move(to);
  l.in_place.clear();  // an operand may be that very input
  l.text += " + " + steps_text(*r.node.epilogue);
  return std::nullopt;
}

// What a kernel cannot count is a reason to try the next.
Answer attempt(const Row& row, const Request& r) {
  try {
    return row.lower(r);
  } catch (const Error& e) {
    if (e.code() != Code::Unsupported) throw;
    return Refusal{e.what()};
  }
}

void add_reason(std::string& why, const Row& row, const Answer& answer) {
  why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", row.name, std::get<Refusal>(answer).reason);
}

}  // namespace

Answer lower_node(const Request& r) {
  const std::vector<Row> rows = rows_for(r.node);
  std::string why;
  for (const Row& row : rows) {
    if (r.node.epilogue && !row.takes_epilogue) continue;
    Answer answer = attempt(row, r);
    if (std::holds_alternative<Lowered>(answer)) return answer;
    add_reason(why, row, answer);
  }
  if (rows.empty()) return Refusal{"no kernel for this operator"};
  if (!r.node.epilogue) return Refusal{why};
  // The same node without it: its operands stay inputs that are not the operator's own.
  ir::Node bare = r.node;
  bare.epilogue = nullptr;
  const Request plain{bare, r.layouts, r.target, r.precision};
  for (const Row& row : rows) {
    Answer answer = attempt(row, plain);
    if (auto* l = std::get_if<Lowered>(&answer)) {
      std::optional<Refusal> refusal = append_epilogue(r, *l);
      if (!refusal) return answer;
      answer = *refusal;
    }
    add_reason(why, row, answer);
  }
  return Refusal{why};
}

}  // namespace hf::lower

// Elementwise operators, casts, and fused programs of them.
#include "ops/pointwise.h"

#include <algorithm>

#include "kernel/cells.h"
#include "lower/elementwise.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

bool is_pointwise(const ir::Node& n) { return n.is("Pointwise", "hipforge"); }
bool is_cast(const ir::Node& n) { return n.op == "Cast" || n.op == "CastLike"; }

// A node's work; `inputs` are the node's inputs of the registers.
struct Work {
  ir::Program program;
  std::vector<int> inputs;
};

// The epilogue's steps after the operator's own.
void append(ir::Program& p, const ir::Program& epilogue, int result) {
  const int own = p.inputs, more = epilogue.inputs - 1, steps = static_cast<int>(p.steps.size());
  for (ir::Step& s : p.steps)
    for (int& arg : s.args) arg += arg >= own ? more : 0;
  if (result >= own) result += more;
  p.inputs += more;
  for (ir::Step s : epilogue.steps) {
    for (int& arg : s.args)
      arg = arg == 0 ? result : arg < epilogue.inputs ? own + arg - 1 : p.inputs + steps + arg - epilogue.inputs;
    p.steps.push_back(std::move(s));
  }
}

Work work_of(const ir::Node& n) {
  Work w;
  if (is_pointwise(n)) {
    w.program = *n.epilogue;
    for (int i = 0; i < static_cast<int>(n.inputs().size()); ++i) w.inputs.push_back(i);
    return w;
  }
  std::vector<int> args;
  const int own = is_cast(n) ? 1 : n.own_inputs();
  for (int i = 0; i < own; ++i) {
    args.push_back(n.input(i) ? static_cast<int>(w.inputs.size()) : -1);
    if (n.input(i)) w.inputs.push_back(i);
  }
  w.program.inputs = static_cast<int>(w.inputs.size());
  int result = is_cast(n) ? 0 : ops::add_steps(w.program, n, args);
  check(result >= 0, "a row of elementwise operators has steps");
  for (int k = 0; k < n.epilogue_inputs; ++k) w.inputs.push_back(n.own_inputs() + k);
  if (n.epilogue) append(w.program, *n.epilogue, result);
  return w;
}

// Registers are integers where all values are.
bool is_whole(const Request& r, const Work& w) {
  return std::none_of(w.inputs.begin(), w.inputs.end(), [&](int i) { return is_float(r.dtype(i)); });
}

std::optional<Refusal> refused(const Request& r, const Work& w) {
  if (r.empty()) return Refusal{"no elements"};
  if (is_pointwise(r.node) && !r.node.epilogue) return Refusal{"no program"};
  for (int i : w.inputs)
    if (!kernel::has_cell(r.dtype(i))) return Refusal{fmt::format("input {} is {}", i, name(r.dtype(i)))};
  const bool whole = is_whole(r, w);
  if (whole && r.node.op == "Shrink") return Refusal{"integers and real attributes"};
  if (r.node.op == "Pow" && is_float(r.dtype(0)) != is_float(r.dtype(1)) && !is_float(r.dtype(0)))
    return Refusal{"integers to a real power"};
  if (whole && r.node.epilogue && !is_cast(r.node)) return Refusal{"integers with an epilogue"};
  return std::nullopt;
}

}  // namespace

Answer lower_pointwise(const Request& r) {
  if (is_pointwise(r.node) && !r.node.epilogue) return Refusal{"no program"};
  const Work w = work_of(r.node);
  if (auto refusal = refused(r, w)) return *refusal;
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  Layout to = result_layout(r, w.inputs);
  std::vector<Source> sources;
  for (int i : w.inputs) {
    Layout layout = operand_layout(r, i, to);
    l.inputs[static_cast<size_t>(i)] = layout;
    sources.push_back({kernel::Argument::input(i), layout});
    if (layout == to) l.in_place.push_back(i);
  }
  auto launch = pointwise_launch(expression_of(w.program, is_whole(r, w) && !r.node.epilogue), sources, to,
                                 kernel::Argument::output(0), r.target);
  if (auto* refusal = std::get_if<Refusal>(&launch)) return *refusal;
  l.launches.push_back(std::get<kernel::Candidates>(std::move(launch)));
  l.outputs = {std::move(to)};
  l.text = is_cast(r.node) ? r.node.op : "pointwise " + steps_text(w.program);
  return l;
}

}  // namespace hf::lower

// If and Loop.
#include <algorithm>

#include "ops/body.h"

namespace hf::ops {
namespace {

using ir::Graph;
using ir::Value;

bool truth(const Tensor& t) { return to_int(t) != 0; }

// ---- If

constexpr AttrDef if_attrs[] = {required_attr("then_branch", AttrType::Graph),
                                required_attr("else_branch", AttrType::Graph)};

// A branch may be right only when it is taken: one that squeezes an axis if that is 1. So a fault in a branch is none
// of the model until it is certain to run.
void infer_branches(Node& n) {
  type_captures(n);
  Graph &then_branch = n.subgraph("then_branch"), &else_branch = n.subgraph("else_branch");
  const Value* condition = n.input(0);
  if (condition && condition->is_constant()) return infer_graph(truth(condition->constant) ? then_branch : else_branch);
  try_infer(then_branch);
  try_infer(else_branch);
}

void infer_if(Infer& in) {
  const auto &then_out = in.node.subgraph("then_branch").outputs(),
             &else_out = in.node.subgraph("else_branch").outputs();
  in.require(static_cast<int>(then_out.size()) >= in.outputs() && static_cast<int>(else_out.size()) >= in.outputs(),
             "branches of {} and {} outputs for {}", then_out.size(), else_out.size(), in.outputs());
  const Tensor* condition = in.constant(0);
  in.require(!condition || condition->size() == 1, "the condition has {} elements", condition ? condition->size() : 0);
  for (int i = 0; i < in.outputs(); ++i) {
    const Value *a = then_out[static_cast<size_t>(i)], *b = else_out[static_cast<size_t>(i)];
    if (condition) (truth(*condition) ? b : a) = truth(*condition) ? a : b;
    in.require(a->dtype == b->dtype || a->dtype == DType::Undefined || b->dtype == DType::Undefined,
               "output {} is {} in one branch, {} in the other", i, name(a->dtype), name(b->dtype));
    in.set(i, a->dtype == DType::Undefined ? b->dtype : a->dtype, a == b ? a->shape : either(a->shape, b->shape));
  }
}

void run_if(Eval& e) {
  const char* branch = truth(e.in(0)) ? "then_branch" : "else_branch";
  std::vector<Tensor> results = e.runner->run(e.node.subgraph(branch), {}, captured(e, branch));
  for (size_t i = 0; i < e.outputs.size(); ++i) e.outputs[i] = std::move(results[i]);
}

// ---- Loop

constexpr AttrDef loop_attrs[] = {required_attr("body", AttrType::Graph)};

// Both M and cond have their places, left out or not, so that what follows them is found.
void upgrade_loop(Graph& g, Node& n, int) {
  while (n.own_inputs() < 2) g.insert_input(&n, n.own_inputs(), nullptr);
}

// How many values a loop carries, and how many of the body's outputs it collects.
struct LoopShape {
  int carried, scans;
};

LoopShape loop_shape(const Node& n) {
  const Graph& body = n.subgraph("body");
  const int carried = n.own_inputs() - 2, scans = static_cast<int>(body.outputs().size()) - 1 - carried;
  if (static_cast<int>(body.inputs().size()) != carried + 2 || scans < 0 ||
      static_cast<int>(n.outputs().size()) > carried + scans)
    fail(Code::InvalidModel, "{} carried values and {} outputs for a body of {} inputs and {} outputs", carried,
         n.outputs().size(), body.inputs().size(), body.outputs().size());
  return {carried, scans};
}

// Iteration number and condition are scalars, or of one axis where the body says so.
Dims counter_dims(const Value& v) { return v.shape.ranked() && v.shape.rank() == 1 ? Dims{1} : Dims{}; }

void infer_loop_body(Node& n) {
  Graph& body = n.subgraph("body");
  const LoopShape s = loop_shape(n);
  type_captures(n);
  set_type(body.inputs()[0], DType::I64, counter_dims(*body.inputs()[0]));
  set_type(body.inputs()[1], DType::Bool, counter_dims(*body.inputs()[1]));
  for (int i = 0; i < s.carried; ++i)
    if (const Value* v = n.input(2 + i)) set_type(body.inputs()[static_cast<size_t>(2 + i)], v->dtype, v->shape);
  infer_body(body, 2, 1, s.carried);
}

void infer_loop(Infer& in) {
  const Graph& body = in.node.subgraph("body");
  const LoopShape s = loop_shape(in.node);
  for (int i = 0; i < in.outputs() && i < s.carried; ++i) {
    const Value* out = body.outputs()[static_cast<size_t>(1 + i)];
    in.set(i, in.dtype(2 + i), either(in.shape(2 + i), out->shape));
  }
  for (int i = s.carried; i < in.outputs(); ++i) {
    const Value* out = body.outputs()[static_cast<size_t>(1 + i)];
    if (!out->shape.ranked()) {
      in.set(i, out->dtype);
      continue;
    }
    std::vector<Dim> dims = out->shape.dims();
    const bool counted = in.constant(0) && !in.has(1) && in.constant(0)->size() == 1;
    dims.insert(dims.begin(), counted ? Dim(std::max<int64_t>(to_int(*in.constant(0)), 0)) : Dim());
    in.set(i, out->dtype, dims);
  }
}

// The condition that the body returns counts if the node has a condition too; without one it is ignored, as the
// standard has it, unless the loop would then never end.
void run_loop(Eval& e) {
  const Graph& body = e.node.subgraph("body");
  const LoopShape s = loop_shape(e.node);
  const int64_t trips = e.has(0) ? to_int(e.in(0)) : INT64_MAX;
  const bool conditional = e.has(1) || !e.has(0);
  bool go = !e.has(1) || truth(e.in(1));
  const std::vector<Tensor> captures = captured(e, "body");
  std::vector<Tensor> state;
  for (int i = 0; i < s.carried; ++i) state.push_back(e.in(2 + i));
  Collected scanned(s.scans);
  const auto scans = static_cast<size_t>(s.scans);
  for (int64_t trip = 0; trip < trips && go; ++trip) {
    std::vector<Tensor> inputs = {Tensor::scalar(trip).reshaped(counter_dims(*body.inputs()[0])),
                                  Tensor::scalar(true).reshaped(counter_dims(*body.inputs()[1]))};
    inputs.insert(inputs.end(), state.begin(), state.end());
    std::vector<Tensor> results = e.runner->run(body, inputs, captures);
    if (conditional) go = truth(results[0]);
    for (size_t i = 0; i < state.size(); ++i) state[i] = std::move(results[1 + i]);
    for (size_t i = 0; i < scans; ++i) scanned.add(i, std::move(results[1 + state.size() + i]));
  }
  for (size_t i = 0; i < e.outputs.size(); ++i) {
    if (!e.wants(static_cast<int>(i))) continue;
    if (i < state.size())
      e.outputs[i] = std::move(state[i]);
    else
      e.outputs[i] = stack(scanned.runs(i - state.size()), 0, false, *body.outputs()[1 + i]);
  }
}

constexpr OpDef defs[] = {
    {.name = "If",
     .max_outputs = -1,
     .attrs = if_attrs,
     .infer = infer_if,
     .infer_subgraphs = infer_branches,
     .reference = run_if},
    {.name = "Loop",
     .min_inputs = 0,
     .max_inputs = -1,
     .max_outputs = -1,
     .attrs = loop_attrs,
     .upgrade = upgrade_loop,
     .infer = infer_loop,
     .infer_subgraphs = infer_loop_body,
     .reference = run_loop},
};

}  // namespace

std::span<const OpDef> control_ops() { return defs; }

}  // namespace hf::ops

// RNN, GRU and LSTM: the products of all steps' inputs as one launch, the recurrent steps as a second.
#include "kernel/recurrent.h"

#include <algorithm>
#include <cctype>

#include "kernel/batched_gemm.h"
#include "lower/spatial.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

using kernel::Argument;
using kernel::RecurrentProblem;

enum Inputs { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kP };

// Whether the node's activations are the operator's own, however they are written.
bool default_activations(const ir::Node& n, RecurrentProblem::Cell cell) {
  if (!n.has("activations")) return true;
  const std::vector<std::string>& given = n.strings("activations");
  const std::vector<std::string> usual = cell == RecurrentProblem::Cell::Rnn ? std::vector<std::string>{"tanh"}
                                         : cell == RecurrentProblem::Cell::Gru
                                             ? std::vector<std::string>{"sigmoid", "tanh"}
                                             : std::vector<std::string>{"sigmoid", "tanh", "tanh"};
  for (size_t i = 0; i < given.size(); ++i) {
    std::string name = given[i];
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (name != usual[i % usual.size()]) return false;
  }
  return true;
}

std::string why_not(const Request& r, RecurrentProblem::Cell cell) {
  if (r.empty()) return "a tensor without elements";
  if (!is_float_element(r.dtype(kX)) || !is_float_element(r.stored_input(kW)))
    return fmt::format("a recurrence of {}", name(r.dtype(kX)));
  if (!r.constant(kR) || (r.has(kB) && !r.constant(kB))) return "recurrent weights that are no constants";
  if (r.has(kP)) return "peepholes";
  if (r.node.has("clip") && r.node.f("clip") > 0) return "clipped gates";
  if (r.node.has("input_forget") && r.node.i("input_forget") != 0) return "coupled gates";
  if (!default_activations(r.node, cell)) return "activations other than the default ones";
  return "";
}

RecurrentProblem::Cell cell_of(const ir::Node& n) {
  using Cell = RecurrentProblem::Cell;
  return n.op == "RNN" ? Cell::Rnn : n.op == "GRU" ? Cell::Gru : Cell::Lstm;
}

RecurrentProblem problem(const Request& r) {
  const Dims x = r.dims(kX);
  const std::string& direction = r.node.s("direction");
  const bool batch_first = r.node.i("layout") != 0;
  RecurrentProblem p{.cell = cell_of(r.node),
                     .steps = x[batch_first ? 1 : 0],
                     .batch = x[batch_first ? 0 : 1],
                     .hidden = r.dims(kR)[2],
                     .directions = direction == "bidirectional" ? 2 : 1,
                     .reverse = direction == "reverse",
                     .batch_first = batch_first,
                     .state = element_of(r.stored(r.dtype(kX))),
                     .weight = element_of(r.stored(r.dtype(kR))),
                     .has_lengths = r.has(kLengths),
                     .has_h = r.has(kInitialH)};
  p.linear_before_reset = p.cell == RecurrentProblem::Cell::Gru && r.node.i("linear_before_reset") != 0;
  p.has_c = p.cell == RecurrentProblem::Cell::Lstm && r.has(kInitialC);
  for (int i = 0; i < 3; ++i) p.wants[i] = r.wants(i);
  return p;
}

std::vector<std::byte> packed_weights(const RecurrentProblem& p, const Tensor& weights, DType stored) {
  ReadAs<float> from(weights);
  Tensor to(stored, {p.weights()});
  WriteAs<float> w(to);
  std::fill_n(w.data(), p.weights(), 0.f);
  for (int64_t d = 0, at = 0; d < p.directions; ++d)
    for (int64_t row = 0; row < p.rows(); ++row)
      for (int64_t k = 0; k < p.hidden; ++k) w[p.weight_at(d, row, k)] = from[at++];
  w.commit();
  const auto* bytes = static_cast<const std::byte*>(to.raw());
  return {bytes, bytes + to.size_bytes()};
}

std::vector<std::byte> packed_biases(const RecurrentProblem& p, const Tensor& bias) {
  std::vector<float> all(static_cast<size_t>(p.directions * 2 * p.rows()));
  if (bias.defined()) read_elements(bias, all.data());
  return bytes_of(all);
}

// [directions][steps * batch, width] by [directions][width, gates] into the workspace.
kernel::Candidates input_products(const Request& r, const RecurrentProblem& p, int64_t workspace) {
  const int64_t width = r.dims(kX)[2];
  kernel::Candidates all = kernel::batched_gemm({.m = p.steps * p.batch,
                                                 .n = p.rows(),
                                                 .k = width,
                                                 .batch = {{p.directions, 0, p.rows() * width}},
                                                 .a_row = width,
                                                 .b_row = 1,
                                                 .b_col = width,
                                                 .a = element_of(r.stored_input(kX)),
                                                 .b = element_of(r.stored_input(kW)),
                                                 .out = kernel::Element::F32},
                                                r.target);
  for (kernel::KernelSpec& spec : all) {
    check(spec.workspace_bytes == 0, "a product wants no workspace of its own");
    spec.workspace_bytes = workspace;
    for (Argument& a : spec.arguments)
      if (a.kind == Argument::Kind::Output) a = Argument::workspace();
  }
  return all;
}

}  // namespace

Answer lower_recurrent(const Request& r) {
  if (std::string why = why_not(r, cell_of(r.node)); !why.empty()) return Refusal{why};
  const RecurrentProblem p = problem(r);
  const DType state = r.stored(r.dtype(kX)), weight = r.stored(r.dtype(kR));
  Lowered l;
  kernel::Candidates steps = kernel::recurrent(p, r.target);
  l.text = "recurrent " + steps[0].variant;
  l.launches.push_back(input_products(r, p, steps[0].workspace_bytes));
  l.launches.push_back(std::move(steps));
  l.packings.push_back(
      {.host = [p, t = *r.constant(kR), weight] { return packed_weights(p, t, weight); },
       .bytes = p.weights() * size_of(p.weight),
       .key = fmt::format("recurrent {} {} {}", static_cast<int>(p.cell), p.directions, name(weight))});
  l.packings.push_back({.host = [p, t = r.has(kB) ? *r.constant(kB) : Tensor()] { return packed_biases(p, t); },
                        .bytes = p.directions * 2 * p.rows() * 4,
                        .key = fmt::format("recurrent biases {} {}", p.directions, p.rows())});
  l.inputs.resize(r.node.inputs().size());
  l.inputs[kX] = r.rows(kX);
  l.inputs[kW] = r.rows(kW);
  if (p.has_lengths) l.inputs[kLengths] = r.rows(kLengths);
  if (p.has_h) l.inputs[kInitialH] = device_rows(r.dims(kInitialH), state);
  if (p.has_c) l.inputs[kInitialC] = device_rows(r.dims(kInitialC), state);
  l.absorbed = {false, false, true, true};
  l.outputs.resize(r.node.outputs().size());
  for (size_t i = 0; i < l.outputs.size(); ++i)
    if (r.wants(static_cast<int>(i))) l.outputs[i] = device_rows(r.out_dims(static_cast<int>(i)), state);
  return l;
}

}  // namespace hf::lower

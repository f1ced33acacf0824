// Scan: a body run along an axis of its inputs.
#include <algorithm>

#include "ops/body.h"
#include "ops/movement.h"

namespace hf::ops {
namespace {

using ir::Graph;
using ir::Value;

constexpr AttrDef attrs[] = {
    required_attr("body", AttrType::Graph),
    required_attr("num_scan_inputs", AttrType::Int),
    optional_attr("directions", AttrType::Ints, 8, 8),
    optional_attr("scan_input_directions", AttrType::Ints, 9),
    optional_attr("scan_output_directions", AttrType::Ints, 9),
    optional_attr("scan_input_axes", AttrType::Ints, 9),
    optional_attr("scan_output_axes", AttrType::Ints, 9),
    optional_attr("batched", AttrType::Int, kOurs),  // ours, set by upgrade
};

// Opset 8 has a batch axis in front of every tensor, and the lengths of the batch's sequences as first input. That form
// is kept: "batched".
void upgrade(Graph& g, Node& n, int opset) {
  if (opset > 8) return;
  n.attrs["batched"] = int64_t{1};
  if (auto it = n.attrs.find("directions"); it != n.attrs.end()) {
    n.attrs["scan_input_directions"] = it->second;
    n.attrs.erase("directions");
  }
  if (n.own_inputs() == 0) g.insert_input(&n, 0, nullptr);
}

// The parts of a Scan node: states, scanned inputs and collected outputs; inputs start at `first`.
struct Form {
  int first, states, scans, collected;
  bool batched;
};

Form form_of(const Node& n) {
  const Graph& body = n.subgraph("body");
  const int64_t scans = n.i("num_scan_inputs");
  const bool batched = n.has("batched");
  const int first = batched ? 1 : 0, given = n.own_inputs() - first;
  if (scans < 1 || scans > given) fail(Code::InvalidModel, "num_scan_inputs is {} of {} inputs", scans, given);
  Form f{first, given - static_cast<int>(scans), static_cast<int>(scans), 0, batched};
  f.collected = static_cast<int>(body.outputs().size()) - f.states;
  if (static_cast<int>(body.inputs().size()) != given || f.collected < 0 ||
      static_cast<int>(n.outputs().size()) > f.states + f.collected)
    fail(Code::InvalidModel, "{} inputs and {} outputs for a body of {} inputs and {} outputs", given,
         n.outputs().size(), body.inputs().size(), body.outputs().size());
  return f;
}

// Element i of a list with one entry for each of `count`; 0 if the model gives no list.
int64_t entry(const Node& n, std::string_view list, int i, int count) {
  if (!n.has(list)) return 0;
  const std::vector<int64_t>& values = n.ints(list);
  if (static_cast<int>(values.size()) != count)
    fail(Code::InvalidModel, "{} has {} entries, wanted {}", list, values.size(), count);
  return values[static_cast<size_t>(i)];
}

Shape without(const Shape& s, int axis) {
  Shape out = s;
  if (s.ranked()) out.dims().erase(out.dims().begin() + axis);
  return out;
}

// The shape of scanned input i without the batch axis, and the axis to scan of that.
Shape scanned_shape(const Node& n, const Form& f, int i, const Shape& given, int& axis) {
  axis = 0;
  if (!given.ranked()) return given;
  if (f.batched && given.rank() < 2) fail(Code::InvalidModel, "input {} is to be scanned in batches", given.text());
  const Shape s = f.batched ? without(given, 0) : given;
  axis = normalize_axis(entry(n, "scan_input_axes", i, f.scans), s.rank(), "scan_input_axes");
  return s;
}

void infer_scan_body(Node& n) {
  Graph& body = n.subgraph("body");
  const Form f = form_of(n);
  type_captures(n);
  for (int i = 0; i < f.states + f.scans; ++i) {
    const Value* v = n.input(f.first + i);
    if (!v) fail(Code::InvalidModel, "input {} is missing", f.first + i);
    Shape s = v->shape;
    int axis = 0;
    if (i >= f.states) {
      s = scanned_shape(n, f, i - f.states, s, axis);
      s = without(s, axis);
    } else if (f.batched) {
      if (s.ranked() && s.rank() < 1) fail(Code::InvalidModel, "state {} has no batch axis", i);
      s = without(s, 0);
    }
    set_type(body.inputs()[static_cast<size_t>(i)], v->dtype, s);
  }
  infer_body(body, 0, 0, f.states);
}

// The extent of the batch axis, and that of the scanned axes, which must agree.
struct Extents {
  Dim batch, length;
};

Extents extents(const Infer& in, const Form& f) {
  Shape seen = Shape::unknown_of_rank(2);
  for (int i = 0; i < f.scans; ++i) {
    const Shape& given = in.shape(f.first + f.states + i);
    if (!given.ranked()) continue;
    int axis = 0;
    const Shape s = scanned_shape(in.node, f, i, given, axis);
    seen = ir::merge(seen, Shape({f.batched ? given[0] : Dim(), s[axis]}));
  }
  return {seen[0], seen[1]};
}

void infer(Infer& in) {
  const Graph& body = in.node.subgraph("body");
  const Form f = form_of(in.node);
  const Extents e = extents(in, f);
  auto batch = [&](Shape s) {
    if (f.batched && s.ranked()) s.dims().insert(s.dims().begin(), e.batch);
    return s;
  };
  for (int i = 0; i < in.outputs(); ++i) {
    const Value* out = body.outputs()[static_cast<size_t>(i)];
    if (i < f.states) {
      in.set(i, in.dtype(f.first + i), either(in.shape(f.first + i), batch(out->shape)));
      continue;
    }
    if (!out->shape.ranked()) {
      in.set(i, out->dtype);
      continue;
    }
    std::vector<Dim> dims = out->shape.dims();
    const int rank = static_cast<int>(dims.size()) + 1;
    const int axis =
        normalize_axis(entry(in.node, "scan_output_axes", i - f.states, f.collected), rank, "scan_output_axes");
    dims.insert(dims.begin() + axis, e.length);
    in.set(i, out->dtype, batch(dims));
  }
}

// One sequence: `inputs` as the body's, scanned ones whole; runs the first `length` steps. Collected results are padded
// with zeros to `full` steps.
std::vector<Tensor> scan_one(Eval& e, const Form& f, std::vector<Tensor> inputs, const std::vector<Tensor>& captures,
                             int64_t length, int64_t full) {
  const Graph& body = e.node.subgraph("body");
  Collected collected(f.collected);
  std::vector<Tensor> state(inputs.begin(), inputs.begin() + f.states);
  for (int64_t t = 0; t < length; ++t) {
    std::vector<Tensor> now = state;
    for (int i = 0; i < f.scans; ++i) {
      const Tensor& x = inputs[static_cast<size_t>(f.states + i)];
      const int axis = normalize_axis(entry(e.node, "scan_input_axes", i, f.scans), x.rank());
      const bool backward = entry(e.node, "scan_input_directions", i, f.scans) != 0;
      now.push_back(part_at(x, axis, backward ? length - 1 - t : t));
    }
    std::vector<Tensor> results = e.runner->run(body, now, captures);
    for (size_t i = 0; i < state.size(); ++i) state[i] = std::move(results[i]);
    for (int i = 0; i < f.collected; ++i)
      collected.add(static_cast<size_t>(i), std::move(results[state.size() + static_cast<size_t>(i)]));
  }
  std::vector<Tensor> out = std::move(state);
  for (int i = 0; i < f.collected; ++i) {
    std::vector<Tensor>& runs = collected.runs(static_cast<size_t>(i));
    const Value& like = *body.outputs()[static_cast<size_t>(f.states + i)];
    if (static_cast<int64_t>(runs.size()) < full) {
      Tensor padding = runs.empty() ? blank(like) : Tensor(runs[0].dtype(), runs[0].dims());
      fill(padding);
      runs.resize(static_cast<size_t>(full), padding);
    }
    out.push_back(stack(runs, entry(e.node, "scan_output_axes", i, f.collected),
                        entry(e.node, "scan_output_directions", i, f.collected) != 0, like));
  }
  return out;
}

int64_t scanned_length(const Eval& e, const Form& f, const std::vector<Tensor>& inputs) {
  int64_t length = -1;
  for (int i = 0; i < f.scans; ++i) {
    const Tensor& x = inputs[static_cast<size_t>(f.states + i)];
    const int64_t here = x.dims()[normalize_axis(entry(e.node, "scan_input_axes", i, f.scans), x.rank())];
    if (length >= 0 && here != length) fail(Code::InvalidArgument, "scanned axes of {} and {}", length, here);
    length = here;
  }
  return length;
}

void reference_batched(Eval& e, const Form& f, const std::vector<Tensor>& inputs, const std::vector<Tensor>& captures) {
  int64_t batch = -1;
  for (const Tensor& t : inputs) {
    if (t.rank() < 1 || (batch >= 0 && t.dims()[0] != batch)) fail(Code::InvalidArgument, "batches of different sizes");
    batch = t.dims()[0];
  }
  const std::vector<int64_t> lengths = e.has(0) ? to_ints(e.in(0)) : std::vector<int64_t>();
  if (e.has(0) && static_cast<int64_t>(lengths.size()) != batch)
    fail(Code::InvalidArgument, "{} sequence lengths for a batch of {}", lengths.size(), batch);
  std::vector<std::vector<Tensor>> results(static_cast<size_t>(f.states + f.collected));
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<Tensor> one;
    for (const Tensor& t : inputs) one.push_back(part_at(t, 0, b));
    const int64_t full = scanned_length(e, f, one), length = lengths.empty() ? full : lengths[static_cast<size_t>(b)];
    if (length < 0 || length > full) fail(Code::InvalidArgument, "a sequence length of {} in {}", length, full);
    std::vector<Tensor> got = scan_one(e, f, one, captures, length, full);
    for (size_t i = 0; i < got.size(); ++i) results[i].push_back(std::move(got[i]));
  }
  const Graph& body = e.node.subgraph("body");
  for (size_t i = 0; i < e.outputs.size(); ++i)
    if (e.wants(static_cast<int>(i))) e.outputs[i] = stack(results[i], 0, false, *body.outputs()[i]);
}

void reference(Eval& e) {
  const Form f = form_of(e.node);
  const std::vector<Tensor> captures = captured(e, "body");
  std::vector<Tensor> inputs;
  for (int i = 0; i < f.states + f.scans; ++i) inputs.push_back(e.in(f.first + i));
  if (f.batched) return reference_batched(e, f, inputs, captures);
  const int64_t length = scanned_length(e, f, inputs);
  std::vector<Tensor> results = scan_one(e, f, std::move(inputs), captures, length, length);
  for (size_t i = 0; i < e.outputs.size(); ++i)
    if (e.wants(static_cast<int>(i))) e.outputs[i] = std::move(results[i]);
}

constexpr OpDef defs[] = {{.name = "Scan",
                           .since = 8,
                           .min_inputs = 0,
                           .max_inputs = -1,
                           .max_outputs = -1,
                           .attrs = attrs,
                           .upgrade = upgrade,
                           .infer = infer,
                           .infer_subgraphs = infer_scan_body,
                           .reference = reference}};

}  // namespace

std::span<const OpDef> scan_ops() { return defs; }

}  // namespace hf::ops

// The operator table, and inference and evaluation of one node.
#include "ops/op.h"

#include <algorithm>
#include <map>

#include "base/log.h"
#include "ops/pointwise.h"

namespace hf::ops {

#define FAMILY(x) std::span<const OpDef> x##_ops();
#include "ops/ops.def"
#undef FAMILY

namespace {

std::string_view canonical(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

struct Table {
  std::vector<const OpDef*> list;
  std::map<std::pair<std::string_view, std::string_view>, const OpDef*> by_name;

  void add(std::span<const OpDef> ops) {
    for (const OpDef& op : ops) {
      list.push_back(&op);
      bool fresh = by_name.emplace(std::pair{op.domain, op.name}, &op).second;
      check(fresh, "an operator is defined once");
    }
  }

  Table() {
#define FAMILY(x) add(x##_ops());
#include "ops/ops.def"
#undef FAMILY
  }
};

const Table& table() {
  static const Table t;
  return t;
}

}  // namespace

std::span<const OpDef* const> all_ops() { return table().list; }

const OpDef* find_op(std::string_view name, std::string_view domain) {
  auto it = table().by_name.find({canonical(domain), name});
  return it == table().by_name.end() ? nullptr : it->second;
}

const Known& Infer::get(int i) const {
  if (!has(i)) bad("input {} is missing", i);
  return inputs_[static_cast<size_t>(i)];
}

void Infer::set(int i, DType dtype, Shape shape) {
  if (i < outputs()) results_[static_cast<size_t>(i)] = {dtype, std::move(shape)};
}

void infer_node(Node& n) {
  auto where = context([&] { return "node " + n.text(); });
  check(n.def && n.def->infer, "a node to infer has a definition");
  if (n.def->infer_subgraphs) n.def->infer_subgraphs(n);
  std::vector<Known> known(n.inputs().size());
  for (size_t i = 0; i < known.size(); ++i)
    if (const ir::Value* v = n.inputs()[i])
      known[i] = {true, v->dtype, v->shape, v->is_constant() ? &v->constant : nullptr};
  Infer infer(n, known);
  n.def->infer(infer);
  for (size_t i = 0; i < n.outputs().size(); ++i) {
    ir::Value* v = n.outputs()[i];
    const Infer::Result& r = infer.results()[i];
    if (!v || r.dtype == DType::Undefined) continue;
    if (v->dtype != DType::Undefined && v->dtype != r.dtype)
      fail(Code::InvalidModel, "output '{}' is declared {} but is {}", v->name, name(v->dtype), name(r.dtype));
    v->dtype = r.dtype;
    // Declared shapes of inner values and outputs are often stale (a batch of 1 under a symbolic input): what follows
    // from the inputs is right.
    if (!ir::compatible(v->shape, r.shape)) {
      log::warn("ops", "node {}: output '{}' is declared {} but is {}", n.text(), v->name, v->shape.text(),
                r.shape.text());
      v->shape = r.shape;
    } else {
      v->shape = ir::merge(v->shape, r.shape);
    }
  }
}

void infer_graph(ir::Graph& g) {
  for (Node* n = g.first(); n; n = n->next()) infer_node(*n);
}

void evaluate_into(const Node& n, std::span<const Tensor* const> inputs, std::span<Tensor> outputs,
                   SubgraphRunner* runner) {
  auto where = context([&] { return "node " + n.text(); });
  if (!n.def || !n.def->reference) fail(Code::Unsupported, "operator {} has no implementation on the cpu", n.op);
  Eval eval{n, inputs, outputs, runner};
  n.def->reference(eval);
  if (!n.epilogue || n.epilogue->steps.empty()) return;
  std::vector<const Tensor*> operands = {&outputs[0]};
  for (size_t i = inputs.size() - static_cast<size_t>(n.epilogue_inputs); i < inputs.size(); ++i)
    operands.push_back(inputs[i]);
  Tensor result(outputs[0].dtype(), outputs[0].dims());
  run_program(*n.epilogue, operands, result);
  outputs[0] = std::move(result);
}

std::vector<Tensor> evaluate(const Node& n, std::span<const Tensor* const> inputs, SubgraphRunner* runner) {
  std::vector<Tensor> outputs(n.outputs().size());
  {
    auto where = context([&] { return "node " + n.text(); });
    check(n.def && n.def->infer, "a node to evaluate has a definition");
    std::vector<Known> known(inputs.size());
    for (size_t i = 0; i < known.size(); ++i)
      if (inputs[i]) known[i] = {true, inputs[i]->dtype(), inputs[i]->dims(), inputs[i]};
    Infer infer(n, known);
    n.def->infer(infer);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Infer::Result& r = infer.results()[i];
      if (n.output(static_cast<int>(i)) && r.dtype != DType::Undefined && r.shape.is_static())
        outputs[i] = Tensor(r.dtype, r.shape.get());
    }
  }
  evaluate_into(n, inputs, outputs, runner);
  return outputs;
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  if (!a.ranked() || !b.ranked()) return {};
  int rank = std::max(a.rank(), b.rank());
  Shape out = Shape::unknown_of_rank(rank);
  for (int i = 0; i < rank; ++i) {
    int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    Dim da = ia < 0 ? Dim(1) : a[ia], db = ib < 0 ? Dim(1) : b[ib];
    bool one_a = da.value == 1, one_b = db.value == 1;
    if (da.known() && db.known() && !one_a && !one_b && da.value != db.value)
      fail(Code::InvalidModel, "shapes {} and {} do not broadcast", a.text(), b.text());
    if (one_a)
      out[i] = db;
    else if (one_b)
      out[i] = da;
    else if (da.known())
      out[i] = da;  // the other is equal to it or 1
    else if (db.known())
      out[i] = db;
    else if (da.same(db))
      out[i] = da;
  }
  return out;
}

void infer_same(Infer& in) { in.set(0, in.dtype(0), in.shape(0)); }

void set_constant_input(ir::Graph& g, Node& n, int at, Tensor tensor) {
  if (n.own_inputs() <= at) g.resize_inputs(&n, at + 1);
  g.set_input(&n, at, g.add_constant(n.name + "/" + std::to_string(at), std::move(tensor)));
}

void attr_to_input(ir::Graph& g, Node& n, std::string_view attr, int at) {
  auto it = n.attrs.find(attr);
  if (it == n.attrs.end()) return;
  std::vector<int64_t> values = n.ints(attr);
  n.attrs.erase(it);
  set_constant_input(g, n, at, Tensor::ints(values));
}

}  // namespace hf::ops

// Elementwise operators: the table of rows, their definitions as operators, and nodes as steps of programs.
#include "ops/pointwise.h"

#include <algorithm>

#include "ops/pointwise_rows.h"
#include "ops/pointwise_run.h"

namespace hf::ops {
namespace {

using math::rows::Result;

constexpr bool is_variadic(std::string_view op) { return op == "Max" || op == "Min" || op == "Sum" || op == "Mean"; }

// The row whose rules a node follows.
const PointwiseOp& row_of(const Node& n) {
  const PointwiseOp* row = find_pointwise(n.op == "Mean" ? "Sum" : n.op);
  check(row, "an elementwise operator has a row");
  return *row;
}

bool takes_dtype(Elements e, DType t) {
  switch (e) {
    case Elements::Number: return is_float(t) || is_int(t);
    case Elements::Float: return is_float(t);
    case Elements::Integer: return is_int(t);
    case Elements::Signed: return is_float(t) || is_signed_int(t);
    case Elements::Bool: return t == DType::Bool;
    case Elements::Any: return true;
  }
  return false;
}

void infer(Infer& in) {
  const PointwiseOp& row = row_of(in.node);
  const bool clip = row.name == "Clip", mixed = clip || row.name == "Pow";
  Shape shape = in.shape(0);
  DType dtype = in.dtype(0);
  for (int i = 0; i < in.inputs(); ++i) {
    if (!in.has(i)) continue;
    const DType own = in.dtype(i);
    if (own != DType::Undefined && !takes_dtype(row.elements, own))
      in.bad("input {} is {}, which {} does not take", i, name(own), in.node.op);
    if (!mixed && dtype == DType::Undefined) dtype = own;
    if (!mixed && own != dtype && own != DType::Undefined)
      in.bad("input {} is {}, wanted {} as before it", i, name(own), name(dtype));
    if (clip && i > 0 && in.shape(i).count().value_or(1) != 1)
      in.bad("bound {} has shape {}, wanted a scalar", i, in.shape(i).text());
    if (!clip && i > 0) shape = broadcast_shapes(shape, in.shape(i));
  }
  if (row.name == "PRelu") shape = in.shape(0);  // only the slope is broadcast
  in.set(0, row.to_bool ? DType::Bool : dtype, shape);
}

void infer_where(Infer& in) {
  DType x = in.dtype(1), y = in.dtype(2);
  if (in.dtype(0) != DType::Undefined)
    in.require(in.dtype(0) == DType::Bool, "the condition is {}, wanted bool", name(in.dtype(0)));
  if (x != DType::Undefined && y != DType::Undefined)
    in.require(x == y, "the choices are {} and {}, wanted one type", name(x), name(y));
  in.set(0, x == DType::Undefined ? y : x, broadcast_shapes(in.shape(0), broadcast_shapes(in.shape(1), in.shape(2))));
}

// Before opset 11 the bounds are attributes.
void upgrade_clip(ir::Graph& g, Node& n, int opset) {
  if (opset >= 11) return;
  int at = 1;
  for (const char* key : {"min", "max"}) {
    Tensor bound(n.input(0)->dtype == DType::F64 ? DType::F64 : DType::F32, {});
    float value = n.f(key);
    write_elements(&value, bound);
    n.attrs.erase(key);
    set_constant_input(g, n, at++, bound);
  }
}

// What to compute in: integers in 64 bits, but float where one operand or attribute is.
DType compute_dtype(const Eval& e) {
  DType first = e.in(0).dtype();
  if (e.node.op == "Shrink" && is_int(first)) return DType::F64;
  if (e.node.op != "Pow" || e.in(1).dtype() == first) return first;
  DType second = e.in(1).dtype();
  if (is_float(first)) return second == DType::F64 ? second : first;
  return is_float(second) ? DType::F64 : first;
}

void reference(Eval& e) {
  ir::Program program;
  std::vector<const Tensor*> inputs;
  std::vector<Tensor> scalars(e.inputs.size());
  std::vector<int> args;
  for (const Tensor* t : e.inputs.first(static_cast<size_t>(e.node.own_inputs()))) {
    args.push_back(t ? program.inputs++ : -1);
    if (!t) continue;
    bool bound = e.node.op == "Clip" && !inputs.empty();
    inputs.push_back(bound ? &(scalars[inputs.size()] = t->reshaped({})) : t);
  }
  add_steps(program, e.node, args);
  dispatch_number(compute_dtype(e), [&]<class T>(T) { run_program_as<T>(program, inputs, e.out()); });
}

constexpr AttrDef clip_attrs[] = {
    float_attr("min", -3.40282347e+38f, 1, 10),
    float_attr("max", 3.40282347e+38f, 1, 10),
};

// Where a row is not the whole of its operator. The last row is none; Mean takes its place.
constexpr OpDef finished(OpDef def) {
  if (def.name == "DivideBy") def.name = "Mean", def.since = 1, def.attrs = {};
  if (is_variadic(def.name)) def.min_inputs = 1, def.max_inputs = -1;
  if (def.name == "Clip") def.min_inputs = 1, def.attrs = clip_attrs, def.upgrade = upgrade_clip;
  if (def.name == "Where") def.infer = infer_where, def.reference = where_reference;
  if (def.name == "Equal") def.reference = equal_reference;
  return def;
}

constexpr OpDef defs[] = {
#define ROW(row, first, arity, ...)           \
  finished({.name = #row,                     \
            .since = first,                   \
            .min_inputs = arity,              \
            .max_inputs = arity,              \
            .attrs = math::rows::row::kAttrs, \
            .infer = infer,                   \
            .reference = reference}),
#include "ops/pointwise.def"
#undef ROW
};

std::vector<PointwiseOp> make_rows() {
  std::vector<PointwiseOp> rows = {
#define ROW(row, first, arity, elements, result, attributes, ...)                                              \
  {#row,         first,  arity, Elements::elements, Result::result == Result::ToBool, math::rows::row::kAttrs, \
   #__VA_ARGS__, nullptr},
#include "ops/pointwise.def"
#undef ROW
  };
  for (size_t i = 0; i < rows.size(); ++i) rows[i].f32 = row_function<float>(i);
  return rows;
}

}  // namespace

std::span<const PointwiseOp> pointwise_rows() {
  static const std::vector<PointwiseOp> rows = make_rows();
  return rows;
}

const PointwiseOp* find_pointwise(std::string_view name) {
  std::span<const PointwiseOp> rows = pointwise_rows(), sorted = rows.first(rows.size() - 1);
  if (name == rows.back().name) return &rows.back();
  auto it = std::ranges::lower_bound(sorted, name, {}, &PointwiseOp::name);
  return it != sorted.end() && it->name == name ? &*it : nullptr;
}

std::vector<float> row_attrs(const PointwiseOp& row, const Node& n) {
  std::vector<float> values;
  for (const AttrDef& a : row.attrs) {
    if (a.type == AttrType::Float)
      values.push_back(n.f(a.name));
    else if (a.type == AttrType::Int)
      values.push_back(static_cast<float>(n.i(a.name)));
    else
      values.push_back(n.s(a.name) == "tanh" || n.s(a.name) == "LEFT" ? 1.0f : 0.0f);
  }
  return values;
}

int add_steps(ir::Program& program, const Node& n, std::span<const int> args) {
  auto add = [&](std::string_view op, std::vector<int> registers, std::vector<float> attrs = {}) {
    program.steps.push_back({std::string(op), std::move(registers), std::move(attrs)});
    return program.result();
  };
  if (!n.domain.empty()) return -1;
  if (n.op == "Clip") {
    int low = args.size() > 1 ? args[1] : -1, high = args.size() > 2 ? args[2] : -1;
    if (low >= 0 && high >= 0) return add("Clip", {args[0], low, high});
    return low >= 0 ? add("Max", {args[0], low}) : high >= 0 ? add("Min", {args[0], high}) : args[0];
  }
  if (is_variadic(n.op)) {
    int total = args[0];
    for (int arg : args.subspan(1)) total = add(n.op == "Mean" ? "Sum" : n.op, {total, arg});
    return n.op == "Mean" && args.size() > 1 ? add("DivideBy", {total}, {static_cast<float>(args.size())}) : total;
  }
  const PointwiseOp* row = find_pointwise(n.op);
  return row ? add(n.op, {args.begin(), args.end()}, row_attrs(*row, n)) : -1;
}

std::span<const OpDef> pointwise_ops() { return defs; }

}  // namespace hf::ops

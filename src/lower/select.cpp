// ArgMax, ArgMin, Hardmax and TopK.
#include "kernel/arg_reduce.h"
#include "kernel/topk.h"
#include "lower/renumber.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

// The float or integer type that a kernel is to read; false if none can.
bool set_type(const Request& r, kernel::ArgReduceProblem& p) {
  const DType in = r.stored_input(0);
  if (is_float_element(in)) p.in = element_of(in);
  if (in == DType::I32 || in == DType::I64) p.integer_bits = in == DType::I32 ? 32 : 64;
  return p.integer_bits || is_float_element(in);
}

}  // namespace

Answer lower_arg_reduce(const Request& r) {
  if (auto refusal = refused_size(r)) return *refusal;
  const Dims d = r.dims(0);
  const int rank = d.rank(), axis = rank ? normalize_axis(r.node.i("axis"), rank) : 0;
  kernel::ArgReduceProblem p{.greatest = r.node.op == "ArgMax", .last = r.node.i("select_last_index") != 0};
  if (!set_type(r, p)) return Refusal{fmt::format("it is of {}", name(r.stored_input(0)))};
  if (rank) p.outer = d.count(0, axis), p.axis = d[axis], p.inner = d.count(axis + 1, rank);
  Lowered l;
  l.inputs = {r.rows(0)};
  l.outputs = {r.out_rows()};
  if (r.is_channels_last(0) && axis == 1) {
    const DeviceLayout& now = *device_layout(r.layouts[0]);
    p.outer *= p.inner, p.inner = 1, p.pitch = now.pitch;
    l.inputs = {device_channels_last(d, now.stored, now.pitch)};
  }
  l.launches = {kernel::arg_reduce(p, r.target)};
  l.text = "arg reduce " + l.launches[0][0].variant;
  return l;
}

Answer lower_hardmax(const Request& r) {
  if (auto refusal = refused_size(r)) return *refusal;
  if (!is_float_element(r.stored_input(0))) return Refusal{fmt::format("it is of {}", name(r.stored_input(0)))};
  const Dims d = r.dims(0);
  const int rank = d.rank(), axis = rank ? normalize_axis(r.node.i("axis"), rank) : 0;
  const bool flatten = r.node.has("flatten");
  kernel::ArgReduceProblem p{
      .one_hot = true, .in = element_of(r.stored_input(0)), .out = element_of(r.stored_output())};
  if (rank) p.outer = d.count(0, axis), p.axis = flatten ? d.count(axis, rank) : d[axis];
  if (rank && !flatten) p.inner = d.count(axis + 1, rank);
  Lowered l;
  l.inputs = {r.rows(0)};
  l.outputs = {r.out_rows()};
  l.launches = {kernel::arg_reduce(p, r.target)};
  l.text = "hardmax " + l.launches[0][0].variant;
  return l;
}

Answer lower_topk(const Request& r) {
  if (auto refusal = refused_size(r)) return *refusal;
  if (!r.constant(1)) return Refusal{"K is no constant"};
  const Dims d = r.dims(0);
  const int axis = normalize_axis(r.node.i("axis"), d.rank());
  const DType in = r.stored_input(0);
  if (!is_float_element(in) && in != DType::I32) return Refusal{fmt::format("it is of {}", name(in))};
  kernel::TopKProblem p{.rows = d.count() / d[axis],
                        .axis = d[axis],
                        .inner = d.count(axis + 1, d.rank()),
                        .greatest = r.node.i("largest") != 0,
                        .int32 = in == DType::I32,
                        .values = r.wants(0),
                        .indices = r.wants(1)};
  Lowered l;
  l.outputs.resize(r.node.outputs().size());
  std::vector<int> outputs;
  for (int o : {0, 1}) {
    if (!r.wants(o)) continue;
    p.k = r.out_dims(o)[axis];
    outputs.push_back(o);
    l.outputs[static_cast<size_t>(o)] = r.out_rows(o);
  }
  if (!p.int32) p.in = element_of(in);
  if (!p.int32 && p.values) p.out = element_of(r.stored_output());
  l.inputs = {r.rows(0), {}};
  l.absorbed = {false, true};
  l.launches = kernel::topk(p, r.target);
  renumber(l.launches, {0}, outputs);
  l.text = fmt::format("topk, {} launches", l.launches.size());
  return l;
}

}  // namespace hf::lower

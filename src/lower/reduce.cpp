// The Reduce operators and the global pools.
#include "kernel/reduce.h"

#include <algorithm>

#include "lower/renumber.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

using kernel::ReduceAxis;
using kernel::ReduceOp;
using kernel::ReduceProblem;

constexpr std::pair<std::string_view, ReduceOp> kOps[] = {{"GlobalAveragePool", ReduceOp::Mean},
                                                          {"GlobalMaxPool", ReduceOp::Max},
                                                          {"ReduceL1", ReduceOp::L1},
                                                          {"ReduceL2", ReduceOp::L2},
                                                          {"ReduceLogSum", ReduceOp::LogSum},
                                                          {"ReduceLogSumExp", ReduceOp::LogSumExp},
                                                          {"ReduceMax", ReduceOp::Max},
                                                          {"ReduceMean", ReduceOp::Mean},
                                                          {"ReduceMin", ReduceOp::Min},
                                                          {"ReduceProd", ReduceOp::Prod},
                                                          {"ReduceSum", ReduceOp::Sum},
                                                          {"ReduceSumSquare", ReduceOp::SumSquare}};

bool is_exact(ReduceOp op) {
  return op == ReduceOp::Sum || op == ReduceOp::Max || op == ReduceOp::Min || op == ReduceOp::Prod ||
         op == ReduceOp::L1 || op == ReduceOp::SumSquare;
}

// The channels-last input as it lies: its axes in the order of memory. The result, which has them in that order too, is
// row-major where channels or positions are gone, else channels last if that has no padding. False: neither.
bool in_memory_order(const Request& r, const std::vector<bool>& reduced, ReduceProblem& p, Lowered& l) {
  const Dims d = r.dims(0);
  const DeviceLayout& now = *device_layout(r.layouts[0]);
  bool positions = false;
  for (int i = 2; i < d.rank(); ++i) positions |= !reduced[static_cast<size_t>(i)] && d[i] > 1;
  const bool both = !reduced[1] && positions;
  if (both && (d[1] % kChannelMultiple || r.out_dims().rank() != d.rank() || r.node.epilogue)) return false;
  std::rotate(p.axes.begin() + 1, p.axes.begin() + 2, p.axes.end());
  p.pitch = now.pitch;
  l.inputs[0] = device_channels_last(d, now.stored, now.pitch);
  if (both) l.outputs[0] = device_channels_last(r.out_dims(), r.stored_output());
  return true;
}

Answer lower(const Request& r, ReduceOp op, const std::vector<bool>& reduced) {
  ReduceProblem p{.op = op};
  const DType in = r.stored_input(0), out = r.stored_output();
  if (is_float_element(in) && is_float_element(out)) {
    p.in = element_of(in), p.out = element_of(out);
  } else if ((in == DType::I32 || in == DType::I64) && out == in && is_exact(p.op) && !r.node.epilogue) {
    p.integer_bits = in == DType::I32 ? 32 : 64;
  } else {
    return Refusal{fmt::format("it is of {}", name(in))};
  }
  const Dims d = r.dims(0);
  for (int i = 0; i < d.rank(); ++i) p.axes.push_back({d[i], reduced[static_cast<size_t>(i)]});
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  auto epilogue = epilogue_of(r, false, l.inputs);
  if (auto* refusal = std::get_if<Refusal>(&epilogue)) return *refusal;
  p.epilogue = std::get<kernel::Epilogue>(std::move(epilogue));
  p.last = r.out_dims().rank() ? r.out_dims().back() : 1;
  l.inputs[0] = r.rows(0);
  l.outputs = {r.out_rows()};
  if (r.is_channels_last(0)) in_memory_order(r, reduced, p, l);
  l.absorbed = {false, r.constant(1) != nullptr};  // the axes
  l.absorbed.resize(static_cast<size_t>(r.node.own_inputs()));
  l.launches = kernel::reduce(p, r.target);
  renumber(l.launches, with_operands(r, {0}));
  l.text = "reduce";
  for (const kernel::Candidates& c : l.launches) l.text += " " + c[0].variant;
  return l;
}

}  // namespace

Answer lower_reduce(const Request& r) {
  const Dims d = r.dims(0);
  if (d.count() == 0) return Refusal{"no elements"};
  if (d.count() > INT32_MAX / 2) return Refusal{fmt::format("{} elements", d.count())};
  std::vector<int64_t> axes;
  if (r.has(1) && r.dims(1).count() > 0) {
    auto given = r.constant_ints(1);
    if (!given) return Refusal{"the axes are no constant"};
    axes = *given;
  }
  std::vector<bool> reduced(static_cast<size_t>(d.rank()), axes.empty() && r.node.i("noop_with_empty_axes") == 0);
  for (int64_t a : axes) reduced[static_cast<size_t>(normalize_axis(a, d.rank()))] = true;
  auto op = std::find_if(std::begin(kOps), std::end(kOps), [&](auto& o) { return o.first == r.node.op; });
  check(op != std::end(kOps), "a Reduce operator is in the table");
  return lower(r, op->second, reduced);
}

Answer lower_global_pool(const Request& r) {
  if (auto refusal = refused_size(r)) return *refusal;
  std::vector<bool> reduced(static_cast<size_t>(r.dims(0).rank()), true);
  reduced[0] = reduced[1] = false;
  if (r.node.op == "GlobalAveragePool") return lower(r, ReduceOp::Mean, reduced);
  if (r.node.op == "GlobalMaxPool") return lower(r, ReduceOp::Max, reduced);
  const int64_t p = r.node.i("p");
  if (p != 1 && p != 2) return Refusal{fmt::format("p is {}", p)};
  return lower(r, p == 1 ? ReduceOp::L1 : ReduceOp::L2, reduced);
}

}  // namespace hf::lower

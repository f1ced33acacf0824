// What lowerings ask of a node.
#include <algorithm>

#include "lower/lowering.h"

namespace hf::lower {
namespace {

// Operators whose results leave float16's range or precision where their inputs do not.
constexpr std::string_view kWide[] = {
    "CumProd",      "CumSum",          "Exp",        "Pow",       "ReduceL1",       "ReduceL2",
    "ReduceLogSum", "ReduceLogSumExp", "ReduceProd", "ReduceSum", "ReduceSumSquare"};

bool is_wide(std::string_view op) { return std::find(std::begin(kWide), std::end(kWide), op) != std::end(kWide); }

bool squares(const ir::Step& s) { return s.op == "Mul" && s.args.size() == 2 && s.args[0] == s.args[1]; }

bool is_wide(const ir::Node& n) {
  if (n.epilogue && !n.epilogue->steps.empty()) {
    const ir::Step& last = n.epilogue->steps.back();
    return is_wide(last.op) || squares(last);
  }
  return is_wide(n.op) || (n.op == "Mul" && n.input(0) == n.input(1));
}

}  // namespace

std::optional<std::vector<int64_t>> Request::constant_ints(int i) const {
  const Tensor* t = constant(i);
  if (!t) return std::nullopt;
  if (t->dtype() == DType::I64) return std::vector<int64_t>(t->data<int64_t>(), t->data<int64_t>() + t->size());
  if (t->dtype() == DType::I32) return std::vector<int64_t>(t->data<int32_t>(), t->data<int32_t>() + t->size());
  return std::nullopt;
}

DType Request::stored_input(int i) const {
  const DeviceLayout* l =
      i < static_cast<int>(layouts.size()) ? device_layout(layouts[static_cast<size_t>(i)]) : nullptr;
  return l ? l->stored : stored(dtype(i));
}

DType Request::stored_output(int i) const {
  DType dtype = node.output(i)->dtype;
  return dtype == DType::F32 && i == 0 && is_wide(node) ? DType::F32 : stored(dtype);
}

bool Request::is_channels_last(int i) const {
  const DeviceLayout* l =
      i < static_cast<int>(layouts.size()) ? device_layout(layouts[static_cast<size_t>(i)]) : nullptr;
  return l && l->channels_last();
}

bool Request::empty() const {
  auto none = [](const ir::Value* v) { return v && v->shape.get().count() == 0; };
  return std::any_of(node.inputs().begin(), node.inputs().end(), none) ||
         std::any_of(node.outputs().begin(), node.outputs().end(), none);
}

}  // namespace hf::lower

// What changed before opset 7 (ONNX's Changelog): broadcast attributes, test modes, and a few operators altogether.
#include "load/legacy.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "ops/op.h"

namespace hf::load {
namespace {

// Operators whose earlier forms are not handled: the first opset whose form reads as today's.
struct Changed {
  std::string_view op;
  int since;
};
constexpr Changed kChanged[] = {
    {"Cast", 6}, {"Concat", 4},  {"GRU", 3},   {"GlobalLpPool", 2}, {"LpPool", 2},
    {"Pad", 2},  {"Reshape", 5}, {"Split", 2}, {"Tile", 6},         {"Upsample", 7},
};

// Attributes that say nothing about the result, or only what outputs are there.
constexpr std::string_view kDropped[] = {"consumed_inputs", "output_sequence"};

constexpr std::string_view kBroadcasting[] = {"Add",  "And", "Div", "Equal", "Gemm", "Greater",
                                              "Less", "Mul", "Or",  "Pow",   "Sub",  "Xor"};

bool take_int(ir::Node& n, const char* attr, int64_t& value) {
  auto it = n.attrs.find(attr);
  if (it == n.attrs.end()) return false;
  const auto* given = std::get_if<int64_t>(&it->second);
  if (!given) fail(Code::InvalidModel, "attribute '{}' is no int", attr);
  value = *given;
  n.attrs.erase(it);
  return true;
}

// Makes the dims of input 1 those of input 0 from `axis` on, by ones at its end.
void align(ir::Graph& g, ir::Node& n, int64_t axis) {
  const ir::Value *a = n.input(0), *b = n.input(1);
  if (!a || !b) fail(Code::InvalidModel, "an input is missing");
  if (!a->shape.ranked() || !b->shape.ranked())
    fail(Code::Unsupported,
         "broadcasting as before opset 7 needs inputs of declared rank: convert the model to opset 7");
  int rank = a->shape.rank(), own = b->shape.rank();
  if (axis < 0) axis += rank;
  int64_t ones = rank - axis - own;
  if (axis < 0 || ones < 0) fail(Code::InvalidModel, "axis {} does not fit ranks {} and {}", axis, rank, own);
  if (ones == 0) return;
  std::vector<int64_t> axes(static_cast<size_t>(ones));
  std::iota(axes.begin(), axes.end(), own);
  ir::Value* at = g.add_constant(n.name + "_axes", Tensor::ints(axes));
  g.set_input(&n, 1, ops::add_op(g, "Unsqueeze", {n.input(1), at}, {}, 1, &n)->output());
}

void align_broadcast(ir::Graph& g, ir::Node& n) {
  int64_t broadcast = 0, axis = 0;
  take_int(n, "broadcast", broadcast);
  bool placed = take_int(n, "axis", axis);
  if (broadcast && placed) align(g, n, axis);  // without an axis the last dims match, as today
}

// A slope for each channel has the shape [C]; for all, [1].
void align_slope(ir::Graph& g, ir::Node& n) {
  const ir::Value* slope = n.input(1);
  if (slope && slope->shape.is_static() && slope->shape.count() == 1) return;
  if (slope && slope->shape.ranked() && slope->shape.rank() != 1) return;
  align(g, n, 1);
}

void expect_test_mode(ir::Node& n) {
  int64_t is_test = 0;
  take_int(n, "is_test", is_test);
  if (is_test == 0) fail(Code::Unsupported, "{} in training mode (is_test = 0)", n.op);
}

}  // namespace

void modernize(ir::Graph& g, ir::Node& n, int opset) {
  auto where = context([&] { return "node " + n.text(); });
  for (const Changed& c : kChanged)
    if (n.op == c.op && opset < c.since)
      fail(Code::Unsupported, "operator {} in its form of opset {}: convert the model to a newer opset", n.op, opset);
  for (std::string_view attr : kDropped) n.attrs.erase(std::string(attr));
  if (std::find(std::begin(kBroadcasting), std::end(kBroadcasting), n.op) != std::end(kBroadcasting))
    align_broadcast(g, n);
  if (n.op == "PRelu") align_slope(g, n);
  if (n.op == "BatchNormalization" || n.op == "Dropout") expect_test_mode(n);
}

}  // namespace hf::load

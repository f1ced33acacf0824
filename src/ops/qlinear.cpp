// com.microsoft's operators on quantised tensors, as what they stand for: dequantise, compute, quantise.
#include <algorithm>

#include "ops/unfuse.h"

namespace hf::ops {
namespace {

// Where a quantised tensor has its parts among the inputs.
ir::Value* dequantized(ir::Graph& g, Node& n, int at) {
  return add_before(g, n, "DequantizeLinear", {n.input(at), n.input(at + 1), n.input(at + 2)});
}

// n becomes the quantisation of x by the scale and zero point at inputs `at` and `at` + 1. Without zero point: to x's
// type that uint8 is the default of.
void quantize_by(ir::Graph& g, Node& n, ir::Value* x, int at) {
  follow_with(g, n, "QuantizeLinear", {x, n.input(at), n.input(at + 1)});
}

ir::Attrs take_attrs(Node& n, std::initializer_list<std::string_view> dropped) {
  ir::Attrs attrs = std::move(n.attrs);
  n.attrs.clear();
  for (std::string_view name : dropped)
    if (auto it = attrs.find(name); it != attrs.end()) attrs.erase(it);
  return attrs;
}

void refuse_channels_last(const Node& n) {
  if (n.has("channels_last") && n.i("channels_last") != 0) fail(Code::Unsupported, "channels_last of {}", n.op);
}

// (a, b) as two quantised tensors, then the result's scale and zero point.
void binary(ir::Graph& g, Node& n, int) {
  ir::Value* y =
      add_before(g, n, n.is("QLinearAdd", n.domain) ? "Add" : "Mul", {dequantized(g, n, 0), dequantized(g, n, 3)});
  quantize_by(g, n, y, 6);
}

// One quantised tensor, then the result's scale and zero point: QLinearX is X in between (of an opset that it may
// name).
void unary(ir::Graph& g, Node& n, int) {
  refuse_channels_last(n);
  const int opset = n.has("opset") ? static_cast<int>(std::clamp<int64_t>(n.i("opset"), 1, kNewest - 1)) : kNewest - 1;
  ir::Attrs attrs = take_attrs(n, {"channels_last", "opset"});
  quantize_by(g, n, add_before(g, n, n.op.substr(7), {dequantized(g, n, 0)}, std::move(attrs), 1, opset), 3);
}

// The result's scale and zero point, then quantised tensors.
void concat(ir::Graph& g, Node& n, int) {
  if (n.own_inputs() % 3 != 2) fail(Code::InvalidModel, "{} inputs, wanted 2 and 3 for each tensor", n.own_inputs());
  std::vector<ir::Value*> parts;
  for (int i = 2; i < n.own_inputs(); i += 3) parts.push_back(dequantized(g, n, i));
  quantize_by(g, n, add_before(g, n, "Concat", parts, take_attrs(n, {})), 0);
}

// (a, b) as two quantised tensors, c in int32 by the product of their scales and alpha, the result's scale and zero
// point.
void gemm(ir::Graph& g, Node& n, int) {
  const float alpha = n.f("alpha");
  const ir::Attrs by_column = {{"axis", n.i("transB") != 0 ? int64_t{0} : int64_t{1}}};
  std::vector<ir::Value*> inputs = {
      dequantized(g, n, 0), add_before(g, n, "DequantizeLinear", {n.input(3), n.input(4), n.input(5)}, by_column)};
  if (n.input(6)) {
    ir::Value* scale = add_before(g, n, "Mul", {n.input(1), n.input(4)});
    scale = add_before(g, n, "Mul", {scale, g.add_constant(n.name + "/alpha", Tensor::scalar(alpha))});
    ir::Value* c = add_before(g, n, "Cast", {n.input(6)}, {{"to", static_cast<int64_t>(DType::F32)}});
    inputs.push_back(add_before(g, n, "Mul", {c, scale}));
  }
  ir::Attrs attrs = take_attrs(n, {});
  if (!n.input(7)) return follow_with(g, n, "Gemm", inputs, std::move(attrs));
  quantize_by(g, n, add_before(g, n, "Gemm", inputs, std::move(attrs)), 7);
}

// n becomes float(product) * scale + bias.
void scale_product(ir::Graph& g, Node& n, ir::Value* product, ir::Value* scale, ir::Value* bias) {
  ir::Value* y = add_before(g, n, "Cast", {product}, {{"to", static_cast<int64_t>(DType::F32)}});
  if (!bias) return follow_with(g, n, "Mul", {y, scale});
  follow_with(g, n, "Add", {add_before(g, n, "Mul", {y, scale}), bias});
}

// (a, b, a scale, b scale, a zero point, b zero point, bias)
void integer_to_float(ir::Graph& g, Node& n, int) {
  ir::Value* product = add_before(g, n, "MatMulInteger", {n.input(0), n.input(1), n.input(4), n.input(5)});
  scale_product(g, n, product, add_before(g, n, "Mul", {n.input(2), n.input(3)}), n.input(6));
}

// (a, b, b scale, b zero point, bias): a is quantised by its own range.
void dynamic_matmul(ir::Graph& g, Node& n, int) {
  Node* q = add_before(g, n, "DynamicQuantizeLinear", {n.input(0)}, {}, 3)->producer();
  ir::Value* product = add_before(g, n, "MatMulInteger", {q->output(0), n.input(1), q->output(2), n.input(3)});
  scale_product(g, n, product, add_before(g, n, "Mul", {q->output(1), n.input(2)}), n.input(4));
}

// The same operator in ONNX's own domain.
void standard(ir::Graph& g, Node& n, int) {
  n.domain = "";
  bind(g, n, kNewest - 1);
}

constexpr AttrDef leaky_attrs[] = {float_attr("alpha", 0.01f)};
constexpr AttrDef axis_attrs[] = {required_attr("axis", AttrType::Int)};
constexpr AttrDef softmax_attrs[] = {int_attr("axis", -1), optional_attr("opset", AttrType::Int)};
constexpr AttrDef global_attrs[] = {int_attr("channels_last", 0)};
constexpr AttrDef gemm_attrs[] = {float_attr("alpha", 1), int_attr("transA", 0), int_attr("transB", 0)};
constexpr AttrDef quantize_attrs[] = {
    optional_attr("axis", AttrType::Int),
    optional_attr("block_size", AttrType::Int),
    optional_attr("output_dtype", AttrType::Int),
    optional_attr("saturate", AttrType::Int),
};
constexpr AttrDef pool_attrs[] = {
    string_attr("auto_pad", "NOTSET"),
    int_attr("ceil_mode", 0),
    int_attr("channels_last", 0),
    int_attr("count_include_pad", 0),
    required_attr("kernel_shape", AttrType::Ints),
    optional_attr("pads", AttrType::Ints),
    optional_attr("strides", AttrType::Ints),
};

constexpr std::string_view kDomain = "com.microsoft";
constexpr OpDef defs[] = {
    {.name = "DequantizeLinear",
     .domain = kDomain,
     .min_inputs = 2,
     .max_inputs = 3,
     .attrs = quantize_attrs,
     .upgrade = standard},
    {.name = "DynamicQuantizeMatMul", .domain = kDomain, .min_inputs = 3, .max_inputs = 5, .upgrade = dynamic_matmul},
    {.name = "MatMulIntegerToFloat", .domain = kDomain, .min_inputs = 4, .max_inputs = 7, .upgrade = integer_to_float},
    {.name = "QGemm", .domain = kDomain, .min_inputs = 6, .max_inputs = 9, .attrs = gemm_attrs, .upgrade = gemm},
    {.name = "QLinearAdd", .domain = kDomain, .min_inputs = 2, .max_inputs = 8, .upgrade = binary},
    {.name = "QLinearAveragePool",
     .domain = kDomain,
     .min_inputs = 4,
     .max_inputs = 5,
     .attrs = pool_attrs,
     .upgrade = unary},
    {.name = "QLinearConcat",
     .domain = kDomain,
     .min_inputs = 5,
     .max_inputs = -1,
     .attrs = axis_attrs,
     .upgrade = concat},
    {.name = "QLinearGlobalAveragePool",
     .domain = kDomain,
     .min_inputs = 5,
     .max_inputs = 5,
     .attrs = global_attrs,
     .upgrade = unary},
    {.name = "QLinearLeakyRelu",
     .domain = kDomain,
     .min_inputs = 4,
     .max_inputs = 5,
     .attrs = leaky_attrs,
     .upgrade = unary},
    {.name = "QLinearMul", .domain = kDomain, .min_inputs = 2, .max_inputs = 8, .upgrade = binary},
    {.name = "QLinearSigmoid", .domain = kDomain, .min_inputs = 4, .max_inputs = 5, .upgrade = unary},
    {.name = "QLinearSoftmax",
     .domain = kDomain,
     .min_inputs = 4,
     .max_inputs = 5,
     .attrs = softmax_attrs,
     .upgrade = unary},
    {.name = "QuantizeLinear",
     .domain = kDomain,
     .min_inputs = 2,
     .max_inputs = 3,
     .attrs = quantize_attrs,
     .upgrade = standard},
};

}  // namespace

std::span<const OpDef> qlinear_ops() { return defs; }

}  // namespace hf::ops

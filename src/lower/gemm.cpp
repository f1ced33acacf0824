// Products with a constant matrix.
#include "kernel/conv.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

using kernel::Argument;
using kernel::ConvProblem;

// What the operators say of a product: factor * a * (b, perhaps turned) + beta * c, c being input 2.
struct Product {
  bool turned = false;
  float factor = 1, beta = 0;
};

// Fewer rows do not fill a matrix tile, and the time is that of reading the matrix: another kernel's.
constexpr int64_t kFewRows = 4;

// c is one number a column (or one for all) that can be packed.
bool is_bias(const Request& r, int64_t columns) {
  const Tensor* c = r.constant(2);
  if (!c || !is_float_element(c->dtype())) return false;
  return c->size() == 1 || (c->size() == columns && c->dims().back() == columns);
}

// c as the last operand of the epilogue.
void add_operand(const Request& r, float beta, int64_t rows, int64_t columns, ConvProblem& p) {
  const Dims c = r.dims(2);
  kernel::Operand o{.type = element_of(r.stored_input(2))};
  o.column_stride = c.rank() && c.back() == columns && columns > 1 ? 1 : 0;
  if (c.rank() == 2 && c[0] == rows && rows > 1) o.row_stride = o.column_stride ? columns : 1;
  kernel::Expression& e = p.epilogue.expression;
  const int i = static_cast<int>(p.epilogue.operands.size()) + 1;
  e.inputs = i + 1;
  // The program's own results are numbered from its inputs on: a block of its own lets them hide this one.
  e.body = fmt::format("r0 += {:a}f * r{};\n{{\n{}\n}}", beta, i, e.identity() ? "return r0;" : e.body);
  p.epilogue.operands.push_back(o);
  p.operand_inputs.push_back(2);
}

// Rows that are not whole vectors are copied to the workspace, in front of what the product itself wants there.
void pad_input(ConvProblem& p, Lowered& l, kernel::Candidates& product) {
  const int vec = vector_of(p.in);
  if (p.c % vec == 0) return;
  const int64_t bytes = (p.n * p.pitch * size_of(p.in) + 255) / 256 * 256;
  kernel::KernelSpec pad = kernel::pad_rows(p.n, p.c, p.pitch, p.in);
  pad.arguments[1] = Argument::workspace();
  pad.workspace_bytes = bytes;
  l.launches.push_back({pad});
  for (kernel::KernelSpec& spec : product) {
    for (Argument& a : spec.arguments) {
      if (a.kind == Argument::Kind::Workspace) a.integer += bytes;
      if (a.kind == Argument::Kind::Input && a.index == 0) a = Argument::workspace();
    }
    spec.workspace_bytes += bytes;
  }
}

std::optional<Refusal> refused(const Request& r, const Product& product) {
  const Tensor* b = r.constant(1);
  if (!b || !is_float_element(b->dtype())) return Refusal{"the matrix is no constant"};
  if (b->dims().rank() != 2 || r.dims(0).rank() < 2) return Refusal{"no product of rows with one matrix"};
  if (r.empty()) return Refusal{"no elements"};
  if (!is_float_element(r.stored_input(0)) || !is_float_element(r.stored_output()))
    return Refusal{fmt::format("a product of {}", name(r.dtype(0)))};
  if (product.beta != 0 && !is_float_element(r.stored_input(2)))
    return Refusal{fmt::format("c is {}", name(r.dtype(2)))};
  return std::nullopt;
}

Answer lower(const Request& r, const Product& product) {
  if (auto why = refused(r, product)) return *why;
  const Dims a = r.dims(0), b = r.dims(1);
  const int64_t rows = a.count(0, a.rank() - 1), depth = a.back(), columns = b[product.turned ? 0 : 1];
  if (rows <= kFewRows) return Refusal{"few rows"};
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  auto epilogue = epilogue_of(r, false, l.inputs);
  if (auto* why = std::get_if<Refusal>(&epilogue)) return *why;
  ConvProblem p{.n = rows, .c = depth, .k = columns, .out_pitch = columns};
  p.in = element_of(r.stored_input(0));
  p.out = element_of(r.stored_output());
  const int vec = vector_of(p.in);
  p.pitch = (depth + vec - 1) / vec * vec;
  p.epilogue = std::get<kernel::Epilogue>(std::move(epilogue));
  for (size_t i = 0; i < p.epilogue.operands.size(); ++i)
    p.operand_inputs.push_back(r.node.own_inputs() + static_cast<int>(i));
  p.bias = product.beta != 0 && is_bias(r, columns);
  if (product.beta != 0 && !p.bias) add_operand(r, product.beta, rows, columns, p);

  kernel::Candidates main = kernel::conv(p, r.target);
  l.text = "gemm " + main[0].variant;
  pad_input(p, l, main);
  l.launches.push_back(std::move(main));
  l.packings.resize(p.bias ? 2 : 1);
  Packing& weights = l.packings[0];
  weights.inputs = {1};
  weights.kernel = conv_weights(p, r.target,
                                {.type = element_of(r.dtype(1)),
                                 .k_stride = product.turned ? depth : 1,
                                 .c_stride = product.turned ? 1 : columns},
                                {}, product.factor, weights.bytes, weights.key);
  if (p.bias) {
    Packing& bias = l.packings[1];
    bias.inputs = {2};
    bias.kernel = conv_bias(p, r.target, element_of(r.dtype(2)), r.constant(2)->size() == 1 && columns > 1, false,
                            product.beta, bias.bytes, bias.key);
  }
  l.inputs[0] = r.rows(0);
  l.outputs = {r.out_rows()};
  l.absorbed = {false, true, p.bias};
  if (r.has(2) && !p.bias) l.inputs[2] = r.rows(2);
  return l;
}

}  // namespace

Answer lower_constant_matmul(const Request& r) {
  if (r.node.op == "MatMul") return lower(r, {});
  for (const char* attribute : {"transA", "transBatchA", "transBatchB"})
    if (r.node.i(attribute)) return Refusal{fmt::format("{} is set", attribute)};
  return lower(r, {.turned = r.node.i("transB") != 0, .factor = r.node.f("alpha")});
}

Answer lower_constant_gemm(const Request& r) {
  if (r.node.i("transA")) return Refusal{"transA is set"};
  return lower(
      r, {.turned = r.node.i("transB") != 0, .factor = r.node.f("alpha"), .beta = r.has(2) ? r.node.f("beta") : 0});
}

}  // namespace hf::lower

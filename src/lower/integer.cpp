// MatMulInteger, QLinearMatMul, ConvInteger and QLinearConv.
#include "kernel/integer_gemm.h"
#include "lower/integers.h"
#include "lower/spatial.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

using kernel::IntegerParameter;
using kernel::IntegerTypes;

// Where the node's inputs are: the operands' types and parameters.
struct Places {
  int a, b, a_zero, b_zero, a_scale, b_scale, y_scale, y_zero, bias;
};
constexpr Places kMatMulInteger = {0, 1, 2, 3, -1, -1, -1, -1, -1}, kConvInteger = kMatMulInteger;
constexpr Places kQLinearMatMul = {0, 3, 2, 5, 1, 4, 6, 7, -1}, kQLinearConv = {0, 3, 2, 5, 1, 4, 6, 7, 8};

// A parameter that is one value, or one for each of `count`; a reason in `why` if it is neither.
IntegerParameter parameter(const Request& r, int i, int64_t count, std::string& why) {
  if (i < 0 || !r.has(i)) return {};
  const int64_t values = r.dims(i).count();
  if (values != 1 && values != count) why = fmt::format("a parameter of shape {}", r.dims(i).text());
  return {i, values != 1};
}

// Types and parameters with `rows` and `columns` values. A reason in `why` if no kernel has them.
IntegerTypes types_of(const Request& r, const Places& at, int64_t rows, int64_t columns, std::string& why) {
  const auto a = integer_of(r.dtype(at.a)), b = integer_of(r.dtype(at.b)), out = integer_of(r.node.output(0)->dtype);
  if (!a || !b || !out || size_of(*a) != 1 || size_of(*b) != 1 || (at.y_scale >= 0 && size_of(*out) != 1)) {
    why = fmt::format("{} by {}", name(r.dtype(at.a)), name(r.dtype(at.b)));
    return {};
  }
  IntegerTypes t{.a = *a, .b = *b, .out = *out, .a_input = at.a, .b_input = at.b};
  t.a_zero = parameter(r, at.a_zero, rows, why), t.b_zero = parameter(r, at.b_zero, columns, why);
  t.a_scale = parameter(r, at.a_scale, rows, why), t.b_scale = parameter(r, at.b_scale, columns, why);
  t.y_scale = parameter(r, at.y_scale, 1, why), t.y_zero = parameter(r, at.y_zero, 1, why);
  t.bias = parameter(r, at.bias, columns, why);
  for (const IntegerParameter& scale : {t.a_scale, t.b_scale, t.y_scale})
    if (scale.input >= 0 && r.dtype(scale.input) != DType::F32)
      why = fmt::format("a scale of {}", name(r.dtype(scale.input)));
  return t;
}

// All inputs row-major, in the model's own types.
Lowered launch(const Request& r, kernel::Candidates candidates) {
  Lowered l;
  l.text = fmt::format("{} {}", candidates[0].family, candidates[0].variant);
  l.launches = {std::move(candidates)};
  l.inputs.resize(r.node.inputs().size());
  for (int i = 0; i < r.node.own_inputs(); ++i)
    if (r.has(i)) l.inputs[static_cast<size_t>(i)] = device_rows(r.dims(i), r.dtype(i));
  l.outputs = {device_rows(r.out_dims(), r.node.output(0)->dtype)};
  return l;
}

}  // namespace

Answer lower_integer_matmul(const Request& r) {
  const Places& at = r.node.op == "MatMulInteger" ? kMatMulInteger : kQLinearMatMul;
  const Dims a = r.dims(at.a), b = r.dims(at.b);
  if (r.empty()) return Refusal{"a tensor without elements"};
  if (a.rank() < 2 || b.rank() < 2) return Refusal{"an integer product with a vector"};
  kernel::IntegerGemmProblem p{.m = a[a.rank() - 2], .n = b.back(), .k = a.back()};
  if (b.count(0, b.rank() - 2) == 1) {
    p.m = a.count(0, a.rank() - 1);  // rows of all products
  } else {
    if (a.rank() != b.rank() || a.count(0, a.rank() - 2) != b.count(0, b.rank() - 2))
      return Refusal{fmt::format("an integer product of {} and {}", a.text(), b.text())};
    for (int i = 0; i + 2 < a.rank(); ++i)
      if (a[i] != b[i]) return Refusal{fmt::format("an integer product of {} and {}", a.text(), b.text())};
    p.batch = a.count(0, a.rank() - 2);
    p.a_batch = p.m * p.k;
    p.b_batch = p.k * p.n;
  }
  std::string why;
  p.types = types_of(r, at, a.rank() == 2 ? p.m : 1, p.n, why);
  if (!why.empty()) return Refusal{why};
  return launch(r, kernel::integer_gemm(p, r.target));
}

Answer lower_integer_conv(const Request& r) {
  const Places& at = r.node.op == "ConvInteger" ? kConvInteger : kQLinearConv;
  const Dims x = r.dims(at.a), w = r.dims(at.b);
  if (r.empty()) return Refusal{"a tensor without elements"};
  if (x.rank() > 5) return Refusal{fmt::format("a convolution of {} axes", x.rank() - 2)};
  const auto axes = spatial_axes(ops::window_of(r.node, spatial_extents(x), spatial_extents(w)));
  const int64_t groups = r.node.i("group");
  kernel::IntegerConvProblem p{
      .batch = x[0], .groups = groups, .channels = w[1], .filters = w[0] / groups, .axes = {axes[0], axes[1], axes[2]}};
  std::string why;
  p.types = types_of(r, at, 1, w[0], why);
  if (!why.empty()) return Refusal{why};
  return launch(r, kernel::integer_conv(p, r.target));
}

}  // namespace hf::lower

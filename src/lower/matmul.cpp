// MatMul, FusedMatMul and Gemm of operands that both are known at run time only, or that no other row takes.
#include <algorithm>

#include "kernel/batched_gemm.h"
#include "lower/table.h"

namespace hf::lower {
namespace {

using kernel::BatchAxis;
using kernel::BatchedGemmProblem;

// Extents and strides of one operand with its matrix axes last.
struct Operand {
  Dims dims, strides;

  Operand(const Dims& of, bool turned, bool batch_inside) : dims(of), strides(of.strides()) {
    int rank = of.rank();
    // The rows' axis comes before those of the batch: [rows, batch..., columns].
    if (batch_inside && rank > 2)
      for (Dims* d : {&dims, &strides}) std::rotate(d->begin(), d->begin() + 1, d->end() - 1);
    if (turned && rank > 1)
      for (Dims* d : {&dims, &strides}) std::swap((*d)[rank - 1], (*d)[rank - 2]);
  }
  // Of the batch's axis i of `rank` in the result; repeated ones have stride 0.
  int64_t batch_stride(int i, int rank) const {
    int at = i - rank + std::max(dims.rank() - 2, 0);
    return at < 0 || dims[at] == 1 ? 0 : strides[at];
  }
};

// One axis in the place of two that follow each other in both operands, and rows in the place of products that share b.
void collapse(BatchedGemmProblem& p) {
  std::vector<BatchAxis> axes;
  for (const BatchAxis& axis : p.batch) {
    if (axis.extent == 1) continue;
    if (!axes.empty() && axes.back().a == axis.a * axis.extent && axes.back().b == axis.b * axis.extent)
      axes.back() = {axes.back().extent * axis.extent, axis.a, axis.b};
    else
      axes.push_back(axis);
  }
  while (!axes.empty() && axes.back().b == 0 && axes.back().a == p.m * p.a_row) {
    p.m *= axes.back().extent;
    axes.pop_back();
  }
  p.batch = std::move(axes);
}

BatchedGemmProblem problem(const Request& r, const Operand& a, const Operand& b) {
  int ra = a.dims.rank(), rb = b.dims.rank(), batch = std::max({ra, rb, 2}) - 2;
  BatchedGemmProblem p;
  p.m = ra > 1 ? a.dims[ra - 2] : 1;
  p.k = a.dims.back();
  p.n = rb > 1 ? b.dims[rb - 1] : 1;
  p.a_row = ra > 1 ? a.strides[ra - 2] : p.k;
  p.a_col = a.strides.back();
  p.b_row = rb > 1 ? b.strides[rb - 2] : 1;
  p.b_col = rb > 1 ? b.strides[rb - 1] : p.k;
  for (int i = 0; i < batch; ++i) {
    auto extent = [&](const Operand& o) {
      int at = i - batch + std::max(o.dims.rank() - 2, 0);
      return at < 0 ? int64_t{1} : o.dims[at];
    };
    p.batch.push_back({std::max(extent(a), extent(b)), a.batch_stride(i, batch), b.batch_stride(i, batch)});
  }
  collapse(p);
  p.a = element_of(r.stored_input(0));
  p.b = element_of(r.stored_input(1));
  p.out = element_of(r.stored_output());
  return p;
}

Answer lower(const Request& r, BatchedGemmProblem p, bool vectors) {
  if (vectors && r.node.epilogue) return Refusal{"the epilogue of a product with a vector"};
  Lowered l;
  l.inputs.resize(r.node.inputs().size());
  l.outputs = {r.out_rows()};
  for (int i = 0; i < r.node.own_inputs(); ++i)
    if (r.has(i)) l.inputs[static_cast<size_t>(i)] = r.rows(i);
  auto epilogue = epilogue_of(r, false, l.inputs);
  if (auto* refusal = std::get_if<Refusal>(&epilogue)) return *refusal;
  p.epilogue = std::get<kernel::Epilogue>(std::move(epilogue));
  l.text = fmt::format("batched gemm {}x{}x{}", p.m, p.n, p.k);
  l.launches.push_back(kernel::batched_gemm(p, r.target));
  // The epilogue's operands are the inputs after the node's own, which the kernel counts from its own last one.
  int own = 2 + static_cast<int>(p.bias.size()), shift = r.node.own_inputs() - own;
  for (kernel::KernelSpec& spec : l.launches[0])
    for (kernel::Argument& a : spec.arguments)
      if (a.kind == kernel::Argument::Kind::Input && a.index >= own) a.index += shift;
  return l;
}

std::optional<Refusal> refused(const Request& r) {
  if (r.empty()) return Refusal{"no elements"};
  for (int i = 0; i < r.node.own_inputs(); ++i)
    if (r.has(i) && !is_float_element(r.stored_input(i)))
      return Refusal{fmt::format("input {} is {}", i, name(r.stored_input(i)))};
  return std::nullopt;
}

}  // namespace

Answer lower_matmul(const Request& r) {
  if (auto refusal = refused(r)) return *refusal;
  bool fused = r.node.op == "FusedMatMul";
  auto flag = [&](const char* attr) { return fused && r.node.i(attr) != 0; };
  BatchedGemmProblem p = problem(r, Operand(r.dims(0), flag("transA"), flag("transBatchA")),
                                 Operand(r.dims(1), flag("transB"), flag("transBatchB")));
  if (fused) p.alpha = r.node.f("alpha");
  return lower(r, std::move(p), r.dims(0).rank() < 2 || r.dims(1).rank() < 2);
}

Answer lower_gemm(const Request& r) {
  if (auto refusal = refused(r)) return *refusal;
  BatchedGemmProblem p = problem(r, Operand(r.dims(0), r.node.i("transA") != 0, false),
                                 Operand(r.dims(1), r.node.i("transB") != 0, false));
  p.alpha = r.node.f("alpha"), p.beta = r.node.f("beta");
  if (r.has(2) && p.beta != 0) {
    Dims c = r.dims(2);
    int64_t rows = c.rank() > 1 ? c[0] : 1, columns = c.rank() ? c.back() : 1;
    p.bias = {{.type = element_of(r.stored_input(2)),
               .row_stride = rows > 1 ? columns : 0,
               .column_stride = columns > 1 ? 1 : 0}};
  }
  return lower(r, std::move(p), false);
}

}  // namespace hf::lower

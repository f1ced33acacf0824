// Batched matrix products: which kernels, in which order, and the text that they share.
#include "kernel/batched_gemm.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "kernel/batched_gemm_parts.h"

namespace hf::kernel {
namespace gemm {
namespace {

std::string replaced(std::string text, std::string_view hole, std::string_view with) {
  for (size_t at; (at = text.find(hole)) != std::string::npos;) text.replace(at, hole.size(), with);
  return text;
}

// The offsets of product `batch`. The outermost axis needs no extent, so that their number is no part of the text.
std::string batch_text(const BatchedGemmProblem& p) {
  std::string text = "DEV void batch_offsets(i64 batch, i64& a, i64& b) {\n  a = b = 0;\n";
  for (size_t i = p.batch.size(); i-- > 0;) {
    const BatchAxis& axis = p.batch[i];
    std::string at = i ? fmt::format("batch % {}", axis.extent) : "batch";
    text += fmt::format("  a += ({}) * {}ll; b += ({}) * {}ll;\n", at, axis.a, at, axis.b);
    if (i) text += fmt::format("  batch /= {};\n", axis.extent);
  }
  return text + "}\n";
}

std::string element_text(const Operand& o, size_t i) {
  return fmt::format("element<{}>::load(o.p{}[row / {} * {}ll + column * {}])", static_cast<int>(o.type), i,
                     o.row_divisor, o.row_stride, o.column_stride);
}

}  // namespace

std::string with_operands(const BatchedGemmProblem& p, const char* text) {
  std::vector<Operand> all = p.bias;
  all.insert(all.end(), p.epilogue.operands.begin(), p.epilogue.operands.end());
  std::string members, parameters, names, values;
  for (size_t i = 0; i < all.size(); ++i) {
    std::string declared = fmt::format("const element<{}>::type* p{}", static_cast<int>(all[i].type), i);
    members += "  " + declared + ";\n";
    parameters += ", " + declared;
    names += fmt::format("{}p{}", i ? ", " : "", i);
    if (i >= p.bias.size()) values += ", " + element_text(all[i], i);
  }
  std::string finish = p.bias.empty() ? "" : fmt::format("  v += {:a}f * {};\n", p.beta, element_text(all[0], 0));
  return function_text(p.epilogue.expression, "epilogue") + batch_text(p) + "struct operands {\n" + members + "};\n" +
         fmt::format(
             "DEV float finish(const operands& o, float v, i64 row, i64 column) {{\n  v *= {:a}f;\n{}"
             "  return epilogue(v{});\n}}\n",
             p.alpha, finish, values) +
         "typedef element<HF_A> ta;\ntypedef element<HF_B> tb;\ntypedef element<HF_OUT> tout;\n" +
         replaced(replaced(text, "$(parameters)", parameters), "$(operands)", names);
}

KernelSpec begin_spec(const BatchedGemmProblem& p, const char* variant, const char* text) {
  KernelSpec spec{
      .family = "batched_gemm",
      .variant = variant,
      .source = with_operands(p, text),
      .entry = "batched_gemm",
      .defines = {fmt::format("HF_A={}", static_cast<int>(p.a)), fmt::format("HF_B={}", static_cast<int>(p.b)),
                  fmt::format("HF_OUT={}", static_cast<int>(p.out)), fmt::format("HF_N={}", p.n),
                  fmt::format("HF_K={}", p.k), fmt::format("HF_A_ROW={}ll", p.a_row),
                  fmt::format("HF_A_COL={}ll", p.a_col), fmt::format("HF_B_ROW={}ll", p.b_row),
                  fmt::format("HF_B_COL={}ll", p.b_col)},
      .arguments = {Argument::input(0), Argument::input(1), Argument::output(0), Argument::int32(p.m)}};
  int operands = static_cast<int>(p.bias.size() + p.epilogue.operands.size());
  for (int i = 0; i < operands; ++i) spec.arguments.push_back(Argument::input(2 + i));
  return spec;
}

int vector_along(int64_t extent, std::initializer_list<int64_t> strides, int most) {
  auto fits = [&](int vec) {
    return extent % vec == 0 && std::all_of(strides.begin(), strides.end(), [&](int64_t s) { return s % vec == 0; });
  };
  while (most > 1 && !fits(most)) most /= 2;
  return most;
}

}  // namespace gemm

int64_t BatchedGemmProblem::batches() const {
  int64_t all = 1;
  for (const BatchAxis& axis : batch) all *= axis.extent;
  return all;
}

Candidates batched_gemm(const BatchedGemmProblem& p, const Target& target) {
  if (std::max({p.m, p.n, p.k}) > INT32_MAX / 2)
    fail(Code::Unsupported, "a product of {} x {} by {} x {}; at most {} rows and columns", p.m, p.k, p.k, p.n,
         INT32_MAX / 2);
  Candidates all;
  if (gemm::takes_skinny(p)) all.push_back(gemm::skinny(p, target));
  // Large tiles where there are enough of them to fill the device.
  int64_t large = (p.m + 127) / 128 * ((p.n + 127) / 128) * p.batches();
  bool enough = large >= target.compute_units && p.m > 64 && p.n > 64;
  if (gemm::takes_matrix(p)) {
    all.push_back(gemm::matrix(p, enough, target));
    all.push_back(gemm::matrix(p, !enough, target));
  } else {
    all.push_back(gemm::fma(p, enough ? 128 : 64));
    all.push_back(gemm::fma(p, enough ? 64 : 128));
  }
  return all;
}

}  // namespace hf::kernel

// Elementwise chains as one kernel: 16 bytes a thread and array, the steps as C text.
#include "kernel/pointwise.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;

// Expressions of v; w is the operand, A and B the step's numbers.
struct Op {
  std::string_view name, expression;
  bool binary;
};
constexpr Op kOps[] = {
    {"abs", "abs_f32(v)", false},
    {"add", "v + w", true},
    {"affine", "fma_f32(v, A, B)", false},
    {"clip", "min_f32(max_f32(v, A), B)", false},
    {"div", "v / w", true},
    {"erf", "erf_f32(v)", false},
    {"exp", "exp_f32(v)", false},
    {"gelu", "0.5f * v * (1.f + erf_f32(v * 0x1.6a09e6p-1f))", false},
    {"gelu_tanh", "0.5f * v * (1.f + tanh_f32(0x1.988454p-1f * (v + 0x1.6e4e26p-5f * v * v * v)))", false},
    {"hard_sigmoid", "min_f32(max_f32(fma_f32(v, A, B), 0.f), 1.f)", false},
    {"leaky_relu", "(v < 0 ? v * A : v)", false},
    {"log", "log_f32(v)", false},
    {"max", "max_f32(v, w)", true},
    {"min", "min_f32(v, w)", true},
    {"mul", "v * w", true},
    {"neg", "-v", false},
    {"relu", "max_f32(v, 0.f)", false},
    {"sigmoid", "sigmoid_f32(v)", false},
    {"silu", "v * sigmoid_f32(v)", false},
    {"sqrt", "sqrt_f32(v)", false},
    {"sub", "v - w", true},
    {"tanh", "tanh_f32(v)", false},
};

const Op& find(std::string_view name) {
  for (const Op& op : kOps)
    if (op.name == name) return op;
  fail(Code::Internal, "there is no pointwise op '{}'", name);
}

// All bits of the number; the text is C and C++.
std::string literal(float f) { return fmt::format("as_float({:#x}u)", std::bit_cast<uint32_t>(f)); }

// $(operands) the operands' parameters; $(load) their vectors; $(steps) the chain for element i of a vector.
const char* const kSource = R"hip(
typedef element<HF_IN> in;
typedef element<HF_OUT> out;

DEV float chain(float v$(values)) {
$(steps)  return v;
}

KERNEL(HF_THREADS, 2) pointwise(const in::type* x, out::type* y, i64 count$(operands)) {
  i64 at = ((i64)block_x() * HF_THREADS + thread_x()) * HF_VEC;
  if (at + HF_VEC <= count) {
    float v[HF_VEC], r[HF_VEC];
    pack<HF_VEC, HF_IN>::load(x + at, v);
$(vectors)    for (int i = 0; i < HF_VEC; i++) r[i] = chain(v[i]$(vector_values));
    pack<HF_VEC, HF_OUT>::store(y + at, r);
  } else {
    for (i64 i = at; i < count; i++) y[i] = out::store(chain(in::load(x[i])$(single_values)));
  }
}
)hip";

std::string fill(std::string text, std::string_view hole, std::string_view with) {
  for (size_t at; (at = text.find(hole)) != std::string::npos;) text.replace(at, hole.size(), with);
  return text;
}

std::string render(const PointwiseProblem& p, int vec) {
  std::string values, steps, operands, vectors, vector_values, single_values;
  int w = 0;
  for (const PointwiseStep& step : p.steps) {
    const Op& op = find(step.op);
    check(op.binary == (step.operand != PointwiseStep::Operand::None),
          "a pointwise step has an operand if it is binary");
    std::string expression = fill(fill(std::string(op.expression), "A", literal(step.a)), "B", literal(step.b));
    if (op.binary) {
      bool same = step.operand == PointwiseStep::Operand::Same;
      // Channels repeat within a vector unless it divides them.
      bool whole = same || p.channels % vec == 0;
      expression = fill(expression, "w", fmt::format("@{}", w));
      values += fmt::format(", float w{}", w);
      operands += fmt::format(", const in::type* p{}", w);
      if (whole)
        vectors += fmt::format("    float w{0}[HF_VEC];\n    pack<HF_VEC, HF_IN>::load(p{0} + {1}, w{0});\n", w,
                               same ? "at" : "at % HF_CHANNELS");
      else
        vectors += fmt::format(
            "    float w{0}[HF_VEC];\n    for (int i = 0; i < HF_VEC; i++) w{0}[i] = in::load(p{0}[(at + i) % "
            "HF_CHANNELS]);\n",
            w);
      vector_values += fmt::format(", w{}[i]", w);
      single_values += fmt::format(", in::load(p{}[{}])", w, same ? "i" : "i % HF_CHANNELS");
      expression = fill(expression, "@", "w");
      ++w;
    }
    steps += "  v = " + expression + ";\n";
  }
  std::string text = kSource;
  text = fill(text, "$(values)", values);
  text = fill(text, "$(steps)", steps);
  text = fill(text, "$(operands)", operands);
  text = fill(text, "$(vectors)", vectors);
  text = fill(text, "$(vector_values)", vector_values);
  return fill(text, "$(single_values)", single_values);
}

}  // namespace

Candidates pointwise(const PointwiseProblem& p, const Target&) {
  int vec = std::max(vector_of(p.in), vector_of(p.out));
  KernelSpec spec{
      .family = "pointwise",
      .variant = "vector",
      .source = render(p, vec),
      .entry = "pointwise",
      .defines = {fmt::format("HF_IN={}", static_cast<int>(p.in)), fmt::format("HF_OUT={}", static_cast<int>(p.out)),
                  fmt::format("HF_CHANNELS={}", p.channels), fmt::format("HF_THREADS={}", kThreads),
                  fmt::format("HF_VEC={}", vec)},
      .grid = {blocks_for(p.count, int64_t{kThreads} * vec), 1, 1},
      .block = {kThreads, 1, 1},
      .arguments = {Argument::input(0), Argument::output(0), Argument::int64(p.count)}};
  int operands = 0;
  for (const PointwiseStep& step : p.steps)
    if (step.operand != PointwiseStep::Operand::None) spec.arguments.push_back(Argument::input(++operands));
  return {std::move(spec)};
}

std::vector<std::string_view> pointwise_ops() {
  std::vector<std::string_view> names;
  for (const Op& op : kOps) names.push_back(op.name);
  return names;
}

}  // namespace hf::kernel

// Elementwise work, a vector of the result a thread.
#include "kernel/pointwise.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "kernel/cells.h"
#include "kernel/text.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;
constexpr int kMostElements = 8;  // of a vector: registers for each input

// $(positions) of the vector's first element; $(loads) of each input; $(values) the expression's arguments.
// HF_TAIL     the last vector may be short
// HF_INNER    the innermost extent, of which HF_VALID are values
const char* const kSource = R"hip(
typedef HF_REGISTER reg;
typedef HF_OUT out;
template <class C> DEV void load(const typename C::type* p, reg (&v)[HF_VEC], int n) {
  alignas(16) typename C::type raw[HF_VEC] = {};
  if (!HF_TAIL || n == HF_VEC) {
    move_bytes<HF_VEC * sizeof(typename C::type)>(raw, p);
  } else {
#pragma unroll
    for (int i = 0; i < HF_VEC; i++)
      if (i < n) raw[i] = p[i];
  }
#pragma unroll
  for (int i = 0; i < HF_VEC; i++) v[i] = (reg)C::value(raw[i]);
}

KERNEL(HF_THREADS, 2) pointwise($(parameters)out::type* y, HF_COUNT count) {
  const HF_COUNT at = ((HF_COUNT)block_x() * HF_THREADS + thread_x()) * HF_VEC;
  if (at >= count) return;
  const int n = HF_TAIL && count - at < HF_VEC ? (int)(count - at) : HF_VEC;
$(positions)$(loads)  alignas(16) out::type r[HF_VEC];
#pragma unroll
  for (int i = 0; i < HF_VEC; i++) {
    r[i] = out::of(expression($(values)));
$(zeros)  }
  if (!HF_TAIL || n == HF_VEC) {
    move_bytes<HF_VEC * sizeof(out::type)>(y + at, r);
  } else {
#pragma unroll
    for (int i = 0; i < HF_VEC; i++)
      if (i < n) y[at + i] = r[i];
  }
}
)hip";

// The axes as the kernel walks them: joined where they are one in all inputs.
struct Walk {
  std::vector<int64_t> extents;
  std::vector<PointwiseInput> inputs;
  int64_t valid = 0, count = 1;
  int vec = 1;
  bool by_vector = true;  // a vector never crosses the end of the innermost axis
  bool wide = false;      // offsets need 64 bits

  int64_t inner() const { return extents.back(); }
  bool padded() const { return valid != inner(); }
};

bool joins(const Walk& w, const PointwiseProblem& p, size_t axis) {
  for (size_t i = 0; i < p.inputs.size(); ++i)
    if (w.inputs[i].strides.back() != p.inputs[i].strides[axis] * p.extents[axis]) return false;
  return !w.extents.empty();
}

Walk walk_of(const PointwiseProblem& p) {
  Walk w;
  w.inputs = p.inputs;
  for (PointwiseInput& in : w.inputs) in.strides.clear();
  const bool padded = p.valid >= 0 && p.valid != p.extents.back();
  for (size_t k = 0; k < p.extents.size(); ++k) {
    const bool inner = k + 1 == p.extents.size() && padded;
    w.count *= p.extents[k];
    if (p.extents[k] == 1 && !inner) continue;
    const bool join = !inner && !w.extents.empty() && joins(w, p, k);
    if (join)
      w.extents.back() *= p.extents[k];
    else
      w.extents.push_back(p.extents[k]);
    for (size_t i = 0; i < w.inputs.size(); ++i) {
      if (join) w.inputs[i].strides.pop_back();
      w.inputs[i].strides.push_back(p.inputs[i].strides[k]);
    }
  }
  if (w.extents.empty()) {
    w.extents = {1};
    for (PointwiseInput& in : w.inputs) in.strides = {0};
  }
  w.valid = padded ? p.valid : w.inner();
  return w;
}

bool is_scalar(const PointwiseInput& in) {
  return std::all_of(in.strides.begin(), in.strides.end(), [](int64_t s) { return s == 0; });
}

// It lies as the result does.
bool is_linear(const Walk& w, const PointwiseInput& in) {
  int64_t stride = 1;
  for (size_t k = w.extents.size(); k-- > 0; stride *= w.extents[k])
    if (in.strides[k] != stride) return false;
  return in.padded || !w.padded();
}

// `vec` elements of it are one load.
bool is_vector(const Walk& w, const PointwiseInput& in) {
  for (size_t k = 0; k + 1 < w.extents.size(); ++k)
    if (in.strides[k] % w.vec) return false;
  return in.strides.back() == 1 && (in.padded || !w.padded());
}

void choose_vector(Walk& w, DType out) {
  int least = bits(out) / 8;
  bool linear = !w.padded();
  for (const PointwiseInput& in : w.inputs) {
    if (!is_scalar(in)) least = std::min(least, bits(in.type) / 8);
    linear &= is_scalar(in) || is_linear(w, in);
  }
  const int most = std::min(16 / least, kMostElements);
  w.vec = most;
  if (linear) return;  // no position is asked for
  while (w.inner() % w.vec) w.vec /= 2;
  if (w.vec == 1 && most > 1) w.vec = most, w.by_vector = false;
}

bool needs_wide(const Walk& w) {
  int64_t most = w.count;
  for (const PointwiseInput& in : w.inputs) {
    int64_t span = 0;
    for (size_t k = 0; k < w.extents.size(); ++k) span += w.extents[k] * in.strides[k];
    most = std::max(most, span);
  }
  return most > INT32_MAX / 2;
}

// Whether the axis' position is asked for: by the padding, or by an input that does not lie as the result does.
bool is_used(const Walk& w, size_t axis) {
  if (axis + 1 == w.extents.size() && w.padded()) return true;
  for (const PointwiseInput& in : w.inputs)
    if (!is_linear(w, in) && (in.strides[axis] || (axis + 1 == w.extents.size() && !is_scalar(in)))) return true;
  return false;
}

// Statements that say which position element `at` of the result has, innermost first: i0, i1, ... of type HF_COUNT.
std::string positions(const Walk& w, const std::string& at, const std::string& indent) {
  size_t first = 0;
  while (first < w.extents.size() && !is_used(w, first)) ++first;
  if (first == w.extents.size()) return "";
  std::string text = fmt::format("{}HF_COUNT rest = {};\n", indent, at);
  for (size_t k = w.extents.size(); k-- > first;) {
    // The outermost takes what is left, so that its extent is not in the text.
    if (is_used(w, k))
      text += fmt::format("{}const HF_COUNT i{} = rest{};\n", indent, k, k ? fmt::format(" % {}u", w.extents[k]) : "");
    if (k > first) text += fmt::format("{}rest /= {}u;\n", indent, w.extents[k]);
  }
  return text;
}

std::string offset(const Walk& w, const PointwiseInput& in, bool with_inner) {
  std::string text = "0";
  for (size_t k = 0; k + (with_inner ? 0 : 1) < w.extents.size(); ++k)
    if (in.strides[k]) text += fmt::format(" + i{} * {}u", k, in.strides[k]);
  return text;
}

struct Text {
  std::string parameters, positions, loads, elements, values;
};

void add_input(Text& t, const Walk& w, int i) {
  const PointwiseInput& in = w.inputs[static_cast<size_t>(i)];
  std::string name = cell(in.type);
  t.parameters += fmt::format("const {}::type* p{}, ", name, i);
  const bool scalar = is_scalar(in) || (w.by_vector && in.strides.back() == 0);
  t.values += fmt::format("{}v{}{}", i ? ", " : "", i, scalar ? "" : "[i]");
  if (scalar)
    t.loads += fmt::format("  const reg v{0} = (reg){1}::value(p{0}[{2}]);\n", i, name, offset(w, in, false));
  else
    t.loads += fmt::format("  reg v{}[HF_VEC];\n", i);
  if (scalar) return;
  if (is_linear(w, in))
    t.loads += fmt::format("  load<{0}>(p{1} + at, v{1}, n);\n", name, i);
  else if (w.by_vector && is_vector(w, in))
    t.loads += fmt::format("  load<{0}>(p{1} + ({2}), v{1}, n);\n", name, i, offset(w, in, true));
  else if (w.by_vector)
    t.loads += fmt::format(
        "#pragma unroll\n  for (int i = 0; i < HF_VEC; i++)\n"
        "    v{0}[i] = i{1} + i < HF_VALID ? (reg){2}::value(p{0}[{3} + (i{1} + i) * {4}u]) : (reg)0;\n",
        i, w.extents.size() - 1, name, offset(w, in, false), in.strides.back());
  else
    t.elements += fmt::format("    if (i{0} < HF_VALID) v{1}[i] = (reg){2}::value(p{1}[{3}]);\n", w.extents.size() - 1,
                              i, name, offset(w, in, true));
}

std::string render(const PointwiseProblem& p, const Walk& w) {
  Text t;
  for (size_t i = 0; i < w.inputs.size(); ++i) add_input(t, w, static_cast<int>(i));
  std::string zeros, last = fmt::format("i{}", w.extents.size() - 1);
  if (w.by_vector) {
    t.positions = positions(w, "at", "  ");
    if (w.padded()) zeros = fmt::format("    if ({} + i >= HF_VALID) r[i] = 0;\n", last);
  } else {
    t.loads += "#pragma unroll\n  for (int i = 0; i < HF_VEC; i++) {\n    if (HF_TAIL && i >= n) continue;\n" +
               positions(w, "at + i", "    ") + t.elements + "  }\n";
    if (w.padded()) zeros = "    if ((at + i) % HF_INNER >= HF_VALID) r[i] = 0;\n";
  }
  std::string text = with_hole(kSource, "$(parameters)", t.parameters);
  text = with_hole(text, "$(positions)", t.positions);
  text = with_hole(text, "$(loads)", t.loads);
  text = with_hole(text, "$(values)", t.values);
  return std::string(kCells) + function_text(p.expression, "expression") + with_hole(text, "$(zeros)", zeros);
}

}  // namespace

Candidates pointwise(const PointwiseProblem& p, const Target&) {
  check(!p.inputs.empty() && static_cast<int>(p.inputs.size()) == p.expression.inputs, "each register has its input");
  Walk w = walk_of(p);
  choose_vector(w, p.out);
  w.wide = needs_wide(w);
  KernelSpec spec{
      .family = "pointwise",
      .variant = w.by_vector ? "vector" : "element",
      .source = render(p, w),
      .entry = "pointwise",
      .defines = {fmt::format("HF_REGISTER={}", p.expression.whole ? "i64" : "float"), "HF_OUT=" + cell(p.out),
                  fmt::format("HF_THREADS={}", kThreads), fmt::format("HF_VEC={}", w.vec),
                  fmt::format("HF_INNER={}u", w.extents.size() > 1 || w.padded() ? w.inner() : 1),
                  fmt::format("HF_VALID={}u", w.extents.size() > 1 || w.padded() ? w.valid : UINT32_MAX),
                  fmt::format("HF_TAIL={}", int{w.count % w.vec != 0}),
                  fmt::format("HF_COUNT={}", w.wide ? "u64" : "u32")},
      .grid = {blocks_for(w.count, int64_t{kThreads} * w.vec), 1, 1},
      .block = {kThreads, 1, 1}};
  for (size_t i = 0; i < p.inputs.size(); ++i) spec.arguments.push_back(Argument::input(static_cast<int>(i)));
  spec.arguments.push_back(Argument::output(0));
  spec.arguments.push_back(w.wide ? Argument::int64(w.count) : Argument::int32(w.count));
  return {std::move(spec)};
}

}  // namespace hf::kernel

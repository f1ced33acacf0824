// The convolution's epilogue and parameters as text.
#include <fmt/core.h>

#include <algorithm>

#include "kernel/conv_source.h"

namespace hf::kernel {
namespace {

// Eight consecutive channels can be read as vectors: also those beyond the last real one.
bool wide(const Operand& o, int64_t k) {
  return o.column_stride == 1 && o.row_stride % 8 == 0 && (k % 8 == 0 || o.row_stride >= (k + 7) / 8 * 8);
}

// The operand that holds a whole value of 2-byte elements: a residual. 0: none.
int held_operand(const Epilogue& e, int64_t k) {
  for (size_t i = 0; i < e.operands.size(); ++i) {
    const Operand& o = e.operands[i];
    if (wide(o, k) && o.row_divisor == 1 && o.row_stride && o.type != Element::F32) return static_cast<int>(i) + 1;
  }
  return 0;
}

std::string row_offset(const Operand& o) {
  if (!o.row_stride) return "0";
  return fmt::format("(i64)({}) * {}", o.row_divisor == 1 ? "row" : fmt::format("row / {}", o.row_divisor),
                     o.row_stride);
}

// Statements that fill float r<i>[8].
std::string load_text(const Operand& o, int i, int64_t k, bool held) {
  std::string type = fmt::format("element<{}>", static_cast<int>(o.type)), at = row_offset(o);
  if (o.column_stride == 0)
    return fmt::format(
        "  const float s{0} = {1}::load(o.p{0}[{2}]);\n#pragma unroll\n  for (int e = 0; e < 8; e++) r{0}[e] = s{0};\n",
        i, type, at);
  if (!wide(o, k))
    return fmt::format(
        "#pragma unroll\n  for (int e = 0; e < 8; e++) r{0}[e] = {1}::load(o.p{0}[{2} + (col + e < {3} ? col + e : {3} "
        "- 1)]);\n",
        i, type, at, k);
  std::string load = fmt::format("load8<{}>(o.p{} + ({} + col), r{});", static_cast<int>(o.type), i, at, i);
  if (!held) return "  " + load + "\n";
  return fmt::format("  if (held) unpack8<{}>(*held, r{}); else {}\n", static_cast<int>(o.type), i, load);
}

}  // namespace

std::string conv_epilogue_text(const ConvProblem& p, const ConvShape& shape) {
  const int64_t k = shape.k * shape.groups;
  const int held = held_operand(p.epilogue, k);
  std::string members, loads, call = "x[e]", parameters, arguments;
  for (size_t n = 0; n < p.epilogue.operands.size(); ++n) {
    const Operand& o = p.epilogue.operands[n];
    const int i = static_cast<int>(n) + 1;
    members += fmt::format("  const element<{}>::type* __restrict__ p{};\n", static_cast<int>(o.type), i);
    loads += fmt::format("  float r{}[8];\n", i) + load_text(o, i, k, i == held);
    call += fmt::format(", r{}[e]", i);
    parameters += fmt::format(", const element<{}>::type* p{}", static_cast<int>(o.type), i);
    arguments += fmt::format("; a.o.p{0} = p{0}", i);
  }
  std::string text;
  if (!p.epilogue.identity()) text = function_text(p.epilogue.expression, "epilogue");
  text += "struct operands {\n" + members + "};\n";
  text += fmt::format("#define HF_HELD {}\n", int{held != 0});
  if (held)
    text += fmt::format(
        "DEV u32x4 hold(const operands& o, int row, int col) {{ return *(const u32x4*)(o.p{} + ({} + col)); }}\n", held,
        row_offset(p.epilogue.operands[static_cast<size_t>(held - 1)]));
  else
    text += "DEV u32x4 hold(const operands&, int, int) { return zero_u32x4(); }\n";
  text += "DEV void finish(const operands& o, int row, int col, const u32x4* held, float (&x)[8]) {\n" + loads;
  if (!p.epilogue.identity())
    text += fmt::format("#pragma unroll\n  for (int e = 0; e < 8; e++) x[e] = epilogue({});\n", call);
  text += "}\n";
  text += fmt::format(
      "#define HF_PARAMETERS const element<HF_T>::type* x, const element<HF_T>::type* x2, const u8* w, const float* "
      "bias, "
      "element<HF_OUT>::type* y, f32x4* ws, u32* arrived, int pixels, int tiles, int grid, int splits, int ksteps{}\n"
      "#define HF_ARGUMENTS a.x = x; a.x2 = x2; a.w = w; a.bias = bias; a.y = y; a.ws = ws; a.arrived = arrived; "
      "a.pixels = pixels; a.tiles = tiles; a.grid = grid; a.splits = splits; a.ksteps = ksteps{}\n",
      parameters, arguments);
  return text;
}

}  // namespace hf::kernel

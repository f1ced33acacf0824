// Epilogues as text of kernels.
#include "kernel/vector_epilogue.h"

#include <fmt/core.h>

namespace hf::kernel {
namespace {

// One operand's values for N columns of a row: as a vector where it is aligned and whole, else element by element.
const char* const kOperand = R"hip(
template <int N, int T, i64 DIVISOR, i64 STRIDE, int COLUMN_STRIDE>
DEV void epilogue_operand(const typename element<T>::type* p, i64 row, int column, int columns, float (&v)[N]) {
  if constexpr (STRIDE != 0) p += (DIVISOR == 1 ? row : row / DIVISOR) * STRIDE;
  if constexpr (COLUMN_STRIDE == 0) {
    float same = element<T>::load(*p);
    for (int i = 0; i < N; i++) v[i] = same;
  } else if (STRIDE % N == 0 && (columns % N == 0 || column + N <= columns)) {
    pack<N, T>::load(p + column, v);
  } else {
    for (int i = 0; i < N; i++) v[i] = column + i < columns ? element<T>::load(p[column + i]) : 0.f;
  }
}
)hip";

std::string_view type_name(Element type) { return type == Element::F32 ? "float" : "u16"; }

}  // namespace

std::string_view element_name(Element type) {
  return type == Element::F32 ? "HF_F32" : type == Element::F16 ? "HF_F16" : "HF_BF16";
}

std::string vector_epilogue_text(const Epilogue& e) {
  std::string parameters, arguments, loads, values;
  for (size_t k = 0; k < e.operands.size(); ++k) {
    const Operand& o = e.operands[k];
    parameters += fmt::format(", const {}* __restrict__ e{}", type_name(o.type), k);
    arguments += fmt::format(", e{}", k);
    loads +=
        fmt::format("  float o{0}[N];\n  epilogue_operand<N, {1}, {2}, {3}, {4}>(e{0}, row, column, columns, o{0});\n",
                    k, element_name(o.type), o.row_divisor, o.row_stride, o.column_stride);
    values += fmt::format(", o{}[i]", k);
  }
  std::string text = fmt::format("#define HF_EPI_PARAMS {}\n#define HF_EPI_ARGS {}\n", parameters, arguments);
  if (!e.identity()) text += kOperand + function_text(e.expression, "epilogue_value");
  text += "template <int N> DEV void epilogue(float (&v)[N], i64 row, int column, int columns HF_EPI_PARAMS) {\n";
  if (!e.identity())
    text += loads + fmt::format("  for (int i = 0; i < N; i++) v[i] = epilogue_value(v[i]{});\n", values);
  return text + "}\n";
}

}  // namespace hf::kernel

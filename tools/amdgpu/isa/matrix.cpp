// Recognises the names of matrix instructions: v_mfma_f32_16x16x16_f16, v_wmma_f32_16x16x16_f16.
#include "isa/matrix.h"

#include <cstdio>

#include "device/support.h"
#include "isa/registry.h"

namespace amdgpu {

namespace {

struct NamedElement {
  const char* name;
  Element element;
};
constexpr NamedElement kElements[] = {
    {"f16", Element::F16}, {"bf16", Element::Bf16}, {"bf16_1k", Element::Bf16}, {"f32", Element::F32},
    {"f64", Element::F64}, {"i8", Element::I8},     {"iu8", Element::U8},       {"iu4", Element::U4},
    {"fp8", Element::Fp8}, {"bf8", Element::Bf8},
};
constexpr NamedElement kResults[] = {
    {"f32", Element::F32}, {"f16", Element::F16}, {"bf16", Element::Bf16}, {"f64", Element::F64}, {"i32", Element::I8},
};

template <size_t N>
bool find_element(const NamedElement (&table)[N], const std::string& name, Element& element) {
  for (const NamedElement& n : table)
    if (name == n.name) {
      element = n.element;
      return true;
    }
  return false;
}

// "f16", or one type for each source: "fp8_bf8"
bool bind_sources(Inst& in, const std::string& name) {
  if (find_element(kElements, name, in.a_type)) {
    in.b_type = in.a_type;
    return true;
  }
  const size_t bar = name.find('_');
  return bar != std::string::npos && find_element(kElements, name.substr(0, bar), in.a_type) &&
         find_element(kElements, name.substr(bar + 1), in.b_type);
}

// "<result>_<m>x<n>x<k>[_<blocks>b][_]<sources>"
bool bind_shape(Inst& in, std::string name) {
  const size_t bar = name.find('_');
  if (bar == std::string::npos || !find_element(kResults, name.substr(0, bar), in.result_type)) return false;
  unsigned m, n, k, blocks;
  int used = 0;
  if (sscanf(name.c_str() + bar + 1, "%ux%ux%u%n", &m, &n, &k, &used) != 3 || m != n || m > 32 || k > 32) return false;
  name.erase(0, bar + 1 + static_cast<size_t>(used));
  if (starts_with(name, "_")) name.erase(0, 1);
  used = 0;
  if (sscanf(name.c_str(), "%ub_%n", &blocks, &used) == 1 && used) name.erase(0, static_cast<size_t>(used));
  in.rows = static_cast<u8>(m);
  in.depth = static_cast<u8>(k);
  return bind_sources(in, name);
}

// The third source may be a constant of the result's type.
void bind_accumulator(Operand& c, Element result) {
  if (c.kind != OperandKind::Constant) return;
  const auto f = static_cast<f32>(c.fraction);
  u64 value = static_cast<u64>(c.integer);
  if (c.text != Operand::Text::Integer) {
    if (result == Element::F64)
      value = bits<u64>(c.fraction);
    else if (result == Element::F16)
      value = f32_to_f16(f);
    else
      value = result == Element::Bf16 ? bits<u32>(f) >> 16 : bits<u32>(f);
  }
  c.lo = static_cast<u32>(value);
  c.hi32 = static_cast<u32>(value >> 32);
}

}  // namespace

bool bind_matrix(Inst& in, const std::string& name, Isa isa) {
  const bool mfma = starts_with(name, "v_mfma_");
  if ((!mfma && !starts_with(name, "v_wmma_")) || in.op_count != 4 || !bind_shape(in, name.substr(7))) return false;
  bind_accumulator(in.op[3], in.result_type);
  if (mfma && in.a_type == Element::F64) {
    in.handler = run_mfma_f64;
    return true;
  }
  if (mfma) {
    in.handler = run_mfma;
    return in.op[0].registers <= 32 && (in.result_type == Element::F32 || in.result_type == Element::I8);
  }
  in.handler = run_wmma;
  return in.rows == 16 && (isa == Isa::Rdna3 || isa == Isa::Rdna4);
}

}  // namespace amdgpu

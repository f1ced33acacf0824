// Templates that turn a lambda into a handler of a scalar instruction:
//   scalar<([](u32 a, u32 b) { return a & b; }), Scc::NonZero>("s_and_b32");
#pragma once
#include <string>

#include "isa/number_format.h"
#include "isa/vector.h"

namespace amdgpu {

template <class T>
inline T read(Wave& w, const Operand& o) {
  if constexpr (sizeof(T) == 8) {
    if (o.kind == OperandKind::Constant) return bits<T>(o.lo | u64{o.hi32} << 32);
    return bits<T>(w.read64(o.r));
  } else {
    if (o.kind == OperandKind::Constant) return bits<T>(o.lo);
    if (o.r == reg::Null) return T{};
    u32 x = w.read(o.r);
    if (std::is_same_v<T, f32>) {
      if (o.abs) x &= 0x7fffffff;
      if (o.neg) x ^= 0x80000000;
    }
    return bits<T>(x);
  }
}

template <class T>
inline void write(Wave& w, const Operand& o, T x) {
  if constexpr (sizeof(T) == 8)
    w.write64(o.r, bits<u64>(x));
  else
    w.write(o.r, bits<u32>(x));
}

/// What becomes of the SCC bit: kept; whether the result is not zero; or the lambda takes it by reference as its last
/// argument.
enum class Scc { Kept, NonZero, Own };

template <auto L, Scc Mode>
constexpr size_t scalar_sources() {
  return SignatureOf<L>::kCount - (Mode == Scc::Own);
}

template <auto L, Scc Mode, size_t... I>
inline void run_scalar(Wave& w, const Inst& in, std::index_sequence<I...>) {
  typename SignatureOf<L>::Result r;
  if constexpr (Mode == Scc::Own) {
    u32 scc = w.s[reg::Scc];
    r = L(read<ArgumentOf<L, I>>(w, in.op[I + 1])..., scc);
    w.s[reg::Scc] = scc;
  } else {
    r = L(read<ArgumentOf<L, I>>(w, in.op[I + 1])...);
  }
  write(w, in.op[0], r);
  if (Mode == Scc::NonZero) w.s[reg::Scc] = r != 0;
}

/// op[0] = L(op[1], op[2], ...), under each of the names.
template <auto L, Scc Mode = Scc::Kept, class... Names>
void scalar(const Names&... names) {
  constexpr Handler kHandler = [](Wave& w, const Inst& in) {
    run_scalar<L, Mode>(w, in, std::make_index_sequence<scalar_sources<L, Mode>()>());
  };
  constexpr auto kSources = std::make_index_sequence<scalar_sources<L, Mode>()>();
  constexpr auto kTypes = letters<type_letter<typename SignatureOf<L>::Result>(), L>(kSources);
  (add(names, kHandler, kTypes), ...);
}

/// SCC = L(op[0], op[1])
template <auto L>
void scalar_compare(const std::string& name) {
  constexpr Handler kHandler = [](Wave& w, const Inst& in) {
    w.s[reg::Scc] = L(read<ArgumentOf<L, 0>>(w, in.op[0]), read<ArgumentOf<L, 1>>(w, in.op[1]));
  };
  add(name, kHandler, letters<type_letter<ArgumentOf<L, 0>>(), L>(std::index_sequence<1>()));
}

}  // namespace amdgpu

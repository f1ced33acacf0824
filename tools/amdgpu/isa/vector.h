// Templates that turn a lambda over element types into a handler for whole waves:
//   vector<([](f32 a, f32 b) { return a + b; })>("v_add_f32");
#pragma once
#include <string>
#include <tuple>
#include <utility>

#include "isa/operands.h"
#include "isa/registry.h"

namespace amdgpu {

template <class L>
struct Signature;
template <class L, class R, class... A>
struct Signature<R (L::*)(A...) const> {
  using Result = R;
  using Arguments = std::tuple<A...>;
  static constexpr size_t kCount = sizeof...(A);
};
/// Result and argument types of a lambda.
template <auto L>
using SignatureOf = Signature<decltype(&decltype(L)::operator())>;
template <auto L, size_t I>
using ArgumentOf = std::tuple_element_t<I, typename SignatureOf<L>::Arguments>;

/// The registry's letter for an element type.
template <class T>
constexpr char type_letter() {
  if (is_f16<T> || std::is_same_v<T, F16Bits>) return 'h';
  if (std::is_same_v<T, f32>) return 'f';
  if (std::is_same_v<T, f64>) return 'd';
  if (std::is_same_v<T, i64>) return 'i';
  return sizeof(T) == 8 ? 'q' : sizeof(T) == 2 ? 's' : 'w';
}

/// The letters of a lambda's arguments after that of the destination.
template <char Destination, auto L, size_t... I>
constexpr char kLetters[] = {Destination, type_letter<ArgumentOf<L, I>>()..., 0};
template <char Destination, auto L, size_t... I>
constexpr std::string_view letters(std::index_sequence<I...>) {
  return {kLetters<Destination, L, I...>, sizeof...(I) + 1};
}
template <auto L>
constexpr std::string_view vector_types() {
  return letters<'w', L>(std::make_index_sequence<SignatureOf<L>::kCount>());
}

template <auto L, size_t... I>
inline void run_vector(Wave& w, const Inst& in, std::index_sequence<I...>) {
  using R = typename SignatureOf<L>::Result;
  std::tuple<Buffer<ArgumentOf<L, I>>...> buffers;
  alignas(64) R r[kMaxLanes];
  const auto p = std::tuple<const ArgumentOf<L, I>*...>{
      fetch<ArgumentOf<L, I>>(w, in, static_cast<int>(I) + 1, std::get<I>(buffers))...};
  // Two loops of known length, which the compiler vectorises.
  if (w.lanes == 32)
    for (u32 l = 0; l < 32; l++) r[l] = L(std::get<I>(p)[l]...);
  else
    for (u32 l = 0; l < 64; l++) r[l] = L(std::get<I>(p)[l]...);
  store<R>(w, in, in.op[0], r);
}

/// op[0] = L(op[1], op[2], ...) for every active lane, under each of the names.
template <auto L, class... Names>
void vector(const Names&... names) {
  constexpr Handler kHandler = [](Wave& w, const Inst& in) {
    run_vector<L>(w, in, std::make_index_sequence<SignatureOf<L>::kCount>());
  };
  (add(names, kHandler, vector_types<L>()), ...);
}

template <auto L>
inline void run_accumulate(Wave& w, const Inst& in) {
  using R = typename SignatureOf<L>::Result;
  using A = ArgumentOf<L, 0>;
  Buffer<A> x, y;
  Buffer<R> z;
  alignas(64) R r[kMaxLanes];
  const A *a = fetch<A>(w, in, 1, x), *b = fetch<A>(w, in, 2, y);
  const R* c = fetch<R>(w, in, 0, z);
  for (u32 l = 0; l < w.lanes; l++) r[l] = L(a[l], b[l], c[l]);
  store<R>(w, in, in.op[0], r);
}

/// op[0] = L(op[1], op[2], op[0])
template <auto L>
void accumulate(const char* name) {
  add(name, run_accumulate<L>, vector_types<L>());
}

/// Writes a lane mask, of which only active lanes are set, to op[0] if the comparison has a destination, and to exec
/// for v_cmpx.
inline void put_comparison(Wave& w, const Inst& in, u64 mask, bool to_exec) {
  if (in.op_count == 3) w.write_mask(in.op[0].r, mask);
  if (to_exec) w.write_mask(reg::Exec, mask);
}

template <auto L, bool ToExec>
inline void run_compare(Wave& w, const Inst& in) {
  Buffer<ArgumentOf<L, 0>> x;
  Buffer<ArgumentOf<L, 1>> y;
  const int first = in.op_count - 2;
  alignas(64) u8 r[kMaxLanes];
  const auto* a = fetch(w, in, first, x);
  const auto* b = fetch(w, in, first + 1, y);
  for (u32 l = 0; l < w.lanes; l++) r[l] = L(a[l], b[l]);
  const u32* m = write_mask(w, in);
  u64 mask = 0;
  for (u32 l = 0; l < w.lanes; l++) mask |= u64{r[l] & (m[l] & 1)} << l;
  put_comparison(w, in, mask, ToExec);
}

/// v_cmp_<name> and v_cmpx_<name>
template <auto L>
void compare(const std::string& name) {
  add("v_cmp_" + name, run_compare<L, false>, vector_types<L>());
  add("v_cmpx_" + name, run_compare<L, true>, vector_types<L>());
}

}  // namespace amdgpu

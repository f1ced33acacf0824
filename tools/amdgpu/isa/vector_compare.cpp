// Vector comparisons and classification.
#include "isa/vector.h"

namespace amdgpu {

namespace {

template <class T>
void compare_integers(const std::string& t) {
  compare<([](T a, T b) { return a < b; })>("lt_" + t);
  compare<([](T a, T b) { return a == b; })>("eq_" + t);
  compare<([](T a, T b) { return a <= b; })>("le_" + t);
  compare<([](T a, T b) { return a > b; })>("gt_" + t);
  compare<([](T a, T b) { return a != b; })>("ne_" + t);
  compare<([](T a, T b) { return a >= b; })>("ge_" + t);
}
inline f32 number(F16 x) { return x.value; }
inline f32 number(f32 x) { return x; }
inline f64 number(f64 x) { return x; }

template <class T>
void compare_floats(const std::string& t) {
  compare<([](T a, T b) { return number(a) < number(b); })>("lt_" + t);
  compare<([](T a, T b) { return number(a) == number(b); })>("eq_" + t);
  compare<([](T a, T b) { return number(a) <= number(b); })>("le_" + t);
  compare<([](T a, T b) { return number(a) > number(b); })>("gt_" + t);
  compare<([](T a, T b) { return (number(a) < number(b)) | (number(a) > number(b)); })>("lg_" + t);
  compare<([](T a, T b) { return number(a) >= number(b); })>("ge_" + t);
  compare<([](T a, T b) { return (number(a) == number(a)) & (number(b) == number(b)); })>("o_" + t);
  compare<([](T a, T b) { return (number(a) != number(a)) | (number(b) != number(b)); })>("u_" + t);
  compare<([](T a, T b) { return !(number(a) >= number(b)); })>("nge_" + t);
  compare<([](T a, T b) { return !((number(a) < number(b)) | (number(a) > number(b))); })>("nlg_" + t);
  compare<([](T a, T b) { return !(number(a) > number(b)); })>("ngt_" + t);
  compare<([](T a, T b) { return !(number(a) <= number(b)); })>("nle_" + t);
  compare<([](T a, T b) { return number(a) != number(b); })>("neq_" + t);
  compare<([](T a, T b) { return !(number(a) < number(b)); })>("nlt_" + t);
}

// ---- classes of numbers: a bit of the mask for each

enum Class {
  SignallingNan,
  QuietNan,
  MinusInfinity,
  MinusNormal,
  MinusDenormal,
  MinusZero,
  PlusZero,
  PlusDenormal,
  PlusNormal,
  PlusInfinity
};

template <int ExponentBits, int MantissaBits>
Class class_of(u64 v) {
  constexpr u64 kMantissa = (1ull << MantissaBits) - 1, kExponent = (1ull << ExponentBits) - 1;
  const u64 mantissa = v & kMantissa, exponent = v >> MantissaBits & kExponent;
  const bool negative = v >> (ExponentBits + MantissaBits) & 1;
  if (exponent == kExponent) {
    if (mantissa) return mantissa >> (MantissaBits - 1) & 1 ? QuietNan : SignallingNan;
    return negative ? MinusInfinity : PlusInfinity;
  }
  if (exponent) return negative ? MinusNormal : PlusNormal;
  if (mantissa) return negative ? MinusDenormal : PlusDenormal;
  return negative ? MinusZero : PlusZero;
}

// T: how the operand is read, so that |x| and -x act on it; Bits: an integer of that size.
template <class T, class Bits, int ExponentBits, int MantissaBits, bool ToExec>
void compare_class(Wave& w, const Inst& in) {
  Buffer<T> x;
  Buffer<u32> y;
  const int first = in.op_count - 2;
  const T* a = fetch(w, in, first, x);
  const u32* wanted = fetch(w, in, first + 1, y);
  u64 mask = 0;
  for (u32 l = 0; l < w.lanes; l++)
    mask |= u64{wanted[l] >> class_of<ExponentBits, MantissaBits>(bits<Bits>(a[l])) & 1} << l;
  put_comparison(w, in, mask & w.exec(), ToExec);
}

template <class T, class Bits, int ExponentBits, int MantissaBits>
void add_class(const std::string& name, const char* types) {
  add("v_cmp_class_" + name, compare_class<T, Bits, ExponentBits, MantissaBits, false>, types);
  add("v_cmpx_class_" + name, compare_class<T, Bits, ExponentBits, MantissaBits, true>, types);
}

}  // namespace

void add_vector_compare() {
  compare_integers<i32>("i32");
  compare_integers<u32>("u32");
  compare_integers<i64>("i64");
  compare_integers<u64>("u64");
  compare_integers<i16>("i16");
  compare_integers<u16>("u16");
  compare_floats<f32>("f32");
  compare_floats<f64>("f64");
  compare_floats<F16>("f16");

  add_class<f32, u32, 8, 23>("f32", "wfw");
  add_class<f64, u64, 11, 52>("f64", "wdw");
  add_class<F16Bits, u16, 5, 10>("f16", "whw");
}

}  // namespace amdgpu

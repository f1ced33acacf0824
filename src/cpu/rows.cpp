// Elementwise operators on blocks of floats: compiled once for each instruction set, the best one chosen at run time.
// The only file that uses Highway's dynamic dispatch for elementwise work, since each such file is compiled three
// times.
#include "cpu/rows.h"

#include <algorithm>
#include <limits>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/rows.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hf::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V set(float v) { return hn::Set(D(), v); }
HWY_INLINE V choose(hn::Mask<D> m, V yes, V no) { return hn::IfThenElse(m, yes, no); }

// Stores the lanes of a FirstN mask, and touches no other memory.
HWY_INLINE void store_some(V v, hn::Mask<D> m, float* out) {
#if HWY_MAJOR > 0 || HWY_MINOR >= 17
  hn::BlendedStore(v, m, D(), out);
#else
  float all[HWY_MAX_BYTES / sizeof(float)];
  hn::StoreU(v, D(), all);
  std::copy_n(all, hn::CountTrue(D(), m), out);
#endif
}

// c[0] + c[1] x + ... by Horner's rule.
template <size_t N>
HWY_INLINE V polynomial(V x, const float (&c)[N]) {
  V p = set(c[N - 1]);
  for (size_t i = N - 1; i-- > 0;) p = hn::MulAdd(p, x, set(c[i]));
  return p;
}

// e^x = 2^n e^r with r in [-ln2/2, ln2/2], e^r by its Taylor series to degree 7 (error 2e-8 relative). Two factors of
// 2^(n/2), so that results among the subnormals and overflow come out right.
HWY_INLINE V exp_(V x) {
  constexpr float kTaylor[] = {1, 1, 1.f / 2, 1.f / 6, 1.f / 24, 1.f / 120, 1.f / 720, 1.f / 5040};
  const hn::RebindToSigned<D> di;
  V c = hn::Max(hn::Min(x, set(89.f)), set(-104.f));
  V n = hn::Round(hn::Mul(c, set(1.44269504f)));
  V r = hn::NegMulAdd(n, set(0.693359375f), c);  // ln 2 in two parts, the first exact when multiplied by n
  r = hn::NegMulAdd(n, set(-2.12194440e-4f), r);
  V p = polynomial(r, kTaylor);
  auto i = hn::ConvertTo(di, n);
  auto half = hn::ShiftRight<1>(i);
  auto power = [&](auto e) { return hn::BitCast(D(), hn::ShiftLeft<23>(hn::Add(e, hn::Set(di, 127)))); };
  p = hn::Mul(hn::Mul(p, power(half)), power(hn::Sub(i, half)));
  return choose(hn::Eq(x, x), p, x);
}

// log x = k ln 2 + log m, m in [sqrt(1/2), sqrt(2)]: with s = (m-1)/(m+1), log m = 2 (s + s^3/3 + s^5/5 + ...).
HWY_INLINE V log_(V x) {
  constexpr float kSeries[] = {2.f / 3, 2.f / 5, 2.f / 7, 2.f / 9, 2.f / 11};
  const hn::RebindToSigned<D> di;
  auto subnormal = hn::Lt(x, set(1.17549435e-38f));
  V scaled = choose(subnormal, hn::Mul(x, set(8388608.f)), x);
  auto bits = hn::BitCast(di, scaled);
  auto k = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));  // m >= sqrt(1/2)
  V m = hn::BitCast(D(), hn::Sub(bits, hn::ShiftLeft<23>(k)));
  V e = hn::Sub(hn::ConvertTo(D(), k), choose(subnormal, set(23.f), set(0.f)));
  V t = hn::Sub(m, set(1.f)), s = hn::Div(t, hn::Add(m, set(1.f))), s2 = hn::Mul(s, s);
  // 2s = t - s t, exact in t: near 1 the result keeps its relative precision.
  V tail = hn::MulSub(s2, hn::Mul(s, polynomial(s2, kSeries)), hn::Mul(s, t));
  V r = hn::Add(hn::MulAdd(e, set(-2.12194440e-4f), tail), t);
  r = hn::MulAdd(e, set(0.693359375f), r);
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  r = choose(hn::Eq(x, set(0.f)), set(-infinity), r);
  r = choose(hn::Eq(x, set(infinity)), x, r);
  return choose(hn::Ge(x, set(0.f)), r, set(nan));
}

HWY_INLINE V sigmoid(V x) { return hn::Div(set(1.f), hn::Add(set(1.f), exp_(hn::Neg(x)))); }

// Near 0 x + x^3 P(x^2), where 1 - 2/(e^2x + 1) would cancel. P: minimax on [0, 0.6], error 3e-8.
HWY_INLINE V tanh_(V x) {
  constexpr float kNear[] = {-0.3333333134651184f, 0.13332952558994293f, -0.053878385573625565f, 0.021129176020622253f,
                             -0.0062932465225458145f};
  V a = hn::Abs(x), x2 = hn::Mul(x, x);
  V near = hn::MulAdd(hn::Mul(x, x2), polynomial(x2, kNear), x);
  V far = hn::Sub(set(1.f), hn::Div(set(2.f), hn::Add(exp_(hn::Add(a, a)), set(1.f))));
  return choose(hn::Lt(a, set(0.6f)), near, hn::CopySign(far, x));
}

// |x| < 1: x P(x^2); else 1 - e^-Q(|x|), Q a fit of -log(erfc) on [1, 4]. Both minimax, errors 4e-8 and 2e-9.
HWY_INLINE V erf_(V x) {
  constexpr float kNear[] = {1.1283791065216064f,    -0.3761262595653534f,  0.11283600330352783f,
                             -0.026854444295167923f, 0.005189535208046436f, -0.0008020841050893068f,
                             7.889119297033176e-05f};
  constexpr float kFar[] = {0.00035370892146602273f, 1.1270400285720825f,    0.6382256150245667f,
                            0.10303743928670883f,    -0.021805351600050926f, 0.0029396158643066883f,
                            -0.0001855748996604234f};
  V a = hn::Abs(x);
  V near = hn::Mul(x, polynomial(hn::Mul(x, x), kNear));
  V far = hn::Sub(set(1.f), exp_(hn::Neg(polynomial(hn::Min(a, set(4.f)), kFar))));
  V r = choose(hn::Lt(a, set(1.f)), near, hn::CopySign(far, x));
  return choose(hn::Eq(x, x), r, x);
}

// Highway's Ne is false for NaN on some targets, and it has no IsNaN before 1.0.
HWY_INLINE hn::Mask<D> is_nan(V x) { return hn::Not(hn::Eq(x, x)); }
HWY_INLINE V maximum(V x, V y) { return choose(hn::Or(hn::Gt(x, y), is_nan(x)), x, y); }
HWY_INLINE V minimum(V x, V y) { return choose(hn::Or(hn::Lt(x, y), is_nan(x)), x, y); }
HWY_INLINE V unit_clamp(V x) { return minimum(maximum(x, set(0.f)), set(1.f)); }
HWY_INLINE V softplus(V x) {
  V e = exp_(hn::Neg(hn::Abs(x)));  // log1p(e): the correction term restores what 1 + e rounds away
  V u = hn::Add(set(1.f), e);
  V log1p = hn::Add(log_(u), hn::Div(hn::Sub(e, hn::Sub(u, set(1.f))), u));
  return hn::Add(maximum(x, set(0.f)), log1p);
}
// e^x - 1; near 0 by the Taylor series (|x| < 0.35, error 1e-8).
HWY_INLINE V expm1_(V x) {
  constexpr float kTaylor[] = {1, 1.f / 2, 1.f / 6, 1.f / 24, 1.f / 120, 1.f / 720, 1.f / 5040};
  return choose(hn::Lt(hn::Abs(x), set(0.35f)), hn::Mul(x, polynomial(x, kTaylor)), hn::Sub(exp_(x), set(1.f)));
}
HWY_INLINE V gelu(V x, V approximate) {
  V half = hn::Mul(x, set(0.5f));
  if (hn::GetLane(approximate) == 0) return hn::MulAdd(half, erf_(hn::Mul(x, set(0.70710678f))), half);
  V cubic = hn::MulAdd(hn::Mul(hn::Mul(x, x), x), set(0.044715f), x);
  return hn::MulAdd(half, tanh_(hn::Mul(cubic, set(0.79788456f))), half);
}

// ---- The rows. x, y, z: the arguments; a, b: the attributes.
#define UNARY(name, expression)                                                                         \
  struct name {                                                                                         \
    static constexpr int kArity = 1;                                                                    \
    static HWY_INLINE V apply([[maybe_unused]] V x, V, V, [[maybe_unused]] V a, [[maybe_unused]] V b) { \
      return expression;                                                                                \
    }                                                                                                   \
  };
#define BINARY(name, expression)                                        \
  struct name {                                                         \
    static constexpr int kArity = 2;                                    \
    static HWY_INLINE V apply(V x, V y, V, V, V) { return expression; } \
  };
#define TERNARY(name, expression)                                         \
  struct name {                                                           \
    static constexpr int kArity = 3;                                      \
    static HWY_INLINE V apply(V x, V y, V z, V, V) { return expression; } \
  };
UNARY(Abs, hn::Abs(x))
UNARY(Neg, hn::Neg(x))
UNARY(Relu, choose(hn::Lt(x, set(0.f)), set(0.f), x))
UNARY(LeakyRelu, choose(hn::Lt(x, set(0.f)), hn::Mul(a, x), x))
UNARY(Sqrt, hn::Sqrt(x))
UNARY(Reciprocal, hn::Div(set(1.f), x))
UNARY(Floor, hn::Floor(x))
UNARY(Ceil, hn::Ceil(x))
UNARY(Round, hn::Round(x))
UNARY(HardSigmoid, unit_clamp(hn::MulAdd(a, x, b)))
UNARY(HardSwish, hn::Mul(x, unit_clamp(hn::MulAdd(x, set(1.f / 6), set(0.5f)))))
UNARY(DivideBy, hn::Div(x, a))
UNARY(Exp, exp_(x))
UNARY(Log, log_(x))
UNARY(Sigmoid, sigmoid(x))
UNARY(Swish, hn::Mul(x, sigmoid(hn::Mul(a, x))))
UNARY(Tanh, tanh_(x))
UNARY(Erf, erf_(x))
UNARY(Gelu, gelu(x, a))
UNARY(Softplus, softplus(x))
UNARY(Mish, hn::Mul(x, tanh_(softplus(x))))
UNARY(Elu, choose(hn::Lt(x, set(0.f)), hn::Mul(a, expm1_(x)), x))
UNARY(Selu, hn::Mul(b, choose(hn::Lt(x, set(0.f)), hn::Mul(a, expm1_(x)), x)))
BINARY(Add, hn::Add(x, y))
BINARY(Sub, hn::Sub(x, y))
BINARY(Mul, hn::Mul(x, y))
BINARY(Div, hn::Div(x, y))
BINARY(Max, maximum(x, y))
BINARY(Min, minimum(x, y))
BINARY(PRelu, choose(hn::Lt(x, set(0.f)), hn::Mul(x, y), x))
TERNARY(Clip, minimum(maximum(x, y), z))
TERNARY(Where, choose(hn::Eq(x, set(0.f)), z, y))
#undef UNARY
#undef BINARY
#undef TERNARY

template <bool Repeats>
struct Reader {
  V value;
  const float* at;

  HWY_INLINE void init(const float* p) {
    if constexpr (Repeats)
      value = set(*p);
    else
      at = p;
  }
  HWY_INLINE V load(int64_t i) const {
    if constexpr (Repeats)
      return value;
    else
      return hn::LoadU(D(), at + i);
  }
  HWY_INLINE V load_some(hn::Mask<D> m, int64_t i) const {
    if constexpr (Repeats)
      return value;
    else
      return hn::MaskedLoad(m, D(), at + i);
  }
};

template <class Op, bool X, bool Y, bool Z>
void loop(int64_t n, const float* const* args, const float* attrs, int attr_count, float* out) {
  Reader<X> x;
  Reader<Y> y;
  Reader<Z> z;
  x.init(args[0]);
  if constexpr (Op::kArity > 1) y.init(args[1]);
  if constexpr (Op::kArity > 2) z.init(args[2]);
  const V a = set(attr_count > 0 ? attrs[0] : 0), b = set(attr_count > 1 ? attrs[1] : 0);
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const V none = hn::Zero(D());
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V yv = none, zv = none;
    if constexpr (Op::kArity > 1) yv = y.load(i);
    if constexpr (Op::kArity > 2) zv = z.load(i);
    hn::StoreU(Op::apply(x.load(i), yv, zv, a, b), D(), out + i);
  }
  if (i == n) return;
  auto rest = hn::FirstN(D(), static_cast<size_t>(n - i));
  V yv = none, zv = none;
  if constexpr (Op::kArity > 1) yv = y.load_some(rest, i);
  if constexpr (Op::kArity > 2) zv = z.load_some(rest, i);
  store_some(Op::apply(x.load_some(rest, i), yv, zv, a, b), rest, out + i);
}

template <class Op, int Attrs>
void run(int64_t n, const float* const* args, const int64_t* strides, const float* attrs, float* out) {
  bool x = strides[0] == 0;
  if constexpr (Op::kArity == 1) {
    return x ? loop<Op, true, true, true>(n, args, attrs, Attrs, out)
             : loop<Op, false, true, true>(n, args, attrs, Attrs, out);
  } else if constexpr (Op::kArity == 2) {
    bool y = strides[1] == 0;
    if (x)
      return y ? loop<Op, true, true, true>(n, args, attrs, Attrs, out)
               : loop<Op, true, false, true>(n, args, attrs, Attrs, out);
    return y ? loop<Op, false, true, true>(n, args, attrs, Attrs, out)
             : loop<Op, false, false, true>(n, args, attrs, Attrs, out);
  } else {
    // The last two are mostly bounds, one value each; other patterns are made so block by block.
    if (!x && strides[1] == 0 && strides[2] == 0) return loop<Op, false, true, true>(n, args, attrs, Attrs, out);
    constexpr int64_t kPiece = 256;
    float pieces[3][kPiece];
    for (int64_t at = 0; at < n; at += kPiece) {
      int64_t m = std::min(kPiece, n - at);
      const float* from[3];
      for (int k = 0; k < 3; ++k) {
        from[k] = strides[k] ? args[k] + at : pieces[k];
        if (!strides[k]) std::fill_n(pieces[k], m, *args[k]);
      }
      loop<Op, false, false, false>(m, from, attrs, Attrs, out + at);
    }
  }
}

// Powers with one common exponent of the frequent kind; the general one is left to the plain row.
bool power(int64_t n, const float* x, float exponent, float* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  auto all = [&](auto f) {
    for (int64_t i = 0; i < n; i += lanes) {
      auto m = hn::FirstN(D(), static_cast<size_t>(std::min(lanes, n - i)));
      store_some(f(hn::MaskedLoad(m, D(), x + i)), m, out + i);
    }
    return true;
  };
  if (exponent == 2) return all([](V v) { return hn::Mul(v, v); });
  if (exponent == 3) return all([](V v) { return hn::Mul(hn::Mul(v, v), v); });
  if (exponent == 1) return all([](V v) { return v; });
  return false;
}

// ---- Reductions of a row.
template <class F>
float fold(int64_t n, const float* x, V start, float neutral, F f) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  V a = start, b = start;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = f(a, hn::LoadU(D(), x + i));
    b = f(b, hn::LoadU(D(), x + i + lanes));
  }
  for (; i + lanes <= n; i += lanes) a = f(a, hn::LoadU(D(), x + i));
  if (i < n) {
    auto m = hn::FirstN(D(), static_cast<size_t>(n - i));
    b = f(b, choose(m, hn::MaskedLoad(m, D(), x + i), set(neutral)));
  }
  return f.join(a, b);
}

struct Plus {
  V operator()(V a, V x) const { return hn::Add(a, x); }
  float join(V a, V b) const { return hn::GetLane(hn::SumOfLanes(D(), hn::Add(a, b))); }
};
struct Greatest {
  V operator()(V a, V x) const { return maximum(a, x); }
  float join(V a, V b) const {
    V m = maximum(a, b);
    float nan = hn::GetLane(hn::SumOfLanes(D(), m));  // NaN if one lane is
    return hn::AllFalse(D(), is_nan(m)) ? hn::GetLane(hn::MaxOfLanes(D(), m)) : nan;
  }
};
struct Squares {
  V mean;
  V operator()(V a, V x) const {
    V d = hn::Sub(x, mean);
    return hn::MulAdd(d, d, a);
  }
  float join(V a, V b) const { return Plus().join(a, b); }
};

float sum(int64_t n, const float* x) { return fold(n, x, hn::Zero(D()), 0, Plus()); }
float max(int64_t n, const float* x) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  return fold(n, x, set(kLowest), kLowest, Greatest());
}
float square_sum(int64_t n, const float* x, float mean) { return fold(n, x, hn::Zero(D()), mean, Squares{set(mean)}); }

// out[i] = f(i, x[i]) with whole vectors, then the rest masked; f gets a loader for further arrays.
template <class F>
HWY_INLINE void transform(int64_t n, const float* x, float* out, F f) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(f(hn::LoadU(D(), x + i), [&](const float* p) { return hn::LoadU(D(), p + i); }), D(), out + i);
  if (i == n) return;
  auto m = hn::FirstN(D(), static_cast<size_t>(n - i));
  V v = f(hn::MaskedLoad(m, D(), x + i), [&](const float* p) { return hn::MaskedLoad(m, D(), p + i); });
  store_some(v, m, out + i);
}

float exp_sum(int64_t n, const float* x, float shift, float* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  V total = hn::Zero(D());
  const V s = set(shift);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V e = exp_(hn::Sub(hn::LoadU(D(), x + i), s));
    total = hn::Add(total, e);
    hn::StoreU(e, D(), out + i);
  }
  if (i < n) {
    auto m = hn::FirstN(D(), static_cast<size_t>(n - i));
    V e = hn::IfThenElseZero(m, exp_(hn::Sub(hn::MaskedLoad(m, D(), x + i), s)));
    total = hn::Add(total, e);
    store_some(e, m, out + i);
  }
  return hn::GetLane(hn::SumOfLanes(D(), total));
}
void scale(int64_t n, const float* x, float by, float* out) {
  const V s = set(by);
  transform(n, x, out, [&](V v, auto) { return hn::Mul(v, s); });
}
void add_scaled(int64_t n, const float* x, float by, float* out) {
  const V s = set(by);
  transform(n, x, out, [&](V v, auto load) { return hn::MulAdd(v, s, load(out)); });
}
void normalize(int64_t n, const float* x, float mean, float by, const float* gamma, const float* beta, float* out) {
  const V m = set(mean), s = set(by);
  if (beta)
    transform(n, x, out,
              [&](V v, auto load) { return hn::MulAdd(hn::Mul(hn::Sub(v, m), s), load(gamma), load(beta)); });
  else
    transform(n, x, out, [&](V v, auto load) { return hn::Mul(hn::Mul(hn::Sub(v, m), s), load(gamma)); });
}

struct Entry {
  std::string_view name;
  Row row;
};
const Entry kRows[] = {
#define ROW(name, attrs, cost) {#name, {run<name, attrs>, cost}},
    ROW(Abs, 0, 0.1) ROW(Add, 0, 0.1) ROW(Ceil, 0, 0.1) ROW(Clip, 0, 0.1) ROW(Div, 0, 0.3) ROW(DivideBy, 1, 0.3) ROW(
        Elu, 1, 0.7) ROW(Erf, 0, 0.8) ROW(Exp, 0, 0.5) ROW(Floor, 0, 0.1) ROW(Gelu, 1, 0.9) ROW(HardSigmoid, 2, 0.2)
        ROW(HardSwish, 0, 0.2) ROW(LeakyRelu, 1, 0.1) ROW(Log, 0, 0.7) ROW(Max, 0, 0.1) ROW(Min, 0, 0.1) ROW(Mish, 0, 2)
            ROW(Mul, 0, 0.1) ROW(Neg, 0, 0.1) ROW(PRelu, 0, 0.1) ROW(Reciprocal, 0, 0.3) ROW(Relu, 0, 0.1)
                ROW(Round, 0, 0.1) ROW(Selu, 2, 0.7) ROW(Sigmoid, 0, 0.7) ROW(Softplus, 0, 1.5) ROW(Sqrt, 0, 0.3)
                    ROW(Sub, 0, 0.1) ROW(Swish, 1, 0.8) ROW(Tanh, 0, 0.8) ROW(Where, 0, 0.2){"Sum", {run<Add, 0>, 0.1}},
#undef ROW
};

Row find(std::string_view name) {
  for (const Entry& e : kRows)
    if (e.name == name) return e.row;
  return {};
}

const RowReductions& reductions() {
  static const RowReductions all = {sum, max, exp_sum, scale, add_scaled, square_sum, normalize};
  return all;
}

}  // namespace hf::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cmath>

namespace hf::cpu {

HWY_EXPORT(find);
HWY_EXPORT(power);
HWY_EXPORT(reductions);

namespace {

void run_power(int64_t n, const float* const* args, const int64_t* strides, const float*, float* out) {
  if (strides[0] == 1 && strides[1] == 0 && HWY_DYNAMIC_DISPATCH(power)(n, args[0], *args[1], out)) return;
  for (int64_t i = 0; i < n; ++i) out[i] = std::pow(args[0][i * strides[0]], args[1][i * strides[1]]);
}

}  // namespace

Row find_row(std::string_view name) {
  if (name == "Pow") return {run_power, 1};
  return HWY_DYNAMIC_DISPATCH(find)(name);
}

const RowReductions& row_reductions() {
  static const RowReductions& all = HWY_DYNAMIC_DISPATCH(reductions)();
  return all;
}

}  // namespace hf::cpu
#endif

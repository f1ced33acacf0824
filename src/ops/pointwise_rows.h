// The rows of pointwise.def as functions on blocks of T; included by one source a T.
#pragma once
#include <array>

#include "ops/pointwise.h"
#include "ops/pointwise_math.h"

namespace hf::ops {

/// A row on n elements of T; an argument with stride 0 is one value for all. `out` may be an argument with stride 1.
template <class T>
using RowFn = void (*)(int64_t n, const T* const* args, const int64_t* strides, const T* attrs, T* out);

/// The function of a row by its place in pointwise.def; null if the row does not take T. T: float, double, int64_t,
/// uint64_t.
template <class T>
RowFn<T> row_function(size_t row);
template <>
RowFn<float> row_function<float>(size_t row);
template <>
RowFn<double> row_function<double>(size_t row);
template <>
RowFn<int64_t> row_function<int64_t>(size_t row);
template <>
RowFn<uint64_t> row_function<uint64_t>(size_t row);

template <class... A>
constexpr std::array<AttrDef, sizeof...(A)> attr_list(A... attrs) {
  return {attrs...};
}

}  // namespace hf::ops

namespace hf::math::rows {

using ops::attr_list, ops::float_attr, ops::int_attr, ops::required_attr, ops::string_attr;
using ops::AttrDef, ops::AttrType, ops::Elements, ops::RowFn;
using ops::kOurs;
enum class Result { Same, ToBool };

#define ROW(name, since, arity, elements, result, attributes, ...)                                         \
  struct name {                                                                                            \
    static constexpr int kArity = arity;                                                                   \
    static constexpr Elements kElements = Elements::elements;                                              \
    static constexpr auto kAttrs = attr_list attributes;                                                   \
    template <class T>                                                                                     \
    static T apply([[maybe_unused]] T x, [[maybe_unused]] T y, [[maybe_unused]] T z, [[maybe_unused]] T a, \
                   [[maybe_unused]] T b) {                                                                 \
      return __VA_ARGS__;                                                                                  \
    }                                                                                                      \
  };
#include "ops/pointwise.def"
#undef ROW

template <class Op, class T, int SX, int SY, int SZ>
void unit_loop(int64_t n, const T* x, const T* y, const T* z, T a, T b, T* out) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = Op::template apply<T>(x[i * SX], y[i * SY], z[i * SZ], a, b);
}

// Float rows have a loop for each common pattern of strides, for the vectoriser's sake; the other types one for all.
template <class Op, class T>
void run(int64_t n, const T* const* args, const int64_t* strides, const T* attrs, T* out) {
  const T a = Op::kAttrs.size() > 0 ? attrs[0] : T(0), b = Op::kAttrs.size() > 1 ? attrs[1] : T(0);
  const T *x = args[0], *y = args[Op::kArity > 1 ? 1 : 0], *z = args[Op::kArity > 2 ? 2 : 0];
  const int64_t sx = strides[0], sy = strides[Op::kArity > 1 ? 1 : 0], sz = strides[Op::kArity > 2 ? 2 : 0];
  if (std::is_same_v<T, float> && sx == 1) {
    if constexpr (Op::kArity == 1) return unit_loop<Op, T, 1, 1, 1>(n, x, y, z, a, b, out);
    if (sy == 1 && sz == 1) return unit_loop<Op, T, 1, 1, 1>(n, x, y, z, a, b, out);
    if (sy == 0 && sz == 0) return unit_loop<Op, T, 1, 0, 0>(n, x, y, z, a, b, out);
    if constexpr (Op::kArity == 2) return unit_loop<Op, T, 1, 0, 1>(n, x, y, x, a, b, out);
  } else if (std::is_same_v<T, float> && Op::kArity == 2 && sy == 1) {
    return unit_loop<Op, T, 0, 1, 0>(n, x, y, z, a, b, out);
  }
  for (int64_t i = 0; i < n; ++i) out[i] = Op::template apply<T>(x[i * sx], y[i * sy], z[i * sz], a, b);
}

template <class T>
constexpr bool takes(Elements e) {
  switch (e) {
    case Elements::Number:
    case Elements::Any: return true;
    case Elements::Float: return is_real<T>;
    case Elements::Integer: return !is_real<T>;
    case Elements::Signed: return is_signed<T>;
    case Elements::Bool: return std::is_same_v<T, int64_t>;
  }
  return false;
}

template <class Op, class T>
constexpr RowFn<T> pick() {
  if constexpr (takes<T>(Op::kElements))
    return run<Op, T>;
  else
    return nullptr;
}

template <class T>
constexpr RowFn<T> functions[] = {
#define ROW(name, ...) pick<name, T>(),
#include "ops/pointwise.def"
#undef ROW
};

}  // namespace hf::math::rows

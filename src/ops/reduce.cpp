// The Reduce operators.
#include "ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/op.h"
#include "ops/pointwise_math.h"

namespace hf::ops {
namespace {

// The axes are an input since 18, for ReduceSum since 13.
template <int kInput>
constexpr AttrDef attrs[] = {
    optional_attr("axes", AttrType::Ints, 1, kInput - 1),
    int_attr("keepdims", 1),
    int_attr("noop_with_empty_axes", 0, kInput),
};

void upgrade(ir::Graph& g, Node& n, int) {
  n.attrs.emplace("noop_with_empty_axes", int64_t{0});
  attr_to_input(g, n, "axes", 1);
}

// Which axes of `rank` are reduced.
std::vector<bool> reduced_axes(const Node& n, int rank, const std::vector<int64_t>& axes) {
  const bool all = axes.empty() && n.i("noop_with_empty_axes") == 0;
  std::vector<bool> reduced(static_cast<size_t>(rank), all);
  for (int64_t a : axes) reduced[static_cast<size_t>(normalize_axis(a, rank, "axes"))] = true;
  return reduced;
}

void infer(Infer& in) {
  if (in.rank(0) < 0) return in.set(0, in.dtype(0));
  const bool keep = in.node.i("keepdims") != 0;
  if (in.has(1) && !in.constant(1)) {
    std::optional<int64_t> count = in.shape(1).count();
    if (keep) return in.set(0, in.dtype(0), Shape::unknown_of_rank(in.rank(0)));
    if (!count || *count > 0) return in.set(0, in.dtype(0));
  }
  const std::vector<bool> reduced =
      reduced_axes(in.node, in.rank(0), in.constant(1) ? to_ints(*in.constant(1)) : std::vector<int64_t>());
  std::vector<Dim> dims;
  for (int i = 0; i < in.rank(0); ++i) {
    if (!reduced[static_cast<size_t>(i)])
      dims.push_back(in.shape(0)[i]);
    else if (keep)
      dims.push_back(1);
  }
  in.set(0, in.dtype(0), dims);
}

// How each operator folds: start, then fold in the value of every element. A is what it accumulates in, for elements
// read as T. Sums of floats are kept in double, so that long rows stay accurate; integers wrap, which unsigned
// arithmetic does without being undefined.
struct Sum {
  template <class T>
  using A = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  template <class A, class T>
  static A value(T x) {
    return static_cast<A>(x);
  }
  template <class A>
  static A start() {
    return 0;
  }
  template <class A>
  static A fold(A a, A x) {
    return a + x;
  }
  template <class A>
  static A finish(A a, int64_t) {
    return a;
  }
};
struct RealSum : Sum {
  template <class T>
  using A = double;
};
struct Mean : RealSum {
  template <class A>
  static A finish(A a, int64_t n) {
    return a / static_cast<A>(n);
  }
};
struct Prod : Sum {
  template <class A>
  static A start() {
    return 1;
  }
  template <class A>
  static A fold(A a, A x) {
    return a * x;
  }
};
struct Ordered : Sum {
  template <class T>
  using A = T;
};
struct Max : Ordered {
  template <class A>
  static A start() {
    return std::is_floating_point_v<A> ? -std::numeric_limits<A>::infinity() : std::numeric_limits<A>::lowest();
  }
  template <class A>
  static A fold(A a, A x) {
    return math::maximum(a, x);
  }
};
struct Min : Ordered {
  template <class A>
  static A start() {
    return std::is_floating_point_v<A> ? std::numeric_limits<A>::infinity() : std::numeric_limits<A>::max();
  }
  template <class A>
  static A fold(A a, A x) {
    return math::minimum(a, x);
  }
};
struct L1 : Sum {
  template <class A, class T>
  static A value(T x) {
    return std::is_signed_v<T> && x < T(0) ? A(0) - static_cast<A>(x) : static_cast<A>(x);
  }
};
struct SumSquare : Sum {
  template <class A, class T>
  static A value(T x) {
    return static_cast<A>(x) * static_cast<A>(x);
  }
};
struct L2 : RealSum {
  template <class A, class T>
  static A value(T x) {
    return static_cast<A>(x) * static_cast<A>(x);
  }
  template <class A>
  static A finish(A a, int64_t) {
    return std::sqrt(a);
  }
};
struct LogSum : RealSum {
  template <class A>
  static A finish(A a, int64_t) {
    return std::log(a);
  }
};
struct LogSumExp : RealSum {};  // its own loop, below

// Folds the runs of one piece into `acc`: width results, or for one result in eight lanes that are joined at the end.
template <class Op, class A, class T, class F>
void fold_piece(const T* x, int64_t width, const ReducePlan::Rows& rows, A* acc, F&& value) {
  constexpr int64_t kLanes = 8;
  const int64_t lanes = width == 1 ? kLanes : width;
  std::fill_n(acc, lanes, Op::template start<A>());
  rows([&](int64_t at, int64_t n, int64_t stride) {
    if (width > 1 || stride > 1) {
      for (int64_t i = 0; i < n; ++i) {
        const T* row = x + at + i * stride;
        for (int64_t j = 0; j < width; ++j) acc[j] = Op::fold(acc[j], value(row[j], j));
      }
      return;
    }
    const T* row = x + at;
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for (int64_t j = 0; j < kLanes; ++j) acc[j] = Op::fold(acc[j], value(row[i + j], 0));
    for (; i < n; ++i) acc[0] = Op::fold(acc[0], value(row[i], 0));
  });
  if (width == 1)
    for (int64_t j = 1; j < kLanes; ++j) acc[0] = Op::fold(acc[0], acc[j]);
}

// log(sum(e^x)) as m + log(sum(e^(x - m))) with m the greatest, which cannot overflow.
template <class T>
void log_sum_exp(const T* x, int64_t width, const ReducePlan::Rows& rows, double* acc) {
  T top[ReducePlan::kWidth];
  fold_piece<Max>(x, width, rows, top, [](T v, int64_t) { return v; });
  for (int64_t j = 0; j < width; ++j)
    if (std::isinf(top[j])) top[j] = 0;
  fold_piece<Sum>(x, width, rows, acc, [&](T v, int64_t j) { return std::exp(static_cast<double>(v - top[j])); });
  for (int64_t j = 0; j < width; ++j) acc[j] = static_cast<double>(top[j]) + std::log(acc[j]);
}

template <class Op, class T>
void run(const ReducePlan& plan, const T* x, T* out) {
  using A = typename Op::template A<T>;
  plan.each(std::is_same_v<Op, LogSumExp> ? 10 : 0.7, [&](int64_t first, int64_t width, const ReducePlan::Rows& rows) {
    A acc[ReducePlan::kWidth];
    if constexpr (std::is_same_v<Op, LogSumExp>) {
      log_sum_exp(x, width, rows, acc);
    } else {
      fold_piece<Op>(x, width, rows, acc, [](T v, int64_t) { return Op::template value<A>(v); });
      for (int64_t j = 0; j < width; ++j) acc[j] = Op::template finish<A>(acc[j], plan.group());
    }
    for (int64_t j = 0; j < width; ++j) out[first + j] = static_cast<T>(acc[j]);
  });
}

// The result of reducing nothing: what the fold starts from, for Max and Min of integers the type's limit.
template <class Op>
void fill_empty(Tensor& out) {
  const DType d = out.dtype();
  const size_t n = static_cast<size_t>(out.size());
  constexpr bool kMin = std::is_same_v<Op, Min>;
  if ((kMin || std::is_same_v<Op, Max>)&&!is_float(d)) {
    const bool sign = is_signed_int(d);
    const int width = d == DType::Bool ? 1 : bits(d);
    const uint64_t lowest = sign ? uint64_t{1} << (width - 1) : 0, highest = ~uint64_t{0} >> (64 - width) >> sign;
    write_elements(std::vector<uint64_t>(n, kMin ? highest : lowest).data(), out);
  } else {
    double value = Op::template finish<double>(Op::template start<double>(), 0);  // NaN for Mean
    if (std::is_same_v<Op, LogSumExp>) value = -std::numeric_limits<double>::infinity();
    write_elements(std::vector<double>(n, value).data(), out);
  }
}

// What elements of a dtype are read as. Sums of integers are the same modulo 2^64 whatever the sign; what ends in a
// root, a quotient or a logarithm is computed in double.
template <class Op, class F>
void dispatch_element(DType d, F&& f) {
  constexpr bool kReal = std::is_base_of_v<RealSum, Op>, kOrdered = std::is_base_of_v<Ordered, Op>;
  if (is_float(d) && d != DType::F64) return f(float{});
  if (kReal || d == DType::F64) return f(double{});
  if constexpr (kOrdered)
    if (d == DType::U64) return f(uint64_t{});
  if constexpr (!kReal) f(int64_t{});
}

template <class Op>
void reference(Eval& e) {
  const Tensor& x = e.in(0);
  const ReducePlan plan(x.dims(), reduced_axes(e.node, x.rank(), e.has(1) ? to_ints(e.in(1)) : std::vector<int64_t>()));
  if (plan.group() == 0) return fill_empty<Op>(e.out());
  if constexpr (std::is_same_v<Op, L1>)
    if (is_unsigned_int(x.dtype())) return reference<Sum>(e);
  dispatch_element<Op>(x.dtype(), [&]<class T>(T) {
    ReadAs<T> in(x);
    WriteAs<T> out(e.out());
    run<Op, T>(plan, in.data(), out.data());
    out.commit();
  });
}

template <class Op, int kInput = 18>
constexpr OpDef def(std::string_view name) {
  return {.name = name,
          .max_inputs = 2,
          .attrs = attrs<kInput>,
          .upgrade = upgrade,
          .infer = infer,
          .reference = reference<Op>};
}

constexpr OpDef defs[] = {
    def<L1>("ReduceL1"),         def<L2>("ReduceL2"),
    def<LogSum>("ReduceLogSum"), def<LogSumExp>("ReduceLogSumExp"),
    def<Max>("ReduceMax"),       def<Mean>("ReduceMean"),
    def<Min>("ReduceMin"),       def<Prod>("ReduceProd"),
    def<Sum, 13>("ReduceSum"),   def<SumSquare>("ReduceSumSquare"),
};

}  // namespace

std::span<const OpDef> reduce_ops() { return defs; }

}  // namespace hf::ops

// Softmax, LogSoftmax and Hardmax.
#include <algorithm>
#include <cmath>

#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    int_attr("axis", 1, 1, 12), int_attr("axis", -1, 13),
    optional_attr("flatten", AttrType::Int, kOurs),  // ours, set by upgrade
};

// Before opset 13 the input is seen as a matrix: all dims from `axis` (default 1) on are one row. When axis is the last
// one that is today's meaning.
void upgrade(ir::Graph&, Node& n, int opset) {
  if (opset >= 13) return;
  n.attrs["flatten"] = int64_t{1};
}

void infer(Infer& in) {
  if (in.rank(0) >= 0) normalize_axis(in.node.i("axis"), std::max(in.rank(0), 1));
  infer_same(in);
}

enum class Kind { Softmax, Log, Hard };

template <class T>
void row(Kind kind, int64_t n, int64_t stride, const T* x, T* y) {
  T top = x[0];
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i)
    if (x[i * stride] > top) top = x[i * stride], best = i;
  if (kind == Kind::Hard) {
    for (int64_t i = 0; i < n; ++i) y[i * stride] = T(i == best);
    return;
  }
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i * stride] - top);
  for (int64_t i = 0; i < n; ++i) {
    T v = x[i * stride] - top;
    y[i * stride] = kind == Kind::Log ? v - std::log(sum) : std::exp(v) / sum;
  }
}

template <Kind kind>
void reference(Eval& e) {
  const Tensor& x = e.in(0);
  int axis = x.rank() ? normalize_axis(e.node.i("axis"), x.rank()) : 0;
  bool flatten = e.node.has("flatten");
  int64_t outer = x.dims().count(0, axis),
          n = x.rank() ? (flatten ? x.dims().count(axis, x.rank()) : x.dims()[axis]) : 1;
  int64_t inner = flatten || !x.rank() ? 1 : x.dims().count(axis + 1, x.rank());
  dispatch_float(x.dtype(), [&]<class T>(T) {
    ReadAs<T> in(x);
    WriteAs<T> out(e.out());
    if (n)
      parallel_for(outer * inner, static_cast<double>(n) * 10, [&](int64_t from, int64_t to) {
        for (int64_t r = from; r < to; ++r) {
          int64_t at = r / inner * n * inner + r % inner;
          row(kind, n, inner, in.data() + at, out.data() + at);
        }
      });
    out.commit();
  });
}

constexpr OpDef defs[] = {
    {.name = "Softmax", .attrs = attrs, .upgrade = upgrade, .infer = infer, .reference = reference<Kind::Softmax>},
    {.name = "LogSoftmax", .attrs = attrs, .upgrade = upgrade, .infer = infer, .reference = reference<Kind::Log>},
    {.name = "Hardmax", .attrs = attrs, .upgrade = upgrade, .infer = infer, .reference = reference<Kind::Hard>},
};

}  // namespace

std::span<const OpDef> softmax_ops() { return defs; }

}  // namespace hf::ops

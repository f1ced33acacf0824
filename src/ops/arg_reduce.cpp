// ArgMax and ArgMin.
#include <algorithm>
#include <cmath>

#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {int_attr("axis", 0), int_attr("keepdims", 1), int_attr("select_last_index", 0, 12)};

void upgrade(ir::Graph&, Node& n, int) { n.attrs.emplace("select_last_index", int64_t{0}); }

void infer(Infer& in) {
  if (in.rank(0) < 0) return in.set(0, DType::I64);
  const int axis = normalize_axis(in.node.i("axis"), std::max(in.rank(0), 1));
  std::vector<Dim> dims = in.shape(0).dims();
  if (!dims.empty()) {
    if (in.node.i("keepdims"))
      dims[static_cast<size_t>(axis)] = 1;
    else
      dims.erase(dims.begin() + axis);
  }
  in.set(0, DType::I64, dims);
}

// Of equals the first, or the last if asked. NaN is beyond everything, as in numpy.
template <bool kMax, class T>
int64_t best_of(const T* x, int64_t n, int64_t stride, bool last) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    const T v = x[i * stride], top = x[best * stride];
    const bool beats = kMax ? v > top : v < top, v_nan = v != v, top_nan = top != top;
    if (top_nan ? v_nan && last : beats || v_nan || (last && v == top)) best = i;
  }
  return best;
}

template <bool kMax>
void reference(Eval& e) {
  const Tensor& x = e.in(0);
  const int axis = x.rank() ? normalize_axis(e.node.i("axis"), x.rank()) : 0;
  const int64_t n = x.rank() ? x.dims()[axis] : 1;
  const int64_t outer = x.dims().count(0, axis), inner = x.rank() ? x.dims().count(axis + 1, x.rank()) : 1;
  if (n == 0 && outer != 0 && inner != 0) fail(Code::InvalidArgument, "no element along axis {} of {}", axis, x.text());
  const bool last = e.node.i("select_last_index") != 0;
  int64_t* out = e.out().data<int64_t>();
  dispatch_number(x.dtype(), [&]<class T>(T) {
    ReadAs<T> in(x);
    parallel_for(outer * inner, static_cast<double>(n), [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r)
        out[r] = best_of<kMax>(in.data() + r / inner * n * inner + r % inner, n, inner, last);
    });
  });
}

constexpr OpDef defs[] = {
    {.name = "ArgMax", .attrs = attrs, .upgrade = upgrade, .infer = infer, .reference = reference<true>},
    {.name = "ArgMin", .attrs = attrs, .upgrade = upgrade, .infer = infer, .reference = reference<false>},
};

}  // namespace

std::span<const OpDef> arg_reduce_ops() { return defs; }

}  // namespace hf::ops

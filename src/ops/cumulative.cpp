// CumSum and CumProd.
#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {int_attr("exclusive", 0), int_attr("reverse", 0)};

// Integers wrap, which unsigned arithmetic does without being undefined; floats are kept in double.
template <bool kProduct, class T>
void scan(const T* x, T* y, int64_t n, int64_t stride, bool exclusive) {
  using A = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  A total = kProduct ? 1 : 0;
  for (int64_t i = 0; i < n; ++i, x += stride, y += stride) {
    if (exclusive) *y = static_cast<T>(total);
    total = kProduct ? total * static_cast<A>(*x) : total + static_cast<A>(*x);
    if (!exclusive) *y = static_cast<T>(total);
  }
}

template <bool kProduct>
void reference(Eval& e) {
  const Tensor& x = e.in(0);
  if (x.rank() == 0) fail(Code::InvalidArgument, "a scalar has no axis to go along");
  const int64_t wanted = to_int(e.in(1));
  if (wanted < -x.rank() || wanted >= x.rank())
    fail(Code::InvalidArgument, "axis {} is outside [{}, {}]", wanted, -x.rank(), x.rank() - 1);
  const int axis = normalize_axis(wanted, x.rank());
  const int64_t n = x.dims()[axis], outer = x.dims().count(0, axis), inner = x.dims().count(axis + 1, x.rank());
  const bool exclusive = e.node.i("exclusive") != 0, reverse = e.node.i("reverse") != 0;
  if (x.size() == 0) return;
  dispatch_number(x.dtype(), [&]<class T>(T) {
    ReadAs<T> in(x);
    WriteAs<T> out(e.out());
    parallel_for(outer * inner, static_cast<double>(n), [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r) {
        const int64_t first = r / inner * n * inner + r % inner, at = reverse ? first + (n - 1) * inner : first;
        scan<kProduct>(in.data() + at, out.data() + at, n, reverse ? -inner : inner, exclusive);
      }
    });
    out.commit();
  });
}

constexpr OpDef defs[] = {
    {.name = "CumSum",
     .since = 11,
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = attrs,
     .infer = infer_same,
     .reference = reference<false>},
    {.name = "CumProd",
     .since = 26,
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = attrs,
     .infer = infer_same,
     .reference = reference<true>},
};

}  // namespace

std::span<const OpDef> cumulative_ops() { return defs; }

}  // namespace hf::ops

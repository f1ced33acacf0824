// GlobalAveragePool, GlobalMaxPool and GlobalLpPool: a whole plane becomes one value.
#include <cmath>
#include <limits>

#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef lp_attrs[] = {int_attr("p", 2)};

void infer(Infer& in) {
  Shape out = in.shape(0);
  if (out.ranked()) in.require(out.rank() >= 3, "the input is of shape {}, wanted [batch, channels, ...]", out.text());
  for (int i = 2; i < out.rank(); ++i) out[i] = 1;
  in.set(0, in.dtype(0), out);
}

// f(plane, count): the value of one plane.
template <class F>
void pool(Eval& e, F f) {
  const Dims& d = e.in(0).dims();
  const int64_t planes = d.count(0, 2), count = d.count(2, d.rank());
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0));
    WriteAs<T> y(e.out());
    parallel_for(planes, static_cast<double>(count), [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) y[i] = f(x.data() + i * count, count);
    });
    y.commit();
  });
}

void average(Eval& e) {
  pool(e, []<class T>(const T* x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]);
    return static_cast<T>(sum / static_cast<double>(count));
  });
}

void maximum(Eval& e) {
  pool(e, []<class T>(const T* x, int64_t count) {
    T top = -std::numeric_limits<T>::infinity();
    for (int64_t i = 0; i < count; ++i)
      if (x[i] > top || x[i] != x[i]) top = x[i];
    return top;
  });
}

void lp(Eval& e) {
  const double p = static_cast<double>(e.node.i("p"));
  pool(e, [p]<class T>(const T* x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += std::pow(std::fabs(static_cast<double>(x[i])), p);
    return static_cast<T>(std::pow(sum, 1 / p));
  });
}

constexpr OpDef defs[] = {
    {.name = "GlobalAveragePool", .infer = infer, .reference = average},
    {.name = "GlobalMaxPool", .infer = infer, .reference = maximum},
    {.name = "GlobalLpPool", .attrs = lp_attrs, .infer = infer, .reference = lp},
};

}  // namespace

std::span<const OpDef> pool_global_ops() { return defs; }

}  // namespace hf::ops

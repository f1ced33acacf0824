// Gemm, and com.microsoft's FusedGemm, which is a Gemm and an activation.
#include "ops/matrix.h"
#include "ops/op.h"
#include "ops/unfuse.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    float_attr("alpha", 1),
    float_attr("beta", 1),
    int_attr("transA", 0),
    int_attr("transB", 0),
};

constexpr AttrDef fused_attrs[] = {
    string_attr("activation", ""),
    optional_attr("activation_alpha", AttrType::Float),
    optional_attr("activation_beta", AttrType::Float),
    optional_attr("activation_gamma", AttrType::Float),
    float_attr("alpha", 1),
    float_attr("beta", 1),
    int_attr("transA", 0),
    int_attr("transB", 0),
};

void upgrade_fused(ir::Graph& g, Node& n, int) {
  std::vector<float> params;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (n.has(name)) params.push_back(n.f(name));
    n.attrs.erase(name);
  }
  const std::string activation = n.s("activation");
  n.attrs.erase("activation");
  follow_with_activation(g, n, push_down(g, n, "Gemm", 3)->output(), activation, params);
}

void infer(Infer& in) {
  const bool ta = in.node.i("transA") != 0, tb = in.node.i("transB") != 0;
  Dim m, k, k2, n;
  auto matrix = [&](int i, bool trans, Dim& rows, Dim& columns) {
    const Shape& s = in.shape(i);
    if (!s.ranked()) return;
    in.require(s.rank() == 2, "input {} is of shape {}, wanted a matrix", i, s.text());
    rows = s[trans];
    columns = s[!trans];
  };
  matrix(0, ta, m, k);
  matrix(1, tb, k2, n);
  in.require(!k.known() || !k2.known() || k.value == k2.value, "A of shape {}{} and B of shape {}{} do not multiply",
             in.shape(0).text(), ta ? " transposed" : "", in.shape(1).text(), tb ? " transposed" : "");
  const Shape out = std::vector<Dim>{m, n};
  if (in.has(2) && in.shape(2).ranked()) {
    const Shape& c = in.shape(2);
    in.require(c.rank() <= 2, "C is of shape {}, wanted one that broadcasts to {}", c.text(), out.text());
    for (int i = 0; i < c.rank(); ++i) {
      const Dim &of = c[c.rank() - 1 - i], &to = out[1 - i];
      in.require(!of.known() || of.value == 1 || !to.known() || of.value == to.value,
                 "C is of shape {}, wanted one that broadcasts to {}", c.text(), out.text());
    }
  }
  in.set(0, in.dtype(0), out);
}

// scale * x; integers take the product's integer part.
template <class T>
T scaled(float scale, T x) {
  if (scale == 1) return x;
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<int64_t>(static_cast<double>(scale) * static_cast<double>(x)));
  else
    return static_cast<T>(scale) * x;
}

template <class T>
void run(Eval& e) {
  const Tensor &a = e.in(0), &b = e.in(1);
  const int64_t m = e.out().dims()[0], n = e.out().dims()[1];
  const bool ta = e.node.i("transA") != 0, tb = e.node.i("transB") != 0;
  const int64_t k = a.dims()[ta ? 0 : 1];
  const float alpha = e.node.f("alpha"), beta = e.node.f("beta");
  ReadAs<T> av(a), bv(b);
  std::vector<T> at, bt;
  if (ta) at = transposed(av.data(), k, m);
  if (tb) bt = transposed(bv.data(), n, k);
  WriteAs<T> y(e.out());
  multiply(m, n, k, ta ? at.data() : av.data(), tb ? bt.data() : bv.data(), y.data());
  if (alpha != 1)
    for (int64_t i = 0; i < m * n; ++i) y[i] = scaled(alpha, y[i]);
  if (e.has(2) && beta != 0) {
    const Dims& cd = e.in(2).dims();
    const int64_t columns = cd.rank() ? cd.back() : 1, rows = cd.rank() == 2 ? cd[0] : 1;
    ReadAs<T> c(e.in(2));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        y[i * n + j] =
            add_wrapped(y[i * n + j], scaled(beta, c[(rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j)]));
  }
  y.commit();
}

void reference(Eval& e) {
  dispatch_product(e.in(0).dtype(), [&]<class T>(T) { run<T>(e); });
}

constexpr OpDef defs[] = {
    {.name = "Gemm", .min_inputs = 2, .max_inputs = 3, .attrs = attrs, .infer = infer, .reference = reference},
    {.name = "FusedGemm",
     .domain = "com.microsoft",
     .min_inputs = 2,
     .max_inputs = 3,
     .attrs = fused_attrs,
     .upgrade = upgrade_fused},
};

}  // namespace

std::span<const OpDef> gemm_ops() { return defs; }

}  // namespace hf::ops

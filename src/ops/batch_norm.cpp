// BatchNormalization.
#include <cmath>

#include "ops/moments.h"
#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    float_attr("epsilon", 1e-5f),
    float_attr("momentum", 0.9f),
    int_attr("spatial", 1, 1, 8),
    int_attr("training_mode", 0, 14),
    optional_attr("by_outputs", AttrType::Int, kOurs),  // ours, set by upgrade
};

// Before opset 14 it is training when the further outputs are asked for.
void upgrade(ir::Graph&, Node& n, int opset) {
  if (opset >= 14) return;
  n.attrs["training_mode"] = int64_t{0};
  n.attrs["by_outputs"] = int64_t{1};
}

bool trains(const Node& n) {
  if (n.i("training_mode")) return true;
  if (!n.has("by_outputs")) return false;
  for (size_t i = 1; i < n.outputs().size(); ++i)
    if (n.outputs()[i] && !n.outputs()[i]->unused()) return true;
  return false;
}

void infer(Infer& in) {
  in.set(0, in.dtype(0), in.shape(0));
  if (in.rank(0) == 0) in.bad("a scalar has no channels");
  for (int i = 1; i < in.outputs(); ++i) in.set(i, in.dtype(i % 2 ? 3 : 4), in.shape(i % 2 ? 3 : 4));
}

// The input as [batch, channels, inner]. spatial = 0 gives every element of an item its own statistics.
struct Sizes {
  int64_t batch, channels, inner;
};

Sizes sizes(const Eval& e) {
  const Dims& d = e.in(0).dims();
  if (e.node.has("spatial") && e.node.i("spatial") == 0) return {d[0], d.count(1, d.rank()), 1};
  return {d[0], d.rank() > 1 ? d[1] : 1, d.rank() > 2 ? d.count(2, d.rank()) : 1};
}

// Population mean and variance of every channel.
template <class T>
void statistics(const T* x, const Sizes& s, std::vector<T>& mean, std::vector<T>& variance) {
  const double count = static_cast<double>(s.batch * s.inner);
  parallel_for(s.channels, count, [&](int64_t from, int64_t to) {
    for (int64_t c = from; c < to; ++c) {
      double sum = 0, square = 0;
      for (int64_t n = 0; n < s.batch; ++n)
        sum += sum_of(x + (n * s.channels + c) * s.inner, s.inner, [](double v) { return v; });
      const double m = sum / count;
      for (int64_t n = 0; n < s.batch; ++n)
        square += sum_of(x + (n * s.channels + c) * s.inner, s.inner, [&](double v) { return (v - m) * (v - m); });
      mean[static_cast<size_t>(c)] = static_cast<T>(m);
      variance[static_cast<size_t>(c)] = static_cast<T>(square / count);
    }
  });
}

template <class T>
void normalize(const Sizes& s, const T* x, const T* scale, const T* bias, const T* mean, const T* variance,
               float epsilon, T* y) {
  parallel_for(s.batch * s.channels, static_cast<double>(s.inner), [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      const int64_t c = r % s.channels;
      const T m = mean[c], a = scale[c] / std::sqrt(variance[c] + static_cast<T>(epsilon)), b = bias[c];
      for (int64_t i = r * s.inner; i < (r + 1) * s.inner; ++i) y[i] = (x[i] - m) * a + b;
    }
  });
}

// Writes old * momentum + now * (1 - momentum), or without momentum now itself.
template <class T>
void write_running(const Eval& e, int output, const ReadAs<T>& old, const std::vector<T>& now, bool running) {
  if (!e.wants(output)) return;
  const T momentum = running ? static_cast<T>(e.node.f("momentum")) : T(0);
  WriteAs<T> out(e.out(output));
  for (int64_t c = 0; c < old.size(); ++c)
    out[c] = running ? old[c] * momentum + now[static_cast<size_t>(c)] * (1 - momentum) : now[static_cast<size_t>(c)];
  out.commit();
}

void reference(Eval& e) {
  const Sizes s = sizes(e);
  for (int i = 1; i < 5; ++i)
    if (e.in(i).size() != s.channels)
      fail(Code::InvalidArgument, "input {} has {} elements for {} channels", i, e.in(i).size(), s.channels);
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0)), scale(e.in(1)), bias(e.in(2)), mean(e.in(3)), variance(e.in(4));
    WriteAs<T> y(e.out());
    std::vector<T> m(mean.begin(), mean.end()), v(variance.begin(), variance.end());
    if (trains(e.node) && x.size()) statistics(x.data(), s, m, v);
    normalize(s, x.data(), scale.data(), bias.data(), m.data(), v.data(), e.node.f("epsilon"), y.data());
    y.commit();
    for (int i = 1; i < 5; ++i) write_running(e, i, i % 2 ? mean : variance, i % 2 ? m : v, i < 3);
  });
}

constexpr OpDef defs[] = {
    {.name = "BatchNormalization",
     .min_inputs = 5,
     .max_inputs = 5,
     .max_outputs = 5,
     .attrs = attrs,
     .upgrade = upgrade,
     .infer = infer,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> batch_norm_ops() { return defs; }

}  // namespace hf::ops

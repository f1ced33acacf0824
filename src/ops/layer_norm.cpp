// LayerNormalization and RMSNormalization: rows made to have unit deviation, or unit root mean square.
#include <cmath>

#include "ops/broadcast.h"
#include "ops/moments.h"
#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {int_attr("axis", -1), float_attr("epsilon", 1e-5f), int_attr("stash_type", 1)};

int axis_of(const Node& n, int rank) { return normalize_axis(n.i("axis"), rank); }

void check_axis(const Infer& in) {
  if (in.rank(0) < 0) return;
  in.require(in.rank(0) > 0, "a scalar has no axis to normalise");
  axis_of(in.node, in.rank(0));
}

void infer_layer(Infer& in) {
  check_axis(in);
  in.set(0, in.dtype(0), in.shape(0));
  Shape shape = in.shape(0);
  for (int i = shape.ranked() ? axis_of(in.node, shape.rank()) : 0; shape.ranked() && i < shape.rank(); ++i)
    shape[i] = 1;
  const int64_t stash = in.node.i("stash_type");
  if (stash != 1 && stash != 10 && stash != 11 && stash != 16)
    in.bad("stash_type is {}, which is no float type", stash);
  for (int i = 1; i < 3; ++i) in.set(i, static_cast<DType>(stash), shape);
}

void infer_rms(Infer& in) {
  check_axis(in);
  in.set(0, in.dtype(1), in.shape(0));
}

template <class T, bool kCentred>
class Rows {
 public:
  explicit Rows(Eval& e)
      : x_(e.in(0)),
        scale_(e.in(1)),
        y_(e.out()),
        scale_map_(e.in(1).dims(), e.in(0).dims()),
        epsilon_(e.node.f("epsilon")) {
    const Dims& d = e.in(0).dims();
    const int axis = axis_of(e.node, d.rank());
    rows_ = d.count(0, axis);
    n_ = d.count(axis, d.rank());
    if (e.has(2)) bias_.emplace(e.in(2)), bias_map_.emplace(e.in(2).dims(), d);
    if (e.wants(1)) mean_.emplace(e.out(1));
    if (e.wants(2)) inverse_.emplace(e.out(2));
  }

  void run() {
    if (n_ > 0)
      parallel_for(rows_, static_cast<double>(n_) * 2, [&](int64_t from, int64_t to) {
        std::vector<T> scratch(static_cast<size_t>(2 * n_));
        for (int64_t r = from; r < to; ++r) row(r, scratch.data());
      });
    y_.commit();
    if (mean_) mean_->commit();
    if (inverse_) inverse_->commit();
  }

 private:
  void row(int64_t r, T* scratch) {
    const T *x = x_.data() + r * n_, zero = 0;
    Moments m;
    if constexpr (kCentred)
      m = moments(x, n_);
    else
      m.variance = sum_of(x, n_, [](double v) { return v * v; }) / static_cast<double>(n_);
    const T mean = static_cast<T>(m.mean),
            inverse = static_cast<T>(1 / std::sqrt(m.variance + static_cast<double>(epsilon_)));
    if (mean_) (*mean_)[r] = mean;
    if (inverse_) (*inverse_)[r] = inverse;
    int64_t by_scale = 0, by_bias = 0;
    const T* scale = scale_map_.block(scale_.data(), r * n_, n_, scratch, &by_scale);
    const T* bias = bias_ ? bias_map_->block(bias_->data(), r * n_, n_, scratch + n_, &by_bias) : &zero;
    T* y = y_.data() + r * n_;
    for (int64_t i = 0; i < n_; ++i) y[i] = (x[i] - mean) * inverse * scale[i * by_scale] + bias[i * by_bias];
  }

  ReadAs<T> x_, scale_;
  WriteAs<T> y_;
  Broadcast scale_map_;
  std::optional<ReadAs<T>> bias_;
  std::optional<Broadcast> bias_map_;
  std::optional<WriteAs<T>> mean_, inverse_;
  float epsilon_;
  int64_t rows_ = 0, n_ = 0;
};

template <bool kCentred>
void reference(Eval& e) {
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) { Rows<T, kCentred>(e).run(); });
}

// LayerNormalization is standard since 17; onnxruntime put it into older models.
constexpr OpDef defs[] = {
    {.name = "LayerNormalization",
     .min_inputs = 2,
     .max_inputs = 3,
     .max_outputs = 3,
     .attrs = attrs,
     .infer = infer_layer,
     .reference = reference<true>},
    {.name = "RMSNormalization",
     .since = 23,
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = attrs,
     .infer = infer_rms,
     .reference = reference<false>},
};

}  // namespace

std::span<const OpDef> layer_norm_ops() { return defs; }

}  // namespace hf::ops

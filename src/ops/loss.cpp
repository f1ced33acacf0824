// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    optional_attr("ignore_index", AttrType::Int),
    string_attr("reduction", "mean"),
};

enum Inputs { kScores, kLabels, kWeights };

// Scores are (N, C, d1, ...), labels (N, d1, ...).
void infer(Infer& in) {
  const std::string& reduction = in.node.s("reduction");
  in.require(reduction == "none" || reduction == "mean" || reduction == "sum",
             "reduction '{}', wanted none, mean or sum", reduction);
  in.require(is_float(in.dtype(kScores)), "scores are {}, wanted a float type", name(in.dtype(kScores)));
  in.require(is_int(in.dtype(kLabels)), "labels are {}, wanted an integer type", name(in.dtype(kLabels)));
  Shape labels = in.shape(kLabels);
  if (in.shape(kScores).ranked()) {
    in.require(in.rank(kScores) >= 2, "scores have rank {}, wanted at least 2", in.rank(kScores));
    Shape s = in.shape(kScores);
    Dim classes = s[1];
    s.dims().erase(s.dims().begin() + 1);
    labels = ir::merge(labels, s);
    if (in.has(kWeights)) ir::merge(in.shape(kWeights), Shape(std::vector<Dim>{classes}));
  }
  in.set(0, in.dtype(kScores), reduction == "none" ? labels : Shape(Dims{}));
  in.set(1, in.dtype(kScores), in.shape(kScores));
}

template <class T>
void log_softmax(const T* x, int64_t outer, int64_t classes, int64_t inner, T* y) {
  parallel_for(outer * inner, static_cast<double>(classes) * 10, [&](int64_t from, int64_t to) {
    for (int64_t r = from; r < to; ++r) {
      int64_t at = r / inner * classes * inner + r % inner;
      T top = x[at], sum = 0;
      for (int64_t c = 1; c < classes; ++c) top = std::max(top, x[at + c * inner]);
      for (int64_t c = 0; c < classes; ++c) sum += std::exp(x[at + c * inner] - top);
      for (int64_t c = 0; c < classes; ++c) y[at + c * inner] = x[at + c * inner] - top - std::log(sum);
    }
  });
}

// The loss from log-probabilities.
template <class T>
void likelihood(Eval& e, const T* log_prob) {
  const Dims& d = e.in(kScores).dims();
  int64_t classes = d[1], inner = d.count(2, d.rank());
  ReadAs<int64_t> labels(e.in(kLabels));
  std::optional<ReadAs<T>> weights;
  if (e.has(kWeights)) weights.emplace(e.in(kWeights));
  const std::string& reduction = e.node.s("reduction");
  WriteAs<T> out(e.out());
  double sum = 0, total = 0;
  for (int64_t r = 0; r < labels.size(); ++r) {
    T loss = 0;
    int64_t label = labels[r];
    if (!e.node.has("ignore_index") || label != e.node.i("ignore_index")) {
      if (label < 0 || label >= classes)
        fail(Code::InvalidArgument, "label {} at {}, wanted 0 to {}", label, r, classes - 1);
      T weight = weights ? (*weights)[label] : T(1);
      loss = -log_prob[(r / inner * classes + label) * inner + r % inner] * weight;
      total += static_cast<double>(weight);
      sum += static_cast<double>(loss);
    }
    if (reduction == "none") out[r] = loss;
  }
  if (reduction != "none") out[0] = static_cast<T>(reduction == "mean" ? sum / total : sum);
  out.commit();
}

void negative_log_likelihood(Eval& e) {
  dispatch_float(e.in(kScores).dtype(), [&]<class T>(T) {
    ReadAs<T> in(e.in(kScores));
    likelihood<T>(e, in.data());
  });
}

void softmax_cross_entropy(Eval& e) {
  const Dims& d = e.in(kScores).dims();
  dispatch_float(e.in(kScores).dtype(), [&]<class T>(T) {
    ReadAs<T> in(e.in(kScores));
    Tensor log_prob(dtype_of<T>(), d);
    T* to = log_prob.data<T>();
    if (log_prob.size()) log_softmax(in.data(), d[0], d[1], d.count(2, d.rank()), to);
    likelihood<T>(e, to);
    if (e.wants(1)) write_elements(to, e.out(1));
  });
}

constexpr OpDef defs[] = {
    {.name = "NegativeLogLikelihoodLoss",
     .since = 12,
     .min_inputs = 2,
     .max_inputs = 3,
     .attrs = attrs,
     .infer = infer,
     .reference = negative_log_likelihood},
    {.name = "SoftmaxCrossEntropyLoss",
     .since = 12,
     .min_inputs = 2,
     .max_inputs = 3,
     .max_outputs = 2,
     .attrs = attrs,
     .infer = infer,
     .reference = softmax_cross_entropy},
};

}  // namespace

std::span<const OpDef> loss_ops() { return defs; }

}  // namespace hf::ops

// LRN, LpNormalization and MeanVarianceNormalization.
#include <algorithm>
#include <cmath>

#include "ops/op.h"
#include "ops/reduce.h"

namespace hf::ops {
namespace {

constexpr AttrDef lrn_attrs[] = {
    float_attr("alpha", 0.0001f),
    float_attr("beta", 0.75f),
    float_attr("bias", 1),
    required_attr("size", AttrType::Int),
};
constexpr AttrDef lp_attrs[] = {int_attr("axis", -1), int_attr("p", 2)};
constexpr AttrDef mvn_attrs[] = {optional_attr("axes", AttrType::Ints)};

void infer_lrn(Infer& in) {
  in.require(in.rank(0) < 0 || in.rank(0) >= 2, "the input has rank {}, wanted at least 2", in.rank(0));
  in.require(in.node.i("size") > 0, "size is {}", in.node.i("size"));
  infer_same(in);
}

void infer_lp(Infer& in) {
  if (in.rank(0) >= 0) normalize_axis(in.node.i("axis"), in.rank(0));
  in.require(in.node.i("p") == 1 || in.node.i("p") == 2, "p is {}, wanted 1 or 2", in.node.i("p"));
  infer_same(in);
}

std::vector<bool> mvn_axes(const Node& n, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank));
  for (int64_t a : n.has("axes") ? n.ints("axes") : std::vector<int64_t>{0, 2, 3})
    reduced[static_cast<size_t>(normalize_axis(a, rank, "axes"))] = true;
  return reduced;
}

void infer_mvn(Infer& in) {
  if (in.rank(0) >= 0) mvn_axes(in.node, in.rank(0));
  infer_same(in);
}

// y = x / (bias + alpha / size * (sum of the squares of the channels near))^beta, an image at a time.
void lrn(Eval& e) {
  const Dims& d = e.in(0).dims();
  const int64_t channels = d[1], inner = d.count(2, d.rank()), size = e.node.i("size");
  const int64_t below = (size - 1) / 2, above = size - 1 - below;
  const double bias = e.node.f("bias"), factor = static_cast<double>(e.node.f("alpha")) / static_cast<double>(size);
  const double beta = e.node.f("beta");
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0));
    WriteAs<T> y(e.out());
    parallel_for(d[0] * channels, static_cast<double>(inner) * 20, [&](int64_t from, int64_t to) {
      std::vector<double> square(static_cast<size_t>(inner));
      for (int64_t r = from; r < to; ++r) {
        const int64_t c = r % channels, image = r - c;
        std::fill(square.begin(), square.end(), 0.0);
        for (int64_t k = std::max<int64_t>(0, c - below); k <= std::min(channels - 1, c + std::min(above, channels));
             ++k)
          for (int64_t i = 0; i < inner; ++i) {
            const double v = x[(image + k) * inner + i];
            square[static_cast<size_t>(i)] += v * v;
          }
        for (int64_t i = 0; i < inner; ++i)
          y[r * inner + i] =
              static_cast<T>(x[r * inner + i] / std::pow(bias + factor * square[static_cast<size_t>(i)], beta));
      }
    });
    y.commit();
  });
}

// What a row of zeros becomes is zeros.
void lp(Eval& e) {
  const Dims& d = e.in(0).dims();
  const int axis = normalize_axis(e.node.i("axis"), d.rank());
  const int64_t n = d[axis], outer = d.count(0, axis), inner = d.count(axis + 1, d.rank());
  const bool squared = e.node.i("p") == 2;
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0));
    WriteAs<T> y(e.out());
    parallel_for(outer * inner, static_cast<double>(n) * 3, [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r) {
        const int64_t first = r / inner * n * inner + r % inner, end = first + n * inner;
        double norm = 0;
        for (int64_t i = first; i < end; i += inner) {
          const double v = x[i];
          norm += squared ? v * v : std::fabs(v);
        }
        if (squared) norm = std::sqrt(norm);
        for (int64_t i = first; i < end; i += inner) y[i] = norm == 0 ? T(0) : static_cast<T>(x[i] / norm);
      }
    });
    y.commit();
  });
}

// (x - mean) / (deviation + 1e-9), as the standard's function body has it.
void mvn(Eval& e) {
  const ReducePlan plan(e.in(0).dims(), mvn_axes(e.node, e.in(0).rank()));
  const double count = static_cast<double>(plan.group());
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0));
    WriteAs<T> y(e.out());
    plan.each(4, [&](int64_t, int64_t width, const ReducePlan::Rows& rows) {
      double mean[ReducePlan::kWidth] = {}, square[ReducePlan::kWidth] = {};
      auto each = [&](auto f) {
        rows([&](int64_t at, int64_t n, int64_t stride) {
          for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < width; ++j) f(at + i * stride + j, j);
        });
      };
      each([&](int64_t i, int64_t j) { mean[j] += static_cast<double>(x[i]) / count; });
      each([&](int64_t i, int64_t j) { square[j] += (x[i] - mean[j]) * (x[i] - mean[j]) / count; });
      each([&](int64_t i, int64_t j) { y[i] = static_cast<T>((x[i] - mean[j]) / (std::sqrt(square[j]) + 1e-9)); });
    });
    y.commit();
  });
}

constexpr OpDef defs[] = {
    {.name = "LRN", .attrs = lrn_attrs, .infer = infer_lrn, .reference = lrn},
    {.name = "LpNormalization", .attrs = lp_attrs, .infer = infer_lp, .reference = lp},
    {.name = "MeanVarianceNormalization", .since = 9, .attrs = mvn_attrs, .infer = infer_mvn, .reference = mvn},
};

}  // namespace

std::span<const OpDef> normalize_ops() { return defs; }

}  // namespace hf::ops

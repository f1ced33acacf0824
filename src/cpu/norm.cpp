// Softmax, LogSoftmax and LayerNormalization: over contiguous rows, and for softmax over any axis.
#include <algorithm>
#include <cmath>

#include "cpu/candidate.h"
#include "cpu/rows.h"
#include "ops/op.h"

namespace hf::cpu {
namespace {

class SoftmaxKernel final : public plan::Kernel {
 public:
  SoftmaxKernel(int64_t rows, int64_t n, bool log) : rows_(rows), n_(n), log_(log), subtract_(find_row("Sub").f) {}

  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void*) const override {
    const auto* from = static_cast<const float*>(inputs[0]);
    auto* to = static_cast<float*>(outputs[0]);
    ops::parallel_for(rows_, static_cast<double>(n_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) row(from + i * n_, to + i * n_);
    });
  }
  std::string text() const override { return log_ ? "simd LogSoftmax" : "simd Softmax"; }

 private:
  void row(const float* x, float* y) const {
    const RowReductions& f = row_reductions();
    float top = f.max(n_, x), sum = f.exp_sum(n_, x, top, y);
    if (!log_) return f.scale(n_, y, 1 / sum, y);
    float shift = top + std::log(sum);
    const float* args[] = {x, &shift};
    const int64_t strides[] = {1, 0};
    subtract_(n_, args, strides, nullptr, y);
  }

  int64_t rows_, n_;
  bool log_;
  RowFn subtract_;
};

// [outer, n, inner], along n: a piece of `inner` at a time, each step a vector operation on the piece.
class ColumnSoftmaxKernel final : public plan::Kernel {
 public:
  ColumnSoftmaxKernel(int64_t outer, int64_t n, int64_t inner, bool log)
      : outer_(outer), n_(n), inner_(inner), log_(log) {}

  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void*) const override {
    const auto* from = static_cast<const float*>(inputs[0]);
    auto* to = static_cast<float*>(outputs[0]);
    int64_t pieces = (inner_ + kPiece - 1) / kPiece;
    ops::parallel_for(outer_ * pieces, static_cast<double>(n_ * kPiece), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t at = i / pieces * n_ * inner_ + i % pieces * kPiece;
        piece(from + at, std::min(kPiece, inner_ - i % pieces * kPiece), to + at);
      }
    });
  }
  std::string text() const override { return log_ ? "simd LogSoftmax of columns" : "simd Softmax of columns"; }

 private:
  static constexpr int64_t kPiece = 128;

  void piece(const float* x, int64_t width, float* y) const {
    alignas(64) float top[kPiece], sum[kPiece] = {}, power[kPiece];
    auto apply = [&](RowFn f, const float* a, const float* b, float* out) {
      const float* args[] = {a, b};
      constexpr int64_t kStrides[] = {1, 1};
      f(width, args, kStrides, nullptr, out);
    };
    std::copy_n(x, width, top);
    for (int64_t r = 1; r < n_; ++r) apply(max_, top, x + r * inner_, top);
    for (int64_t r = 0; r < n_; ++r) {
      float* e = log_ ? power : y + r * inner_;
      apply(subtract_, x + r * inner_, top, e);
      apply(exp_, e, e, e);
      apply(add_, sum, e, sum);
    }
    if (log_) {
      apply(logarithm_, sum, sum, sum);
      apply(add_, top, sum, top);
    }
    for (int64_t r = 0; r < n_; ++r) {
      float* out = y + r * inner_;
      if (log_)
        apply(subtract_, x + r * inner_, top, out);
      else
        apply(divide_, out, sum, out);
    }
  }

  int64_t outer_, n_, inner_;
  bool log_;
  RowFn max_ = find_row("Max").f, subtract_ = find_row("Sub").f, exp_ = find_row("Exp").f, add_ = find_row("Add").f,
        logarithm_ = find_row("Log").f, divide_ = find_row("Div").f;
};

class LayerNormKernel final : public plan::Kernel {
 public:
  LayerNormKernel(int64_t rows, int64_t n, float epsilon) : rows_(rows), n_(n), epsilon_(epsilon) {}

  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void*) const override {
    const auto *from = static_cast<const float*>(inputs[0]), *gamma = static_cast<const float*>(inputs[1]);
    const auto* beta = inputs.size() > 2 ? static_cast<const float*>(inputs[2]) : nullptr;
    auto* to = static_cast<float*>(outputs[0]);
    const RowReductions& f = row_reductions();
    auto n = static_cast<float>(n_);
    ops::parallel_for(rows_, 0.4 * static_cast<double>(n_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float* x = from + i * n_;
        float mean = f.sum(n_, x) / n, variance = f.square_sum(n_, x, mean) / n;
        f.normalize(n_, x, mean, 1 / std::sqrt(variance + epsilon_), gamma, beta, to + i * n_);
      }
    });
  }
  std::string text() const override { return "simd LayerNormalization"; }

 private:
  int64_t rows_, n_;
  float epsilon_;
};

}  // namespace

Answer try_softmax(const Request& r) {
  if (!r.all_f32()) return Refusal{"not float32"};
  if (r.empty()) return Refusal{"no elements"};
  if (r.node.epilogue) return Refusal{"an epilogue"};
  Dims dims = r.dims(0);
  if (dims.rank() == 0) return Refusal{"a scalar"};
  int axis = normalize_axis(r.node.i("axis"), dims.rank());
  int64_t n = r.node.has("flatten") ? dims.count(axis, dims.rank()) : dims[axis];
  bool log = r.node.is("LogSoftmax");
  plan::Prepared p;
  if (r.node.has("flatten") || dims.count(axis + 1, dims.rank()) == 1) {
    p.kernel = std::make_unique<SoftmaxKernel>(dims.count() / n, n, log);
    if (!log) p.in_place = {0};
    return p;
  }
  int64_t inner = dims.count(axis + 1, dims.rank());
  p.kernel = std::make_unique<ColumnSoftmaxKernel>(dims.count(0, axis), n, inner, log);
  return p;
}

Answer try_layer_norm(const Request& r) {
  if (!r.all_f32()) return Refusal{"not float32"};
  if (r.empty()) return Refusal{"no elements"};
  if (r.node.epilogue) return Refusal{"an epilogue"};
  if (r.node.output(1) || r.node.output(2)) return Refusal{"mean or deviation is wanted"};
  Dims dims = r.dims(0);
  int axis = normalize_axis(r.node.i("axis"), dims.rank());
  int64_t n = dims.count(axis, dims.rank());
  for (int i : {1, 2})
    if (r.has(i) && r.dims(i).count() != n) return Refusal{"scale or bias that broadcasts"};
  plan::Prepared p;
  p.in_place = {0};
  p.kernel = std::make_unique<LayerNormKernel>(dims.count(0, axis), n, r.node.f("epsilon"));
  return p;
}

}  // namespace hf::cpu

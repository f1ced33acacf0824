// Row by row: Softmax, LogSoftmax and LayerNormalization over contiguous rows; other axes of a softmax through oneDNN.
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
  auto ready = compat::softmax(log, axis, desc_of(r.layout(0), dims), user_scratchpad());
  if (!ready) return Refusal{"onednn has no implementation"};
  auto kernel = simple_kernel(*ready, "softmax");
  p.inputs = {layout_of(ready->src)};
  p.outputs = {layout_of(ready->dst)};
  p.scratch_bytes = kernel->scratch_bytes();
  p.kernel = std::move(kernel);
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

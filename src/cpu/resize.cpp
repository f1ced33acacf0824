// Resize of an image's height and width, in plain or channels-last order: rows are joined first, then pixels.
#include "ops/resize.h"

#include <algorithm>

#include "cpu/candidate.h"
#include "cpu/rows.h"

namespace hf::cpu {
namespace {

// Images of [height, width, inner] floats; `outer` of them.
class ResizeKernel final : public plan::Kernel {
 public:
  ResizeKernel(int64_t outer, const ops::ResizeAxis& h, const ops::ResizeAxis& w, ops::ResizeTaps rows,
               ops::ResizeTaps columns, int64_t inner)
      : outer_(outer),
        height_(h.input),
        width_(w.input),
        inner_(inner),
        rows_(std::move(rows)),
        columns_(std::move(columns)) {}

  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void*) const override {
    const auto* x = static_cast<const float*>(inputs[0]);
    auto* y = static_cast<float*>(outputs[0]);
    int64_t out_row = columns_.size() * inner_, row = width_ * inner_;
    ops::parallel_for(outer_ * rows_.size(), static_cast<double>(out_row), [&](int64_t from, int64_t to) {
      std::vector<float> joined(static_cast<size_t>(row));
      for (int64_t i = from; i < to; ++i) {
        const float* image = x + i / rows_.size() * height_ * row;
        resize_row(join_rows(image, i % rows_.size(), joined), y + i * out_row);
      }
    });
  }
  std::string text() const override { return "simd Resize"; }

 private:
  // The weighted sum of input rows that output row `o` is made of: one of them itself where it is alone.
  const float* join_rows(const float* image, int64_t o, std::vector<float>& joined) const {
    int64_t first = rows_.first[static_cast<size_t>(o)], end = rows_.first[static_cast<size_t>(o) + 1];
    auto n = static_cast<int64_t>(joined.size());
    const RowReductions& f = row_reductions();
    for (int64_t t = first; t < end; ++t) {
      const float* from = image + rows_.index[static_cast<size_t>(t)] * n;
      auto weight = static_cast<float>(rows_.weight[static_cast<size_t>(t)]);
      if (end == first + 1 && weight == 1) return from;
      if (t == first)
        f.scale(n, from, weight, joined.data());
      else
        f.add_scaled(n, from, weight, joined.data());
    }
    return joined.data();
  }

  void resize_row(const float* row, float* out) const {
    const RowReductions& f = row_reductions();
    for (int64_t o = 0; o < columns_.size(); ++o, out += inner_) {
      int64_t first = columns_.first[static_cast<size_t>(o)], end = columns_.first[static_cast<size_t>(o) + 1];
      if (inner_ == 1) {
        float sum = 0;
        for (int64_t t = first; t < end; ++t)
          sum +=
              static_cast<float>(columns_.weight[static_cast<size_t>(t)]) * row[columns_.index[static_cast<size_t>(t)]];
        *out = sum;
        continue;
      }
      for (int64_t t = first; t < end; ++t) {
        const float* from = row + columns_.index[static_cast<size_t>(t)] * inner_;
        auto weight = static_cast<float>(columns_.weight[static_cast<size_t>(t)]);
        if (t > first)
          f.add_scaled(inner_, from, weight, out);
        else if (weight == 1)
          std::copy_n(from, inner_, out);
        else
          f.scale(inner_, from, weight, out);
      }
    }
  }

  int64_t outer_, height_, width_, inner_;
  ops::ResizeTaps rows_, columns_;
};

bool usable(const ops::ResizeTaps& taps) {
  if (std::count(taps.outside.begin(), taps.outside.end(), true)) return false;
  for (int64_t o = 0; o < taps.size(); ++o)
    if (taps.first[static_cast<size_t>(o)] == taps.first[static_cast<size_t>(o) + 1]) return false;
  return true;
}

}  // namespace

Answer try_resize(const Request& r) {
  const ir::Node& n = r.node;
  if (n.input(0)->dtype != DType::F32) return Refusal{"not float32"};
  if (r.empty() || n.epilogue) return Refusal{"no elements, or an epilogue"};
  Dims dims = r.dims(0);
  if (dims.rank() != 4) return Refusal{"not an image"};
  for (int i = 1; i < 4; ++i)
    if (r.has(i) && !r.constant(i) && r.dims(i).count() > 0) return Refusal{"scales at run time"};
  std::vector<ops::ResizeAxis> axes = ops::resize_axes(n, dims, r.constant(1), r.constant(2), r.constant(3));
  if (!axes[0].same() || !axes[1].same()) return Refusal{"more than height and width changes"};
  ops::ResizeTaps rows = ops::resize_taps(n, axes[2]), columns = ops::resize_taps(n, axes[3]);
  if (!usable(rows) || !usable(columns)) return Refusal{"it reaches outside of the image"};
  plan::Prepared p;
  p.absorbed = {false, true, true, true};
  p.absorbed.resize(n.inputs().size());
  const Order channels_last = {0, 2, 3, 1};
  Layout last = ordered_layout(channels_last, dims);
  bool as_last = !last.plain() && r.layout(0) == last;
  if (as_last) {
    p.inputs = {last};
    p.outputs = {ordered_layout(channels_last, r.out_dims())};
  }
  p.kernel = std::make_unique<ResizeKernel>(as_last ? dims[0] : dims[0] * dims[1], axes[2], axes[3], std::move(rows),
                                            std::move(columns), as_last ? dims[1] : 1);
  return p;
}

}  // namespace hf::cpu

// ReducePlan: merging axes, and walking them.
#include <algorithm>

#include "ops/op.h"
#include "ops/reduce.h"

namespace hf::ops {

ReducePlan::ReducePlan(const Dims& dims, const std::vector<bool>& reduced) {
  const Dims strides = dims.strides();
  int last = -1;  // the kind of the last axis seen
  for (int i = 0; i < dims.rank(); ++i) {
    const bool r = reduced[static_cast<size_t>(i)];
    (r ? group_ : results_) *= dims[i];
    if (dims[i] == 1) continue;
    std::vector<Axis>& axes = r ? reduced_ : kept_;
    if (last == static_cast<int>(r))
      axes.back() = {axes.back().extent * dims[i], strides[i]};
    else
      axes.push_back({dims[i], strides[i]});
    last = r;
  }
  if (last == 0 && kept_.back().stride == 1) {
    inner_ = kept_.back().extent;
    kept_.pop_back();
  }
}

int64_t ReducePlan::offset_of(int64_t outer) const {
  int64_t offset = 0;
  for (auto a = kept_.rbegin(); a != kept_.rend(); ++a) {
    offset += outer % a->extent * a->stride;
    outer /= a->extent;
  }
  return offset;
}

void ReducePlan::walk(int64_t base, const RunFn& f) const {
  if (reduced_.empty()) return f(base, 1, 1);
  const Axis& in = reduced_.back();
  const size_t outer = reduced_.size() - 1;
  std::vector<int64_t> index(outer, 0);
  for (;;) {
    f(base, in.extent, in.stride);
    size_t i = outer;
    for (; i > 0; --i) {
      const Axis& a = reduced_[i - 1];
      base += a.stride;
      if (++index[i - 1] < a.extent) break;
      base -= a.extent * a.stride;
      index[i - 1] = 0;
    }
    if (i == 0) return;
  }
}

void ReducePlan::each(double cost_ns, const std::function<void(int64_t, int64_t, const Rows&)>& body) const {
  if (results_ == 0 || group_ == 0) return;
  const int64_t pieces = (inner_ + kWidth - 1) / kWidth, count = results_ / inner_ * pieces;
  const int64_t width = std::min(inner_, kWidth);
  parallel_for(count, cost_ns * static_cast<double>(group_ * width), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t outer = p / pieces, from = p % pieces * kWidth, base = offset_of(outer) + from;
      body(outer * inner_ + from, std::min(kWidth, inner_ - from), [&](const RunFn& f) { walk(base, f); });
    }
  });
}

}  // namespace hf::ops

// Windows of convolutions and pools as oneDNN wants them.
#include "cpu/geometry.h"

#include <algorithm>

#include "ops/window.h"

namespace hf::cpu {
namespace {

std::vector<int64_t> spatial(const Dims& dims) { return {dims.begin() + 2, dims.end()}; }

// oneDNN's formula, with `begin` in front, must span from the smaller side's windows to the larger side's extent.
compat::Window converted(const ops::Window& window, const Dims& windows, const Dims& elements) {
  compat::Window w;
  for (int i = 0; i < window.rank(); ++i) {
    const ops::WindowAxis& a = window.axes[static_cast<size_t>(i)];
    int64_t total = (windows[i + 2] - 1) * a.stride + a.extent() - elements[i + 2];
    w.kernel.push_back(a.kernel);
    w.strides.push_back(a.stride);
    w.dilations.push_back(a.dilation - 1);
    w.pads_begin.push_back(a.begin);
    w.pads_end.push_back(total - a.begin);
  }
  return w;
}

}  // namespace

compat::Window window_of(const Request& r, std::span<const int64_t> kernel) {
  Dims in = r.dims(0), out = r.out_dims();
  compat::Window w = converted(ops::window_of(r.node, spatial(in), kernel), out, in);
  for (int64_t& end : w.pads_end) end = std::max<int64_t>(end, 0);  // less than none: the last stride is cut short
  return w;
}

compat::Window transposed_window_of(const Request& r, std::span<const int64_t> kernel) {
  Dims in = r.dims(0), out = r.out_dims();
  return converted(ops::transposed_window_of(r.node, spatial(in), kernel), in, out);
}

}  // namespace hf::cpu

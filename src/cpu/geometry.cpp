// Windows of convolutions and pools as oneDNN wants them.
#include "cpu/geometry.h"

#include <algorithm>

namespace hf::cpu {
namespace {

int64_t at(const std::vector<int64_t>& values, size_t i, int64_t otherwise) {
  return i < values.size() ? values[i] : otherwise;
}

// Padding in front, when `total` is what SAME_UPPER and SAME_LOWER have to share out.
int64_t pad_begin(const std::string& auto_pad, const std::vector<int64_t>& pads, size_t axis, int64_t total) {
  total = std::max<int64_t>(total, 0);
  if (auto_pad == "SAME_UPPER") return total / 2;
  if (auto_pad == "SAME_LOWER") return total - total / 2;
  if (auto_pad == "VALID") return 0;
  return at(pads, axis, 0);
}

compat::Window strides_of(const Request& r, std::span<const int64_t> kernel) {
  compat::Window w;
  std::vector<int64_t> strides = r.node.ints_or_empty("strides"), dilations = r.node.ints_or_empty("dilations");
  w.kernel.assign(kernel.begin(), kernel.end());
  for (size_t i = 0; i < kernel.size(); ++i) {
    w.strides.push_back(at(strides, i, 1));
    w.dilations.push_back(at(dilations, i, 1) - 1);
  }
  return w;
}

}  // namespace

compat::Window window_of(const Request& r, std::span<const int64_t> kernel) {
  compat::Window w = strides_of(r, kernel);
  Dims in = r.dims(0), out = r.out_dims();
  std::vector<int64_t> pads = r.node.ints_or_empty("pads");
  for (size_t i = 0; i < kernel.size(); ++i) {
    int a = static_cast<int>(i) + 2;
    int64_t extent = (kernel[i] - 1) * (w.dilations[i] + 1) + 1;
    int64_t total = (out[a] - 1) * w.strides[i] + extent - in[a];
    int64_t begin = pad_begin(r.node.s("auto_pad"), pads, i, total);
    w.pads_begin.push_back(begin);
    w.pads_end.push_back(std::max<int64_t>(total - begin, 0));  // less than none: the last stride is cut short
  }
  return w;
}

compat::Window transposed_window_of(const Request& r, std::span<const int64_t> kernel) {
  compat::Window w = strides_of(r, kernel);
  Dims in = r.dims(0), out = r.out_dims();
  std::vector<int64_t> pads = r.node.ints_or_empty("pads"), shape = r.node.ints_or_empty("output_shape");
  for (size_t i = 0; i < kernel.size(); ++i) {
    int a = static_cast<int>(i) + 2;
    int64_t extent = (kernel[i] - 1) * (w.dilations[i] + 1) + 1;
    int64_t total = (in[a] - 1) * w.strides[i] + extent - out[a];
    std::string how = r.node.s("auto_pad");
    // output_shape shares the padding out as SAME_UPPER does, but with the odd one in front.
    int64_t begin = shape.empty()         ? pad_begin(how, pads, i, total)
                    : how == "SAME_UPPER" ? total / 2
                                          : total - total / 2;
    w.pads_begin.push_back(begin);
    w.pads_end.push_back(total - begin);
  }
  return w;
}

}  // namespace hf::cpu

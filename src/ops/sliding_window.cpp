// Sliding windows (window.h): attributes to pads, extents and offsets.
#include <algorithm>

#include "base/error.h"
#include "ops/window.h"

namespace hf::ops {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;  // keeps every product of two within int64

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

std::vector<int64_t> checked(const ir::Node& n, std::string_view attr, size_t count, int64_t least, int64_t otherwise) {
  std::vector<int64_t> v = n.ints_or_empty(attr);
  if (v.empty()) return std::vector<int64_t>(count, otherwise);
  if (v.size() != count) fail(Code::InvalidModel, "attribute '{}' has {} values, wanted {}", attr, v.size(), count);
  for (int64_t x : v)
    if (x < least || x > kMost) fail(Code::InvalidModel, "attribute '{}' has a value of {}", attr, x);
  return v;
}

enum class AutoPad { NotSet, SameUpper, SameLower, Valid };

AutoPad auto_pad_of(const ir::Node& n) {
  if (!n.has("auto_pad")) return AutoPad::NotSet;
  const std::string& s = n.s("auto_pad");
  if (s == "NOTSET" || s.empty()) return AutoPad::NotSet;
  if (s == "SAME_UPPER") return AutoPad::SameUpper;
  if (s == "SAME_LOWER") return AutoPad::SameLower;
  if (s == "VALID") return AutoPad::Valid;
  fail(Code::InvalidModel, "attribute 'auto_pad' is '{}', wanted NOTSET, SAME_UPPER, SAME_LOWER or VALID", s);
}

void split_pads(WindowAxis& a, int64_t total, bool more_at_end) {
  total = std::max<int64_t>(total, 0);
  a.begin = more_at_end ? total / 2 : total - total / 2;
  a.end = total - a.begin;
}

// Axes with everything but pads and outputs.
Window bare_window(const ir::Node& n, std::span<const int64_t> input, std::span<const int64_t> kernel) {
  const size_t rank = input.size();
  std::vector<int64_t> shape = checked(n, "kernel_shape", rank, 1, -1);
  std::vector<int64_t> strides = checked(n, "strides", rank, 1, 1), dilations = checked(n, "dilations", rank, 1, 1);
  if (!kernel.empty() && kernel.size() != rank)
    fail(Code::InvalidModel, "the kernel has {} spatial axes, the input {}", kernel.size(), rank);
  Window w;
  w.axes.resize(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t given = kernel.empty() ? -1 : kernel[i];
    if (given >= 0 && shape[i] >= 0 && given != shape[i])
      fail(Code::InvalidModel, "attribute 'kernel_shape' says {} along spatial axis {}, the weights have {}", shape[i],
           i, given);
    if (given == 0 || given > kMost)
      fail(Code::InvalidModel, "the kernel has extent {} along spatial axis {}", given, i);
    if (input[i] > kMost) fail(Code::InvalidModel, "the input has extent {} along spatial axis {}", input[i], i);
    w.axes[i] = {
        .input = input[i], .kernel = given >= 0 ? given : shape[i], .stride = strides[i], .dilation = dilations[i]};
  }
  return w;
}

// The output's extent, which an empty input makes 0.
int64_t at_least_none(const WindowAxis& a) {
  if (a.output < 0 && a.input > 0)
    fail(Code::InvalidModel, "a kernel of extent {} with pads [{}, {}] does not fit an input of extent {}", a.extent(),
         a.begin, a.end, a.input);
  return std::max<int64_t>(a.output, 0);
}

void explicit_outputs(WindowAxis& a, bool ceil_mode) {
  if (a.kernel < 0) return;
  a.keeps = a.stride == 1 && a.begin + a.end == a.extent() - 1;
  if (a.input < 0) return;
  int64_t room = a.input + a.begin + a.end - a.extent();
  a.output = floor_div(room + (ceil_mode ? a.stride - 1 : 0), a.stride) + 1;
  // With ceil_mode, windows that would begin in the padding at the end do not count.
  if (ceil_mode && (a.output - 1) * a.stride >= a.input + a.begin) --a.output;
  a.output = at_least_none(a);
}

void same_outputs(WindowAxis& a, bool upper) {
  a.keeps = a.stride == 1;
  if (a.input < 0 || a.kernel < 0) return;
  a.output = (a.input + a.stride - 1) / a.stride;
  split_pads(a, (a.output - 1) * a.stride + a.extent() - a.input, upper);
}

void transposed_outputs(WindowAxis& a, AutoPad mode, int64_t output_padding, int64_t wanted) {
  if (wanted < 0 && (mode == AutoPad::SameUpper || mode == AutoPad::SameLower)) {
    a.keeps = a.stride == 1;
    if (a.input >= 0) wanted = a.input * a.stride;
  }
  if (wanted >= 0) a.output = wanted;
  if (a.input < 0 || a.kernel < 0) return;
  int64_t full = a.stride * (a.input - 1) + output_padding + a.extent();
  if (a.input == 0) full = 0;
  if (wanted >= 0)
    split_pads(a, full - wanted, mode == AutoPad::SameUpper);
  else {
    a.output = full - a.begin - a.end;
    a.output = at_least_none(a);
  }
}

}  // namespace

int64_t Window::inputs() const {
  int64_t n = 1;
  for (const WindowAxis& a : axes) n *= a.input;
  return n;
}

int64_t Window::outputs() const { return output_dims().count(); }

int64_t Window::taps() const {
  Dims d;
  for (const WindowAxis& a : axes) d.push_back(a.kernel);
  return d.count();
}

Dims Window::output_dims() const {
  Dims d;
  for (const WindowAxis& a : axes) d.push_back(a.output);
  return d;
}

bool Window::pointwise() const {
  return std::all_of(axes.begin(), axes.end(),
                     [](const WindowAxis& a) { return a.kernel == 1 && a.stride == 1 && a.begin == 0 && a.end == 0; });
}

Window window_of(const ir::Node& n, std::span<const int64_t> input, std::span<const int64_t> kernel) {
  Window w = bare_window(n, input, kernel);
  const AutoPad mode = auto_pad_of(n);
  const bool ceil_mode = n.has("ceil_mode") && n.i("ceil_mode") != 0;
  const size_t rank = input.size();
  std::vector<int64_t> pads(2 * rank, 0);
  if (mode == AutoPad::NotSet) pads = checked(n, "pads", 2 * rank, 0, 0);
  for (size_t i = 0; i < rank; ++i) {
    WindowAxis& a = w.axes[i];
    a.begin = pads[i];
    a.end = pads[rank + i];
    if (mode == AutoPad::SameUpper || mode == AutoPad::SameLower)
      same_outputs(a, mode == AutoPad::SameUpper);
    else
      explicit_outputs(a, ceil_mode);
  }
  return w;
}

Window transposed_window_of(const ir::Node& n, std::span<const int64_t> input, std::span<const int64_t> kernel) {
  Window w = bare_window(n, input, kernel);
  const AutoPad mode = auto_pad_of(n);
  const size_t rank = input.size();
  std::vector<int64_t> pads(2 * rank, 0), output_padding = checked(n, "output_padding", rank, 0, 0);
  if (mode == AutoPad::NotSet) pads = checked(n, "pads", 2 * rank, 0, 0);
  std::vector<int64_t> wanted = n.ints_or_empty("output_shape");
  if (wanted.size() == rank + 2)
    wanted.erase(wanted.begin(), wanted.begin() + 2);  // some exporters add batch and channels
  if (wanted.empty())
    wanted.assign(rank, -1);
  else if (wanted.size() != rank || *std::min_element(wanted.begin(), wanted.end()) < 0)
    fail(Code::InvalidModel, "attribute 'output_shape' has {} values, wanted {} of at least 0", wanted.size(), rank);
  for (size_t i = 0; i < rank; ++i) {
    WindowAxis& a = w.axes[i];
    a.begin = pads[i];
    a.end = pads[rank + i];
    transposed_outputs(a, mode, output_padding[i], wanted[i]);
  }
  return w;
}

std::vector<ir::Dim> window_dims(const Window& w, std::span<const ir::Dim> input) {
  std::vector<ir::Dim> out(w.axes.size());
  for (size_t i = 0; i < out.size(); ++i) {
    if (w.axes[i].output >= 0)
      out[i] = w.axes[i].output;
    else if (w.axes[i].keeps)
      out[i] = input[i];
  }
  return out;
}

std::vector<int64_t> known_extents(const ir::Shape& shape, int from) {
  std::vector<int64_t> v;
  for (int i = from; i < shape.rank(); ++i) v.push_back(shape[i].known() ? shape[i].value : -1);
  return v;
}

void WindowReader::offsets(int64_t tap, int64_t from, int64_t to, int64_t* offsets) const {
  const int rank = w_.rank();
  int64_t shift[kMaxRank] = {}, at[kMaxRank] = {}, plane[kMaxRank] = {};
  for (int i = rank - 1, first = 1; i >= 0; --i, first = 0) {
    const WindowAxis& a = w_.axes[static_cast<size_t>(i)];
    shift[i] = tap % a.kernel * a.dilation - a.begin;
    tap /= a.kernel;
    plane[i] = first ? 1 : plane[i + 1] * w_.axes[static_cast<size_t>(i + 1)].input;
  }
  int64_t left = from;
  for (int i = rank - 1; i >= 0; --i) {
    at[i] = left % w_.axes[static_cast<size_t>(i)].output;
    left /= w_.axes[static_cast<size_t>(i)].output;
  }
  while (from < to) {
    int64_t base = 0;
    bool inside = true;
    for (int i = 0; i + 1 < rank; ++i) {
      const WindowAxis& a = w_.axes[static_cast<size_t>(i)];
      int64_t p = at[i] * a.stride + shift[i];
      inside &= p >= 0 && p < a.input;
      base += p * plane[i];
    }
    const WindowAxis& last = w_.axes.back();
    int64_t n = std::min(to - from, last.output - at[rank - 1]), p = at[rank - 1] * last.stride + shift[rank - 1];
    for (int64_t j = 0; j < n; ++j, p += last.stride) offsets[j] = inside && p >= 0 && p < last.input ? base + p : -1;
    offsets += n;
    from += n;
    at[rank - 1] = 0;  // every run but the first begins a row
    for (int i = rank - 2; i >= 0 && ++at[i] == w_.axes[static_cast<size_t>(i)].output; --i) at[i] = 0;
  }
}

void WindowReader::padded_counts(int64_t from, int64_t to, int64_t* counts) const {
  for (; from < to; ++from, ++counts) {
    int64_t left = from;
    *counts = 1;
    for (int i = w_.rank() - 1; i >= 0; --i) {
      const WindowAxis& a = w_.axes[static_cast<size_t>(i)];
      int64_t first = left % a.output * a.stride - a.begin;
      left /= a.output;
      *counts *= std::clamp((a.input + a.end - first + a.dilation - 1) / a.dilation, int64_t{0}, a.kernel);
    }
  }
}

void WindowBlock::move_to(const Window& w, int64_t new_from, int64_t new_size) {
  if (from == new_from && size == new_size) return;
  from = new_from;
  size = new_size;
  const int64_t taps = w.taps();
  offsets.resize(static_cast<size_t>(taps * size));
  WindowReader reader(w);
  for (int64_t t = 0; t < taps; ++t) reader.offsets(t, from, from + size, offsets.data() + t * size);
}

void WindowBlock::move_to_inside(const Window& w, int64_t new_from, int64_t new_size) {
  if (from == new_from && size == new_size) return;
  from = new_from;
  size = new_size;
  offsets.clear();
  const int rank = w.rank();
  int64_t low[kMaxRank] = {}, high[kMaxRank] = {}, left = from, right = from + size - 1;
  bool one_row = true;  // of each axis taken so far from the outside, the block has one place
  const Dims strides = w.output_dims().strides();
  for (int i = 0; i < rank; ++i) {
    const WindowAxis& a = w.axes[static_cast<size_t>(i)];
    const int64_t first = one_row ? left / strides[i] : 0, last = one_row ? right / strides[i] : a.output - 1;
    left %= strides[i];
    right %= strides[i];
    one_row = one_row && first == last;
    // Taps k with 0 <= o * stride + k * dilation - begin < input for an o in [first, last].
    low[i] = std::clamp<int64_t>(-floor_div(last * a.stride - a.begin, a.dilation), 0, a.kernel);
    high[i] = std::clamp<int64_t>(-floor_div(-(a.input - first * a.stride + a.begin), a.dilation), low[i], a.kernel);
    if (low[i] == high[i]) return;
  }
  const WindowReader reader(w);
  int64_t at[kMaxRank];
  std::copy_n(low, rank, at);
  for (int i = 0; i >= 0;) {
    int64_t tap = 0;
    for (int d = 0; d < rank; ++d) tap = tap * w.axes[static_cast<size_t>(d)].kernel + at[d];
    offsets.resize(offsets.size() + static_cast<size_t>(size));
    reader.offsets(tap, from, from + size, offsets.data() + offsets.size() - size);
    for (i = rank - 1; i >= 0 && ++at[i] == high[i]; --i) at[i] = low[i];
  }
}

int64_t block_size(int64_t depth, int64_t outputs) {
  const int64_t least = std::clamp<int64_t>((int64_t{1} << 22) / std::max<int64_t>(depth, 1), 1, 64);
  return std::min(outputs, std::clamp<int64_t>((1 << 16) / std::max<int64_t>(depth, 1), least, 512));
}

}  // namespace hf::ops

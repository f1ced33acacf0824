// MaxPool, AveragePool and LpPool.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/op.h"
#include "ops/window.h"

namespace hf::ops {
namespace {

constexpr AttrDef max_attrs[] = {
    string_attr("auto_pad", "NOTSET"),
    int_attr("ceil_mode", 0, 10),
    optional_attr("dilations", AttrType::Ints, 10),
    required_attr("kernel_shape", AttrType::Ints),
    optional_attr("pads", AttrType::Ints),
    int_attr("storage_order", 0, 8),
    optional_attr("strides", AttrType::Ints),
};

constexpr AttrDef average_attrs[] = {
    string_attr("auto_pad", "NOTSET"),
    int_attr("ceil_mode", 0, 10),
    int_attr("count_include_pad", 0),
    optional_attr("dilations", AttrType::Ints, 19),
    required_attr("kernel_shape", AttrType::Ints),
    optional_attr("pads", AttrType::Ints),
    optional_attr("strides", AttrType::Ints),
};

constexpr AttrDef lp_attrs[] = {
    string_attr("auto_pad", "NOTSET"),
    int_attr("ceil_mode", 0, 18),
    optional_attr("dilations", AttrType::Ints, 18),
    required_attr("kernel_shape", AttrType::Ints),
    int_attr("p", 2),
    optional_attr("pads", AttrType::Ints),
    optional_attr("strides", AttrType::Ints),
};

void infer(Infer& in) {
  const Shape& x = in.shape(0);
  const std::vector<int64_t>& kernel = in.node.ints("kernel_shape");
  in.require(!kernel.empty(), "attribute 'kernel_shape' is empty");
  Shape out;
  if (x.ranked()) {
    in.require(x.rank() == static_cast<int>(kernel.size()) + 2,
               "the input is of shape {}, the kernel has {} axes: wanted {} more", x.text(), kernel.size(), 2);
    std::vector<Dim> dims = window_dims(window_of(in.node, known_extents(x, 2)), std::span(x.dims()).subspan(2));
    dims.insert(dims.begin(), {x[0], x[1]});
    out = dims;
  }
  in.set(0, in.dtype(0), out);
  in.set(1, DType::I64, out);
}

Window window_of_input(const Eval& e) { return window_of(e.node, std::span<const int64_t>(e.in(0).dims()).subspan(2)); }

// Calls f(plane, block) for every block of outputs of every plane (batch and channel), in parallel.
template <class F>
void for_blocks(const Window& w, int64_t planes, F f) {
  int64_t taps = 1;  // that one output may see
  for (const WindowAxis& a : w.axes) taps *= std::clamp<int64_t>(a.input, 1, a.kernel);
  const int64_t outputs = w.outputs(), size = block_size(taps, outputs);
  if (outputs == 0 || planes == 0) return;
  const int64_t blocks = (outputs + size - 1) / size;
  parallel_for(blocks * planes, static_cast<double>(size * taps), [&](int64_t from, int64_t to) {
    WindowBlock block;
    for (int64_t i = from; i < to; ++i) {
      const int64_t at = i / planes * size;
      block.move_to_inside(w, at, std::min(size, outputs - at));
      f(i % planes, block);
    }
  });
}

// The place in a plane counted with the first axis fastest: MaxPool's storage_order 1.
int64_t column_major(const Window& w, int64_t offset) {
  int64_t place = 0, step = w.inputs();
  for (int i = w.rank() - 1; i >= 0; --i) {
    const int64_t extent = w.axes[static_cast<size_t>(i)].input;
    step /= extent;
    place += offset % extent * step;
    offset /= extent;
  }
  return place;
}

// The place of each output's largest element, the first of equals (NaN counts as largest); -1 if it sees padding only.
template <class T>
void find_largest(const WindowBlock& b, const T* x, int64_t* best) {
  std::fill_n(best, b.size, -1);
  const int64_t* offset = b.offsets.data();
  for (size_t tap = 0; tap < static_cast<size_t>(b.taps()); ++tap)
    for (int64_t i = 0; i < b.size; ++i, ++offset) {
      if (*offset < 0) continue;
      const T v = x[*offset];
      if (best[i] < 0 || v > x[best[i]] || (v != v && x[best[i]] == x[best[i]])) best[i] = *offset;
    }
}

void max_pool(Eval& e) {
  const Window w = window_of_input(e);
  const int64_t planes = e.in(0).dims().count(0, 2), inputs = w.inputs(), outputs = w.outputs();
  const bool columns = e.node.has("storage_order") && e.node.i("storage_order") != 0;
  int64_t* places = e.wants(1) ? e.out(1).data<int64_t>() : nullptr;
  dispatch_number(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0));
    WriteAs<T> y(e.out());
    const T nothing = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                      : e.in(0).dtype() == DType::I8       ? static_cast<T>(-128)
                                                           : T(0);
    for_blocks(w, planes, [&](int64_t plane, const WindowBlock& b) {
      int64_t best[512];
      find_largest(b, x.data() + plane * inputs, best);
      for (int64_t i = 0; i < b.size; ++i) {
        const int64_t to = plane * outputs + b.from + i;
        y[to] = best[i] < 0 ? nothing : x[plane * inputs + best[i]];
        if (places)
          places[to] =
              plane * inputs + (columns && best[i] > 0 ? column_major(w, best[i]) : std::max<int64_t>(best[i], 0));
      }
    });
    y.commit();
  });
}

// Sums f(x) of each output's window; `count` becomes how many elements it has seen.
template <class T, class F>
void sum_windows(const WindowBlock& b, const T* x, T* sum, int64_t* count, F f) {
  std::fill_n(sum, b.size, T(0));
  std::fill_n(count, b.size, 0);
  const int64_t* offset = b.offsets.data();
  for (size_t tap = 0; tap < static_cast<size_t>(b.taps()); ++tap)
    for (int64_t i = 0; i < b.size; ++i, ++offset)
      if (*offset >= 0) sum[i] += f(x[*offset]), ++count[i];
}

template <class F, class G>
void pool_sums(Eval& e, F term, G result) {
  const Window w = window_of_input(e);
  const int64_t planes = e.in(0).dims().count(0, 2), inputs = w.inputs(), outputs = w.outputs();
  const bool padded = e.node.has("count_include_pad") && e.node.i("count_include_pad") != 0;
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0));
    WriteAs<T> y(e.out());
    for_blocks(w, planes, [&](int64_t plane, const WindowBlock& b) {
      T sum[512];
      int64_t count[512];
      sum_windows(b, x.data() + plane * inputs, sum, count, term);
      if (padded) WindowReader(w).padded_counts(b.from, b.from + b.size, count);
      for (int64_t i = 0; i < b.size; ++i) y[plane * outputs + b.from + i] = result(sum[i], static_cast<T>(count[i]));
    });
    y.commit();
  });
}

void average_pool(Eval& e) {
  pool_sums(
      e, [](auto x) { return x; }, [](auto sum, auto count) { return count > 0 ? sum / count : sum; });
}

void lp_pool(Eval& e) {
  const int64_t p = e.node.i("p");
  if (p == 2)
    return pool_sums(
        e, [](auto x) { return x * x; }, [](auto sum, auto) { return std::sqrt(sum); });
  if (p == 1)
    return pool_sums(
        e, [](auto x) { return std::fabs(x); }, [](auto sum, auto) { return sum; });
  pool_sums(
      e, [p](auto x) { return static_cast<decltype(x)>(std::pow(std::fabs(x), static_cast<decltype(x)>(p))); },
      [p](auto sum, auto) {
        return static_cast<decltype(sum)>(std::pow(sum, decltype(sum)(1) / static_cast<decltype(sum)>(p)));
      });
}

constexpr OpDef defs[] = {
    {.name = "MaxPool", .max_outputs = 2, .attrs = max_attrs, .infer = infer, .reference = max_pool},
    {.name = "AveragePool", .attrs = average_attrs, .infer = infer, .reference = average_pool},
    {.name = "LpPool", .attrs = lp_attrs, .infer = infer, .reference = lp_pool},
};

}  // namespace

std::span<const OpDef> pool_ops() { return defs; }

}  // namespace hf::ops

// Strided copies, fills and runs, by element size.
#include "ops/movement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace hf::ops {
namespace {

constexpr int kMaxAxes = 2 * kMaxRank;
struct Wide {
  uint64_t part[2];
};

template <class T>
const T* elements(const Tensor& t) {
  if constexpr (std::is_same_v<T, std::string>)
    return t.strings().data();
  else
    return static_cast<const T*>(t.raw());
}
template <class T>
T* elements(Tensor& t) {
  if constexpr (std::is_same_v<T, std::string>)
    return t.strings().data();
  else
    return static_cast<T*>(t.raw());
}

// Calls f with a value of the type that stands for elements of whole bytes.
template <class F>
void dispatch_size(DType t, F&& f) {
  switch (bits(t)) {
    case 0: return f(std::string());
    case 8: return f(uint8_t{});
    case 16: return f(uint16_t{});
    case 32: return f(uint32_t{});
    case 64: return f(uint64_t{});
    case 128: return f(Wide{});
    default: check(false, "elements have a known size");
  }
}

void copy_packed(const Tensor& from, int64_t from_at, Tensor& to, int64_t to_at, int width) {
  const int per_byte = 8 / width, mask = (1 << width) - 1;
  int v = static_cast<const uint8_t*>(from.raw())[from_at / per_byte] >> (from_at % per_byte * width) & mask;
  uint8_t& byte = static_cast<uint8_t*>(to.raw())[to_at / per_byte];
  const int shift = static_cast<int>(to_at % per_byte) * width;
  byte = static_cast<uint8_t>((byte & ~(mask << shift)) | v << shift);
}

// The axes of a copy in the order to walk them: extents of 1 gone, widest step in `to` first, axes that continue each
// other joined.
struct Loops {
  std::array<CopyAxis, kMaxAxes> axis;
  int count = 0;
  bool empty = false;

  explicit Loops(std::span<const CopyAxis> axes) {
    check(axes.size() <= kMaxAxes, "a copy has at most 2 * kMaxRank axes");
    for (const CopyAxis& a : axes) {
      empty |= a.extent <= 0;
      if (a.extent != 1) axis[count++] = a;
    }
    std::stable_sort(axis.begin(), axis.begin() + count,
                     [](const CopyAxis& a, const CopyAxis& b) { return std::abs(a.to) > std::abs(b.to); });
    int joined = 0;
    for (int i = 0; i < count; ++i) {
      CopyAxis& outer = axis[joined ? joined - 1 : 0];
      const CopyAxis inner = axis[i];
      if (joined && outer.from == inner.from * inner.extent && outer.to == inner.to * inner.extent)
        outer = {outer.extent * inner.extent, inner.from, inner.to};
      else
        axis[joined++] = inner;
    }
    count = joined;
    if (!count) axis[count++] = {1, 1, 1};
  }

  const CopyAxis& last() const { return axis[count - 1]; }
  /// The axis other than the last along which `from` is contiguous, or -1.
  int contiguous_in_from() const {
    for (int i = 0; i < count - 1; ++i)
      if (axis[i].from == 1) return i;
    return -1;
  }
};

// Calls f(from, to) at the start of each of the positions [begin, end) of the axes.
template <class F>
void walk(std::span<const CopyAxis> axes, int64_t begin, int64_t end, int64_t from, int64_t to, F&& f) {
  std::array<int64_t, kMaxAxes> index;
  int64_t rest = begin;
  for (size_t k = axes.size(); k-- > 0;) {
    index[k] = rest % axes[k].extent;
    rest /= axes[k].extent;
    from += index[k] * axes[k].from;
    to += index[k] * axes[k].to;
  }
  for (int64_t i = begin; i < end; ++i) {
    f(from, to);
    for (size_t k = axes.size(); k-- > 0;) {
      from += axes[k].from;
      to += axes[k].to;
      if (++index[k] < axes[k].extent) break;
      from -= axes[k].from * axes[k].extent;
      to -= axes[k].to * axes[k].extent;
      index[k] = 0;
    }
  }
}

int64_t positions(std::span<const CopyAxis> axes) {
  int64_t n = 1;
  for (const CopyAxis& a : axes) n *= a.extent;
  return n;
}

double move_cost_ns(int64_t bytes) { return 2 + 0.1 * static_cast<double>(bytes); }

template <class T>
void copy_row(const T* from, T* to, const CopyAxis& row) {
  if (row.from == 1 && row.to == 1)
    std::copy_n(from, row.extent, to);
  else if (row.from == 0 && row.to == 1)
    std::fill_n(to, row.extent, *from);
  else
    for (int64_t i = 0; i < row.extent; ++i) to[i * row.to] = from[i * row.from];
}

// A plane whose rows are contiguous in `from` and columns in `to`, in blocks that stay in the first-level cache.
template <class T>
void copy_plane(const T* from, T* to, const CopyAxis& rows, const CopyAxis& columns, int64_t begin, int64_t end) {
  constexpr int64_t kBlock = sizeof(T) <= 2 ? 32 : 16;
  for (int64_t c0 = 0; c0 < columns.extent; c0 += kBlock) {
    const int64_t c1 = std::min(c0 + kBlock, columns.extent);
    for (int64_t r = begin; r < end; ++r)
      for (int64_t c = c0; c < c1; ++c) to[r * rows.to + c * columns.to] = from[r * rows.from + c * columns.from];
  }
}

template <class T>
void copy_transposed(const T* from, T* to, Loops loops, int row_axis) {
  constexpr int64_t kRows = 16;
  const CopyAxis rows = loops.axis[row_axis], columns = loops.last();
  std::copy(loops.axis.begin() + row_axis + 1, loops.axis.begin() + loops.count - 1, loops.axis.begin() + row_axis);
  const std::span<const CopyAxis> outer(loops.axis.data(), static_cast<size_t>(loops.count - 2));
  const int64_t bands = (rows.extent + kRows - 1) / kRows;
  const auto bytes = static_cast<int64_t>(sizeof(T)) * columns.extent * std::min(rows.extent, kRows);
  parallel_for(positions(outer) * bands, 2 * move_cost_ns(bytes), [&](int64_t begin, int64_t end) {
    while (begin < end) {  // each time the bands of one plane
      const int64_t plane = begin / bands, stop = std::min(end, (plane + 1) * bands);
      walk(outer, plane, plane + 1, 0, 0, [&](int64_t f, int64_t t) {
        for (int64_t band = begin - plane * bands; band < stop - plane * bands; ++band)
          copy_plane(from + f, to + t, rows, columns, band * kRows, std::min(rows.extent, (band + 1) * kRows));
      });
      begin = stop;
    }
  });
}

template <class T>
void copy_loops(const T* from, T* to, const Loops& loops) {
  const int row_axis = loops.contiguous_in_from();
  const CopyAxis& row = loops.last();
  if (row.from != 1 && row.from != 0 && row.to == 1 && row_axis >= 0) return copy_transposed(from, to, loops, row_axis);
  const std::span<const CopyAxis> outer(loops.axis.data(), static_cast<size_t>(loops.count - 1));
  if (outer.empty() && row.from == 1 && row.to == 1) {  // one run: split that
    parallel_for(row.extent, 0.1 * sizeof(T), [&](int64_t b, int64_t e) { std::copy(from + b, from + e, to + b); });
    return;
  }
  parallel_for(positions(outer), move_cost_ns(row.extent * static_cast<int64_t>(sizeof(T))), [&](int64_t b, int64_t e) {
    walk(outer, b, e, 0, 0, [&](int64_t f, int64_t t) { copy_row(from + f, to + t, row); });
  });
}

// The lowest and highest element that the copy touches lie in the tensor.
void check_inside(const Tensor& t, int64_t at, const Loops& loops, int64_t CopyAxis::*step) {
  int64_t low = at, high = at;
  for (int i = 0; i < loops.count; ++i) {
    const int64_t reach = (loops.axis[i].extent - 1) * (loops.axis[i].*step);
    (reach < 0 ? low : high) += reach;
  }
  check(low >= 0 && high < t.size(), "a strided copy stays in its tensors");
}

}  // namespace

void copy_strided(const Tensor& from, int64_t from_at, Tensor& to, int64_t to_at, std::span<const CopyAxis> axes) {
  check(from.dtype() == to.dtype(), "a copy keeps the dtype");
  const Loops loops(axes);
  if (loops.empty) return;
  check_inside(from, from_at, loops, &CopyAxis::from);
  check_inside(to, to_at, loops, &CopyAxis::to);
  if (is_sub_byte(from.dtype())) {
    const std::span<const CopyAxis> all(loops.axis.data(), static_cast<size_t>(loops.count));
    const int width = bits(from.dtype());
    walk(all, 0, positions(all), from_at, to_at, [&](int64_t f, int64_t t) { copy_packed(from, f, to, t, width); });
    return;
  }
  dispatch_size(from.dtype(),
                [&]<class T>(const T&) { copy_loops(elements<T>(from) + from_at, elements<T>(to) + to_at, loops); });
}

std::vector<CopyAxis> copy_axes(const Dims& extent, const Dims& from, const Dims& to) {
  std::vector<CopyAxis> axes;
  for (int i = 0; i < extent.rank(); ++i) axes.push_back({extent[i], from[i], to[i]});
  return axes;
}

void copy_all(const Tensor& from, Tensor& to) {
  check(from.size() == to.size(), "a copy of all elements keeps their number");
  const CopyAxis all[] = {{to.size(), 1, 1}};
  copy_strided(from, 0, to, 0, all);
}

void fill(Tensor& to, const Tensor& value) {
  if (value.defined()) {
    const CopyAxis all[] = {{to.size(), 0, 1}};
    return copy_strided(value, 0, to, 0, all);
  }
  if (to.dtype() == DType::String)
    std::fill(to.strings().begin(), to.strings().end(), std::string());
  else if (to.size_bytes())
    std::memset(to.raw(), 0, static_cast<size_t>(to.size_bytes()));
}

Mover::Mover(const Tensor& from, Tensor& to) : from_(from), to_(to), bits_(bits(from.dtype())) {
  check(from.dtype() == to.dtype(), "a copy keeps the dtype");
}

void Mover::copy(int64_t from_at, int64_t to_at, int64_t count) const {
  if (bits_ >= 8) {
    const auto size = static_cast<size_t>(bits_ / 8);
    std::memcpy(static_cast<char*>(to_.raw()) + static_cast<size_t>(to_at) * size,
                static_cast<const char*>(from_.raw()) + static_cast<size_t>(from_at) * size,
                static_cast<size_t>(count) * size);
  } else if (bits_ == 0) {
    std::copy_n(from_.strings().begin() + from_at, count, to_.strings().begin() + to_at);
  } else {
    for (int64_t i = 0; i < count; ++i) copy_packed(from_, from_at + i, to_, to_at + i, bits_);
  }
}

void Mover::for_each(int64_t runs, int64_t length, const std::function<void(int64_t, int64_t)>& f) const {
  if (bits_ > 0 && bits_ < 8) return f(0, runs);
  parallel_for(runs, move_cost_ns(length * std::max(bits_ / 8, 1)), f);
}

}  // namespace hf::ops

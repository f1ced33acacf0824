// Unique: the distinct elements of a tensor, or the distinct slices along an axis.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/extents.h"
#include "ops/movement.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {optional_attr("axis", AttrType::Int), int_attr("sorted", 1)};

void infer(Infer& in) {
  Shape out = Shape::unknown_of_rank(1);
  if (in.node.has("axis")) {
    out = in.shape(0);
    if (out.ranked()) out[normalize_axis(in.node.i("axis"), out.rank())] = Dim();
  }
  in.set(0, in.dtype(0), out);
  for (int i = 1; i < 4; ++i) in.set(i, DType::I64, Shape::unknown_of_rank(1));
}

// The slices along an axis as rows, one after the other.
struct Rows {
  Tensor data;
  int64_t count, length;
};

// Moves axis `axis` to the front or back again.
Tensor with_axis_moved(const Tensor& x, int axis, bool to_front) {
  Dims dims = x.dims(), from = x.dims().strides();
  const int source = to_front ? axis : 0, target = to_front ? 0 : axis;
  const int64_t extent = dims[source], stride = from[source];
  dims.erase(source), from.erase(source);
  dims.insert(target, extent), from.insert(target, stride);
  Tensor out(x.dtype(), dims);
  copy_strided(x, 0, out, 0, copy_axes(dims, from, dims.strides()));
  return out;
}

template <class T>
int compare(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>)  // NaN is equal to itself and greater than all else
    if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  return a < b ? -1 : b < a ? 1 : 0;
}

template <class T>
int compare_rows(const T* a, const T* b, int64_t length) {
  for (int64_t i = 0; i < length; ++i)
    if (int c = compare(a[i], b[i])) return c;
  return 0;
}

// Equal rows as groups of their positions, in the rows' order; within a group the first position comes first.
struct Groups {
  std::vector<int64_t> order;  // all positions, group after group
  std::vector<size_t> starts;  // where each group starts in `order`
};

template <class T>
Groups grouped(const T* data, int64_t count, int64_t length) {
  Groups g;
  g.order.resize(static_cast<size_t>(count));
  std::iota(g.order.begin(), g.order.end(), 0);
  auto order_of = [&](int64_t i, int64_t j) { return compare_rows(data + i * length, data + j * length, length); };
  std::sort(g.order.begin(), g.order.end(), [&](int64_t i, int64_t j) {
    const int c = order_of(i, j);
    return c ? c < 0 : i < j;
  });
  for (size_t i = 0; i < g.order.size(); ++i)
    if (i == 0 || order_of(g.order[i - 1], g.order[i]) != 0) g.starts.push_back(i);
  return g;
}

Groups grouped(const Rows& rows) {
  if (rows.data.dtype() == DType::String) return grouped(rows.data.strings().data(), rows.count, rows.length);
  Groups g;
  dispatch_number(rows.data.dtype(), [&]<class T>(T) {
    const ReadAs<T> values(rows.data);
    g = grouped(values.data(), rows.count, rows.length);
  });
  return g;
}

void reference(Eval& e) {
  const Tensor& x = e.in(0);
  const bool flat = !e.node.has("axis");
  const int axis = flat ? 0 : normalize_axis(e.node.i("axis"), x.rank());
  Rows rows{flat ? x : with_axis_moved(x, axis, true), flat ? x.size() : x.dims()[axis], 1};
  if (!flat) rows.length = rows.data.dims().count(1, x.rank());
  const Groups g = grouped(rows);
  const size_t n = g.starts.size();
  std::vector<size_t> shown(n);  // the groups in the order of the output
  std::iota(shown.begin(), shown.end(), 0);
  if (!e.node.i("sorted"))
    std::sort(shown.begin(), shown.end(),
              [&](size_t a, size_t b) { return g.order[g.starts[a]] < g.order[g.starts[b]]; });

  Dims dims = flat ? Dims{0} : rows.data.dims();
  dims[0] = static_cast<int64_t>(n);
  Tensor values(x.dtype(), dims);
  std::vector<int64_t> first(n), counts(n), inverse(static_cast<size_t>(rows.count));
  const Mover mover(rows.data, values);
  for (size_t i = 0; i < n; ++i) {
    const size_t begin = g.starts[shown[i]], end = shown[i] + 1 < n ? g.starts[shown[i] + 1] : g.order.size();
    first[i] = g.order[begin];
    counts[i] = static_cast<int64_t>(end - begin);
    for (size_t k = begin; k < end; ++k) inverse[static_cast<size_t>(g.order[k])] = static_cast<int64_t>(i);
    mover.copy(first[i] * rows.length, static_cast<int64_t>(i) * rows.length, rows.length);
  }
  e.out(0) = flat ? std::move(values) : with_axis_moved(values, axis, false);
  if (e.wants(1)) e.out(1) = Tensor::ints(first);
  if (e.wants(2)) e.out(2) = Tensor::ints(inverse);
  if (e.wants(3)) e.out(3) = Tensor::ints(counts);
}

constexpr OpDef defs[] = {
    {.name = "Unique", .since = 11, .max_outputs = 4, .attrs = attrs, .infer = infer, .reference = reference}};

}  // namespace

std::span<const OpDef> unique_ops() { return defs; }

}  // namespace hf::ops

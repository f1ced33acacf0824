// TopK: the largest or smallest of each row of an axis.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/extents.h"
#include "ops/movement.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    int_attr("axis", -1),
    int_attr("largest", 1, 11),
    int_attr("sorted", 1, 11),
    required_attr("k", AttrType::Int, 1, 9),
};

void upgrade(ir::Graph& g, Node& n, int opset) {
  n.attrs.emplace("largest", int64_t{1});
  n.attrs.emplace("sorted", int64_t{1});
  if (opset >= 10) return;
  const int64_t k[] = {n.i("k")};
  n.attrs.erase("k");
  set_constant_input(g, n, 1, Tensor::ints(k));
}

void infer(Infer& in) {
  in.require(in.has(1), "K is missing");
  Shape out = in.shape(0);
  if (out.ranked()) {
    Dim& d = out[normalize_axis(in.node.i("axis"), out.rank())];
    const Tensor* k = in.constant(1);
    if (k) {
      in.require(k->size() == 1, "K has {} elements, wanted 1", k->size());
      const int64_t count = to_int(*k);
      in.require(count >= 0 && (!d.known() || count <= d.value), "K is {}, the axis is {}", count, d.text());
      d = count;
    } else
      d = Dim();
  }
  in.set(0, in.dtype(0), out);
  in.set(1, DType::I64, out);
}

// A total order in which NaN is greater than all else.
template <class T>
bool less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  return a < b;
}

// Fills `order` with the first k positions of the row; of equal values the earlier position first.
template <class T>
void top_of_row(const T* x, int64_t stride, int64_t k, bool largest, std::vector<int64_t>& order) {
  std::iota(order.begin(), order.end(), 0);
  auto before = [&](int64_t i, int64_t j) {
    const T a = x[i * stride], b = x[j * stride];
    if (less(a, b)) return !largest;
    if (less(b, a)) return largest;
    return i < j;
  };
  // A heap of k wins while k is small, selecting and then sorting when it is not.
  if (k * 8 < static_cast<int64_t>(order.size())) {
    std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
    return;
  }
  std::nth_element(order.begin(), order.begin() + k, order.end(), before);
  std::sort(order.begin(), order.begin() + k, before);
}

void reference(Eval& e) {
  const Tensor& x = e.in(0);
  const int axis = normalize_axis(e.node.i("axis"), x.rank());
  const int64_t n = x.dims()[axis], inner = x.dims().count(axis + 1, x.rank()), rows = x.dims().count(0, axis) * inner;
  const int64_t k = to_int(e.in(1));
  const bool largest = e.node.i("largest") != 0;
  if (k < 0 || k > n) fail(Code::InvalidArgument, "K is {}, the axis is {}", k, n);
  Dims dims = x.dims();
  dims[axis] = k;
  Tensor values = e.out(0).defined() ? e.out(0) : Tensor(x.dtype(), dims);
  Tensor indices = e.wants(1) ? e.out(1) : Tensor(DType::I64, dims);
  const Mover mover(x, values);
  dispatch_number(x.dtype(), [&]<class T>(T) {
    const ReadAs<T> in(x);
    parallel_for(k ? rows : 0, static_cast<double>(n) * 4, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> order(static_cast<size_t>(n));
      for (int64_t r = begin; r < end; ++r) {
        const int64_t from = r / inner * n * inner + r % inner, to = r / inner * k * inner + r % inner;
        top_of_row(in.data() + from, inner, k, largest, order);
        for (int64_t i = 0; i < k; ++i) {
          mover.copy(from + order[static_cast<size_t>(i)] * inner, to + i * inner, 1);
          indices.data<int64_t>()[to + i * inner] = order[static_cast<size_t>(i)];
        }
      }
    });
  });
}

constexpr OpDef defs[] = {{.name = "TopK",
                           .max_inputs = 2,
                           .min_outputs = 1,
                           .max_outputs = 2,
                           .attrs = attrs,
                           .upgrade = upgrade,
                           .infer = infer,
                           .reference = reference}};

}  // namespace

std::span<const OpDef> topk_ops() { return defs; }

}  // namespace hf::ops

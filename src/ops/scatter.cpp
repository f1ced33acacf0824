// Scatter, ScatterElements, ScatterND and TensorScatter: a copy with elements or slices replaced or reduced into.
#include <array>
#include <cmath>

#include "ops/extents.h"
#include "ops/movement.h"

namespace hf::ops {
namespace {

constexpr AttrDef elements_attrs[] = {int_attr("axis", 0), string_attr("reduction", "none", 16)};
constexpr AttrDef nd_attrs[] = {string_attr("reduction", "none", 16)};
constexpr AttrDef cache_attrs[] = {int_attr("axis", -2), string_attr("mode", "linear")};

// Scatter is the old name of ScatterElements.
void upgrade_scatter(ir::Graph&, Node& n, int) {
  n.op = "ScatterElements";
  n.def = find_op("ScatterElements", "");
  n.attrs.emplace("reduction", std::string("none"));
}

void upgrade_reduction(ir::Graph&, Node& n, int) { n.attrs.emplace("reduction", std::string("none")); }

enum class Reduction { None, Add, Mul, Min, Max };

Reduction reduction_of(const Node& n) {
  constexpr std::array<std::string_view, 5> names = {"none", "add", "mul", "min", "max"};
  for (size_t i = 0; i < names.size(); ++i)
    if (n.s("reduction") == names[i]) return static_cast<Reduction>(i);
  fail(Code::InvalidModel, "reduction '{}' is none of none, add, mul, min, max", n.s("reduction"));
}

template <class T>
T reduce(Reduction r, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (r >= Reduction::Min && (std::isnan(a) || std::isnan(b))) return a + b;
  switch (r) {
    case Reduction::Add: return a + b;
    case Reduction::Mul: return a * b;
    case Reduction::Min: return b < a ? b : a;
    case Reduction::Max: return a < b ? b : a;
    default: return b;
  }
}

// Brings runs of `run` elements of `updates`, in order, to where `at(i)` says in a copy of the data.
template <class At>
void scatter(const Tensor& data, const Tensor& updates, Reduction reduction, int64_t run, Tensor& out, At at) {
  const int64_t runs = run ? updates.size() / run : 0;
  if (reduction == Reduction::None) {
    copy_all(data, out);
    const Mover mover(updates, out);
    for (int64_t i = 0; i < runs; ++i) mover.copy(i * run, at(i), run);  // in order: the last of equal indices stays
    return;
  }
  dispatch_number(data.dtype(), [&]<class T>(T) {
    std::vector<T> sum(static_cast<size_t>(data.size()));
    read_elements(data, sum.data());
    const ReadAs<T> from(updates);
    for (int64_t i = 0; i < runs; ++i) {
      T* to = sum.data() + at(i);
      for (int64_t k = 0; k < run; ++k) to[k] = reduce(reduction, to[k], from[i * run + k]);
    }
    write_elements(sum.data(), out);
  });
}

void check_dtypes(const Infer& in, int updates) {
  in.require(in.dtype(0) == in.dtype(updates), "updates are {}, data {}", name(in.dtype(updates)), name(in.dtype(0)));
}

// ---- ScatterElements

void infer_elements(Infer& in) {
  reduction_of(in.node);
  check_dtypes(in, 2);
  const Shape &data = in.shape(0), indices = ir::merge(in.shape(1), in.shape(2));  // equal, or InvalidModel
  if (data.ranked() && indices.ranked()) {
    in.require(data.rank() == indices.rank(), "indices {} have not the rank of data {}", indices.text(), data.text());
    const int axis = normalize_axis(in.node.i("axis"), data.rank());
    for (int i = 0; i < data.rank(); ++i)
      in.require(i == axis || !data[i].known() || !indices[i].known() || indices[i].value <= data[i].value,
                 "indices {} reach out of data {} on axis {}", indices.text(), data.text(), i);
  }
  infer_same(in);
}

void scatter_elements(Eval& e) {
  const Tensor& data = e.in(0);
  const ReadAs<int64_t> indices(e.in(1));
  const int axis = normalize_axis(e.node.i("axis"), data.rank());
  const Dims extent = e.in(1).dims(), strides = data.dims().strides(), steps = extent.strides();
  scatter(data, e.in(2), reduction_of(e.node), 1, e.out(), [&](int64_t i) {
    int64_t at = checked_index(indices[i], data.dims()[axis]) * strides[axis];
    for (int k = 0; k < extent.rank(); ++k)
      if (k != axis) at += i / steps[k] % extent[k] * strides[k];
    return at;
  });
}

// ---- ScatterND

void infer_nd(Infer& in) {
  reduction_of(in.node);
  check_dtypes(in, 2);
  const Shape &data = in.shape(0), &indices = in.shape(1);
  if (data.ranked() && indices.ranked()) {
    in.require(data.rank() >= 1 && indices.rank() >= 1, "data {} and indices {}", data.text(), indices.text());
    const Dim& tuple = indices[indices.rank() - 1];
    in.require(tuple.value <= data.rank(), "index tuples of {} for data {}", tuple.value, data.text());
    if (tuple.known()) {
      std::vector<Dim> updates(indices.dims().begin(), indices.dims().end() - 1);
      updates.insert(updates.end(), data.dims().begin() + tuple.value, data.dims().end());
      ir::merge(Shape(updates), in.shape(2));
    }
  }
  infer_same(in);
}

void scatter_nd(Eval& e) {
  const Tensor& data = e.in(0);
  const ReadAs<int64_t> indices(e.in(1));
  const Dims& d = data.dims();
  const int tuple = static_cast<int>(e.in(1).dims().back());
  const int64_t run = d.count(tuple, d.rank());
  scatter(data, e.in(2), reduction_of(e.node), run, e.out(), [&](int64_t i) {
    int64_t at = 0;
    for (int k = 0; k < tuple; ++k) at = at * d[k] + checked_index(indices[i * tuple + k], d[k]);
    return at * run;
  });
}

// ---- TensorScatter

void infer_cache(Infer& in) {
  const std::string& mode = in.node.s("mode");
  in.require(mode == "linear" || mode == "circular", "mode '{}' is neither linear nor circular", mode);
  check_dtypes(in, 1);
  const Shape &cache = in.shape(0), &update = in.shape(1);
  if (cache.ranked()) {
    const int axis = normalize_axis(in.node.i("axis"), cache.rank());
    in.require(axis != 0, "axis 0 is the batch");
    Shape wanted = cache;
    wanted[axis] = Dim();
    ir::merge(wanted, update);
    if (update.ranked() && update[axis].known() && cache[axis].known())
      in.require(update[axis].value <= cache[axis].value, "an update of {} for a cache of {}", update[axis].value,
                 cache[axis].value);
    if (in.has(2)) ir::merge(Shape({cache[0]}), in.shape(2));
  }
  infer_same(in);
}

void scatter_cache(Eval& e) {
  const Tensor &cache = e.in(0), &update = e.in(1);
  const int axis = normalize_axis(e.node.i("axis"), cache.rank());
  const bool circular = e.node.s("mode") == "circular";
  const int64_t length = cache.dims()[axis], steps = update.dims()[axis],
                run = cache.dims().count(axis + 1, cache.rank());
  const int64_t per_batch = cache.dims().count(1, axis);
  const std::vector<int64_t> starts =
      e.has(2) ? to_ints(e.in(2)) : std::vector<int64_t>(static_cast<size_t>(cache.dims()[0]), 0);
  for (int64_t s : starts)
    if (s < 0 || (!circular && s > length - steps))
      fail(Code::InvalidArgument, "write index {} for {} new entries in a cache of {}", s, steps, length);
  scatter(cache, update, Reduction::None, run, e.out(), [&](int64_t i) {
    const int64_t prefix = i / steps, at = starts[static_cast<size_t>(prefix / per_batch)] % length + i % steps;
    return (prefix * length + at % length) * run;
  });
}

constexpr OpDef defs[] = {
    {.name = "Scatter",
     .since = 9,
     .until = 10,
     .min_inputs = 3,
     .max_inputs = 3,
     .attrs = elements_attrs,
     .upgrade = upgrade_scatter,
     .infer = infer_elements,
     .reference = scatter_elements},
    {.name = "ScatterElements",
     .since = 11,
     .min_inputs = 3,
     .max_inputs = 3,
     .attrs = elements_attrs,
     .upgrade = upgrade_reduction,
     .infer = infer_elements,
     .reference = scatter_elements},
    {.name = "ScatterND",
     .since = 11,
     .min_inputs = 3,
     .max_inputs = 3,
     .attrs = nd_attrs,
     .upgrade = upgrade_reduction,
     .infer = infer_nd,
     .reference = scatter_nd},
    {.name = "TensorScatter",
     .since = 24,
     .min_inputs = 2,
     .max_inputs = 3,
     .attrs = cache_attrs,
     .infer = infer_cache,
     .reference = scatter_cache},
};

}  // namespace

std::span<const OpDef> scatter_ops() { return defs; }

}  // namespace hf::ops

// Resize, and Upsample, which is an older name of it.
#include "ops/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hf::ops {
namespace {

constexpr AttrDef resize_attrs[] = {
    int_attr("antialias", 0, 18),
    optional_attr("axes", AttrType::Ints, 18),
    string_attr("coordinate_transformation_mode", "half_pixel", 11),
    float_attr("cubic_coeff_a", -0.75f, 11),
    int_attr("exclude_outside", 0, 11),
    float_attr("extrapolation_value", 0, 11),
    string_attr("keep_aspect_ratio_policy", "stretch", 18),
    string_attr("mode", "nearest"),
    string_attr("nearest_mode", "round_prefer_floor", 11),
};

constexpr AttrDef upsample_attrs[] = {
    string_attr("mode", "nearest"),
    required_attr("scales", AttrType::Floats, 7, 8),
};

// Opset 10 has (x, scales), coordinates from the corner, and rounds nearest ones by the direction of the change.
void upgrade_resize(ir::Graph& g, Node& n, int opset) {
  if (opset >= 11) return;
  if (n.own_inputs() != 2) fail(Code::InvalidModel, "{} inputs, wanted 2", n.own_inputs());
  g.insert_input(&n, 1, nullptr);
  n.attrs["coordinate_transformation_mode"] = std::string("asymmetric");
  n.attrs["nearest_mode"] = std::string("simple");
  n.attrs["extrapolation_value"] = 0.0f;
}

void upgrade_upsample(ir::Graph& g, Node& n, int opset) {
  if (opset < 9) {
    const std::vector<float>& scales = n.floats("scales");
    Tensor t(DType::F32, {static_cast<int64_t>(scales.size())});
    std::copy(scales.begin(), scales.end(), t.data<float>());
    n.attrs.erase("scales");
    set_constant_input(g, n, 1, t);
  }
  if (n.own_inputs() != 2) fail(Code::InvalidModel, "{} inputs, wanted 2", n.own_inputs());
  if (n.s("mode") == "bilinear") n.attrs["mode"] = std::string("linear");
  n.op = "Resize";
  bind(g, n, 10);
}

// What can be told without the extents of x: axes that are not chosen, or have a scale of 1, stay.
Shape partial_shape(const Infer& in) {
  const Shape& x = in.shape(0);
  Shape out = Shape::unknown_of_rank(x.rank());
  std::vector<int64_t> axes = in.node.ints_or_empty("axes");
  std::vector<bool> chosen(static_cast<size_t>(x.rank()), !in.node.has("axes"));
  for (int64_t& a : axes) chosen[static_cast<size_t>(a = normalize_axis(a, x.rank(), "axes"))] = true;
  if (!in.node.has("axes"))
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  for (int i = 0; i < x.rank(); ++i)
    if (!chosen[static_cast<size_t>(i)]) out[i] = x[i];
  const Tensor *scales = in.constant(2), *sizes = in.constant(3);
  const bool stretch = !in.node.has("keep_aspect_ratio_policy") || in.node.s("keep_aspect_ratio_policy") == "stretch";
  if (scales && scales->size() == static_cast<int64_t>(axes.size())) {
    ReadAs<float> s(*scales);
    for (size_t i = 0; i < axes.size(); ++i) {
      const Dim& d = x[static_cast<int>(axes[i])];
      if (s[static_cast<int64_t>(i)] == 1) out[static_cast<int>(axes[i])] = d;
    }
  } else if (sizes && stretch && sizes->size() == static_cast<int64_t>(axes.size())) {
    std::vector<int64_t> s = to_ints(*sizes);
    for (size_t i = 0; i < axes.size(); ++i)
      if (s[i] >= 0) out[static_cast<int>(axes[i])] = s[i];
  }
  return out;
}

void infer(Infer& in) {
  const Shape& x = in.shape(0);
  if (!x.ranked()) return in.set(0, in.dtype(0));
  const bool crops = in.node.s("coordinate_transformation_mode") == "tf_crop_and_resize";
  const bool known = (!in.has(2) || in.constant(2)) && (!in.has(3) || in.constant(3)) && (!crops || in.constant(1));
  if (!known || !x.is_static()) return in.set(0, in.dtype(0), partial_shape(in));
  std::vector<Dim> out;
  for (const ResizeAxis& a : resize_axes(in.node, x.get(), in.constant(1), in.constant(2), in.constant(3)))
    out.push_back(a.output);
  in.set(0, in.dtype(0), out);
}

// Nearest moves elements without looking at them, so that any type of whole bytes can be resized.
void gather_nearest(const Tensor& x, const std::vector<ResizeTaps>& taps, float extrapolation, Tensor& y) {
  const Dims strides = x.dims().strides();
  const int rank = x.rank();
  const bool text = x.dtype() == DType::String;
  if (is_sub_byte(x.dtype())) fail(Code::Unsupported, "resizing a tensor of type {}", name(x.dtype()));
  Tensor filler(text ? DType::F32 : x.dtype(), {});
  if (std::any_of(taps.begin(), taps.end(),
                  [](const ResizeTaps& t) { return std::count(t.outside.begin(), t.outside.end(), true) > 0; }))
    write_elements(&extrapolation, filler);
  const size_t width = text ? 0 : static_cast<size_t>(bits(x.dtype())) / 8;
  const auto* from = static_cast<const std::byte*>(x.raw());
  auto* to = static_cast<std::byte*>(y.raw());
  parallel_for(text ? 1 : y.size(), 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < (text ? y.size() : end); ++i) {
      int64_t left = i, at = 0;
      bool outside = false;
      for (int d = rank - 1; d >= 0; --d) {
        const ResizeTaps& t = taps[static_cast<size_t>(d)];
        const int64_t o = left % t.size();
        left /= t.size();
        at += t.index[static_cast<size_t>(o)] * strides[d];
        outside |= t.outside[static_cast<size_t>(o)];
      }
      if (text)
        y.strings()[static_cast<size_t>(i)] = x.strings()[static_cast<size_t>(at)];
      else
        std::memcpy(to + static_cast<size_t>(i) * width,
                    outside ? static_cast<const std::byte*>(filler.raw()) : from + static_cast<size_t>(at) * width,
                    width);
    }
  });
}

// One axis of x as weighted sums.
template <class T>
Tensor resize_axis(const Tensor& x, int axis, const ResizeTaps& taps, T extrapolation) {
  Dims dims = x.dims();
  const int64_t inner = dims.count(axis + 1, dims.rank()), input = dims[axis], outputs = taps.size(),
                outer = dims.count(0, axis);
  dims[axis] = outputs;
  Tensor y(x.dtype(), dims);
  const T* from = x.data<T>();
  T* to = y.data<T>();
  const double cost = static_cast<double>(inner) * static_cast<double>(taps.index.size()) /
                      static_cast<double>(std::max<int64_t>(outputs, 1));
  parallel_for(outer * outputs, cost + 5, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto o = static_cast<size_t>(i % outputs);
      T* row = to + i * inner;
      std::fill_n(row, inner, taps.outside[o] ? extrapolation : T(0));
      if (taps.outside[o]) continue;
      for (int64_t t = taps.first[o]; t < taps.first[o + 1]; ++t) {
        const T* source = from + (i / outputs * input + taps.index[static_cast<size_t>(t)]) * inner;
        const T weight = static_cast<T>(taps.weight[static_cast<size_t>(t)]);
        for (int64_t j = 0; j < inner; ++j) row[j] += weight * source[j];
      }
    }
  });
  return y;
}

template <class T>
void interpolate(Eval& e, const std::vector<ResizeAxis>& axes) {
  Tensor x(dtype_of<T>(), e.in(0).dims());
  read_elements(e.in(0), x.data<T>());
  // Axes that shrink come first: no tensor between is then larger than both x and y.
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(axes.size()); ++i)
    if (!axes[static_cast<size_t>(i)].same()) order.push_back(i);
  auto growth = [&](int i) {
    return static_cast<double>(axes[static_cast<size_t>(i)].output) /
           static_cast<double>(std::max<int64_t>(axes[static_cast<size_t>(i)].input, 1));
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return growth(a) < growth(b); });
  for (int i : order)
    x = resize_axis<T>(x, i, resize_taps(e.node, axes[static_cast<size_t>(i)]),
                       static_cast<T>(e.node.f("extrapolation_value")));
  T* values = x.data<T>();
  if (is_int(e.out().dtype())) {  // integers round to nearest and saturate
    const int width = bits(e.out().dtype());
    const bool is_signed = is_signed_int(e.out().dtype());
    const T high = static_cast<T>(std::ldexp(1.0, is_signed ? width - 1 : width)) - 1, low = is_signed ? -high - 1 : 0;
    for (int64_t i = 0; i < x.size(); ++i) values[i] = std::clamp(std::nearbyint(values[i]), low, high);
  }
  write_elements(values, e.out());
}

void reference(Eval& e) {
  const Tensor& x = e.in(0);
  auto input = [&](int i) { return e.has(i) ? &e.in(i) : nullptr; };
  const std::vector<ResizeAxis> axes = resize_axes(e.node, x.dims(), input(1), input(2), input(3));
  if (e.out().size() == 0) return;
  if (e.node.s("mode") == "nearest") {
    std::vector<ResizeTaps> taps;
    for (const ResizeAxis& a : axes) taps.push_back(resize_taps(e.node, a));
    return gather_nearest(x, taps, e.node.f("extrapolation_value"), e.out());
  }
  if (x.dtype() == DType::F64 || !is_float(x.dtype()))
    interpolate<double>(e, axes);
  else
    interpolate<float>(e, axes);
}

constexpr OpDef defs[] = {
    {.name = "Resize",
     .since = 10,
     .max_inputs = 4,
     .attrs = resize_attrs,
     .upgrade = upgrade_resize,
     .infer = infer,
     .reference = reference},
    {.name = "Upsample", .until = 9, .max_inputs = 2, .attrs = upsample_attrs, .upgrade = upgrade_upsample},
};

}  // namespace

std::span<const OpDef> resize_ops() { return defs; }

}  // namespace hf::ops

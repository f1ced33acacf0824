// MaxUnpool: elements back to the places that MaxPool took them from, zeros elsewhere.
#include <algorithm>
#include <cstring>

#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    required_attr("kernel_shape", AttrType::Ints),
    optional_attr("pads", AttrType::Ints),
    optional_attr("strides", AttrType::Ints),
};

// The extent of spatial axis i before pooling, which the indices count in.
int64_t pooled_from(const Node& n, size_t i, int64_t extent) {
  const std::vector<int64_t>& kernel = n.ints("kernel_shape");
  const std::vector<int64_t> pads = n.ints_or_empty("pads"), strides = n.ints_or_empty("strides");
  const int64_t pad = pads.empty() ? 0 : pads[i] + pads[i + kernel.size()];
  return std::max<int64_t>((extent - 1) * (strides.empty() ? 1 : strides[i]) - pad + kernel[i], 0);
}

Dims pooled_from(const Node& n, const Dims& x) {
  Dims d = x;
  for (int i = 2; i < x.rank(); ++i) d[i] = pooled_from(n, static_cast<size_t>(i - 2), x[i]);
  return d;
}

void check_attr(const Infer& in, std::string_view attr, size_t count, int64_t least) {
  const std::vector<int64_t> v = in.node.ints_or_empty(attr);
  if (v.empty() && attr != "kernel_shape") return;
  in.require(v.size() == count, "attribute '{}' has {} values, wanted {}", attr, v.size(), count);
  for (int64_t i : v) in.require(i >= least && i < (int64_t{1} << 31), "attribute '{}' has a value of {}", attr, i);
}

void infer(Infer& in) {
  const Shape& x = in.shape(0);
  if (!x.ranked()) return in.set(0, in.dtype(0));
  in.require(x.rank() >= 3, "the input is of shape {}, wanted [batch, channels, ...]", x.text());
  const auto spatial = static_cast<size_t>(x.rank() - 2);
  check_attr(in, "kernel_shape", spatial, 1);
  check_attr(in, "strides", spatial, 1);
  check_attr(in, "pads", 2 * spatial, 0);
  ir::merge(x, in.shape(1));  // refuses indices of another shape
  Shape out = Shape::unknown_of_rank(x.rank());
  if (const Tensor* shape = in.constant(2)) {
    const std::vector<int64_t> dims = to_ints(*shape);
    in.require(dims.size() == spatial + 2, "output_shape has {} values, wanted {}", dims.size(), spatial + 2);
    for (int i = 0; i < x.rank(); ++i) {
      in.require(dims[static_cast<size_t>(i)] >= 0, "output_shape has a value of {}", dims[static_cast<size_t>(i)]);
      out[i] = dims[static_cast<size_t>(i)];
    }
  } else if (!in.has(2)) {
    for (int i = 0; i < x.rank(); ++i) {
      if (i < 2)
        out[i] = x[i];
      else if (x[i].known()) {
        in.require(x[i].value < (int64_t{1} << 31), "the input is of shape {}", x.text());
        out[i] = pooled_from(in.node, static_cast<size_t>(i - 2), x[i].value);
      }
    }
  }
  in.set(0, in.dtype(0), out);
}

void reference(Eval& e) {
  const Tensor& x = e.in(0);
  const Dims from = pooled_from(e.node, x.dims()), strides = e.out().dims().strides();
  const int64_t count = from.count();
  const std::vector<int64_t> places = to_ints(e.in(1));
  const auto width = static_cast<size_t>(bits(x.dtype())) / 8;
  auto* to = static_cast<std::byte*>(e.out().raw());
  std::memset(to, 0, static_cast<size_t>(e.out().size_bytes()));
  for (int64_t i = 0; i < x.size(); ++i) {
    int64_t left = places[static_cast<size_t>(i)], at = 0;
    if (left < 0 || left >= count) fail(Code::InvalidArgument, "index {} is outside [0, {})", left, count);
    for (int d = from.rank() - 1; d >= 0; --d) {
      const int64_t p = left % from[d];
      left /= from[d];
      if (p >= e.out().dims()[d])
        fail(Code::InvalidArgument, "index {} is outside the output of shape {}", places[static_cast<size_t>(i)],
             e.out().dims().text());
      at += p * strides[d];
    }
    std::memcpy(to + static_cast<size_t>(at) * width,
                static_cast<const std::byte*>(x.raw()) + static_cast<size_t>(i) * width, width);
  }
}

constexpr OpDef defs[] = {
    {.name = "MaxUnpool",
     .since = 9,
     .min_inputs = 2,
     .max_inputs = 3,
     .attrs = attrs,
     .infer = infer,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> max_unpool_ops() { return defs; }

}  // namespace hf::ops

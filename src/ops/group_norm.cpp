// GroupNormalization and InstanceNormalization, which is a group for each channel.
#include <cmath>

#include "ops/moments.h"
#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef group_attrs[] = {
    required_attr("num_groups", AttrType::Int), float_attr("epsilon", 1e-5f), int_attr("stash_type", 1, 21),
    optional_attr("scale_by_group", AttrType::Int, kOurs),  // ours, set by upgrade
};
constexpr AttrDef instance_attrs[] = {float_attr("epsilon", 1e-5f)};

// Before opset 21 scale and bias have an element for each group and not for each channel.
void upgrade(ir::Graph&, Node& n, int opset) {
  if (opset >= 21) return;
  n.attrs["scale_by_group"] = int64_t{1};
  n.attrs["stash_type"] = int64_t{1};
}

void infer(Infer& in) {
  const bool group = in.node.has("num_groups");
  const int64_t groups = group ? in.node.i("num_groups") : 1;
  in.require(groups > 0, "num_groups is {}", groups);
  if (in.rank(0) >= 0) {
    in.require(in.rank(0) >= 2, "the input has rank {}, wanted at least 2", in.rank(0));
    const Dim& channels = in.shape(0)[1];
    in.require(!channels.known() || channels.value % groups == 0, "{} channels do not divide into {} groups",
               channels.value, groups);
  }
  infer_same(in);
}

void reference(Eval& e) {
  const Dims& d = e.in(0).dims();
  const int64_t channels = d[1], inner = d.count(2, d.rank());
  const int64_t groups = e.node.has("num_groups") ? e.node.i("num_groups") : channels;
  const int64_t per_scale = e.node.has("scale_by_group") ? channels / groups : 1;
  for (int i = 1; i < 3; ++i)
    if (e.in(i).size() * per_scale != channels)
      fail(Code::InvalidArgument, "input {} has {} elements for {} channels in {} groups", i, e.in(i).size(), channels,
           groups);
  if (e.in(0).size() == 0) return;
  const int64_t per_group = channels / groups, n = per_group * inner;
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0)), scale(e.in(1)), bias(e.in(2));
    WriteAs<T> y(e.out());
    parallel_for(d[0] * groups, static_cast<double>(n) * 2, [&](int64_t from, int64_t to) {
      for (int64_t g = from; g < to; ++g) {
        const Moments m = moments(x.data() + g * n, n);
        const T mean = static_cast<T>(m.mean);
        const T inverse = static_cast<T>(1 / std::sqrt(m.variance + static_cast<double>(e.node.f("epsilon"))));
        for (int64_t k = 0; k < per_group; ++k) {
          const int64_t s = (g % groups * per_group + k) / per_scale, at = g * n + k * inner;
          const T a = inverse * scale[s], b = bias[s];
          for (int64_t i = at; i < at + inner; ++i) y[i] = (x[i] - mean) * a + b;
        }
      }
    });
    y.commit();
  });
}

constexpr OpDef defs[] = {
    {.name = "GroupNormalization",
     .since = 18,
     .min_inputs = 3,
     .max_inputs = 3,
     .attrs = group_attrs,
     .upgrade = upgrade,
     .infer = infer,
     .reference = reference},
    {.name = "InstanceNormalization",
     .min_inputs = 3,
     .max_inputs = 3,
     .attrs = instance_attrs,
     .infer = infer,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> group_norm_ops() { return defs; }

}  // namespace hf::ops

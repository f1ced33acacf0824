// Conv, and com.microsoft's FusedConv, which is a Conv, a sum and an activation.
#include "ops/convolve.h"
#include "ops/unfuse.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    string_attr("auto_pad", "NOTSET"),
    optional_attr("dilations", AttrType::Ints),
    int_attr("group", 1),
    optional_attr("kernel_shape", AttrType::Ints),
    optional_attr("pads", AttrType::Ints),
    optional_attr("strides", AttrType::Ints),
};

constexpr AttrDef fused_attrs[] = {
    string_attr("activation", ""),
    optional_attr("activation_params", AttrType::Floats),
    string_attr("auto_pad", "NOTSET"),
    optional_attr("dilations", AttrType::Ints),
    int_attr("group", 1),
    optional_attr("kernel_shape", AttrType::Ints),
    optional_attr("pads", AttrType::Ints),
    optional_attr("strides", AttrType::Ints),
};

// activation(Conv(x, w, bias) + z)
void upgrade_fused(ir::Graph& g, Node& n, int) {
  const std::string activation = n.s("activation");
  const std::vector<float> params = n.has("activation_params") ? n.floats("activation_params") : std::vector<float>();
  n.attrs.erase("activation");
  n.attrs.erase("activation_params");
  ir::Value* z = n.input(3);
  ir::Value* result = push_down(g, n, "Conv", 3)->output();
  if (z) result = add_before(g, n, "Add", {result, z});
  follow_with_activation(g, n, result, activation, params);
}

void infer(Infer& in) { in.set(0, in.dtype(0), infer_convolution(in, 0, 1, 2)); }

void reference(Eval& e) {
  Convolution c = convolution_of(e.node, e.in(0), e.in(1));
  dispatch_float(e.in(0).dtype(), [&]<class T>(T) {
    ReadAs<T> x(e.in(0)), w(e.in(1));
    WriteAs<T> y(e.out());
    convolve(c, x.data(), w.data(), y.data());
    if (e.has(2)) {
      ReadAs<T> bias(e.in(2));
      const int64_t outputs = c.window.outputs();
      for (int64_t i = 0; i < c.batch * bias.size(); ++i)
        for (int64_t j = 0; j < outputs; ++j) y[i * outputs + j] += bias[i % bias.size()];
    }
    y.commit();
  });
}

constexpr OpDef defs[] = {
    {.name = "Conv", .min_inputs = 2, .max_inputs = 3, .attrs = attrs, .infer = infer, .reference = reference},
    {.name = "FusedConv",
     .domain = "com.microsoft",
     .min_inputs = 2,
     .max_inputs = 4,
     .attrs = fused_attrs,
     .upgrade = upgrade_fused},
};

}  // namespace

std::span<const OpDef> conv_ops() { return defs; }

}  // namespace hf::ops

// Dropout: the identity, unless it is told to train.
#include "ops/random.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    float_attr("ratio", 0.5f, 1, 11), optional_attr("seed", AttrType::Int, 12),
    optional_attr("mask_as_data", AttrType::Int, kOurs),  // ours, set by upgrade
};

// Before opset 12 the ratio is an attribute, which only training needs; before 10 the mask has the data's type.
void upgrade(ir::Graph&, Node& n, int opset) {
  n.attrs.erase("ratio");
  if (opset < 10) n.attrs["mask_as_data"] = int64_t{1};
}

void infer(Infer& in) {
  in.set(0, in.dtype(0), in.shape(0));
  in.set(1, in.node.has("mask_as_data") ? in.dtype(0) : DType::Bool, in.shape(0));
}

void fill_mask(Eval& e, const std::vector<uint8_t>& mask) {
  if (e.wants(1)) write_elements(mask.data(), e.out(1));
}

void reference(Eval& e) {
  const Tensor& x = e.in(0);
  const double ratio = e.has(1) ? to_number(e.in(1)) : 0.5;
  std::vector<uint8_t> mask(e.wants(1) ? static_cast<size_t>(x.size()) : 0, 1);
  if (!e.has(2) || to_int(e.in(2)) == 0 || ratio == 0) {
    e.out() = x;
    return fill_mask(e, mask);
  }
  if (!(ratio > 0 && ratio < 1)) fail(Code::InvalidArgument, "ratio is {}, wanted [0, 1)", ratio);
  Random random(e.node);
  const double scale = 1 / (1 - ratio);
  ReadAs<double> in(x);
  WriteAs<double> out(e.out());
  for (int64_t i = 0; i < x.size(); ++i) {
    const bool keep = random.uniform() >= ratio;
    out[i] = keep ? in[i] * scale : 0;
    if (!mask.empty()) mask[static_cast<size_t>(i)] = keep;
  }
  out.commit();
  fill_mask(e, mask);
}

constexpr OpDef defs[] = {
    {.name = "Dropout",
     .max_inputs = 3,
     .max_outputs = 2,
     .attrs = attrs,
     .upgrade = upgrade,
     .infer = infer,
     .reference = reference,
     .random = true},
};

}  // namespace

std::span<const OpDef> dropout_ops() { return defs; }

}  // namespace hf::ops

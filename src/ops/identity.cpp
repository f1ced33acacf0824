// Identity and Constant: values as they are.
#include <algorithm>

#include "ops/op.h"

namespace hf::ops {
namespace {

void identity(Eval& e) { e.out() = e.in(0); }

constexpr AttrDef constant_attrs[] = {
    optional_attr("value", AttrType::Tensor),          optional_attr("value_float", AttrType::Float),
    optional_attr("value_floats", AttrType::Floats),   optional_attr("value_int", AttrType::Int),
    optional_attr("value_ints", AttrType::Ints),       optional_attr("value_string", AttrType::String),
    optional_attr("value_strings", AttrType::Strings),
};

// The tensor, whichever attribute gives it.
Tensor value_of(const Node& n) {
  if (n.attrs.size() != 1) fail(Code::InvalidModel, "one value attribute is wanted, got {}", n.attrs.size());
  struct Visit {
    Tensor operator()(float v) { return Tensor::scalar(v); }
    Tensor operator()(int64_t v) { return Tensor::scalar(v); }
    Tensor operator()(const std::string& v) {
      Tensor t(DType::String, {});
      t.strings()[0] = v;
      return t;
    }
    Tensor operator()(const Tensor& v) { return v; }
    Tensor operator()(const std::shared_ptr<ir::Graph>&) { fail(Code::InvalidModel, "a graph is no constant"); }
    Tensor operator()(const std::vector<float>& v) {
      Tensor t(DType::F32, {static_cast<int64_t>(v.size())});
      std::copy(v.begin(), v.end(), t.data<float>());
      return t;
    }
    Tensor operator()(const std::vector<int64_t>& v) { return Tensor::ints(v); }
    Tensor operator()(const std::vector<std::string>& v) {
      Tensor t(DType::String, {static_cast<int64_t>(v.size())});
      t.strings() = v;
      return t;
    }
  };
  return std::visit(Visit{}, n.attrs.begin()->second);
}

void infer_constant(Infer& in) {
  Tensor t = value_of(in.node);
  in.set(0, t.dtype(), t.dims());
}

void constant(Eval& e) { e.out() = value_of(e.node); }

constexpr OpDef defs[] = {
    {.name = "Identity", .infer = infer_same, .reference = identity},
    {.name = "Constant",
     .min_inputs = 0,
     .max_inputs = 0,
     .attrs = constant_attrs,
     .infer = infer_constant,
     .reference = constant},
};

}  // namespace

std::span<const OpDef> identity_ops() { return defs; }

}  // namespace hf::ops

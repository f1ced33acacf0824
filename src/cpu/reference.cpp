// The last candidate: an operator's reference on tensors that are views of the buffers.
#include <cstring>

#include "cpu/candidate.h"
#include "ops/op.h"

namespace hf::cpu {
namespace {

class ReferenceKernel final : public plan::Kernel {
 public:
  explicit ReferenceKernel(const ir::Node& node) : node_(node) {}

  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void*) const override {
    std::vector<Tensor> in(inputs.size()), out(outputs.size());
    std::vector<const Tensor*> pointers(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ir::Value* v = node_.inputs()[i];
      if (!v) continue;
      in[i] = v->is_constant() ? v->constant : Tensor::view(v->dtype, v->shape.get(), inputs[i]);
      pointers[i] = &in[i];
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      if (const ir::Value* v = node_.outputs()[i])
        out[i] = outputs[i] ? Tensor::view(v->dtype, v->shape.get(), outputs[i]) : Tensor(v->dtype, v->shape.get());
    ops::evaluate_into(node_, pointers, out);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i] || !node_.outputs()[i]) continue;
      const ir::Value& v = *node_.outputs()[i];
      if (!(out[i].dims() == v.shape.get()) || out[i].dtype() != v.dtype)
        fail(Code::InvalidArgument, "node {}: output {} is {}, wanted {}", node_.text(), i, out[i].text(),
             v.type_text());
      if (std::as_const(out[i]).raw() != outputs[i])
        std::memcpy(outputs[i], std::as_const(out[i]).raw(), static_cast<size_t>(out[i].size_bytes()));
    }
  }
  std::string text() const override { return "reference"; }

 private:
  const ir::Node& node_;  // of the plan's graph, which the plan keeps
};

}  // namespace

Answer try_reference(const Request& r) {
  if (!r.node.def || !r.node.def->reference) return Refusal{"it has none"};
  plan::Prepared p;
  for (const ir::Value* v : r.node.inputs()) {
    if (v && v->dtype == DType::String && !v->is_constant()) return Refusal{"strings have no buffers"};
    p.absorbed.push_back(v && v->is_constant());
  }
  for (const ir::Value* v : r.node.outputs())
    if (v && v->dtype == DType::String) return Refusal{"strings have no buffers"};
  p.kernel = std::make_unique<ReferenceKernel>(r.node);
  return p;
}

}  // namespace hf::cpu

// What a candidate sees of a node, and the candidates there are.
#pragma once
#include <variant>

#include "cpu/dnnl_kernel.h"
#include "plan/backend.h"

namespace hf::cpu {

using Answer = std::variant<plan::Prepared, Refusal>;

/// A node to be made ready: all shapes static, all dtypes known.
class Request {
 public:
  const ir::Node& node;
  std::span<const Layout> layouts;  // how each input lies now
  PackedWeights& weights;

  bool has(int i) const { return node.input(i) != nullptr; }
  Dims dims(int i) const { return node.input(i)->shape.get(); }
  Dims out_dims(int i = 0) const { return node.output(i)->shape.get(); }
  DType dtype(int i) const { return node.input(i)->dtype; }
  const Tensor* constant(int i) const {
    const ir::Value* v = node.input(i);
    return v && v->is_constant() ? &v->constant : nullptr;
  }
  Layout layout(int i) const {
    return i < static_cast<int>(layouts.size()) ? layouts[static_cast<size_t>(i)] : Layout{};
  }
  /// All inputs and outputs there are hold float32.
  bool all_f32() const;
  /// An output, or the first input, has no elements.
  bool empty() const;
  /// Extents of the program's registers: `first` for register 0, then the epilogue's operands.
  std::vector<Dims> epilogue_dims(const Dims& first) const;
  /// The node's input that is the epilogue's register `r` >= 1.
  int epilogue_input(int r) const { return node.own_inputs() + r - 1; }
};

Answer try_conv(const Request& r);
Answer try_conv_transpose(const Request& r);
Answer try_matmul(const Request& r);
Answer try_pool(const Request& r);
Answer try_lrn(const Request& r);
Answer try_softmax(const Request& r);
Answer try_layer_norm(const Request& r);
Answer try_concat(const Request& r);
Answer try_concat_blocked(const Request& r);
Answer try_reduce(const Request& r);
Answer try_resize(const Request& r);
Answer try_slice(const Request& r);
Answer try_split(const Request& r);
Answer try_transpose(const Request& r);
Answer try_alias(const Request& r);
Answer try_pointwise(const Request& r);
Answer try_reference(const Request& r);

}  // namespace hf::cpu

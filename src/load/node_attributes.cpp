// Builder: attributes of nodes, and constants.
#include <onnx.pb.h>

#include "base/error.h"
#include "load/attributes.h"
#include "load/builder.h"
#include "ops/op.h"

namespace hf::load {
namespace {

size_t list_bytes(const pb::AttributeProto& attr) {
  size_t bytes = attr.name().size() + attr.s().size() + attr.floats().size() * sizeof(float) +
                 attr.ints().size() * sizeof(int64_t);
  for (const auto& s : attr.strings()) bytes += sizeof(std::string) + s.size();
  return bytes;
}

// The attribute that a reference in a function means: null if the call leaves it out.
pb::AttributeProto* referred(const Scope& scope, pb::AttributeProto& attr) {
  if (attr.ref_attr_name().empty()) return &attr;
  if (!scope.env.in_function)
    fail(Code::InvalidModel, "it refers to '{}', but only functions have attributes to refer to", attr.ref_attr_name());
  auto it = scope.env.attrs.find(attr.ref_attr_name());
  if (it == scope.env.attrs.end()) return nullptr;
  if (attr.type() != 0 && attr.type() != static_cast<int>(kind_of(*it->second)))
    fail(Code::InvalidModel, "it refers to '{}', which is of type {}", attr.ref_attr_name(),
         name(kind_of(*it->second)));
  return it->second;
}

}  // namespace

ir::Attrs Builder::attributes(Scope& scope, pb::NodeProto& node, Captured& captured) {
  ir::Attrs attrs;
  bool known = ops::find_op(node.op_type(), node.domain()) != nullptr;
  for (auto& attr : *node.mutable_attribute()) {
    auto where = context([&] { return fmt::format("attribute '{}'", attr.name()); });
    if (attrs.count(attr.name())) fail(Code::InvalidModel, "it is given twice");
    pb::AttributeProto* source = referred(scope, attr);
    if (!source) continue;
    charge(list_bytes(*source));
    AttrKind kind = kind_of(*source);
    switch (kind) {
      case AttrKind::Tensor: attrs[attr.name()] = tensor_of(*source->mutable_t()); break;
      case AttrKind::Graph:
        if (source != &attr) fail(Code::Unsupported, "a graph as the attribute of a function");
        attrs[attr.name()] = subgraph(scope, *source->mutable_g(), captured[attr.name()]);
        break;
      default:
        // A node without a definition is for inspection only: what has no place in it is left out.
        if (known || kind <= AttrKind::Strings) attrs[attr.name()] = to_plain_attr(*source, kind);
    }
  }
  return attrs;
}

std::shared_ptr<ir::Graph> Builder::subgraph(Scope& outer, pb::GraphProto& proto, std::vector<ir::Value*>& captured) {
  auto graph = std::make_shared<ir::Graph>();
  Scope scope(*graph, outer.env, &outer, outer.prefix);
  fill(scope, proto, false);
  captured = scope.captured();
  return graph;
}

const Tensor& Builder::tensor_of(pb::TensorProto& proto) {
  auto it = tensors_.find(&proto);
  if (it == tensors_.end()) it = tensors_.emplace(&proto, take_tensor(proto, files_)).first;
  return it->second;
}

bool Builder::is_constant(const pb::NodeProto& node) {
  return node.op_type() == "Constant" && canonical(node.domain()).empty() && !functions_.find(node);
}

Tensor Builder::constant_value(Scope& scope, pb::NodeProto& node, int index) {
  ir::Graph scratch;
  ir::Node* n = scratch.add_node("Constant", {}, node.output_size());
  n->name = scope.prefix + local_name(node, index);
  {
    auto where = context([&] { return place(node, index); });
    if (node.input_size() > 0) fail(Code::InvalidModel, "{} inputs, wanted none", node.input_size());
    if (std::optional<Tensor> sparse = sparse_value(scope, node)) return *sparse;
    Captured none;
    n->attrs = attributes(scope, node, none);
  }
  ops::bind(scratch, *n, opset_of(*scope.env.opsets, ""));  // says by itself where it fails
  return ops::evaluate(*n, {})[0];
}

std::optional<Tensor> Builder::sparse_value(Scope& scope, pb::NodeProto& node) {
  if (node.attribute_size() != 1 || node.attribute(0).name() != "sparse_value" || node.output_size() != 1) return {};
  pb::AttributeProto* source = referred(scope, *node.mutable_attribute(0));
  if (!source || kind_of(*source) != AttrKind::SparseTensor) return {};
  auto it = tensors_.find(source);
  if (it == tensors_.end())
    it = tensors_.emplace(source, take_sparse(*source->mutable_sparse_tensor(), files_, sparse_bytes_)).first;
  return it->second;
}

}  // namespace hf::load

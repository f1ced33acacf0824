// TypeProto to dtype, shape and kind.
#include "load/types.h"

#include <onnx.pb.h>

#include "base/error.h"
#include "base/log.h"
#include "load/tensor_data.h"

namespace hf::load {
namespace {

ir::Shape to_shape(const pb::TensorShapeProto& proto) {
  if (proto.dim_size() > kMaxRank)
    fail(Code::Unsupported, "rank {}, at most {} is handled", proto.dim_size(), kMaxRank);
  std::vector<ir::Dim> dims;
  for (const auto& dim : proto.dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      dims.emplace_back(dim.dim_value());
    else
      dims.push_back(dim.dim_param() == "?" ? ir::Dim() : ir::Dim::named(dim.dim_param()));  // "?" is no name
  }
  return dims;
}

template <class T>
Declared tensor_type(const T& type, ir::TypeKind kind) {
  Declared d{kind, DType::Undefined, {}};
  if (type.elem_type() != 0) d.dtype = to_dtype(type.elem_type());
  if (type.has_shape()) d.shape = to_shape(type.shape());
  return d;
}

// A sequence, map or optional: the elements' dtype is kept for reports.
Declared container(const pb::TypeProto& element, ir::TypeKind kind) { return {kind, to_declared(element).dtype, {}}; }

}  // namespace

Declared to_declared(const pb::TypeProto& type) {
  switch (type.value_case()) {
    case pb::TypeProto::kTensorType: return tensor_type(type.tensor_type(), ir::TypeKind::Tensor);
    case pb::TypeProto::kSparseTensorType: return tensor_type(type.sparse_tensor_type(), ir::TypeKind::Sparse);
    case pb::TypeProto::kSequenceType: return container(type.sequence_type().elem_type(), ir::TypeKind::Sequence);
    case pb::TypeProto::kOptionalType: return container(type.optional_type().elem_type(), ir::TypeKind::Optional);
    case pb::TypeProto::kMapType: return container(type.map_type().value_type(), ir::TypeKind::Map);
    case pb::TypeProto::kOpaqueType: fail(Code::Unsupported, "an opaque type");
    case pb::TypeProto::VALUE_NOT_SET: break;
  }
  return {};
}

void declare(ir::Value& value, const Declared& declared) {
  auto where = context([&] { return fmt::format("value '{}'", value.name); });
  if (declared.kind != ir::TypeKind::Tensor) value.kind = declared.kind;
  if (declared.dtype != DType::Undefined) {
    if (value.dtype != DType::Undefined && value.dtype != declared.dtype)
      fail(Code::InvalidModel, "it is declared {} but is {}", name(declared.dtype), name(value.dtype));
    value.dtype = declared.dtype;
  }
  if (ir::compatible(value.shape, declared.shape)) {
    value.shape = ir::merge(value.shape, declared.shape);
  } else {
    // As with inference: what files declare of shapes goes stale when they are edited.
    log::warn("load", "value '{}' is declared {} but is {}", value.name, declared.shape.text(), value.shape.text());
  }
}

}  // namespace hf::load

// Attributes of the schema's nodes.
#pragma once
#include "ir/attr.h"

namespace hipforge::onnx {
class AttributeProto;
}

namespace hf::load {

namespace pb = ::hipforge::onnx;

/// ONNX's AttributeProto.AttributeType, with its numbers.
enum class AttrKind {
  Float = 1,
  Int,
  String,
  Tensor,
  Graph,
  Floats,
  Ints,
  Strings,
  Tensors,
  Graphs,
  SparseTensor,
  SparseTensors,
  Type,
  Types
};

/// What an attribute holds: as it says itself or, in files that leave its type out, by the one field that is set. A
/// number or string may be left out: it then has protobuf's default, 0 or "". Throws InvalidModel if the type and the
/// fields contradict, or if a tensor or graph is missing.
AttrKind kind_of(const pb::AttributeProto& attr);
/// "float", "type_proto", ...
std::string_view name(AttrKind kind);

/// The value of an attribute that is a number, a string or a list of them.
ir::Attr to_plain_attr(const pb::AttributeProto& attr, AttrKind kind);

}  // namespace hf::load

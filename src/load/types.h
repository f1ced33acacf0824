// Declared types of values.
#pragma once
#include "ir/graph.h"

namespace hipforge::onnx {
class TypeProto;
}

namespace hf::load {

namespace pb = ::hipforge::onnx;

/// What a file says of a value; dtype Undefined and an unranked shape where it is silent.
struct Declared {
  ir::TypeKind kind = ir::TypeKind::Tensor;
  DType dtype = DType::Undefined;
  ir::Shape shape;
};

/// Throws InvalidModel for an element type that is none, Unsupported for opaque types and ranks over kMaxRank.
Declared to_declared(const pb::TypeProto& type);

/// Adds what is declared to what is known of the value. Throws InvalidModel if the dtypes contradict; a shape that does
/// gives way with a warning.
void declare(ir::Value& value, const Declared& declared);

}  // namespace hf::load

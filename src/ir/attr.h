// Attributes of a node.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/tensor.h"

namespace hf::ir {

class Graph;

/// ONNX's AttributeProto.AttributeType, with its numbers, for the kinds that are kept.
enum class AttrType { Float = 1, Int = 2, String = 3, Tensor = 4, Graph = 5, Floats = 6, Ints = 7, Strings = 8 };

/// A value of one of these types, in the order of kAttrTypes.
using Attr = std::variant<float, int64_t, std::string, Tensor, std::shared_ptr<Graph>, std::vector<float>,
                          std::vector<int64_t>, std::vector<std::string>>;
using Attrs = std::map<std::string, Attr, std::less<>>;

inline AttrType type_of(const Attr& a) { return static_cast<AttrType>(a.index() + 1); }
/// "float", "int", "ints", ...
std::string_view name(AttrType t);

}  // namespace hf::ir

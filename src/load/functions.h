// The model's own functions, its opset imports, and which operators it uses.
#pragma once
#include <map>
#include <string>
#include <tuple>

namespace hipforge::onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
}  // namespace hipforge::onnx

namespace hf::load {

namespace pb = ::hipforge::onnx;

using Opsets = std::map<std::string, int64_t>;  // version by domain; "" is ai.onnx

/// "ai.onnx" and "" are one domain.
std::string canonical(const std::string& domain);

/// A function of the model.
struct Function {
  pb::FunctionProto* proto = nullptr;
  Opsets opsets;
  bool active = false;  // being expanded
};

/// All of them. They come before operators of the same name.
class Functions {
 public:
  /// Throws InvalidModel for two with one name, and as read_opsets().
  explicit Functions(pb::ModelProto& model);
  /// The function that a node calls, or null.
  Function* find(const pb::NodeProto& node);

 private:
  std::map<std::tuple<std::string, std::string, std::string>, Function> by_name_;
};

/// The imports of a model or function. Throws Unsupported for an opset of ai.onnx that is too new,
/// InvalidModel for two versions of one domain.
template <class Proto>
Opsets read_opsets(const Proto& proto);

/// The version under which nodes of `domain` are read. Throws InvalidModel if it is not imported; the com.microsoft
/// operators have one version, 1, imported or not.
int opset_of(const Opsets& opsets, const std::string& domain);

/// Throws Unsupported, naming every operator that is neither a function of the model nor known to hipforge.
void expect_known_operators(const pb::ModelProto& model, Functions& functions);

}  // namespace hf::load

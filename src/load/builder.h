// From the schema's graph to ours.
#pragma once
#include <memory>
#include <unordered_map>

#include "load/functions.h"
#include "load/model.h"
#include "load/scope.h"
#include "load/tensor_data.h"

namespace hipforge::onnx {
class GraphProto;
class NodeProto;
}  // namespace hipforge::onnx

namespace hf::load {

/// The node's name, or one made of its operator and its place among the nodes.
std::string local_name(const pb::NodeProto& node, int index);
/// "node 3 'conv1' (Conv)", for messages.
std::string place(const pb::NodeProto& node, int index);

/// Builds one model's graph, taking the tensors out of the message on the way.
class Builder {
 public:
  Builder(pb::ModelProto& model, const LoadOptions& options);
  /// The main graph; once.
  std::unique_ptr<ir::Graph> build();
  const Opsets& opsets() const { return opsets_; }
  /// The external files that build() read.
  const ExternalFiles::Files& external() const { return files_.all(); }

 private:
  // A node to bind when its whole graph is there, and the opset to read it by.
  struct Unbound {
    ir::Node* node;
    int opset;
  };
  using Captured = std::map<std::string, std::vector<ir::Value*>>;  // by the attribute that holds the subgraph

  void fill(Scope& scope, pb::GraphProto& proto, bool main);
  void add_inputs(Scope& scope, const pb::GraphProto& proto, bool main);
  void add_initializers(Scope& scope, pb::GraphProto& proto);
  void add_initializer(Scope& scope, const std::string& name, Tensor tensor);
  void declare_types(Scope& scope, const pb::GraphProto& proto);
  template <class Nodes>
  void add_nodes(Scope& scope, Nodes& nodes);
  template <class Nodes>
  void add_results(Scope& scope, Nodes& nodes);
  void set_constant(Scope& scope, pb::NodeProto& node, int index);
  void add_node(Scope& scope, pb::NodeProto& node, const std::string& name);
  void add_call(Scope& scope, pb::NodeProto& call, Function& function, const std::string& name);
  void bind_all(const std::vector<Unbound>& nodes);

  ir::Value* input_of(Scope& scope, const std::string& name);
  bool is_constant(const pb::NodeProto& node);
  Tensor constant_value(Scope& scope, pb::NodeProto& node, int index);
  std::optional<Tensor> sparse_value(Scope& scope, pb::NodeProto& node);
  ir::Attrs attributes(Scope& scope, pb::NodeProto& node, Captured& captured);
  std::shared_ptr<ir::Graph> subgraph(Scope& outer, pb::GraphProto& proto, std::vector<ir::Value*>& captured);
  const Tensor& tensor_of(pb::TensorProto& proto);
  void charge(size_t bytes);

  pb::ModelProto& model_;
  const LoadOptions& options_;
  ExternalFiles files_;
  Functions functions_;
  Opsets opsets_;
  std::unordered_map<const void*, Tensor> tensors_;  // of attributes; a function's are used in each call
  std::vector<Unbound>* unbound_ = nullptr;          // of the graph being filled
  int depth_ = 0;
  int64_t nodes_ = 0, bytes_ = 0, sparse_bytes_;
};

}  // namespace hf::load

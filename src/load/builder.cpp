// Builder: graphs and nodes.
#include "load/builder.h"

#include <onnx.pb.h>

#include <set>

#include "base/error.h"
#include "load/legacy.h"
#include "load/limits.h"
#include "load/types.h"
#include "ops/op.h"

namespace hf::load {

std::string local_name(const pb::NodeProto& node, int index) {
  return node.name().empty() ? fmt::format("{}_{}", node.op_type(), index) : node.name();
}

std::string place(const pb::NodeProto& node, int index) {
  return fmt::format("node {} '{}' ({})", index, local_name(node, index), node.op_type());
}

Builder::Builder(pb::ModelProto& model, const LoadOptions& options)
    : model_(model),
      options_(options),
      files_(options.folder, options.external),
      functions_(model),
      opsets_(read_opsets(model)),
      sparse_bytes_(kLimits.sparse_bytes) {}

std::unique_ptr<ir::Graph> Builder::build() {
  if (!options_.keep_unknown_operators) expect_known_operators(model_, functions_);
  auto graph = std::make_unique<ir::Graph>();
  Environment env{&opsets_, {}, false};
  Scope scope(*graph, env, nullptr, "");
  fill(scope, *model_.mutable_graph(), true);
  return graph;
}

void Builder::fill(Scope& scope, pb::GraphProto& proto, bool main) {
  if (++depth_ > kLimits.depth) fail(Code::Unsupported, "subgraphs and calls are more than {} deep", kLimits.depth);
  std::vector<Unbound> unbound;
  std::vector<Unbound>* outer = std::exchange(unbound_, &unbound);
  scope.graph.name = proto.name();
  add_inputs(scope, proto, main);
  add_initializers(scope, proto);
  add_results(scope, *proto.mutable_node());
  declare_types(scope, proto);
  add_nodes(scope, *proto.mutable_node());
  for (const auto& output : proto.output()) {
    std::optional<ir::Value*> v = scope.find(output.name());
    if (!v || !*v) fail(Code::InvalidModel, "output '{}' is not made by any node, input or initializer", output.name());
    scope.graph.add_output(*v);
  }
  unbound_ = outer;
  bind_all(unbound);
  scope.graph.sort();
  scope.graph.sweep();
  --depth_;
}

void Builder::add_inputs(Scope& scope, const pb::GraphProto& proto, bool main) {
  // Until IR version 3 every initializer was among the inputs.
  std::set<std::string_view> constants;
  if (model_.ir_version() < 4)
    for (const auto& tensor : proto.initializer()) constants.insert(tensor.name());
  for (const auto& input : proto.input()) {
    if (constants.count(input.name())) continue;
    auto where = context([&] { return fmt::format("input '{}'", input.name()); });
    Declared type = to_declared(input.type());
    if (main && type.dtype == DType::Undefined) fail(Code::InvalidModel, "it has no type");
    charge(scope.prefix.size() + input.name().size());
    scope.expect_new(input.name());
    ir::Value* v = scope.graph.add_input(scope.prefix + input.name(), type.dtype, type.shape);
    v->kind = type.kind;
    scope.add(input.name(), v);
  }
}

void Builder::add_initializers(Scope& scope, pb::GraphProto& proto) {
  for (auto& tensor : *proto.mutable_initializer()) {
    auto where = context([&] { return fmt::format("initializer '{}'", tensor.name()); });
    add_initializer(scope, tensor.name(), take_tensor(tensor, files_));
  }
  for (auto& sparse : *proto.mutable_sparse_initializer()) {
    auto where = context([&] { return fmt::format("sparse initializer '{}'", sparse.values().name()); });
    add_initializer(scope, sparse.values().name(), take_sparse(sparse, files_, sparse_bytes_));
  }
}

void Builder::add_initializer(Scope& scope, const std::string& name, Tensor tensor) {
  charge(scope.prefix.size() + name.size());
  ir::Value* input = scope.find_here(name);
  if (!input || !input->is_graph_input() || input->default_value.defined()) {
    scope.expect_new(name);
    scope.add(name, scope.graph.add_constant(scope.prefix + name, std::move(tensor)));
    return;
  }
  if (input->dtype != tensor.dtype() && input->dtype != DType::Undefined)
    fail(Code::InvalidModel, "its input is declared {} but it is {}", hf::name(input->dtype), hf::name(tensor.dtype()));
  ir::merge(input->shape, tensor.dims());  // throws if they contradict
  input->default_value = std::move(tensor);
}

void Builder::declare_types(Scope& scope, const pb::GraphProto& proto) {
  for (const auto* list : {&proto.input(), &proto.output(), &proto.value_info()})
    for (const auto& info : *list)
      if (ir::Value* v = scope.find_here(info.name())) declare(*v, to_declared(info.type()));
}

template <class Nodes>
void Builder::add_results(Scope& scope, Nodes& nodes) {
  nodes_ += nodes.size();
  if (nodes_ > kLimits.nodes)
    fail(Code::Unsupported, "more than {} nodes (calls of functions expanded)", kLimits.nodes);
  for (int i = 0; i < nodes.size(); ++i) {
    for (const auto& output : nodes[i].output()) {
      if (output.empty()) continue;
      auto where = context([&] { return place(nodes[i], i); });
      charge(scope.prefix.size() + output.size());
      scope.add_result(output);
    }
    // Constants at once, so that subgraphs share them instead of capturing them, wherever they stand.
    if (is_constant(nodes[i])) set_constant(scope, nodes[i], i);
  }
}

void Builder::set_constant(Scope& scope, pb::NodeProto& node, int index) {
  Tensor value = constant_value(scope, node, index);
  ir::Value* v = node.output(0).empty() ? nullptr : scope.find_here(node.output(0));
  if (!v) return;
  declare(*v, {ir::TypeKind::Tensor, value.dtype(), value.dims()});
  v->constant = std::move(value);
}

template <class Nodes>
void Builder::add_nodes(Scope& scope, Nodes& nodes) {
  for (int i = 0; i < nodes.size(); ++i) {
    pb::NodeProto& node = nodes[i];
    if (is_constant(node)) continue;
    std::string name = scope.prefix + local_name(node, i);
    auto where = context([&] { return place(node, i); });
    charge(name.size());
    if (Function* f = functions_.find(node))
      add_call(scope, node, *f, name);
    else
      add_node(scope, node, name);
  }
}

ir::Value* Builder::input_of(Scope& scope, const std::string& name) {
  if (name.empty()) return nullptr;
  std::optional<ir::Value*> v = scope.find(name);
  if (!v) fail(Code::InvalidModel, "its input '{}' is not made by any node, input or initializer", name);
  return *v;
}

void Builder::add_node(Scope& scope, pb::NodeProto& node, const std::string& name) {
  std::string domain = canonical(node.domain());
  int opset = opset_of(*scope.env.opsets, domain);
  std::vector<ir::Value*> inputs, outputs;
  for (const auto& input : node.input()) inputs.push_back(input_of(scope, input));
  for (const auto& output : node.output()) outputs.push_back(output.empty() ? nullptr : scope.find_here(output));
  for (auto* list : {&inputs, &outputs})
    while (!list->empty() && !list->back()) list->pop_back();
  Captured captured;
  ir::Attrs attrs = attributes(scope, node, captured);
  int captures = 0;
  for (const auto& [attr, values] : captured) {  // in the order of Node::subgraphs()
    inputs.insert(inputs.end(), values.begin(), values.end());
    captures += static_cast<int>(values.size());
  }
  ir::Node* n = scope.graph.add_node_with(node.op_type(), std::move(inputs), std::move(outputs), nullptr, domain);
  n->name = name;
  n->attrs = std::move(attrs);
  n->captures = captures;
  unbound_->push_back({n, opset});
}

void Builder::add_call(Scope& caller, pb::NodeProto& call, Function& function, const std::string& name) {
  pb::FunctionProto& f = *function.proto;
  auto where = context([&] { return fmt::format("function '{}'", f.name()); });
  if (std::exchange(function.active, true)) fail(Code::InvalidModel, "it calls itself");
  if (++depth_ > kLimits.depth) fail(Code::Unsupported, "subgraphs and calls are more than {} deep", kLimits.depth);
  if (call.input_size() > f.input_size() || call.output_size() > f.output_size())
    fail(Code::InvalidModel, "it is called with {} inputs and {} outputs, wanted at most {} and {}", call.input_size(),
         call.output_size(), f.input_size(), f.output_size());
  Environment env{&function.opsets, {}, true};
  for (auto& attr : *f.mutable_attribute_proto()) env.attrs[attr.name()] = &attr;
  for (auto& attr : *call.mutable_attribute()) {
    if (attr.ref_attr_name().empty()) {
      env.attrs[attr.name()] = &attr;
    } else if (auto it = caller.env.attrs.find(attr.ref_attr_name()); it != caller.env.attrs.end()) {
      env.attrs[attr.name()] = it->second;
    }
  }
  Scope body(caller.graph, env, nullptr, name + "/");
  for (int i = 0; i < f.input_size(); ++i)
    body.add(f.input(i), i < call.input_size() ? input_of(caller, call.input(i)) : nullptr);
  auto result = [&](int i) { return call.output(i).empty() ? nullptr : caller.find_here(call.output(i)); };
  for (int i = 0; i < call.output_size(); ++i)
    if (result(i)) body.expect_result(f.output(i), result(i));
  add_results(body, *f.mutable_node());
  add_nodes(body, *f.mutable_node());
  for (int i = 0; i < call.output_size(); ++i) {
    ir::Value* v = result(i);
    if (!v || v->producer() || v->is_constant()) continue;
    // An output that is an input, or a second name for one value.
    std::optional<ir::Value*> same = body.find(f.output(i));
    if (!same || !*same || *same == v) fail(Code::InvalidModel, "its output '{}' is not made", f.output(i));
    ir::Node* n = caller.graph.add_node_with("Identity", {*same}, {v});
    n->name = v->name;
    unbound_->push_back({n, static_cast<int>(kLimits.newest_opset)});
  }
  --depth_;
  function.active = false;
}

void Builder::bind_all(const std::vector<Unbound>& nodes) {
  for (auto [node, opset] : nodes) {
    if (node->erased() || (options_.keep_unknown_operators && !ops::find_op(node->op, node->domain))) continue;
    if (node->domain.empty() && opset < kLimits.oldest_opset) {
      modernize(node->graph(), *node, opset);
      opset = static_cast<int>(kLimits.oldest_opset);
    }
    ops::bind(node->graph(), *node, opset);
  }
}

void Builder::charge(size_t bytes) {
  bytes_ += static_cast<int64_t>(bytes);
  if (bytes_ > kLimits.inlined_bytes)
    fail(Code::Unsupported, "names and attributes take more than {} bytes (calls of functions expanded)",
         kLimits.inlined_bytes);
}

}  // namespace hf::load

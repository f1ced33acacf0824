// Graph: the intermediate representation. It follows ONNX's model: a graph has nodes in topological order, nodes have
// operators, inputs, outputs and attributes, and every edge is a Value.
//
// Subgraphs (If, Loop, Scan) are Graphs held by attributes. What a subgraph uses of the outer graph is explicit: each
// captured outer value is an extra input of the node, after its ordinary ones, and stands for one of
// Graph::captures() inside. Constants are never captured; the subgraph has its own handle on the same tensor.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attr.h"
#include "ir/program.h"
#include "ir/shape.h"

namespace hf::ops {
struct OpDef;
}

namespace hf::ir {

class Graph;
class Node;

/// What a value is. Only tensors are computed with; the others are loaded and reported.
enum class TypeKind : uint8_t { Tensor, Sequence, Optional, Map, Sparse };

struct Use {
  Node* node;
  int index;  // which of its inputs
};

/// One edge: the result of a node, a graph input, or a constant. Owned by its graph.
class Value {
 public:
  std::string name;  // unique in the graph; what the user sees
  DType dtype = DType::Undefined;
  Shape shape;
  TypeKind kind = TypeKind::Tensor;
  Tensor constant;       // defined for constants
  Tensor default_value;  // of a graph input that may be left out (an initializer of the same name, IR version >= 4)

  Node* producer() const { return producer_; }
  int producer_index() const { return producer_index_; }
  const std::vector<Use>& uses() const { return uses_; }
  bool is_constant() const { return constant.defined(); }
  bool is_graph_input() const { return graph_input_; }
  /// How many of the graph's outputs it is.
  int graph_outputs() const { return graph_outputs_; }
  bool unused() const { return uses_.empty() && graph_outputs_ == 0; }
  /// The only node that uses it, when there is just one use and it is no graph output; else null.
  Node* only_user() const { return uses_.size() == 1 && graph_outputs_ == 0 ? uses_[0].node : nullptr; }
  /// "float32 [1, 3, 224, 224]"
  std::string type_text() const;

 private:
  friend class Graph;
  friend class Node;
  Node* producer_ = nullptr;
  int producer_index_ = 0;
  std::vector<Use> uses_;
  int graph_outputs_ = 0;
  bool graph_input_ = false;
};

/// One operator application. Inputs may be null: an optional input left out.
class Node {
 public:
  std::string op;      // operator name
  std::string domain;  // "" for ai.onnx
  std::string name;    // the model's, or made up; not always unique
  const ops::OpDef* def = nullptr;
  Attrs attrs;
  /// Elementwise work on output 0 before it is stored. Register 0 is the operator's own result, the others are the last
  /// `epilogue_inputs` inputs of the node.
  std::shared_ptr<const Program> epilogue;
  int epilogue_inputs = 0;
  /// How many inputs, at the end of the list, are captures of the node's subgraphs.
  int captures = 0;
  /// The model's nodes that this one stands for, for reports.
  std::vector<std::string> origins;

  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  /// Input i, or null if it is left out or there are fewer.
  Value* input(int i) const { return i < static_cast<int>(inputs_.size()) ? inputs_[static_cast<size_t>(i)] : nullptr; }
  Value* output(int i = 0) const {
    return i < static_cast<int>(outputs_.size()) ? outputs_[static_cast<size_t>(i)] : nullptr;
  }
  /// Inputs that are the operator's own: without epilogue operands and captures.
  int own_inputs() const { return static_cast<int>(inputs_.size()) - epilogue_inputs - captures; }
  Graph& graph() const { return *graph_; }
  Node* next() const { return next_; }
  Node* prev() const { return prev_; }
  bool erased() const { return erased_; }

  /// Attributes. The loader has put in the defaults and checked the types, so that a read never misses for an attribute
  /// that has a default; reading one that is absent is our bug (Internal).
  bool has(std::string_view attr) const { return attrs.find(attr) != attrs.end(); }
  int64_t i(std::string_view attr) const;
  float f(std::string_view attr) const;
  const std::string& s(std::string_view attr) const;
  const Tensor& tensor(std::string_view attr) const;
  Graph& subgraph(std::string_view attr) const;
  const std::vector<int64_t>& ints(std::string_view attr) const;
  const std::vector<float>& floats(std::string_view attr) const;
  const std::vector<std::string>& strings(std::string_view attr) const;
  /// The ints, or empty if the attribute is absent.
  std::vector<int64_t> ints_or_empty(std::string_view attr) const;
  /// All graphs among the attributes, in the order of the attributes' names.
  std::vector<std::shared_ptr<Graph>> subgraphs() const;

  bool is(std::string_view op_name, std::string_view op_domain = "") const {
    return op == op_name && domain == op_domain;
  }
  /// "'conv1' (Conv)"
  std::string text() const;

 private:
  friend class Graph;
  Graph* graph_ = nullptr;
  Node* next_ = nullptr;
  Node* prev_ = nullptr;
  bool erased_ = false;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
};

/// Nodes in topological order with the values between them. Not thread-safe; a shared Graph is read-only.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::string name;

  // Values.
  /// A new value; the name is made unique by a suffix if it is taken, and made up if empty.
  Value* add_value(std::string name, DType dtype = DType::Undefined, Shape shape = {});
  Value* add_constant(std::string name, Tensor tensor);
  Value* add_input(std::string name, DType dtype = DType::Undefined, Shape shape = {});
  /// A value that stands for a captured one of the outer graph.
  Value* add_capture(std::string name, DType dtype = DType::Undefined, Shape shape = {});
  void add_output(Value* v);
  void set_output(int i, Value* v);
  Value* find_value(std::string_view name) const;  // null if there is none; linear
  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  const std::vector<Value*>& captures() const { return captures_; }
  /// Removes capture k; the caller removes the node's input.
  void remove_capture(int k);
  const std::vector<std::unique_ptr<Value>>& values() const { return values_; }

  // Nodes.
  /// A new node before `before` (null: at the end), with `outputs` new values unless given.
  Node* add_node(std::string op, std::vector<Value*> inputs, int outputs = 1, Node* before = nullptr,
                 std::string domain = "");
  Node* add_node_with(std::string op, std::vector<Value*> inputs, std::vector<Value*> outputs, Node* before = nullptr,
                      std::string domain = "");
  void set_input(Node* n, int i, Value* v);
  void add_node_input(Node* n, Value* v) { insert_input(n, static_cast<int>(n->inputs_.size()), v); }
  void insert_input(Node* n, int at, Value* v);
  void remove_input(Node* n, int i);
  /// A copy of a node of any graph (subgraphs deeply), at the end, between these values of this graph.
  Node* add_copy(const Node& n, std::vector<Value*> inputs, std::vector<Value*> outputs);
  /// Changes the number of the inputs; new ones are null.
  void resize_inputs(Node* n, int count);
  /// A further output of the node.
  Value* add_node_output(Node* n, std::string name = "");
  /// All uses of `from`, graph outputs included, become uses of `to`.
  void replace_uses(Value* from, Value* to);
  /// Moves output i of a node to another node (whose output j it becomes); what j was is left unused.
  void move_output(Node* from, int i, Node* to, int j);
  /// Takes the node out of the list. Its outputs must be unused. It stays readable until sweep().
  void erase(Node* n);
  /// Moves a node to just before `before` (null: the end).
  void move_before(Node* n, Node* before);
  /// Frees erased nodes, and values without producer, use or role.
  void sweep();

  Node* first() const { return first_; }
  Node* last() const { return last_; }
  int node_count() const { return node_count_; }
  /// The nodes now in the list, in order: safe to change the graph while walking it (skip those erased()).
  std::vector<Node*> nodes() const;

  /// A deep copy (constants share storage).
  std::unique_ptr<Graph> clone() const;
  /// Puts the nodes into a topological order. Throws InvalidModel if there is a cycle, naming a node on it.
  void sort();

 private:
  void link(Node* n, Node* before);
  void unlink(Node* n);
  void add_use(Value* v, Node* n, int i);
  void drop_use(Value* v, Node* n, int i);
  std::string unique_name(std::string name);

  std::vector<std::unique_ptr<Value>> values_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Value*> inputs_, outputs_, captures_;
  std::map<std::string, Value*, std::less<>> names_;
  Node* first_ = nullptr;
  Node* last_ = nullptr;
  int node_count_ = 0;
  int fresh_ = 0;
};

/// A loaded model: the main graph and what the file says of itself. Functions have been inlined.
struct Model {
  std::unique_ptr<Graph> graph;
  int64_t ir_version = 0;
  int64_t opset = 0;  // of ai.onnx
  std::map<std::string, int64_t> opsets;
  std::string producer, producer_version, description, path;
  std::map<std::string, std::string> metadata;  // metadata_props
};

/// The invariants of the IR: uses, producers, topological order, captures, recursively. Throws Internal naming the
/// first one that does not hold.
void verify(const Graph& g);

/// The graph as text, one node a line; constants by type, and by value when they have at most 8 elements:
///     %y: float32 [1, 8] = Gemm(%x, %w, %b) {alpha = 1, transB = 1}  # 'fc'
std::string to_text(const Graph& g);

}  // namespace hf::ir

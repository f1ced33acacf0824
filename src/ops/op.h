// OpDef: what one operator is. This folder holds them all, a family a file; ops.def names the families.
//
// A file has, in this order: attributes, upgrade, infer, reference, the OpDefs, the list function. Elementwise
// operators are rows of pointwise.def instead.
#pragma once
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/convert.h"
#include "base/error.h"
#include "ir/graph.h"

namespace hf::ops {

using ir::AttrType;
using ir::Dim;
using ir::Node;
using ir::Shape;

inline constexpr int kNewest = 1 << 20;  // "no later opset"
inline constexpr int kOurs = kNewest;    // since: an attribute that only upgrades and passes set

/// One attribute: name, type, and the default that the loader fills in. Without a default it is absent unless given;
/// `required` ones must be given. Attributes outside [since, until] of the node's opset are refused by the loader.
struct AttrDef {
  enum Presence : uint8_t { Optional, Default, Required };
  std::string_view name;
  AttrType type;
  Presence presence = Optional;
  int64_t i = 0;
  float f = 0;
  std::string_view s = "";
  int since = 1;
  int until = kNewest;
};
// The usual rows: {name, default}.
constexpr AttrDef int_attr(std::string_view name, int64_t value, int since = 1, int until = kNewest) {
  return {name, AttrType::Int, AttrDef::Default, value, 0, "", since, until};
}
constexpr AttrDef float_attr(std::string_view name, float value, int since = 1, int until = kNewest) {
  return {name, AttrType::Float, AttrDef::Default, 0, value, "", since, until};
}
constexpr AttrDef string_attr(std::string_view name, std::string_view value, int since = 1, int until = kNewest) {
  return {name, AttrType::String, AttrDef::Default, 0, 0, value, since, until};
}
/// Absent unless the model gives it.
constexpr AttrDef optional_attr(std::string_view name, AttrType type, int since = 1, int until = kNewest) {
  return {name, type, AttrDef::Optional, 0, 0, "", since, until};
}
constexpr AttrDef required_attr(std::string_view name, AttrType type, int since = 1, int until = kNewest) {
  return {name, type, AttrDef::Required, 0, 0, "", since, until};
}

/// What infer knows of an input: dtype, perhaps a shape, perhaps the tensor itself.
struct Known {
  bool present = false;
  DType dtype = DType::Undefined;
  Shape shape;
  const Tensor* constant = nullptr;
};

/// Shape and dtype inference of one node. infer() reads the inputs and sets every output it can; what it leaves unset
/// stays unknown. At run time it is called once more with every input's tensor as a constant.
/// Errors: InvalidModel through bad() for a model that breaks the operator's rule.
class Infer {
 public:
  struct Result {
    DType dtype = DType::Undefined;
    Shape shape;
  };
  const Node& node;

  Infer(const Node& n, std::span<const Known> inputs) : node(n), inputs_(inputs), results_(n.outputs().size()) {}

  /// How many inputs the node has (absent ones inside included, captures and epilogue operands not).
  int inputs() const { return node.own_inputs(); }
  bool has(int i) const { return i < static_cast<int>(inputs_.size()) && inputs_[static_cast<size_t>(i)].present; }
  /// Type of input i; InvalidModel if it is absent.
  DType dtype(int i) const { return get(i).dtype; }
  const Shape& shape(int i) const { return get(i).shape; }
  /// Rank of input i, or -1 if unknown.
  int rank(int i) const { return shape(i).ranked() ? shape(i).rank() : -1; }
  /// Its value where that is known already, else null.
  const Tensor* constant(int i) const { return has(i) ? inputs_[static_cast<size_t>(i)].constant : nullptr; }

  int outputs() const { return static_cast<int>(results_.size()); }
  bool wants(int i) const { return i < outputs() && node.output(i); }
  void set(int i, DType dtype, Shape shape = {});
  const std::vector<Result>& results() const { return results_; }

  /// Throws InvalidModel.
  template <class... Args>
  [[noreturn]] void bad(fmt::format_string<Args...> text, Args&&... args) const {
    fail(Code::InvalidModel, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void require(bool ok, fmt::format_string<Args...> text, Args&&... args) const {
    if (!ok) bad(text, std::forward<Args>(args)...);
  }

 private:
  const Known& get(int i) const;
  std::span<const Known> inputs_;
  std::vector<Result> results_;
};

/// Runs a subgraph of If, Loop or Scan for a reference function.
class SubgraphRunner {
 public:
  /// `inputs` are the subgraph's formal inputs, `captures` its captures, in order; returns its outputs.
  virtual std::vector<Tensor> run(const ir::Graph& graph, std::span<const Tensor> inputs,
                                  std::span<const Tensor> captures) = 0;

 protected:
  ~SubgraphRunner() = default;
};

/// One evaluation of a node. Outputs whose shape infer() could tell from the inputs' tensors are allocated; the others
/// are undefined and the reference assigns them. An output that the node does not want may be left alone.
class Eval {
 public:
  const Node& node;
  std::span<const Tensor* const> inputs;  // null: left out; captures at the end
  std::span<Tensor> outputs;
  SubgraphRunner* runner = nullptr;

  bool has(int i) const { return i < static_cast<int>(inputs.size()) && inputs[static_cast<size_t>(i)]; }
  const Tensor& in(int i) const { return *inputs[static_cast<size_t>(i)]; }
  Tensor& out(int i = 0) const { return outputs[static_cast<size_t>(i)]; }
  bool wants(int i) const { return i < static_cast<int>(outputs.size()) && node.output(i); }
};

/// One operator. Reference functions are plain loops that compute in float (double for float64, int64 for integers),
/// take every attribute and dtype the standard allows, check data that infer could not see (indices: InvalidArgument),
/// and never read outside their tensors. They are thread-safe.
struct OpDef {
  std::string_view name;
  std::string_view domain = "";
  int since = 1;        // the first opset that has it
  int until = kNewest;  // the last one, for operators that were removed
  int min_inputs = 1;
  int max_inputs = 1;  // -1: any number
  int min_outputs = 1;
  int max_outputs = 1;  // -1: any number
  std::span<const AttrDef> attrs = {};
  /// Rewrites a node of `opset` into the newest form, once, at load. Null: all forms since 7 read the same.
  void (*upgrade)(ir::Graph&, Node&, int opset) = nullptr;
  void (*infer)(Infer&) = nullptr;
  /// Operators with subgraphs: types the subgraphs' inputs and captures from the node's inputs and infers their nodes.
  /// Called by infer_node() before infer(), which reads the subgraphs' outputs; not called at run time.
  void (*infer_subgraphs)(Node&) = nullptr;
  /// Null for operators that a pass always rewrites.
  void (*reference)(Eval&) = nullptr;
  /// The result may differ from run to run (random numbers): never folded or merged.
  bool random = false;
};

/// All operators, each family's in the order of ops.def.
std::span<const OpDef* const> all_ops();
/// The operator of this name and domain ("" and "ai.onnx" are one), or null.
const OpDef* find_op(std::string_view name, std::string_view domain);

/// Makes a node as the model has it complete: finds its definition, checks the numbers of inputs and outputs and the
/// attributes' names and types, fills in defaults, upgrades it from `opset` to the newest form. Throws Unsupported for
/// an unknown operator, InvalidModel for anything the operator's schema forbids.
void bind(ir::Graph& g, Node& n, int opset);

/// A new bound and inferred node in the newest form, for passes and tests: `attrs` need not name defaults.
Node* add_op(ir::Graph& g, std::string op, std::vector<ir::Value*> inputs, ir::Attrs attrs = {}, int outputs = 1,
             Node* before = nullptr, std::string domain = "");

/// Infers one node from its values' present knowledge and writes the outputs' dtype and shape (merged with what was
/// known). A declared dtype that contradicts is InvalidModel; a declared shape that does gives way, with a warning.
void infer_node(Node& n);
/// Infers all nodes in order, subgraphs included. The types of the graph's inputs and captures are taken as they are.
void infer_graph(ir::Graph& g);

/// Evaluates a node with its reference function and epilogue. `inputs` as Node::inputs(); returns its outputs
/// (undefined where the node has none). Throws Unsupported if there is no reference.
std::vector<Tensor> evaluate(const Node& n, std::span<const Tensor* const> inputs, SubgraphRunner* runner = nullptr);
/// The same with outputs given: those that are defined have the right dtype and dims and are written to. An output may
/// still come back as another tensor (shared with an input, or of a shape that the data decided).
void evaluate_into(const Node& n, std::span<const Tensor* const> inputs, std::span<Tensor> outputs,
                   SubgraphRunner* runner = nullptr);
/// Makes `program` the node's epilogue with these operands (registers 1, 2, ...); it must have none. Absent optional
/// inputs are made explicit first, so that positions keep their meaning.
void attach_epilogue(ir::Graph& g, Node& n, std::shared_ptr<const ir::Program> program,
                     std::span<ir::Value* const> operands);

// ---- Helpers that many operators share.

/// The shape that two shapes broadcast to; unknown extents stay unknown where they must.
Shape broadcast_shapes(const Shape& a, const Shape& b);
/// Output 0 has the dtype and shape of input 0.
void infer_same(Infer& in);
/// A new constant in the node's graph, as further input `at` (resizing as needed); for upgrades.
void set_constant_input(ir::Graph& g, Node& n, int at, Tensor tensor);
/// Turns an ints attribute into a constant int64 input at `at`, if the node has it; for upgrades.
void attr_to_input(ir::Graph& g, Node& n, std::string_view attr, int at);

/// Runs f(begin, end) on ranges that cover [0, count), in parallel when count * cost (roughly nanoseconds an item) is
/// worth it.
void parallel_for(int64_t count, double cost_ns, const std::function<void(int64_t, int64_t)>& f);

}  // namespace hf::ops

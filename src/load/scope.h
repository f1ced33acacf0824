// Names: which value a name means at one place of a model.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace hipforge::onnx {
class AttributeProto;
}

namespace hf::load {

namespace pb = ::hipforge::onnx;

/// What the nodes of a model or of one function call are read with.
struct Environment {
  const std::map<std::string, int64_t>* opsets;      // by domain
  std::map<std::string, pb::AttributeProto*> attrs;  // what ref_attr_name names; only in a function
  bool in_function = false;
};

/// The names of one graph, subgraph or function call. A subgraph sees its outer scope's names, and captures what it
/// uses; a function call sees nothing outside, but its nodes go into the graph of its caller.
class Scope {
 public:
  /// `prefix` goes before the names of values and nodes, which are then unique and tell which call they came from.
  Scope(ir::Graph& graph, const Environment& env, Scope* outer, std::string prefix)
      : graph(graph), env(env), prefix(std::move(prefix)), outer_(outer) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  ir::Graph& graph;
  const Environment& env;
  const std::string prefix;

  /// Throws InvalidModel if the name is in use, here or where this scope can see.
  void expect_new(const std::string& name) const;
  /// Lets the name mean `value` (null: an input left out by the caller).
  void add(const std::string& name, ir::Value* value);
  /// A new value of this name, or the one that expect_result() set aside for it.
  ir::Value* add_result(const std::string& name);
  /// In a function call: the value that a result will be.
  void expect_result(const std::string& name, ir::Value* value) { results_.emplace(name, value); }
  /// The value of this name in this very scope, or null.
  ir::Value* find_here(const std::string& name) const;
  /// The value a name means, captured if it is an outer one; constants are not captured but shared. None if there is no
  /// such name; null for an input left out.
  std::optional<ir::Value*> find(const std::string& name);
  /// The outer scope's values that were captured, in the order of graph.captures().
  const std::vector<ir::Value*>& captured() const { return captured_; }

 private:
  Scope* outer_;
  std::unordered_map<std::string, ir::Value*> names_;
  std::unordered_map<std::string, ir::Value*> results_;
  std::vector<ir::Value*> captured_;
};

}  // namespace hf::load

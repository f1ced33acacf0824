// Scopes: definition, lookup, capture.
#include "load/scope.h"

#include "base/error.h"

namespace hf::load {

void Scope::expect_new(const std::string& name) const {
  if (name.empty()) fail(Code::InvalidModel, "a value without a name");
  if (names_.count(name)) fail(Code::InvalidModel, "value '{}' is defined twice", name);
  for (const Scope* s = outer_; s; s = s->outer_)
    if (s->names_.count(name))
      fail(Code::InvalidModel, "value '{}' of a subgraph has the name of one outside, which ONNX forbids: rename one",
           name);
}

void Scope::add(const std::string& name, ir::Value* value) {
  expect_new(name);
  names_.emplace(name, value);
}

ir::Value* Scope::add_result(const std::string& name) {
  expect_new(name);
  auto it = results_.find(name);
  ir::Value* value = it != results_.end() ? it->second : graph.add_value(prefix + name);
  names_.emplace(name, value);
  return value;
}

ir::Value* Scope::find_here(const std::string& name) const {
  auto it = names_.find(name);
  return it == names_.end() ? nullptr : it->second;
}

std::optional<ir::Value*> Scope::find(const std::string& name) {
  if (auto it = names_.find(name); it != names_.end()) return it->second;
  std::optional<ir::Value*> outside = outer_ ? outer_->find(name) : std::nullopt;
  if (!outside) return std::nullopt;
  ir::Value* inside = nullptr;
  if (ir::Value* v = *outside; v && v->is_constant()) {
    inside = graph.add_constant(v->name, v->constant);
  } else if (v) {
    inside = graph.add_capture(v->name, v->dtype, v->shape);
    inside->kind = v->kind;
    captured_.push_back(v);
  }
  names_.emplace(name, inside);
  return inside;
}

}  // namespace hf::load

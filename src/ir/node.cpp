// Node and Value: attribute reading and short texts.
#include <array>

#include "base/error.h"
#include "ir/graph.h"

namespace hf::ir {
namespace {

template <class T>
const T& get_attr(const Node& n, std::string_view key) {
  auto it = n.attrs.find(key);
  if (it == n.attrs.end())
    fail(Code::Internal, "node {}: attribute '{}' is read but neither set nor defaulted", n.text(), key);
  const T* v = std::get_if<T>(&it->second);
  if (!v) fail(Code::Internal, "node {}: attribute '{}' is read as another type than it has", n.text(), key);
  return *v;
}

}  // namespace

std::string_view name(AttrType t) {
  constexpr std::array<std::string_view, 9> names = {"undefined", "float",  "int",  "string", "tensor",
                                                     "graph",     "floats", "ints", "strings"};
  return names[static_cast<size_t>(t)];
}

int64_t Node::i(std::string_view a) const { return get_attr<int64_t>(*this, a); }
float Node::f(std::string_view a) const { return get_attr<float>(*this, a); }
const std::string& Node::s(std::string_view a) const { return get_attr<std::string>(*this, a); }
const Tensor& Node::tensor(std::string_view a) const { return get_attr<Tensor>(*this, a); }
Graph& Node::subgraph(std::string_view a) const { return *get_attr<std::shared_ptr<Graph>>(*this, a); }
const std::vector<int64_t>& Node::ints(std::string_view a) const { return get_attr<std::vector<int64_t>>(*this, a); }
const std::vector<float>& Node::floats(std::string_view a) const { return get_attr<std::vector<float>>(*this, a); }
const std::vector<std::string>& Node::strings(std::string_view a) const {
  return get_attr<std::vector<std::string>>(*this, a);
}
std::vector<int64_t> Node::ints_or_empty(std::string_view a) const { return has(a) ? ints(a) : std::vector<int64_t>{}; }

std::vector<std::shared_ptr<Graph>> Node::subgraphs() const {
  std::vector<std::shared_ptr<Graph>> all;
  for (const auto& [key, attr] : attrs)
    if (const auto* g = std::get_if<std::shared_ptr<Graph>>(&attr)) all.push_back(*g);
  return all;
}

std::string Node::text() const {
  return domain.empty() ? fmt::format("'{}' ({})", name, op) : fmt::format("'{}' ({}.{})", name, domain, op);
}

std::string Value::type_text() const { return fmt::format("{} {}", hf::name(dtype), shape.text()); }

std::string Program::text() const {
  std::string out;
  for (const Step& s : steps) {
    if (!out.empty()) out += "; ";
    out += s.op + "(";
    for (size_t i = 0; i < s.args.size(); ++i) out += fmt::format("{}{}", i ? ", " : "", s.args[i]);
    for (float a : s.attrs) out += fmt::format(", {:g}", a);
    out += ")";
  }
  return out;
}

}  // namespace hf::ir

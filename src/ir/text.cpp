// The textual form of a graph.
#include "base/convert.h"
#include "ir/graph.h"

namespace hf::ir {
namespace {

std::string number_text(const Tensor& t) {
  if (t.size() > 8 || t.dtype() == DType::String || t.dtype() == DType::C64 || t.dtype() == DType::C128) return "...";
  std::string s;
  ReadAs<double> r(t);
  for (int64_t i = 0; i < t.size(); ++i) s += fmt::format("{}{:g}", i ? ", " : "", r[i]);
  return s;
}

struct AttrText {
  std::string operator()(float v) { return fmt::format("{:g}", v); }
  std::string operator()(int64_t v) { return std::to_string(v); }
  std::string operator()(const std::string& v) { return "\"" + v + "\""; }
  std::string operator()(const Tensor& v) { return fmt::format("{} {{{}}}", v.text(), number_text(v)); }
  std::string operator()(const std::shared_ptr<Graph>& v) { return fmt::format("graph '{}'", v->name); }
  template <class T>
  std::string operator()(const std::vector<T>& v) {
    std::string s = "[";
    for (size_t i = 0; i < v.size(); ++i) s += (i ? ", " : "") + (*this)(v[i]);
    return s + "]";
  }
};

void print(const Graph& g, int depth, std::string& out) {
  const std::string pad(static_cast<size_t>(depth) * 2, ' ');
  auto values = [](const std::vector<Value*>& vs, bool types) {
    std::string s;
    for (size_t i = 0; i < vs.size(); ++i) {
      if (i) s += ", ";
      s += vs[i] ? "%" + vs[i]->name : "_";
      if (vs[i] && types) s += ": " + vs[i]->type_text();
    }
    return s;
  };
  out += fmt::format("{}graph '{}' ({}) captures ({})\n", pad, g.name, values(g.inputs(), true),
                     values(g.captures(), true));
  for (const auto& v : g.values())
    if (v->is_constant())
      out += fmt::format("{}  %{}: {} = {{{}}}\n", pad, v->name, v->type_text(), number_text(v->constant));
  for (const Node* n = g.first(); n; n = n->next()) {
    out += fmt::format("{}  {} = {}{}{}({})", pad, values(n->outputs(), true), n->domain, n->domain.empty() ? "" : ".",
                       n->op, values(n->inputs(), false));
    std::string attrs;
    for (const auto& [key, attr] : n->attrs)
      attrs += (attrs.empty() ? "" : ", ") + key + " = " + std::visit(AttrText{}, attr);
    if (!attrs.empty()) out += " {" + attrs + "}";
    if (n->epilogue) out += fmt::format(" epilogue[{}] {{{}}}", n->epilogue_inputs, n->epilogue->text());
    out += fmt::format("  # '{}'\n", n->name);
    for (const auto& sub : n->subgraphs()) print(*sub, depth + 2, out);
  }
  out += fmt::format("{}  return ({})\n", pad, values(g.outputs(), false));
}

}  // namespace

std::string to_text(const Graph& g) {
  std::string out;
  print(g, 0, out);
  return out;
}

}  // namespace hf::ir

// Functions, imports, and the search for unknown operators.
#include "load/functions.h"

#include <onnx.pb.h>

#include <set>
#include <vector>

#include "base/error.h"
#include "load/limits.h"
#include "ops/op.h"

namespace hf::load {

std::string canonical(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

template <class Proto>
Opsets read_opsets(const Proto& proto) {
  Opsets opsets;
  for (const auto& import : proto.opset_import()) {
    std::string domain = canonical(import.domain());
    int64_t version = import.version();
    if (domain.empty() && version > kLimits.newest_opset)
      fail(Code::Unsupported, "opset {} is newer than {}, the newest known: convert the model to an older opset",
           version, kLimits.newest_opset);
    if (version < 1 || version > INT32_MAX)
      fail(Code::InvalidModel, "version {} of domain '{}' is not a version", version, domain);
    auto [it, fresh] = opsets.emplace(domain, version);
    if (!fresh && it->second != version)
      fail(Code::InvalidModel, "domain '{}' is imported in versions {} and {}", domain, it->second, version);
  }
  return opsets;
}
template Opsets read_opsets(const pb::ModelProto&);
template Opsets read_opsets(const pb::FunctionProto&);

int opset_of(const Opsets& opsets, const std::string& domain) {
  if (domain == "com.microsoft") return 1;
  auto it = opsets.find(domain);
  if (it == opsets.end())
    fail(Code::InvalidModel, "domain '{}' is used but not imported", domain.empty() ? "ai.onnx" : domain);
  return static_cast<int>(it->second);
}

Functions::Functions(pb::ModelProto& model) {
  for (auto& f : *model.mutable_functions()) {
    auto where = context([&] { return fmt::format("function '{}'", f.name()); });
    auto [it, fresh] = by_name_.try_emplace({canonical(f.domain()), f.name(), f.overload()});
    if (!fresh) fail(Code::InvalidModel, "it is defined twice");
    it->second.proto = &f;
    it->second.opsets = read_opsets(f);
  }
}

Function* Functions::find(const pb::NodeProto& node) {
  if (by_name_.empty()) return nullptr;
  auto it = by_name_.find({canonical(node.domain()), node.op_type(), node.overload()});
  return it == by_name_.end() ? nullptr : &it->second;
}

namespace {

// Walks all nodes that can be reached and notes the unknown operators with the nodes that have them.
class Search {
 public:
  explicit Search(Functions& functions) : functions_(functions) {}

  template <class Nodes>
  void walk(const Nodes& nodes, int depth) {
    if (depth > kLimits.depth) fail(Code::Unsupported, "subgraphs are more than {} deep", kLimits.depth);
    for (int i = 0; i < nodes.size(); ++i) {
      const pb::NodeProto& node = nodes[i];
      if (const Function* f = functions_.find(node)) {
        if (seen_.insert(f).second) waiting_.push_back(f);
      } else if (!ops::find_op(node.op_type(), node.domain())) {
        note(node, i);
      }
      for (const auto& attr : node.attribute())
        if (attr.has_g()) walk(attr.g().node(), depth + 1);
    }
  }

  void walk_functions() {
    while (!waiting_.empty()) {
      const Function* f = waiting_.back();
      waiting_.pop_back();
      walk(f->proto->node(), 0);
    }
  }

  void report() const {
    if (unknown_.empty()) return;
    std::string list;
    size_t shown = 0;
    for (const auto& [op, where] : unknown_) {
      if (++shown > 50) break;
      list += fmt::format("{}{} ({}{})", list.empty() ? "" : ", ", op, where.first,
                          where.count > 1 ? fmt::format(" and {} more", where.count - 1) : "");
    }
    if (unknown_.size() > 50) list += fmt::format(" and {} more", unknown_.size() - 50);
    fail(Code::Unsupported, "{} not known to hipforge: {}", unknown_.size() == 1 ? "an operator is" : "operators are",
         list);
  }

 private:
  struct Place {
    std::string first;
    int64_t count = 0;
  };

  void note(const pb::NodeProto& node, int index) {
    std::string domain = canonical(node.domain());
    Place& place = unknown_[domain.empty() ? node.op_type() : domain + "." + node.op_type()];
    if (place.count++ == 0) place.first = fmt::format("node {} '{}'", index, node.name());
  }

  Functions& functions_;
  std::set<const Function*> seen_;
  std::vector<const Function*> waiting_;
  std::map<std::string, Place> unknown_;
};

}  // namespace

void expect_known_operators(const pb::ModelProto& model, Functions& functions) {
  Search search(functions);
  search.walk(model.graph().node(), 0);
  search.walk_functions();
  search.report();
}

}  // namespace hf::load

// AttributeProto to Attr.
#include "load/attributes.h"

#include <onnx.pb.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace hf::load {
namespace {

struct Kind {
  AttrKind kind;
  std::string_view name;
  bool (*is_set)(const pb::AttributeProto&);
};

constexpr std::array<Kind, 14> kKinds = {{
    {AttrKind::Float, "float", [](const pb::AttributeProto& a) { return a.has_f(); }},
    {AttrKind::Int, "int", [](const pb::AttributeProto& a) { return a.has_i(); }},
    {AttrKind::String, "string", [](const pb::AttributeProto& a) { return a.has_s(); }},
    {AttrKind::Tensor, "tensor", [](const pb::AttributeProto& a) { return a.has_t(); }},
    {AttrKind::Graph, "graph", [](const pb::AttributeProto& a) { return a.has_g(); }},
    {AttrKind::Floats, "floats", [](const pb::AttributeProto& a) { return a.floats_size() > 0; }},
    {AttrKind::Ints, "ints", [](const pb::AttributeProto& a) { return a.ints_size() > 0; }},
    {AttrKind::Strings, "strings", [](const pb::AttributeProto& a) { return a.strings_size() > 0; }},
    {AttrKind::Tensors, "tensors", [](const pb::AttributeProto& a) { return a.tensors_size() > 0; }},
    {AttrKind::Graphs, "graphs", [](const pb::AttributeProto& a) { return a.graphs_size() > 0; }},
    {AttrKind::SparseTensor, "sparse_tensor", [](const pb::AttributeProto& a) { return a.has_sparse_tensor(); }},
    {AttrKind::SparseTensors, "sparse_tensors",
     [](const pb::AttributeProto& a) { return a.sparse_tensors_size() > 0; }},
    {AttrKind::Type, "type_proto", [](const pb::AttributeProto& a) { return a.has_tp(); }},
    {AttrKind::Types, "type_protos", [](const pb::AttributeProto& a) { return a.type_protos_size() > 0; }},
}};

bool must_be_set(AttrKind kind) {
  return kind == AttrKind::Tensor || kind == AttrKind::Graph || kind == AttrKind::SparseTensor ||
         kind == AttrKind::Type;
}

}  // namespace

std::string_view name(AttrKind kind) { return kKinds[static_cast<size_t>(kind) - 1].name; }

AttrKind kind_of(const pb::AttributeProto& attr) {
  const Kind* set = nullptr;
  for (const Kind& k : kKinds) {
    if (!k.is_set(attr)) continue;
    if (set) fail(Code::InvalidModel, "it holds values of types {} and {}", set->name, k.name);
    set = &k;
  }
  if (attr.type() == 0 && !set) fail(Code::InvalidModel, "it has neither a type nor a value");
  if (attr.type() == 0) return set->kind;
  if (attr.type() < 0 || attr.type() > static_cast<int>(kKinds.size()))
    fail(Code::InvalidModel, "attribute type {} is not known", attr.type());
  const Kind& declared = kKinds[static_cast<size_t>(attr.type()) - 1];
  if (set && set != &declared) fail(Code::InvalidModel, "it is declared {} but holds {}", declared.name, set->name);
  if (!set && must_be_set(declared.kind)) fail(Code::InvalidModel, "it has no value of type {}", declared.name);
  return declared.kind;
}

ir::Attr to_plain_attr(const pb::AttributeProto& attr, AttrKind kind) {
  switch (kind) {
    case AttrKind::Float: return attr.f();
    case AttrKind::Int: return int64_t{attr.i()};
    case AttrKind::String: return attr.s();
    case AttrKind::Floats: return std::vector<float>(attr.floats().begin(), attr.floats().end());
    case AttrKind::Ints: return std::vector<int64_t>(attr.ints().begin(), attr.ints().end());
    case AttrKind::Strings: return std::vector<std::string>(attr.strings().begin(), attr.strings().end());
    default: fail(Code::Unsupported, "an attribute of type {}", name(kind));
  }
}

}  // namespace hf::load

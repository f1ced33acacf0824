// Graph: edits that keep uses, producers and order consistent.
#include "ir/graph.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"

namespace hf::ir {

std::string Graph::unique_name(std::string name) {
  if (name.empty()) name = "v";
  if (names_.find(name) == names_.end()) return name;
  std::string candidate;
  do candidate = fmt::format("{}_{}", name, ++fresh_);
  while (names_.find(candidate) != names_.end());
  return candidate;
}

Value* Graph::add_value(std::string value_name, DType dtype, Shape shape) {
  auto v = std::make_unique<Value>();
  v->name = unique_name(std::move(value_name));
  v->dtype = dtype;
  v->shape = std::move(shape);
  names_[v->name] = v.get();
  values_.push_back(std::move(v));
  return values_.back().get();
}

Value* Graph::add_constant(std::string value_name, Tensor tensor) {
  Value* v = add_value(std::move(value_name), tensor.dtype(), tensor.dims());
  v->constant = std::move(tensor);
  return v;
}

Value* Graph::add_input(std::string value_name, DType dtype, Shape shape) {
  Value* v = add_value(std::move(value_name), dtype, std::move(shape));
  v->graph_input_ = true;
  inputs_.push_back(v);
  return v;
}

Value* Graph::add_capture(std::string value_name, DType dtype, Shape shape) {
  Value* v = add_value(std::move(value_name), dtype, std::move(shape));
  v->graph_input_ = true;
  captures_.push_back(v);
  return v;
}

void Graph::remove_capture(int k) {
  captures_[static_cast<size_t>(k)]->graph_input_ = false;
  captures_.erase(captures_.begin() + k);
}

void Graph::add_output(Value* v) {
  outputs_.push_back(v);
  ++v->graph_outputs_;
}

void Graph::set_output(int i, Value* v) {
  --outputs_[static_cast<size_t>(i)]->graph_outputs_;
  outputs_[static_cast<size_t>(i)] = v;
  ++v->graph_outputs_;
}

Value* Graph::find_value(std::string_view value_name) const {
  auto it = names_.find(value_name);
  return it == names_.end() ? nullptr : it->second;
}

void Graph::add_use(Value* v, Node* n, int i) {
  if (v) v->uses_.push_back({n, i});
}

void Graph::drop_use(Value* v, Node* n, int i) {
  if (!v) return;
  auto it = std::find_if(v->uses_.begin(), v->uses_.end(), [&](const Use& u) { return u.node == n && u.index == i; });
  check(it != v->uses_.end(), "a use is known to its value");
  v->uses_.erase(it);
}

void Graph::link(Node* n, Node* before) {
  Node* prev = before ? before->prev_ : last_;
  n->prev_ = prev;
  n->next_ = before;
  (prev ? prev->next_ : first_) = n;
  (before ? before->prev_ : last_) = n;
  ++node_count_;
}

void Graph::unlink(Node* n) {
  (n->prev_ ? n->prev_->next_ : first_) = n->next_;
  (n->next_ ? n->next_->prev_ : last_) = n->prev_;
  n->prev_ = n->next_ = nullptr;
  --node_count_;
}

Node* Graph::add_node(std::string op, std::vector<Value*> inputs, int outputs, Node* before, std::string domain) {
  std::vector<Value*> made;
  for (int i = 0; i < outputs; ++i) made.push_back(add_value(op));
  return add_node_with(std::move(op), std::move(inputs), std::move(made), before, std::move(domain));
}

Node* Graph::add_node_with(std::string op, std::vector<Value*> inputs, std::vector<Value*> outputs, Node* before,
                           std::string domain) {
  auto owned = std::make_unique<Node>();
  Node* n = owned.get();
  nodes_.push_back(std::move(owned));
  n->op = std::move(op);
  n->domain = std::move(domain);
  n->graph_ = this;
  n->inputs_ = std::move(inputs);
  n->outputs_ = std::move(outputs);
  for (size_t i = 0; i < n->inputs_.size(); ++i) add_use(n->inputs_[i], n, static_cast<int>(i));
  for (size_t i = 0; i < n->outputs_.size(); ++i) {
    Value* v = n->outputs_[i];
    if (!v) continue;
    check(!v->producer_ && !v->graph_input_, "an output has no other producer");
    v->producer_ = n;
    v->producer_index_ = static_cast<int>(i);
  }
  link(n, before);
  return n;
}

Node* Graph::add_copy(const Node& n, std::vector<Value*> inputs, std::vector<Value*> outputs) {
  Node* c = add_node_with(n.op, std::move(inputs), std::move(outputs), nullptr, n.domain);
  c->name = n.name;
  c->def = n.def;
  c->epilogue = n.epilogue;
  c->epilogue_inputs = n.epilogue_inputs;
  c->captures = n.captures;
  c->origins = n.origins;
  c->attrs = n.attrs;
  for (auto& [key, attr] : c->attrs)
    if (auto* g = std::get_if<std::shared_ptr<Graph>>(&attr)) *g = (*g)->clone();
  return c;
}

void Graph::set_input(Node* n, int i, Value* v) {
  drop_use(n->inputs_[static_cast<size_t>(i)], n, i);
  n->inputs_[static_cast<size_t>(i)] = v;
  add_use(v, n, i);
}

void Graph::insert_input(Node* n, int at, Value* v) {
  for (int i = at; i < static_cast<int>(n->inputs_.size()); ++i) drop_use(n->inputs_[static_cast<size_t>(i)], n, i);
  n->inputs_.insert(n->inputs_.begin() + at, v);
  for (int i = at; i < static_cast<int>(n->inputs_.size()); ++i) add_use(n->inputs_[static_cast<size_t>(i)], n, i);
}

void Graph::remove_input(Node* n, int i) {
  for (int k = i; k < static_cast<int>(n->inputs_.size()); ++k) drop_use(n->inputs_[static_cast<size_t>(k)], n, k);
  n->inputs_.erase(n->inputs_.begin() + i);
  for (int k = i; k < static_cast<int>(n->inputs_.size()); ++k) add_use(n->inputs_[static_cast<size_t>(k)], n, k);
}

void Graph::resize_inputs(Node* n, int count) {
  for (int k = count; k < static_cast<int>(n->inputs_.size()); ++k) drop_use(n->inputs_[static_cast<size_t>(k)], n, k);
  n->inputs_.resize(static_cast<size_t>(count), nullptr);
}

Value* Graph::add_node_output(Node* n, std::string value_name) {
  Value* v = add_value(value_name.empty() ? n->op : std::move(value_name));
  v->producer_ = n;
  v->producer_index_ = static_cast<int>(n->outputs_.size());
  n->outputs_.push_back(v);
  return v;
}

void Graph::replace_uses(Value* from, Value* to) {
  if (from == to) return;
  for (const Use& u : from->uses_) {
    u.node->inputs_[static_cast<size_t>(u.index)] = to;
    to->uses_.push_back(u);
  }
  from->uses_.clear();
  for (Value*& v : outputs_) {
    if (v != from) continue;
    v = to;
    ++to->graph_outputs_;
  }
  from->graph_outputs_ = 0;
}

void Graph::move_output(Node* from, int i, Node* to, int j) {
  Value* v = from->outputs_[static_cast<size_t>(i)];
  Value* old = to->outputs_[static_cast<size_t>(j)];
  from->outputs_[static_cast<size_t>(i)] = nullptr;
  if (old) old->producer_ = nullptr;
  to->outputs_[static_cast<size_t>(j)] = v;
  v->producer_ = to;
  v->producer_index_ = j;
}

void Graph::erase(Node* n) {
  if (n->erased_) return;
  for (Value* v : n->outputs_)
    if (v) check(v->unused(), "an erased node's outputs are unused");
  for (size_t i = 0; i < n->inputs_.size(); ++i) drop_use(n->inputs_[i], n, static_cast<int>(i));
  n->inputs_.clear();
  for (Value* v : n->outputs_)
    if (v) v->producer_ = nullptr;
  n->outputs_.clear();
  unlink(n);
  n->erased_ = true;
}

void Graph::move_before(Node* n, Node* before) {
  if (n == before || n->next_ == before) return;
  unlink(n);
  link(n, before);
}

void Graph::sweep() {
  std::erase_if(nodes_, [](const auto& n) { return n->erased_; });
  std::erase_if(values_, [&](const auto& v) {
    bool gone = v->unused() && !v->producer_ && !v->graph_input_;
    if (gone) names_.erase(v->name);
    return gone;
  });
}

std::vector<Node*> Graph::nodes() const {
  std::vector<Node*> all;
  all.reserve(static_cast<size_t>(node_count_));
  for (Node* n = first_; n; n = n->next_) all.push_back(n);
  return all;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  copy->name = name;
  copy->fresh_ = fresh_;
  std::unordered_map<const Value*, Value*> to;
  for (const auto& v : values_) {
    Value* c = copy->add_value(v->name, v->dtype, v->shape);
    c->kind = v->kind;
    c->constant = v->constant;
    c->default_value = v->default_value;
    c->graph_input_ = v->graph_input_;
    to[v.get()] = c;
  }
  auto map = [&](const std::vector<Value*>& vs) {
    std::vector<Value*> out;
    for (Value* v : vs) out.push_back(v ? to.at(v) : nullptr);
    return out;
  };
  copy->inputs_ = map(inputs_);
  copy->captures_ = map(captures_);
  for (Value* v : map(outputs_)) copy->add_output(v);
  for (Node* n = first_; n; n = n->next_) copy->add_copy(*n, map(n->inputs_), map(n->outputs_));
  return copy;
}

void Graph::sort() {
  // Kahn's algorithm; among ready nodes the earlier one first, so that a sorted list stays as it is.
  std::vector<Node*> order = nodes();
  std::unordered_map<Node*, int> position, waiting;
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<int>(i);
  auto later = [&](Node* a, Node* b) { return position[a] > position[b]; };
  std::vector<Node*> ready;
  for (Node* n : order) {
    int count = 0;
    for (Value* v : n->inputs_) count += v && v->producer_;
    waiting[n] = count;
    if (!count) ready.push_back(n);
  }
  std::make_heap(ready.begin(), ready.end(), later);
  int done = 0;
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    Node* n = ready.back();
    ready.pop_back();
    unlink(n);
    link(n, nullptr);
    ++done;
    for (Value* v : n->outputs_) {
      if (!v) continue;
      for (const Use& u : v->uses_)
        if (--waiting[u.node] == 0) {
          ready.push_back(u.node);
          std::push_heap(ready.begin(), ready.end(), later);
        }
    }
  }
  if (done == static_cast<int>(order.size())) return;
  for (Node* n : order)
    if (waiting[n] > 0) fail(Code::InvalidModel, "node {} is on a cycle", n->text());
}

}  // namespace hf::ir

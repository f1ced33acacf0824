// Bodies of control flow: typing, repeated inference, stacking.
#include "ops/body.h"

#include "ops/movement.h"

namespace hf::ops {
namespace {

bool equal(const Dim& a, const Dim& b) { return a.value == b.value && a.symbol == b.symbol; }

bool equal(const Shape& a, const Shape& b) {
  if (a.ranked() != b.ranked() || a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i)
    if (!equal(a[i], b[i])) return false;
  return true;
}

// The shapes of all values of a graph and of those inside it, to go back to.
class Shapes {
 public:
  explicit Shapes(const ir::Graph& g) { add(g); }
  void restore() const {
    for (const auto& [value, shape] : saved_) value->shape = shape;
  }

 private:
  void add(const ir::Graph& g) {
    for (const auto& v : g.values()) saved_.emplace_back(v.get(), v->shape);
    for (const Node* n = g.first(); n; n = n->next())
      for (const auto& sub : n->subgraphs()) add(*sub);
  }
  std::vector<std::pair<ir::Value*, Shape>> saved_;
};

// Each level of loops may infer its body several times; levels below kDeep give up precision instead, so that the work
// stays linear in the size of the model.
thread_local int depth = 0;
constexpr int kDeep = 3;
constexpr int kTries = 3;
struct Level {
  Level() { ++depth; }
  ~Level() { --depth; }
};

}  // namespace

bool try_infer(ir::Graph& g) {
  try {
    infer_graph(g);
    return true;
  } catch (const Error& e) {
    if (e.code() != Code::InvalidModel) throw;
    return false;
  }
}

void set_type(ir::Value* v, DType dtype, const Shape& shape) {
  if (dtype != DType::Undefined) v->dtype = dtype;
  if (shape.ranked()) v->shape = shape;
}

void type_captures(Node& n) {
  int at = static_cast<int>(n.inputs().size()) - n.captures;
  for (const auto& g : n.subgraphs())
    for (ir::Value* inside : g->captures())
      if (const ir::Value* outside = n.input(at++)) set_type(inside, outside->dtype, outside->shape);
}

std::vector<Tensor> captured(const Eval& e, std::string_view attr) {
  size_t at = e.inputs.size() - static_cast<size_t>(e.node.captures);
  std::vector<Tensor> out;
  const ir::Graph* wanted = &e.node.subgraph(attr);
  for (const auto& g : e.node.subgraphs()) {
    if (g.get() == wanted)
      for (size_t i = 0; i < g->captures().size(); ++i) {
        check(at + i < e.inputs.size() && e.inputs[at + i], "a captured value is there");
        out.push_back(*e.inputs[at + i]);
      }
    at += g->captures().size();
  }
  return out;
}

Shape either(const Shape& a, const Shape& b) {
  if (!a.ranked() || !b.ranked() || a.rank() != b.rank()) return {};
  Shape out = a;
  for (int i = 0; i < a.rank(); ++i)
    if (!a[i].same(b[i])) out[i] = Dim();
  return out;
}

void infer_body(ir::Graph& body, int first_in, int first_out, int count) {
  const Level level;
  const Shapes before(body);
  auto carried = [&](int i) { return body.inputs()[static_cast<size_t>(first_in + i)]; };
  for (int attempt = depth > kDeep ? kTries : 0; attempt < kTries; ++attempt) {
    const bool inferred = try_infer(body);  // perhaps not because a carried shape was taken to be constant
    std::vector<Shape> looser;
    bool same = inferred;
    for (int i = 0; i < count && inferred; ++i) {
      looser.push_back(either(carried(i)->shape, body.outputs()[static_cast<size_t>(first_out + i)]->shape));
      same &= equal(looser.back(), carried(i)->shape);
    }
    if (same) return;
    before.restore();
    if (!inferred) break;
    for (int i = 0; i < count; ++i) carried(i)->shape = looser[static_cast<size_t>(i)];
  }
  for (int i = 0; i < count; ++i) carried(i)->shape = Shape();
  infer_graph(body);
}

Tensor blank(const ir::Value& like) {
  Dims dims;
  for (const Dim& d : like.shape.dims()) dims.push_back(d.known() ? d.value : 0);
  if (like.dtype == DType::Undefined) fail(Code::InvalidModel, "the type of '{}' is not known", like.name);
  Tensor t(like.dtype, dims);
  fill(t);
  return t;
}

Tensor stack(const std::vector<Tensor>& runs, int64_t axis, bool reversed, const ir::Value& like) {
  const Tensor first = runs.empty() ? blank(like) : runs[0];
  const Dims dims = first.dims();
  const int at = normalize_axis(axis, dims.rank() + 1);
  const auto count = static_cast<int64_t>(runs.size());
  Dims all = dims;
  all.insert(at, count);
  Tensor out(first.dtype(), all);
  Dims to = all.strides();
  const int64_t step = to[at];
  to.erase(at);
  for (int64_t i = 0; i < count; ++i) {
    const Tensor& run = runs[static_cast<size_t>(i)];
    if (run.dtype() != out.dtype() || run.dims() != dims)
      fail(Code::InvalidArgument, "result {} of a body is {}, the first was {}", i, run.text(), first.text());
    copy_strided(run, 0, out, (reversed ? count - 1 - i : i) * step, copy_axes(dims, dims.strides(), to));
  }
  return out;
}

void Collected::add(size_t i, Tensor result) {
  constexpr int64_t kEach = 128;  // of a tensor, however small
  const bool strings = result.dtype() == DType::String;
  const int64_t element = static_cast<int64_t>(sizeof(std::string));
  bytes_ += kEach + (strings ? result.size() * element : result.size_bytes());
  if (bytes_ > tensor_limit() || (bytes_ >= look_again_at_ && !may_allocate(bytes_)))
    fail(Code::OutOfMemory, "the results of {} runs of a body, {} bytes, could not be kept", runs_[i].size() + 1,
         bytes_);
  if (bytes_ >= look_again_at_) look_again_at_ = bytes_ + bytes_ / 8;
  runs_[i].push_back(std::move(result));
}

Tensor part_at(const Tensor& t, int axis, int64_t index) {
  Dims dims = t.dims(), from = t.dims().strides();
  const int64_t at = index * from[axis];
  dims.erase(axis);
  from.erase(axis);
  Tensor out(t.dtype(), dims);
  copy_strided(t, at, out, 0, copy_axes(dims, from, dims.strides()));
  return out;
}

}  // namespace hf::ops

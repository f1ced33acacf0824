// softmax(scale * Q K^T + mask) V, as exporters spell it, becomes one node that reads its operands where they lie.
#include <algorithm>
#include <cmath>

#include "ops/strided_attention.h"
#include "passes/view.h"

namespace hf::passes {
namespace {

using ir::Node;
using ir::Value;
using ops::StridedAttention;

constexpr int64_t kMostHeadSize = 256;  // of kernel/attention.h: larger heads stay products

// What one attention is made of, found from its last product backwards.
struct Found {
  Node* last = nullptr;                            // the product with V, or the Transpose after it
  Value *q = nullptr, *k = nullptr, *v = nullptr;  // k as the product has it: turned
  Value* mask = nullptr;
  double scale = 1;
};

bool is_plain(const Node* n, std::string_view op) { return n && n->is(op) && !n->epilogue; }

// The node that makes v, if it is a plain `op` whose result nobody else wants.
Node* inner(const Value* v, std::string_view op) {
  Node* n = v ? v->producer() : nullptr;
  return is_plain(n, op) && v->only_user() ? n : nullptr;
}

// The scores from the product on: Mul or Div by a number.
Node* product_under(Value* v, double& scale) {
  for (;;) {
    if (Node* product = inner(v, "MatMul")) return product;
    Node* n = inner(v, "Mul");
    if (!n) n = inner(v, "Div");
    if (!n) return nullptr;
    if (auto c = scalar_of(n->input(1))) {
      if (n->is("Div") && *c == 0) return nullptr;
      scale = n->is("Div") ? scale / *c : scale * *c;
      v = n->input(0);
    } else if (auto d = scalar_of(n->input(0)); d && n->is("Mul")) {
      scale *= *d;
      v = n->input(1);
    } else {
      return nullptr;
    }
  }
}

// A new export guards the softmax: where it is NaN, zero.
Value* unguarded(Value* v) {
  Node* where = inner(v, "Where");
  if (!where || scalar_of(where->input(1)) != 0.0) return v;
  const Node* nan = inner(where->input(0), "IsNaN");
  return nan && nan->input(0) == where->input(2) ? where->input(2) : v;
}

std::optional<Found> found_at(Node* product) {
  if (!is_plain(product, "MatMul")) return std::nullopt;
  Value* weights = unguarded(product->input(0));
  Node* softmax = weights->producer();
  int64_t rank = weights->shape.ranked() ? weights->shape.rank() : 0;
  // With the guard both Where and IsNaN use the softmax.
  if (!is_plain(softmax, "Softmax") || weights->graph_outputs() ||
      weights->uses().size() != (weights == product->input(0) ? 1u : 2u) ||
      (softmax->i("axis") != -1 && softmax->i("axis") != rank - 1))
    return std::nullopt;
  Found f{.last = product, .v = product->input(1)};
  Value* scores = softmax->input(0);
  Node* scaled = nullptr;
  if (Node* add = inner(scores, "Add")) {
    for (int i = 0; i < 2 && !scaled; ++i) {
      f.scale = 1;
      scaled = product_under(add->input(i), f.scale);
      f.mask = add->input(1 - i);
    }
  } else {
    scaled = product_under(scores, f.scale);
  }
  if (!scaled) return std::nullopt;
  f.q = scaled->input(0), f.k = scaled->input(1);
  return f;
}

// Rows of a view [batch, heads, rows, size]; none if the elements of a row are not neighbours.
std::optional<StridedAttention::Rows> rows_of(const View& v) {
  if (v.strides[3] != 1 && v.dims[3] != 1) return std::nullopt;
  auto stride = [&](int axis) { return v.dims[axis] == 1 ? 0 : v.strides[axis]; };
  for (int axis = 0; axis < 3; ++axis)
    if (stride(axis) < 0) return std::nullopt;
  return StridedAttention::Rows{v.offset, stride(0), stride(1), stride(2)};
}

// The view as [batch, heads, rows, size]; the extents of a rank of 3 are [heads, rows, size].
std::optional<View> heads_of(Value* v, bool scaled) {
  if (!v->shape.is_static() || v->shape.rank() < 3 || v->shape.rank() > 4) return std::nullopt;
  return with_rank(view_of(v, scaled), 4);
}

// The mask's rows, repeated over the axes that it has not.
std::optional<StridedAttention::Rows> mask_rows(Value* mask, const StridedAttention& a, Value*& base) {
  if (!mask->shape.is_static() || mask->shape.rank() > 4) return std::nullopt;
  if (mask->dtype != DType::F32 && mask->dtype != DType::F16 && mask->dtype != DType::BF16) return std::nullopt;
  View v = with_rank(view_of(mask, false), 4);
  const int64_t wanted[] = {a.batch, a.heads, a.queries, a.keys};
  for (int i = 0; i < 4; ++i)
    if (v.dims[i] != wanted[i] && (i == 3 || v.dims[i] != 1)) return std::nullopt;
  base = v.base;
  auto rows = rows_of(v);
  return rows && rows->offset == 0 ? rows : std::nullopt;
}

// Where rows in the order [queries, batch] go through a matrix product of rows and then to the order [batch, queries]
// (torch's MultiheadAttention with the batch first): the last Transpose of that, with the Reshape before it.
struct Reordered {
  Node *reshape = nullptr, *transpose = nullptr;
};
std::optional<Reordered> reordered_later(const Node* transpose, int64_t queries, int64_t batch) {
  const Node* flat = transpose->output()->only_user();
  if (!is_plain(flat, "Reshape") || !flat->output()->shape.is_static() || flat->output()->shape.rank() != 2)
    return std::nullopt;
  const Node* gemm = flat->output()->only_user();
  if (!is_plain(gemm, "Gemm") || gemm->input(0) != flat->output() || gemm->i("transA")) return std::nullopt;
  if (const Value* c = gemm->input(2); c && (!c->shape.is_static() || c->shape.get().count() != c->shape.get().back()))
    return std::nullopt;
  if (flat->output()->shape.get()[0] != queries * batch) return std::nullopt;
  Node* reshape = gemm->output()->only_user();
  if (!is_plain(reshape, "Reshape") || !reshape->output()->shape.is_static()) return std::nullopt;
  Dims d = reshape->output()->shape.get();
  Node* last = reshape->output()->only_user();
  if (d.rank() != 3 || d[0] != queries || d[1] != batch || !is_plain(last, "Transpose")) return std::nullopt;
  if (last->ints_or_empty("perm") != std::vector<int64_t>{1, 0, 2}) return std::nullopt;
  return Reordered{reshape, last};
}

// The place of the result: [batch, heads, queries, size], or the order that a Transpose which follows makes of it; that
// node then is what is replaced.
void place_output(ir::Graph& g, Found& f, StridedAttention& a) {
  std::vector<int64_t> dims = {a.batch, a.heads, a.queries, a.v_head_size}, order = {0, 1, 2, 3};
  const int rank = f.last->output()->shape.rank(), missing = 4 - rank;
  Node* user = f.last->output()->only_user();
  if (is_plain(user, "Transpose")) {
    std::vector<int64_t> perm = user->ints_or_empty("perm");
    if (static_cast<int>(perm.size()) == rank && perm.back() == rank - 1) {
      for (int i = 0; i < rank; ++i) order[static_cast<size_t>(i + missing)] = perm[static_cast<size_t>(i)] + missing;
      f.last = user;
      if (auto later =
              order == std::vector<int64_t>{2, 0, 1, 3} ? reordered_later(user, a.queries, a.batch) : std::nullopt) {
        order = {0, 2, 1, 3};
        const Dims d = later->transpose->output()->shape.get();
        Value* shape = g.add_constant("shape", Tensor::ints(std::span(d.begin(), d.end())));
        replace_node(g, later->transpose,
                     ops::add_op(g, "Reshape", {later->reshape->input(0), shape}, {}, 1, later->transpose));
      }
    }
  }
  int64_t stride = 1, strides[4];
  for (size_t i = 4; i-- > 0;) {
    strides[order[i]] = stride;
    stride *= dims[static_cast<size_t>(order[i])];
  }
  a.out = {0, strides[0], strides[1], strides[2]};
  for (size_t i = static_cast<size_t>(missing); i < 4; ++i) a.dims.push_back(dims[static_cast<size_t>(order[i])]);
}

bool fuse(ir::Graph& g, Node* product) {
  auto f = found_at(product);
  if (!f) return false;
  auto q = heads_of(f->q, true), k = heads_of(f->k, true), v = heads_of(f->v, false);
  if (!q || !k || !v || f->q->shape.rank() != f->k->shape.rank() || f->q->shape.rank() != f->v->shape.rank())
    return false;
  std::swap(k->dims[2], k->dims[3]);
  std::swap(k->strides[2], k->strides[3]);
  StridedAttention a;
  a.batch = q->dims[0], a.heads = a.kv_heads = q->dims[1], a.queries = q->dims[2], a.head_size = q->dims[3];
  a.keys = k->dims[2], a.v_head_size = v->dims[3];
  a.scale = static_cast<float>(f->scale * q->number * k->number);
  for (const auto& operand : {*k, *v})
    if (operand.dims[0] != a.batch || operand.dims[1] != a.heads || operand.dims[2] != a.keys) return false;
  if (k->dims[3] != a.head_size || std::max(a.head_size, a.v_head_size) > kMostHeadSize) return false;
  if (std::min({a.batch, a.heads, a.queries, a.keys, a.head_size, a.v_head_size}) < 1) return false;
  auto q_rows = rows_of(*q), k_rows = rows_of(*k), v_rows = rows_of(*v);
  if (!q_rows || !k_rows || !v_rows) return false;
  a.q = *q_rows, a.k = *k_rows, a.v = *v_rows;
  std::vector<Value*> inputs = {q->base, k->base, v->base};
  if (f->mask) {
    Value* base = nullptr;
    auto rows = mask_rows(f->mask, a, base);
    if (!rows) return false;
    a.mask = *rows;
    inputs.push_back(base);
  }
  place_output(g, *f, a);
  replace_node(g, f->last, ops::add_op(g, "StridedAttention", inputs, a.attrs(), 1, f->last, "hipforge"));
  return true;
}

}  // namespace

bool fuse_attention(ir::Graph& g, const PassOptions& options) {
  if (!options.gpu) return false;
  bool changed = false;
  for (Node* n : g.nodes())
    if (!n->erased()) changed |= fuse(g, n);
  if (changed) clean_up(g, options);  // the parts, and the views that nobody else wants
  return changed;
}

}  // namespace hf::passes

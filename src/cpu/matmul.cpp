// Matrix products through oneDNN: MatMul, Gemm, FusedMatMul.
#include <algorithm>

#include "cpu/epilogue.h"

namespace hf::cpu {
namespace {

// Extents and strides of one operand, batch axes first, the matrix last.
struct View {
  Dims dims, strides;

  int rank() const { return dims.rank(); }
  memory::desc desc() const { return compat::strided(to_dims(dims), to_dims(strides)); }
  void pad(int rank) {
    while (dims.rank() < rank) {
      strides.insert(0, dims[0] * strides[0]);
      dims.insert(0, 1);
    }
  }
  void swap_last() {
    std::swap(dims[rank() - 1], dims[rank() - 2]);
    std::swap(strides[rank() - 1], strides[rank() - 2]);
  }
  // Batch axes i and i + 1 can be one.
  bool mergeable(int i) const { return dims[i] == 1 || dims[i + 1] == 1 || strides[i] == dims[i + 1] * strides[i + 1]; }
  void merge(int i) {
    if (dims[i + 1] == 1) strides[i + 1] = strides[i];
    dims[i + 1] *= dims[i];
    dims.erase(i);
    strides.erase(i);
  }
};

View view_of(const Dims& dims) {
  View v{dims, dims.strides()};
  return v;
}

int64_t int_attr(const ir::Node& n, std::string_view name) { return n.has(name) ? n.i(name) : 0; }

// Operand i as batches of [rows, columns], by strides alone.
View operand(const Request& r, int i, std::string_view trans, std::string_view trans_batch) {
  View v = view_of(r.dims(i));
  if (v.rank() == 1) {
    if (i == 0)
      v.pad(2);
    else
      v.dims.push_back(1), v.strides.push_back(1);
    return v;
  }
  if (int_attr(r.node, trans_batch)) {  // the first axis belongs to the matrix, the batch comes after it
    int64_t d = v.dims[0], s = v.strides[0];
    v.dims.erase(0), v.strides.erase(0);
    v.dims.insert(v.rank() - 1, d), v.strides.insert(v.strides.rank() - 1, s);
  }
  if (int_attr(r.node, trans)) v.swap_last();
  return v;
}

struct Product {
  View a, b, c;
};

// Fewest batch axes: what oneDNN is best at.
Product product_of(const Request& r) {
  Product p{operand(r, 0, "transA", "transBatchA"), operand(r, 1, "transB", "transBatchB"), view_of(r.out_dims())};
  if (r.dims(0).rank() == 1) {  // [.., N] is [.., 1, N]
    int at = std::max(p.c.rank() - (r.dims(1).rank() == 1 ? 0 : 1), 0);
    p.c.dims.insert(at, 1);
  }
  if (r.dims(1).rank() == 1) p.c.dims.push_back(1);
  p.c.strides = p.c.dims.strides();
  int rank = std::max({p.a.rank(), p.b.rank(), p.c.rank()});
  for (View* v : {&p.a, &p.b, &p.c}) v->pad(rank);
  auto single = [](const View& v) { return v.dims.count(0, v.rank() - 2) == 1; };
  // One matrix B for all: the batch of A is just more rows.
  int end = single(p.b) ? rank - 1 : rank - 2;
  for (int i = end - 2; i >= 0; --i) {
    bool rows = i + 1 == p.a.rank() - 2;
    bool same = p.a.dims[i] == p.c.dims[i] && p.a.dims[i + 1] == p.c.dims[i + 1];
    bool same_b = rows || single(p.b) ? true : p.b.dims[i] == p.c.dims[i] && p.b.dims[i + 1] == p.c.dims[i + 1];
    if (!same || !same_b || !p.a.mergeable(i) || !p.c.mergeable(i) || (!single(p.b) && !p.b.mergeable(i))) continue;
    p.a.merge(i);
    p.c.merge(i);
    if (rows || single(p.b))
      p.b.dims.erase(0), p.b.strides.erase(0);
    else
      p.b.merge(i);
  }
  return p;
}

// How an operand of the output looks in the merged extents: it must repeat over merged axes or have them all.
Reshape reshape_to(const Dims& out, const Dims& merged) {
  return [out, merged](const Dims& given) -> std::optional<Dims> {
    auto d = align_rank(given, out.rank());
    if (!d) return std::nullopt;
    if (*d == out) return merged;
    Dims result;
    int i = 0;
    for (int m = 0; m < merged.rank(); ++m) {
      int64_t extent = 1;
      bool all = true, none = true;
      int from = i;
      while (i < out.rank() && (i == from || extent < merged[m])) {
        if (i == from && out[i] != 1 && merged[m] == 1) break;  // an axis of extent 1 that only the merged form has
        extent *= out[i];
        all &= (*d)[i] == out[i];
        none &= (*d)[i] == 1;
        ++i;
      }
      if (extent != merged[m] || (!all && !none)) return std::nullopt;
      result.push_back(all ? extent : 1);
    }
    while (i < out.rank())
      if (out[i++] != 1) return std::nullopt;
    return result;
  };
}

// The epilogue begins with adding a row to every row: a bias. Returns the node's input, or -1.
int bias_in_epilogue(const Request& r) {
  const ir::Program* program = r.node.epilogue.get();
  if (!program || program->steps.empty() || program->steps[0].op != "Add" || r.dims(1).rank() == 1) return -1;
  const std::vector<int>& args = program->steps[0].args;
  int other = args[0] == 0 ? args[1] : args[1] == 0 ? args[0] : 0;
  if (other == 0 || other >= program->inputs) return -1;
  for (size_t s = 1; s < program->steps.size(); ++s)
    for (int reg : program->steps[s].args)
      if (reg == 0) return -1;
  int input = r.epilogue_input(other);
  Dims d = r.dims(input);
  return d.rank() && d.back() == r.out_dims().back() && d.count() == d.back() ? input : -1;
}

memory::desc bias_desc(const Dims& merged) {
  Dims d = Dims::filled(merged.rank(), 1);
  d[d.rank() - 1] = merged.back();
  return plain_desc(d);
}

// alpha * (A B) + C where that is more than a bias, as what comes before the epilogue.
PostOps gemm_tail(const Request& r, float alpha, bool add_c) {
  PostOps post;
  if (alpha != 1) post.add_eltwise(dnnl::algorithm::eltwise_linear, alpha, 0);
  if (!add_c) return post;
  memory::desc md = plain_desc(*align_rank(r.dims(2), 2));
  post.ops.push_back({PostOps::Op::Binary, dnnl::algorithm::binary_add, 0, 0, md, 2});
  return post;
}

struct Plan {
  Product product;
  int bias = -1;  // the node's input
  PostOps start;
  size_t from = 0;
};

Answer finish(const Request& r, const Plan& plan, Fused<compat::MatmulDesc>& fused) {
  plan::Prepared p;
  const auto& pd = fused.pd;
  std::string text = std::string("onednn matmul ") + pd.impl_info_str();
  if (plan.bias >= 0) text += " + bias";
  if (!fused.post.text.empty()) text += " + " + fused.post.text;
  if (fused.tail) text += " then " + r.node.epilogue->text();
  auto kernel = std::make_unique<DnnlKernel>(text);
  p.absorbed.resize(r.node.inputs().size());
  memory::desc given = plan.product.b.desc(), wanted = pd.weights_desc();
  Call call{dnnl::matmul(pd),
            {{DNNL_ARG_SRC, pd.src_desc(), Arg::Input, 0}, {DNNL_ARG_DST, pd.dst_desc(), Arg::Output, 0}}};
  if (given == wanted) {
    call.args.push_back({DNNL_ARG_WEIGHTS, given, Arg::Input, 1});
  } else {
    p.absorbed[1] = true;
    call.args.push_back({DNNL_ARG_WEIGHTS, wanted, Arg::Held, 0, r.weights.get(*r.constant(1), given, wanted)});
  }
  if (plan.bias >= 0) call.args.push_back({DNNL_ARG_BIAS, bias_desc(plan.product.c.dims), Arg::Input, plan.bias});
  for (const Arg& a : fused.post.args()) call.args.push_back(a);
  kernel->add_scratchpad(call, pd.scratchpad_desc());
  kernel->add(std::move(call));
  finish_epilogue(r, fused.post, std::move(fused.tail), {}, *kernel, p);
  p.scratch_bytes = kernel->scratch_bytes();
  p.kernel = std::move(kernel);
  return p;
}

Answer attempt(const Request& r, const Plan& plan) {
  const Product& p = plan.product;
  memory::desc dst = p.c.desc(), bias = plan.bias >= 0 ? bias_desc(p.c.dims) : memory::desc();
  memory::desc weights = r.constant(1) ? any_desc(p.b.dims) : p.b.desc();
  auto fused = fuse_epilogue<compat::MatmulDesc>(r, plan.start, plan.from, reshape_to(r.out_dims(), p.c.dims), dst, dst,
                                                 [&](const dnnl::primitive_attr& attr, const memory::desc& out) {
                                                   return compat::matmul(p.a.desc(), weights, bias, out, attr);
                                                 });
  if (auto* refusal = std::get_if<Refusal>(&fused)) return *refusal;
  return finish(r, plan, std::get<Fused<compat::MatmulDesc>>(fused));
}

}  // namespace

Answer try_matmul(const Request& r) {
  if (!r.all_f32()) return Refusal{"not float32"};
  if (r.empty()) return Refusal{"no elements"};
  if (r.dims(0).rank() == 0 || r.dims(1).rank() == 0) return Refusal{"a scalar"};
  Plan plan{product_of(r)};
  float alpha = r.node.has("alpha") ? r.node.f("alpha") : 1, beta = r.node.has("beta") ? r.node.f("beta") : 1;
  if (r.node.is("Gemm") && r.has(2) && beta != 0) {
    Dims c = r.dims(2), out = r.out_dims();
    bool row = c.rank() && c.back() == out.back() && c.count() == c.back();
    if (row && alpha == 1 && beta == 1)
      plan.bias = 2;
    else if (beta == 1)
      plan.start = gemm_tail(r, alpha, true);
    else
      return Refusal{"beta is neither 0 nor 1"};
  } else {
    plan.start = gemm_tail(r, alpha, false);
  }
  if (plan.bias < 0 && plan.start.ops.empty())
    if (int bias = bias_in_epilogue(r); bias >= 0) {
      Plan with = plan;
      with.bias = bias;
      with.from = 1;
      Answer answer = attempt(r, with);
      if (std::holds_alternative<plan::Prepared>(answer)) return answer;
    }
  return attempt(r, plan);
}

}  // namespace hf::cpu

// Epilogues: a node's program as oneDNN post-ops.
#include "cpu/epilogue.h"

#include <algorithm>

namespace hf::cpu {
namespace {

using dnnl::algorithm;
using Attrs = std::vector<float>;

// A step of one argument as an eltwise: alpha and beta come from the step's attributes.
struct Unary {
  std::string_view op;
  algorithm how;
  float (*alpha)(const Attrs&) = nullptr;
  float (*beta)(const Attrs&) = nullptr;
};

constexpr auto first = [](const Attrs& a) { return a[0]; };

constexpr Unary kUnary[] = {
    {"Abs", algorithm::eltwise_abs},
    {"DivideBy", algorithm::eltwise_linear, [](const Attrs& a) { return 1 / a[0]; }},
    {"Elu", algorithm::eltwise_elu, first},
    {"Exp", algorithm::eltwise_exp},
    {"LeakyRelu", algorithm::eltwise_relu, first},
    {"Log", algorithm::eltwise_log},
    {"Neg", algorithm::eltwise_linear, [](const Attrs&) { return -1.f; }},
    {"Relu", algorithm::eltwise_relu},
    {"Sigmoid", algorithm::eltwise_logistic},
    {"Sqrt", algorithm::eltwise_sqrt},
    {"Swish", algorithm::eltwise_swish, first},
    {"Tanh", algorithm::eltwise_tanh},
};

struct Binary {
  std::string_view op;
  algorithm how;
  bool commutes;
  // The same with a constant c as alpha * x + beta, where it is that.
  bool linear;
  float alpha_c, alpha_1, beta_c;  // alpha = alpha_c * c + alpha_1, beta = beta_c * c
};
constexpr Binary kBinary[] = {
    {"Add", algorithm::binary_add, true, true, 0, 1, 1},   {"Sum", algorithm::binary_add, true, true, 0, 1, 1},
    {"Sub", algorithm::binary_sub, false, true, 0, 1, -1}, {"Mul", algorithm::binary_mul, true, true, 1, 0, 0},
    {"Div", algorithm::binary_div, false, false, 0, 0, 0}, {"Max", algorithm::binary_max, true, false, 0, 0, 0},
    {"Min", algorithm::binary_min, true, false, 0, 0, 0},
};

template <class T, size_t N>
const T* find(const T (&table)[N], std::string_view op) {
  auto it = std::find_if(std::begin(table), std::end(table), [&](const T& row) { return row.op == op; });
  return it == std::end(table) ? nullptr : it;
}

class Mapper {
 public:
  Mapper(const Request& r, PostOps start, const memory::desc& dst, const Reshape& reshape)
      : post(std::move(start)), r_(r), program_(*r.node.epilogue), dst_(dst), reshape_(reshape) {}

  // Appends one step on register `current`; false if it is not to be expressed.
  bool add(const ir::Step& step, int current) {
    if (std::count(step.args.begin(), step.args.end(), current) != 1) return false;
    for (int r : step.args)
      if (r != current && (r == 0 || r >= program_.inputs)) return false;  // an earlier result is wanted again
    post.text += (post.text.empty() ? "" : ", ") + step.op;
    if (const Unary* row = find(kUnary, step.op))
      return post.add_eltwise(row->how, row->alpha ? row->alpha(step.attrs) : 0, row->beta ? row->beta(step.attrs) : 0);
    if (step.op == "Gelu")
      return post.add_eltwise(step.attrs[0] != 0 ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf, 0, 0);
    if (step.op == "HardSigmoid")
      return post.add_eltwise(algorithm::eltwise_linear, step.attrs[0], step.attrs[1]) &&
             post.add_eltwise(algorithm::eltwise_clip, 0, 1);
    if (step.op == "HardSwish") return post.ops.push_back({PostOps::Op::HardSwish}), true;
    if (step.op == "Clip") return clip(step, current);
    if (const Binary* row = find(kBinary, step.op)) return binary(*row, step, current);
    return false;
  }

  PostOps post;

 private:
  std::optional<float> scalar(int reg) const {
    const Tensor* c = r_.constant(r_.epilogue_input(reg));
    if (!c || c->size() != 1) return std::nullopt;
    return *c->data<float>();
  }

  bool clip(const ir::Step& step, int current) {
    if (step.args[0] != current) return false;
    auto low = scalar(step.args[1]), high = scalar(step.args[2]);
    if (!low || !high || !(*low <= *high)) return false;
    return post.add_eltwise(algorithm::eltwise_clip, *low, *high);
  }

  bool binary(const Binary& row, const ir::Step& step, int current) {
    bool first = step.args[0] == current;
    if (!first && !row.commutes) return false;
    int other = step.args[first ? 1 : 0];
    if (auto c = scalar(other)) {
      if (row.linear)
        return post.add_eltwise(algorithm::eltwise_linear, row.alpha_c * *c + row.alpha_1, row.beta_c * *c);
      if (row.op == "Div" && *c != 0) return post.add_eltwise(algorithm::eltwise_linear, 1 / *c, 0);
    }
    int input = r_.epilogue_input(other);
    auto dims = reshape_(r_.dims(input));
    if (!dims) return false;
    memory::dims whole = compat::dims_of(dst_);
    bool full = to_dims(*dims) == whole && (layout_of(dst_).plain() || r_.dims(input) == r_.out_dims());
    for (size_t i = 0; i < whole.size(); ++i)
      if ((*dims)[static_cast<int>(i)] != 1 && (*dims)[static_cast<int>(i)] != whole[i]) return false;
    if (full && row.how == algorithm::binary_add && post.ops.empty() && !r_.constant(input)) {
      post.ops.push_back({PostOps::Op::Sum, algorithm::undef, 1, 0, dst_, input});
      return true;
    }
    // A constant lies plain whatever the output does.
    memory::desc md = full && !r_.constant(input) ? dst_ : plain_desc(*dims);
    post.ops.push_back({PostOps::Op::Binary, row.how, 0, 0, md, input});
    return true;
  }

  const Request& r_;
  const ir::Program& program_;
  const memory::desc& dst_;
  const Reshape& reshape_;
};

}  // namespace

std::optional<Dims> align_rank(const Dims& dims, int rank) {
  Dims out = dims;
  while (out.rank() < rank) out.insert(0, 1);
  if (out.rank() > rank) return std::nullopt;
  return out;
}

bool PostOps::add_eltwise(algorithm how, float alpha, float beta) {
  if (how == algorithm::eltwise_linear && !ops.empty() && ops.back().how == how) {
    ops.back().alpha *= alpha;
    ops.back().beta = ops.back().beta * alpha + beta;
    return true;
  }
  for (const Op& op : ops)
    if (op.kind == Op::Eltwise && op.how == how) return false;
  ops.push_back({Op::Eltwise, how, alpha, beta});
  return true;
}

dnnl::primitive_attr PostOps::attr() const {
  dnnl::post_ops list;
  for (const Op& op : ops) switch (op.kind) {
      case Op::Eltwise: compat::append_eltwise(list, op.how, op.alpha, op.beta); break;
      case Op::HardSwish: compat::append_hard_swish(list); break;
      case Op::Sum: list.append_sum(1.f); break;
      case Op::Binary: list.append_binary(op.how, op.md); break;
    }
  dnnl::primitive_attr attr = user_scratchpad();
  attr.set_post_ops(list);
  return attr;
}

std::vector<Arg> PostOps::args() const {
  std::vector<Arg> all;
  for (size_t i = 0; i < ops.size(); ++i)
    if (ops[i].kind == Op::Binary)
      all.push_back(
          {DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1, ops[i].md, Arg::Input, ops[i].input});
  return all;
}

int PostOps::carry() const {
  for (const Op& op : ops)
    if (op.kind == Op::Sum) return op.input;
  return -1;
}

std::variant<PostOps, Refusal> map_epilogue(const Request& r, PostOps start, size_t from, const memory::desc& dst,
                                            const Reshape& reshape) {
  const ir::Program& program = *r.node.epilogue;
  Mapper mapper(r, std::move(start), dst, reshape);
  int current = from == 0 ? 0 : program.inputs + static_cast<int>(from) - 1;
  for (size_t s = from; s < program.steps.size(); ++s) {
    if (!mapper.add(program.steps[s], current)) return Refusal{"step " + program.steps[s].op + " is no post-op"};
    current = program.inputs + static_cast<int>(s);
  }
  return std::move(mapper.post);
}

int quality(std::string_view implementation) {
  if (implementation.find("ref") != std::string_view::npos) return 0;
  return implementation.find("gemm:") == 0 || implementation.find("x64:gemm") == 0 ? 1 : 2;
}

void finish_epilogue(const Request& r, const PostOps& post, std::optional<PointwiseLoop> tail, const Layout& dst,
                     DnnlKernel& kernel, plan::Prepared& p) {
  p.inputs.resize(r.node.inputs().size());
  p.outputs = {dst};
  auto want = [&](int input) { return p.inputs[static_cast<size_t>(input)] = dst; };
  if (int carry = post.carry(); carry >= 0) {
    want(carry);
    p.in_place = {carry};
    int64_t bytes = dst.plain() ? r.out_dims().count() * 4 : dst.detail->bytes();
    kernel.set_carry({carry, bytes});
  }
  for (const Arg& a : post.args())
    if (layout_of(a.md) == dst && r.dims(static_cast<int>(a.at)) == r.out_dims()) want(static_cast<int>(a.at));
  if (tail) {
    std::vector<int> operands;
    for (int k = 1; k <= r.node.epilogue_inputs; ++k) {
      operands.push_back(r.epilogue_input(k));
      if (r.dims(operands.back()) == r.out_dims()) want(operands.back());
    }
    kernel.set_tail(std::move(*tail), std::move(operands));
  }
}

}  // namespace hf::cpu

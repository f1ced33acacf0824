// Convolutions and transposed convolutions through oneDNN.
#include "cpu/epilogue.h"
#include "cpu/geometry.h"

namespace hf::cpu {
namespace {

// Groups first, as oneDNN wants grouped weights: [g, out / g, in / g, kernel...].
Dims grouped(int64_t groups, int64_t out, int64_t in, std::span<const int64_t> kernel) {
  Dims d;
  if (groups > 1) d.push_back(groups);
  d.push_back(out);
  d.push_back(in);
  for (int64_t k : kernel) d.push_back(k);
  return d;
}

// A weight argument in the form that the primitive wants: packed now if it is constant, else on each run.
void add_weights(const Request& r, const memory::desc& given, const memory::desc& wanted, Call& call,
                 DnnlKernel& kernel, plan::Prepared& p) {
  if (given == wanted) {
    call.args.push_back({DNNL_ARG_WEIGHTS, given, Arg::Input, 1});
  } else if (const Tensor* constant = r.constant(1)) {
    p.absorbed[1] = true;
    call.args.push_back({DNNL_ARG_WEIGHTS, wanted, Arg::Held, 0, r.weights.get(*constant, given, wanted)});
  } else {
    dnnl::reorder::primitive_desc pd(compat::engine(), given, compat::engine(), wanted, user_scratchpad());
    int64_t packed = kernel.add_scratch(wanted.get_size());
    Call pack{dnnl::reorder(pd), {{DNNL_ARG_FROM, given, Arg::Input, 1}, {DNNL_ARG_TO, wanted, Arg::Scratch, packed}}};
    kernel.add_scratchpad(pack, pd.scratchpad_desc());
    kernel.add(std::move(pack));
    call.args.push_back({DNNL_ARG_WEIGHTS, wanted, Arg::Scratch, packed});
  }
}

template <class Primitive, class Desc>
Answer finish(const Request& r, Fused<Desc>& fused, const memory::desc& weights, std::string name) {
  plan::Prepared p;
  const Desc& pd = fused.pd;
  std::string text = "onednn " + name + " " + pd.impl_info_str();
  if (!fused.post.text.empty()) text += " + " + fused.post.text;
  if (fused.tail) text += " then " + r.node.epilogue->text();
  auto kernel = std::make_unique<DnnlKernel>(text);
  p.absorbed.resize(r.node.inputs().size());
  Layout dst = layout_of(pd.dst_desc());
  Call call{Primitive(pd),
            {{DNNL_ARG_SRC, pd.src_desc(), Arg::Input, 0}, {DNNL_ARG_DST, pd.dst_desc(), Arg::Output, 0}}};
  add_weights(r, weights, pd.weights_desc(), call, *kernel, p);
  if (r.has(2)) call.args.push_back({DNNL_ARG_BIAS, plain_desc(r.dims(2)), Arg::Input, 2});
  for (const Arg& a : fused.post.args()) call.args.push_back(a);
  kernel->add_scratchpad(call, pd.scratchpad_desc());
  kernel->add(std::move(call));
  finish_epilogue(r, fused.post, std::move(fused.tail), dst, *kernel, p);
  p.inputs[0] = layout_of(pd.src_desc());
  p.scratch_bytes = kernel->scratch_bytes();
  p.kernel = std::move(kernel);
  return p;
}

std::optional<Refusal> refuse(const Request& r) {
  if (!r.all_f32()) return Refusal{"not float32"};
  if (r.empty()) return Refusal{"no elements"};
  int rank = r.dims(0).rank();
  if (rank < 3 || rank > 5) return Refusal{fmt::format("rank {}", rank)};
  return std::nullopt;
}

Reshape same_rank(int rank) {
  return [rank](const Dims& d) { return align_rank(d, rank); };
}

}  // namespace

Answer try_conv(const Request& r) {
  if (auto no = refuse(r)) return *no;
  Dims w = r.dims(1), out = r.out_dims();
  int64_t groups = r.node.i("group");
  std::vector<int64_t> kernel(w.begin() + 2, w.end());
  Dims weights = grouped(groups, w[0] / groups, w[1], kernel);
  compat::Window window = window_of(r, kernel);
  memory::desc bias = r.has(2) ? plain_desc(r.dims(2)) : memory::desc();
  auto fused = fuse_epilogue<compat::ConvDesc>(r, {}, 0, same_rank(out.rank()), any_desc(out), plain_desc(out),
                                               [&](const dnnl::primitive_attr& attr, const memory::desc& dst) {
                                                 return compat::convolution(window, any_desc(r.dims(0)),
                                                                            any_desc(weights), bias, dst, attr);
                                               });
  if (auto* refusal = std::get_if<Refusal>(&fused)) return *refusal;
  return finish<dnnl::convolution_forward>(r, std::get<Fused<compat::ConvDesc>>(fused), plain_desc(weights), "conv");
}

Answer try_conv_transpose(const Request& r) {
  if (auto no = refuse(r)) return *no;
  Dims w = r.dims(1), out = r.out_dims();  // [in, out / g, kernel...]
  int64_t groups = r.node.i("group");
  std::vector<int64_t> kernel(w.begin() + 2, w.end());
  compat::Window window = transposed_window_of(r, kernel);
  for (size_t i = 0; i < kernel.size(); ++i)
    if (window.pads_begin[i] < 0 || window.pads_end[i] < 0) return Refusal{"output that no input reaches"};
  Dims weights = grouped(groups, w[1], w[0] / groups, kernel);
  // Given as [g, in / g, out / g, kernel...]: the two channel axes change places by their strides.
  memory::dims strides = compat::blocks_of(plain_desc(grouped(groups, w[0] / groups, w[1], kernel))).strides;
  size_t o = groups > 1 ? 1 : 0;
  std::swap(strides[o], strides[o + 1]);
  memory::desc given = compat::strided(to_dims(weights), strides);
  memory::desc bias = r.has(2) ? plain_desc(r.dims(2)) : memory::desc();
  auto fused = fuse_epilogue<compat::DeconvDesc>(r, {}, 0, same_rank(out.rank()), any_desc(out), plain_desc(out),
                                                 [&](const dnnl::primitive_attr& attr, const memory::desc& dst) {
                                                   return compat::deconvolution(window, any_desc(r.dims(0)),
                                                                                any_desc(weights), bias, dst, attr);
                                                 });
  if (auto* refusal = std::get_if<Refusal>(&fused)) return *refusal;
  return finish<dnnl::deconvolution_forward>(r, std::get<Fused<compat::DeconvDesc>>(fused), given, "deconv");
}

}  // namespace hf::cpu

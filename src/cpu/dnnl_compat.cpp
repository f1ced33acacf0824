// oneDNN 2.5 to 3.x behind one face.
#include "cpu/dnnl_compat.h"

namespace hf::cpu::compat {
namespace {

using dnnl::prop_kind;
constexpr prop_kind kInference = prop_kind::forward_inference;

// A descriptor, or nothing where making it fails. oneDNN reports a problem it has no code for by an exception (or an
// empty descriptor), the same way as one that makes no sense; both mean "ask the next".
template <class F>
auto attempt(F make) -> std::optional<decltype(make())> {
  try {
    auto pd = make();
    if (!pd) return std::nullopt;
    return pd;
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

template <class Primitive, class Desc>
Ready ready(const Desc& pd) {
  return {Primitive(pd), pd.src_desc(), pd.dst_desc(), pd.scratchpad_desc(), pd.impl_info_str()};
}

template <class Primitive, class F>
std::optional<Ready> attempt_ready(F make) {
  auto pd = attempt(make);
  if (!pd) return std::nullopt;
  return ready<Primitive>(*pd);
}

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}

memory::desc strided(const memory::dims& dims, const memory::dims& strides) {
  return memory::desc(dims, memory::data_type::f32, strides);
}

#if DNNL_VERSION_MAJOR >= 3

Blocks blocks_of(const memory::desc& md) {
  return {md.get_dims(), md.get_padded_dims(), md.get_strides(), md.get_inner_blks(), md.get_inner_idxs()};
}
bool is_blocked(const memory::desc& md) { return md.get_format_kind() == memory::format_kind::blocked; }
memory::dims dims_of(const memory::desc& md) { return md.get_dims(); }

std::optional<ConvDesc> convolution(const Window& w, const memory::desc& src, const memory::desc& weights,
                                    const memory::desc& bias, const memory::desc& dst, const primitive_attr& attr,
                                    algorithm how) {
  return attempt([&] {
    if (bias.is_zero())
      return ConvDesc(engine(), kInference, how, src, weights, dst, w.strides, w.dilations, w.pads_begin, w.pads_end,
                      attr, true);
    return ConvDesc(engine(), kInference, how, src, weights, bias, dst, w.strides, w.dilations, w.pads_begin,
                    w.pads_end, attr, true);
  });
}

std::optional<DeconvDesc> deconvolution(const Window& w, const memory::desc& src, const memory::desc& weights,
                                        const memory::desc& bias, const memory::desc& dst, const primitive_attr& attr) {
  return attempt([&] {
    constexpr algorithm how = algorithm::deconvolution_direct;
    if (bias.is_zero())
      return DeconvDesc(engine(), kInference, how, src, weights, dst, w.strides, w.dilations, w.pads_begin, w.pads_end,
                        attr, true);
    return DeconvDesc(engine(), kInference, how, src, weights, bias, dst, w.strides, w.dilations, w.pads_begin,
                      w.pads_end, attr, true);
  });
}

std::optional<MatmulDesc> matmul(const memory::desc& src, const memory::desc& weights, const memory::desc& bias,
                                 const memory::desc& dst, const primitive_attr& attr) {
  return attempt([&] {
    if (bias.is_zero()) return MatmulDesc(engine(), src, weights, dst, attr, true);
    return MatmulDesc(engine(), src, weights, bias, dst, attr, true);
  });
}

std::optional<dnnl::concat::primitive_desc> concat(int axis, const std::vector<memory::desc>& srcs,
                                                   const primitive_attr& attr) {
  return attempt([&] { return dnnl::concat::primitive_desc(engine(), axis, srcs, attr); });
}

std::optional<Ready> pooling(algorithm how, const Window& w, const memory::desc& src, const memory::desc& dst,
                             const primitive_attr& attr) {
  return attempt_ready<dnnl::pooling_forward>([&] {
    return dnnl::pooling_forward::primitive_desc(engine(), kInference, how, src, dst, w.strides, w.kernel, w.dilations,
                                                 w.pads_begin, w.pads_end, attr, true);
  });
}

std::optional<Ready> lrn(int64_t size, float alpha, float beta, float k, const memory::desc& src,
                         const primitive_attr& attr) {
  return attempt_ready<dnnl::lrn_forward>([&] {
    return dnnl::lrn_forward::primitive_desc(engine(), kInference, algorithm::lrn_across_channels, src, src, size,
                                             alpha, beta, k, attr, true);
  });
}

void append_eltwise(dnnl::post_ops& ops, algorithm how, float alpha, float beta) {
  ops.append_eltwise(how, alpha, beta);
}
void append_hard_swish(dnnl::post_ops& ops) { ops.append_eltwise(algorithm::eltwise_hardswish, 1.f / 6, 0.5f); }

#else

Blocks blocks_of(const memory::desc& md) {
  const auto& d = md.data;
  const auto& b = d.format_desc.blocking;
  return {{d.dims, d.dims + d.ndims},
          {d.padded_dims, d.padded_dims + d.ndims},
          {b.strides, b.strides + d.ndims},
          {b.inner_blks, b.inner_blks + b.inner_nblks},
          {b.inner_idxs, b.inner_idxs + b.inner_nblks}};
}
bool is_blocked(const memory::desc& md) { return md.data.format_kind == dnnl_blocked; }
memory::dims dims_of(const memory::desc& md) { return {md.data.dims, md.data.dims + md.data.ndims}; }

std::optional<ConvDesc> convolution(const Window& w, const memory::desc& src, const memory::desc& weights,
                                    const memory::desc& bias, const memory::desc& dst, const primitive_attr& attr,
                                    algorithm how) {
  using Desc = dnnl::convolution_forward::desc;
  return attempt([&] {
    Desc d = bias.is_zero()
                 ? Desc(kInference, how, src, weights, dst, w.strides, w.dilations, w.pads_begin, w.pads_end)
                 : Desc(kInference, how, src, weights, bias, dst, w.strides, w.dilations, w.pads_begin, w.pads_end);
    return ConvDesc(d, attr, engine(), true);
  });
}

std::optional<DeconvDesc> deconvolution(const Window& w, const memory::desc& src, const memory::desc& weights,
                                        const memory::desc& bias, const memory::desc& dst, const primitive_attr& attr) {
  using Desc = dnnl::deconvolution_forward::desc;
  constexpr algorithm how = algorithm::deconvolution_direct;
  return attempt([&] {
    Desc d = bias.is_zero()
                 ? Desc(kInference, how, src, weights, dst, w.strides, w.dilations, w.pads_begin, w.pads_end)
                 : Desc(kInference, how, src, weights, bias, dst, w.strides, w.dilations, w.pads_begin, w.pads_end);
    return DeconvDesc(d, attr, engine(), true);
  });
}

std::optional<MatmulDesc> matmul(const memory::desc& src, const memory::desc& weights, const memory::desc& bias,
                                 const memory::desc& dst, const primitive_attr& attr) {
  using Desc = dnnl::matmul::desc;
  return attempt([&] {
    return MatmulDesc(bias.is_zero() ? Desc(src, weights, dst) : Desc(src, weights, bias, dst), attr, engine(), true);
  });
}

std::optional<dnnl::concat::primitive_desc> concat(int axis, const std::vector<memory::desc>& srcs,
                                                   const primitive_attr& attr) {
  return attempt([&] { return dnnl::concat::primitive_desc(axis, srcs, engine(), attr); });
}

std::optional<Ready> pooling(algorithm how, const Window& w, const memory::desc& src, const memory::desc& dst,
                             const primitive_attr& attr) {
  // The undilated form has the fast implementations.
  bool dilated = false;
  for (auto d : w.dilations) dilated |= d != 0;
  if (!dilated)
    return attempt_ready<dnnl::pooling_forward>([&] {
      dnnl::pooling_forward::desc d(kInference, how, src, dst, w.strides, w.kernel, w.pads_begin, w.pads_end);
      return dnnl::pooling_forward::primitive_desc(d, attr, engine(), true);
    });
  return attempt_ready<dnnl::pooling_v2_forward>([&] {
    dnnl::pooling_v2_forward::desc d(kInference, how, src, dst, w.strides, w.kernel, w.dilations, w.pads_begin,
                                     w.pads_end);
    return dnnl::pooling_v2_forward::primitive_desc(d, attr, engine(), true);
  });
}

std::optional<Ready> lrn(int64_t size, float alpha, float beta, float k, const memory::desc& src,
                         const primitive_attr& attr) {
  return attempt_ready<dnnl::lrn_forward>([&] {
    dnnl::lrn_forward::desc d(kInference, algorithm::lrn_across_channels, src, size, alpha, beta, k);
    return dnnl::lrn_forward::primitive_desc(d, attr, engine(), true);
  });
}

void append_eltwise(dnnl::post_ops& ops, algorithm how, float alpha, float beta) {
  ops.append_eltwise(1.f, how, alpha, beta);
}
void append_hard_swish(dnnl::post_ops& ops) { ops.append_eltwise(1.f, algorithm::eltwise_hardswish, 0, 0); }

#endif

}  // namespace hf::cpu::compat

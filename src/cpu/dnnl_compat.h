// oneDNN 2.5 to 3.x behind one face: every primitive descriptor is created here, and memory descriptors are taken apart
// here. Nothing else in the project looks at oneDNN's version.
#pragma once
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <vector>

namespace hf::cpu::compat {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::primitive_attr;

/// The one CPU engine of the process.
const dnnl::engine& engine();

/// Geometry of a convolution or pooling, over the spatial axes. Dilations as oneDNN counts them: 0 for none.
struct Window {
  memory::dims kernel, strides, dilations, pads_begin, pads_end;
};

/// A memory descriptor taken apart: axes in the logical order, then the innermost blocks, outer to inner.
struct Blocks {
  memory::dims dims, padded, strides;
  memory::dims block_sizes, block_axes;
};
Blocks blocks_of(const memory::desc& md);
bool is_blocked(const memory::desc& md);  // strides and blocks describe it (false: opaque, as for Winograd weights)
memory::dims dims_of(const memory::desc& md);
memory::desc strided(const memory::dims& dims, const memory::dims& strides);  // f32

// Each returns nothing where oneDNN has no implementation or the descriptors do not fit.
using ConvDesc = dnnl::convolution_forward::primitive_desc;
using DeconvDesc = dnnl::deconvolution_forward::primitive_desc;
using MatmulDesc = dnnl::matmul::primitive_desc;
/// `bias` may be an empty descriptor.
std::optional<ConvDesc> convolution(const Window& w, const memory::desc& src, const memory::desc& weights,
                                    const memory::desc& bias, const memory::desc& dst, const primitive_attr& attr,
                                    algorithm how = algorithm::convolution_direct);
std::optional<DeconvDesc> deconvolution(const Window& w, const memory::desc& src, const memory::desc& weights,
                                        const memory::desc& bias, const memory::desc& dst, const primitive_attr& attr);
std::optional<MatmulDesc> matmul(const memory::desc& src, const memory::desc& weights, const memory::desc& bias,
                                 const memory::desc& dst, const primitive_attr& attr);
std::optional<dnnl::concat::primitive_desc> concat(int axis, const std::vector<memory::desc>& srcs,
                                                   const primitive_attr& attr);
/// What the callers need of a descriptor whose type differs between versions.
struct Ready {
  dnnl::primitive primitive;
  memory::desc src, dst, scratchpad;
  std::string implementation;
};
std::optional<Ready> pooling(algorithm how, const Window& w, const memory::desc& src, const memory::desc& dst,
                             const primitive_attr& attr);
std::optional<Ready> lrn(int64_t size, float alpha, float beta, float k, const memory::desc& src,
                         const primitive_attr& attr);

void append_eltwise(dnnl::post_ops& ops, algorithm how, float alpha, float beta);
void append_hard_swish(dnnl::post_ops& ops);

}  // namespace hf::cpu::compat

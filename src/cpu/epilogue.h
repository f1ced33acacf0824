// Epilogues: a node's program as oneDNN post-ops where all of it can be, else as a loop over the finished output.
#pragma once
#include <functional>

#include "cpu/candidate.h"

namespace hf::cpu {

/// A program as post-ops of a primitive.
struct PostOps {
  struct Op {
    enum Kind : uint8_t { Eltwise, HardSwish, Sum, Binary } kind;
    dnnl::algorithm how = dnnl::algorithm::undef;
    float alpha = 0, beta = 0;
    memory::desc md;  // Binary: the operand
    int input = -1;   // Binary, Sum: the node's input
  };
  std::vector<Op> ops;
  std::string text;

  /// False if the list cannot take it: oneDNN 2.6 mixes up the parameters of two eltwise post-ops of one kind.
  bool add_eltwise(dnnl::algorithm how, float alpha, float beta);
  dnnl::primitive_attr attr() const;
  /// The binary post-ops' operands.
  std::vector<Arg> args() const;
  /// The node's input that the output starts as (a sum), or -1.
  int carry() const;
};

/// How the primitive sees an operand's extents (a batch of matrices as one, say); none if it cannot.
using Reshape = std::function<std::optional<Dims>(const Dims&)>;
std::optional<Dims> align_rank(const Dims& dims, int rank);  // ones in front

/// `start` and then the node's epilogue from step `from` on as post-ops on an output that `dst` describes. Operands
/// with all of the output's extents are taken in its layout, others plain.
std::variant<PostOps, Refusal> map_epilogue(const Request& r, PostOps start, size_t from, const memory::desc& dst,
                                            const Reshape& reshape);

/// A primitive with its epilogue, of either kind. Desc: its primitive descriptor.
template <class Desc>
struct Fused {
  Desc pd;
  PostOps post;
  std::optional<PointwiseLoop> tail;
};

/// 2: written for this machine; 1: by way of a plain matrix product; 0: oneDNN's slow reference.
int quality(std::string_view implementation);

/// Makes the descriptor with as much of the epilogue inside as does not cost a worse implementation. `make(attr, dst)`
/// makes one; `start` is what goes before the epilogue, `dst` the wanted output, perhaps of any layout, and `plain` the
/// same lying plain. The first `from` steps are in the primitive some other way.
template <class Desc>
std::variant<Fused<Desc>, Refusal> fuse_epilogue(
    const Request& r, const PostOps& start, size_t from, const Reshape& reshape, const memory::desc& dst,
    const memory::desc& plain,
    const std::function<std::optional<Desc>(const dnnl::primitive_attr&, const memory::desc&)>& make) {
  auto base = make(start.attr(), dst);
  if (!base) return Refusal{"onednn has no implementation"};
  if (!r.node.epilogue || from == r.node.epilogue->steps.size()) return Fused<Desc>{*base, start, {}};
  auto mapped = map_epilogue(r, start, from, base->dst_desc(), reshape);
  if (auto* post = std::get_if<PostOps>(&mapped)) {
    auto pd = make(post->attr(), base->dst_desc());
    if (pd && quality(pd->impl_info_str()) >= quality(base->impl_info_str())) return Fused<Desc>{*pd, *post, {}};
  }
  if (from > 0) return Refusal{"part of the epilogue is in the primitive already"};
  for (bool again : {false, true}) {
    if (again) base = make(start.attr(), plain);
    if (!base) break;
    auto tail =
        PointwiseLoop::make(*r.node.epilogue, r.out_dims(), layout_of(base->dst_desc()), r.epilogue_dims(r.out_dims()));
    if (auto* loop = std::get_if<PointwiseLoop>(&tail)) return Fused<Desc>{*base, start, std::move(*loop)};
  }
  return Refusal{"the epilogue has no fast form"};
}

/// Puts the epilogue's operands, layouts and in-place chances into `p`, and the tail into the kernel. `dst`: the layout
/// of the output.
void finish_epilogue(const Request& r, const PostOps& post, std::optional<PointwiseLoop> tail, const Layout& dst,
                     DnnlKernel& kernel, plan::Prepared& p);

}  // namespace hf::cpu

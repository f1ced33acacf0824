// DepthToSpace and SpaceToDepth: blocks of pixels to and from channels.
#include "ops/extents.h"
#include "ops/movement.h"

namespace hf::ops {
namespace {

constexpr AttrDef to_space_attrs[] = {required_attr("blocksize", AttrType::Int), string_attr("mode", "DCR", 11)};
constexpr AttrDef to_depth_attrs[] = {required_attr("blocksize", AttrType::Int), string_attr("mode", "DCR", 28)};

void upgrade(ir::Graph&, Node& n, int) { n.attrs.emplace("mode", std::string("DCR")); }

int64_t block_of(const Node& n) {
  const int64_t b = n.i("blocksize");
  if (b < 1 || b > (int64_t{1} << 30)) fail(Code::InvalidModel, "blocksize is {}", b);
  if (n.s("mode") != "DCR" && n.s("mode") != "CRD")
    fail(Code::InvalidModel, "mode '{}' is neither DCR nor CRD", n.s("mode"));
  return b;
}

Dim divided(const Infer& in, const Dim& d, int64_t by) {
  if (!d.known()) return by == 1 ? d : Dim();
  in.require(d.value % by == 0, "an extent of {} with blocksize {}", d.value, in.node.i("blocksize"));
  return d.value / by;
}

Dim multiplied(const Dim& d, int64_t by) {
  if (!d.known()) return by == 1 ? d : Dim();
  return multiply_extents(d.value, by);
}

template <bool to_space>
void infer(Infer& in) {
  const int64_t b = block_of(in.node);
  const Shape& s = in.shape(0);
  if (!s.ranked()) return in.set(0, in.dtype(0), Shape::unknown_of_rank(4));
  in.require(s.rank() == 4, "input has shape {}, wanted 4 axes", s.text());
  if (to_space)
    in.set(0, in.dtype(0), Shape({s[0], divided(in, s[1], b * b), multiplied(s[2], b), multiplied(s[3], b)}));
  else
    in.set(0, in.dtype(0), Shape({s[0], multiplied(s[1], b * b), divided(in, s[2], b), divided(in, s[3], b)}));
}

// Both are one copy over (batch, channel, row, row in block, column, column in block). `deep` is the tensor with more
// channels, where blocks come before (DCR) or after (CRD) the channel.
template <bool to_space>
void reference(Eval& e) {
  const int64_t b = block_of(e.node);
  const Dims &deep = to_space ? e.in(0).dims() : e.out().dims(), &wide = to_space ? e.out().dims() : e.in(0).dims();
  const int64_t plane = deep[2] * deep[3], channels = wide[1];
  const bool blocks_first = e.node.s("mode") == "DCR";
  const int64_t channel = blocks_first ? plane : plane * b * b, block = blocks_first ? plane * channels : plane;
  const int64_t extent[] = {deep[0], channels, deep[2], b, deep[3], b};
  const int64_t in_deep[] = {deep[1] * plane, channel, deep[3], block * b, 1, block};
  const int64_t in_wide[] = {wide[1] * wide[2] * wide[3], wide[2] * wide[3], b * wide[3], wide[3], b, 1};
  std::vector<CopyAxis> axes;
  for (int i = 0; i < 6; ++i)
    axes.push_back({extent[i], to_space ? in_deep[i] : in_wide[i], to_space ? in_wide[i] : in_deep[i]});
  copy_strided(e.in(0), 0, e.out(), 0, axes);
}

constexpr OpDef defs[] = {
    {.name = "DepthToSpace",
     .attrs = to_space_attrs,
     .upgrade = upgrade,
     .infer = infer<true>,
     .reference = reference<true>},
    {.name = "SpaceToDepth",
     .attrs = to_depth_attrs,
     .upgrade = upgrade,
     .infer = infer<false>,
     .reference = reference<false>},
};

}  // namespace

std::span<const OpDef> depth_space_ops() { return defs; }

}  // namespace hf::ops

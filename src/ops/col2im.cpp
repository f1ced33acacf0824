// Col2Im: columns of blocks added up to an image.
#include <algorithm>

#include "ops/extents.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {optional_attr("dilations", AttrType::Ints), optional_attr("pads", AttrType::Ints),
                             optional_attr("strides", AttrType::Ints)};

// The blocks along one spatial axis.
struct Axis {
  int64_t image, block, stride, dilation, pad, blocks;
};

int64_t value_or(const std::vector<int64_t>& list, size_t i, size_t wanted, int64_t otherwise, const char* what) {
  if (list.empty()) return otherwise;
  if (list.size() != wanted) fail(Code::InvalidModel, "{} {}, wanted {}", list.size(), what, wanted);
  return list[i];
}

std::vector<Axis> axes_of(const Node& n, const std::vector<int64_t>& image, const std::vector<int64_t>& block) {
  constexpr int64_t kMost = int64_t{1} << 31;
  if (image.size() != block.size() || image.empty())
    fail(Code::InvalidModel, "an image of {} axes and blocks of {}", image.size(), block.size());
  const std::vector<int64_t> strides = n.ints_or_empty("strides"), dilations = n.ints_or_empty("dilations"),
                             pads = n.ints_or_empty("pads");
  std::vector<Axis> axes;
  const size_t rank = image.size();
  for (size_t i = 0; i < rank; ++i) {
    Axis a{image[i],
           block[i],
           value_or(strides, i, rank, 1, "strides"),
           value_or(dilations, i, rank, 1, "dilations"),
           value_or(pads, i, 2 * rank, 0, "pads"),
           0};
    const int64_t after = value_or(pads, rank + i, 2 * rank, 0, "pads");
    for (int64_t v : {a.image, a.block, a.stride, a.dilation})
      if (v < 1 || v > kMost) fail(Code::InvalidModel, "an image, block, stride or dilation of {}", v);
    for (int64_t v : {a.pad, after})
      if (v < 0 || v > kMost) fail(Code::InvalidModel, "a pad of {}", v);
    const int64_t room = a.image + a.pad + after - (multiply_extents(a.dilation, a.block - 1) + 1);
    a.blocks = room < 0 ? 0 : room / a.stride + 1;
    axes.push_back(a);
  }
  return axes;
}

void infer(Infer& in) {
  const Shape& s = in.shape(0);
  in.require(!s.ranked() || s.rank() == 3, "input has shape {}, wanted 3 axes", s.text());
  const int spatial = in.constant(1) ? static_cast<int>(list_of(in, 1).size()) : list_length(in, 1);
  if (spatial < 0) return in.set(0, in.dtype(0));
  Shape out = Shape::unknown_of_rank(2 + spatial);
  if (s.ranked()) out[0] = s[0];
  const std::vector<int64_t> image = in.constant(1) ? list_of(in, 1) : std::vector<int64_t>();
  for (size_t i = 0; i < image.size(); ++i) {
    in.require(image[i] >= 0, "an image extent of {}", image[i]);
    out[2 + static_cast<int>(i)] = image[i];
  }
  if (in.constant(1) && in.constant(2)) {
    int64_t block = 1, blocks = 1;
    for (const Axis& a : axes_of(in.node, image, list_of(in, 2))) {
      block = multiply_extents(block, a.block);
      blocks = multiply_extents(blocks, a.blocks);
    }
    if (s.ranked()) {
      in.require(!s[2].known() || s[2].value == blocks, "{} blocks, wanted {}", s[2].value, blocks);
      in.require(!s[1].known() || s[1].value % block == 0, "{} rows for blocks of {}", s[1].value, block);
      if (s[1].known()) out[1] = s[1].value / block;
    }
  }
  in.set(0, in.dtype(0), out);
}

// Adds one channel's columns, [block..., blocks...], to its image.
template <class T>
void add_channel(const T* columns, T* image, const std::vector<Axis>& axes, int64_t block_count, int64_t blocks) {
  for (int64_t k = 0; k < block_count; ++k)
    for (int64_t l = 0; l < blocks; ++l) {
      int64_t at = 0, in_block = k, which = l, stride = 1;
      bool inside = true;
      for (size_t i = axes.size(); i-- > 0;) {
        const Axis& a = axes[i];
        const int64_t p = which % a.blocks * a.stride - a.pad + in_block % a.block * a.dilation;
        inside &= p >= 0 && p < a.image;
        at += p * stride;
        stride *= a.image;
        in_block /= a.block;
        which /= a.blocks;
      }
      if (inside) image[at] += columns[k * blocks + l];
    }
}

void reference(Eval& e) {
  const std::vector<Axis> axes = axes_of(e.node, to_ints(e.in(1)), to_ints(e.in(2)));
  const Dims& out = e.out().dims();
  const int64_t channels = out[0] * out[1], pixels = out.count(2, out.rank()), blocks = e.in(0).dims()[2];
  const int64_t block_count = out[1] ? e.in(0).dims()[1] / out[1] : 0;
  dispatch_number(e.out().dtype(), [&]<class T>(T) {
    const ReadAs<T> columns(e.in(0));
    WriteAs<T> image(e.out());
    std::fill_n(image.data(), e.out().size(), T(0));
    parallel_for(channels, static_cast<double>(block_count * blocks) * 4, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c)
        add_channel(columns.data() + c * block_count * blocks, image.data() + c * pixels, axes, block_count, blocks);
    });
    image.commit();
  });
}

constexpr OpDef defs[] = {{.name = "Col2Im",
                           .since = 18,
                           .min_inputs = 3,
                           .max_inputs = 3,
                           .attrs = attrs,
                           .infer = infer,
                           .reference = reference}};

}  // namespace

std::span<const OpDef> col2im_ops() { return defs; }

}  // namespace hf::ops

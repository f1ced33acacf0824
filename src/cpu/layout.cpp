// Layouts that oneDNN chooses, and what our own kernels need to know of them.
#include "cpu/layout.h"

#include <algorithm>

namespace hf::cpu {
namespace {

using compat::Blocks;

// Loops of a descriptor with their strides, outermost first; unit loops left out.
struct Loop {
  int axis;
  int64_t extent, step, stride;
};

std::vector<Loop> loops_of(const Blocks& b) {
  size_t rank = b.dims.size();
  std::vector<int64_t> block(rank, 1);
  for (size_t i = 0; i < b.block_sizes.size(); ++i) block[static_cast<size_t>(b.block_axes[i])] *= b.block_sizes[i];
  std::vector<Loop> loops;
  for (size_t a = 0; a < rank; ++a)
    loops.push_back({static_cast<int>(a), b.padded[a] / block[a], block[a], b.strides[a]});
  std::stable_sort(loops.begin(), loops.end(), [](const Loop& x, const Loop& y) { return x.stride > y.stride; });
  int64_t inner = 1;
  for (auto size : b.block_sizes) inner *= size;
  for (size_t i = 0; i < b.block_sizes.size(); ++i) {
    inner /= b.block_sizes[i];
    auto axis = static_cast<size_t>(b.block_axes[i]);
    block[axis] /= b.block_sizes[i];
    loops.push_back({static_cast<int>(axis), b.block_sizes[i], block[axis], inner});
  }
  std::erase_if(loops, [](const Loop& l) { return l.extent == 1; });
  return loops;
}

// An axis cut in two loops that follow each other is one loop.
void merge(std::vector<Loop>& loops) {
  for (size_t i = 1; i < loops.size();) {
    Loop &outer = loops[i - 1], &inner = loops[i];
    if (outer.axis == inner.axis && outer.step == inner.extent * inner.step) {
      outer = {outer.axis, outer.extent * inner.extent, inner.step, inner.stride};
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

bool dense(const Blocks& b, const std::vector<Loop>& loops) {
  int64_t expected = 1;
  for (size_t i = loops.size(); i-- > 0;) {
    if (loops[i].stride != expected) return false;
    expected *= loops[i].extent;
  }
  return b.dims == b.padded;
}

bool is_plain(const memory::desc& md) {
  if (!compat::is_blocked(md)) return false;
  Blocks b = compat::blocks_of(md);
  std::vector<Loop> loops = loops_of(b);
  if (!dense(b, loops)) return false;
  merge(loops);
  for (size_t i = 1; i < loops.size(); ++i)
    if (loops[i - 1].axis >= loops[i].axis) return false;
  return std::all_of(loops.begin(), loops.end(), [](const Loop& l) { return l.step == 1; });
}

bool same_loops(const std::vector<Loop>& a, const std::vector<Loop>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Loop& x, const Loop& y) {
    return x.axis == y.axis && x.extent == y.extent && x.step == y.step && x.stride == y.stride;
  });
}

class DnnlLayout final : public plan::LayoutDetail {
 public:
  explicit DnnlLayout(const memory::desc& md) : md_(md) {}
  const memory::desc& md() const { return md_; }

  bool equals(const LayoutDetail& other) const override {
    const auto* o = dynamic_cast<const DnnlLayout*>(&other);
    if (!o) return false;
    if (md_ == o->md_) return true;
    if (!compat::is_blocked(md_) || !compat::is_blocked(o->md_)) return false;
    Blocks a = compat::blocks_of(md_), b = compat::blocks_of(o->md_);
    return a.dims == b.dims && a.padded == b.padded && same_loops(loops_of(a), loops_of(b));
  }
  int64_t bytes() const override { return static_cast<int64_t>(md_.get_size()); }

  // oneDNN's way of writing it: the axes outermost first, a blocked one in upper case, then the blocks.
  std::string text() const override {
    if (!compat::is_blocked(md_)) return "opaque";
    Blocks b = compat::blocks_of(md_);
    size_t rank = b.dims.size();
    static constexpr const char* kNames[] = {"", "a", "nc", "ncw", "nchw", "ncdhw"};
    std::string letters = rank <= 5 ? kNames[rank] : std::string("abcdefghijkl").substr(0, rank), out;
    std::vector<size_t> order(rank);
    for (size_t i = 0; i < rank; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return b.strides[x] > b.strides[y]; });
    for (size_t axis : order) {
      bool cut = std::count(b.block_axes.begin(), b.block_axes.end(), static_cast<int64_t>(axis)) > 0;
      out += cut ? static_cast<char>(letters[axis] - 'a' + 'A') : letters[axis];
    }
    for (size_t i = 0; i < b.block_sizes.size(); ++i)
      out += std::to_string(b.block_sizes[i]) + letters[static_cast<size_t>(b.block_axes[i])];
    return out;
  }

 private:
  memory::desc md_;
};

}  // namespace

memory::dims to_dims(const Dims& dims) {
  return dims.rank() ? memory::dims(dims.begin(), dims.end()) : memory::dims{1};
}

memory::desc plain_desc(const Dims& dims) {
  // oneDNN wants non-zero strides even along an axis of extent 0.
  memory::dims d = to_dims(dims), strides(d.size(), 1);
  for (size_t i = d.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * std::max<int64_t>(d[i + 1], 1);
  return compat::strided(d, strides);
}

memory::desc any_desc(const Dims& dims) {
  return memory::desc(to_dims(dims), memory::data_type::f32, memory::format_tag::any);
}

Layout layout_of(const memory::desc& md) {
  if (is_plain(md)) return {};
  return {std::make_shared<DnnlLayout>(md)};
}

memory::desc desc_of(const Layout& layout, const Dims& dims) {
  if (layout.plain()) return plain_desc(dims);
  const auto* detail = dynamic_cast<const DnnlLayout*>(layout.detail.get());
  check(detail, "a value on the cpu lies in a layout of the cpu");
  check(compat::dims_of(detail->md()) == to_dims(dims), "a layout has the extents of its value");
  return detail->md();
}

Walk walk_of(const Layout& layout, const Dims& dims) {
  Walk walk;
  memory::desc md = desc_of(layout, dims);
  if (!compat::is_blocked(md)) return walk;
  Blocks b = compat::blocks_of(md);
  std::vector<Loop> loops = loops_of(b);
  walk.ok = dense(b, loops);
  for (const Loop& l : loops) walk.axes.push_back({l.axis, l.extent, l.step});
  return walk;
}

std::optional<Order> order_of(const Layout& layout, const Dims& dims) {
  Walk walk = walk_of(layout, dims);
  if (!walk.ok) return std::nullopt;
  Order order;
  for (const PhysicalAxis& a : walk.axes) {
    if (a.step != 1) return std::nullopt;
    order.push_back(a.axis);
  }
  return order;
}

Layout ordered_layout(const Order& order, const Dims& dims) {
  memory::dims strides(static_cast<size_t>(std::max(dims.rank(), 1)), 1);
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[static_cast<size_t>(order[i])] = stride;
    stride *= dims[order[i]];
  }
  return layout_of(compat::strided(to_dims(dims), strides));
}

}  // namespace hf::cpu

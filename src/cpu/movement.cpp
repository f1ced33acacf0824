// Slice, Split and Transpose of values that lie with their axes in another order: copies in that order, without
// conversions. Plain values are left to the references, which copy the same way.
#include "ops/movement.h"

#include <algorithm>

#include "base/convert.h"
#include "cpu/candidate.h"

namespace hf::cpu {
namespace {

// Boxes of one input, one an output. `dims` and the boxes are in the order of memory.
class BoxKernel final : public plan::Kernel {
 public:
  struct Box {
    Dims start, step, extent;
  };
  BoxKernel(const Dims& dims, std::vector<Box> boxes, std::string text)
      : dims_(dims), boxes_(std::move(boxes)), text_(std::move(text)) {}

  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void*) const override {
    Tensor from = Tensor::view(DType::F32, dims_, inputs[0]);
    Dims strides = dims_.strides();
    for (size_t i = 0; i < boxes_.size(); ++i) {
      if (!outputs[i]) continue;
      const Box& b = boxes_[i];
      Tensor to = Tensor::view(DType::F32, b.extent, outputs[i]);
      Dims steps = strides;
      int64_t at = 0;
      for (int a = 0; a < dims_.rank(); ++a) {
        at += b.start[a] * strides[a];
        steps[a] *= b.step[a];
      }
      ops::copy_strided(from, at, to, 0, ops::copy_axes(b.extent, steps, b.extent.strides()));
    }
  }
  std::string text() const override { return text_; }

 private:
  Dims dims_;
  std::vector<Box> boxes_;
  std::string text_;
};

Dims reordered(const Dims& dims, const Order& order) {
  Dims out;
  for (int a : order) out.push_back(dims[a]);
  return out;
}

// All axes, those of one element first.
std::optional<Order> whole_order(const Request& r) {
  Dims dims = r.dims(0);
  auto order = order_of(r.layout(0), dims);
  if (!order) return std::nullopt;
  for (int a = dims.rank() - 1; a >= 0; --a)
    if (std::find(order->begin(), order->end(), a) == order->end()) order->insert(order->begin(), a);
  return order;
}

std::optional<Refusal> refuse(const Request& r) {
  if (r.node.input(0)->dtype != DType::F32) return Refusal{"not float32"};
  if (r.empty() || r.node.epilogue) return Refusal{"no elements, or an epilogue"};
  if (r.layout(0).plain()) return Refusal{"it lies plain"};
  for (size_t i = 1; i < r.node.inputs().size(); ++i)
    if (r.has(static_cast<int>(i)) && !r.constant(static_cast<int>(i))) return Refusal{"positions at run time"};
  return std::nullopt;
}

plan::Prepared boxes(const Request& r, const Order& order, std::vector<BoxKernel::Box> boxes) {
  plan::Prepared p;
  p.inputs = {r.layout(0)};
  p.absorbed.assign(r.node.inputs().size(), true);
  p.absorbed[0] = false;
  for (size_t i = 0; i < boxes.size(); ++i) {
    const ir::Value* v = r.node.outputs()[i];
    p.outputs.push_back(v ? ordered_layout(order, v->shape.get()) : Layout{});
    for (Dims* d : {&boxes[i].start, &boxes[i].step, &boxes[i].extent}) *d = reordered(*d, order);
  }
  p.kernel = std::make_unique<BoxKernel>(reordered(r.dims(0), order), std::move(boxes), r.node.op + " by copying");
  return p;
}

}  // namespace

Answer try_slice(const Request& r) {
  if (auto no = refuse(r)) return *no;
  auto order = whole_order(r);
  if (!order) return Refusal{"blocked"};
  Dims dims = r.dims(0);
  std::vector<int64_t> starts = to_ints(*r.constant(1)), axes, steps;
  if (r.has(3))
    axes = to_ints(*r.constant(3));
  else
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  steps = r.has(4) ? to_ints(*r.constant(4)) : std::vector<int64_t>(starts.size(), 1);
  BoxKernel::Box box{Dims::filled(dims.rank(), 0), Dims::filled(dims.rank(), 1), r.out_dims()};
  for (size_t i = 0; i < starts.size(); ++i) {
    int a = normalize_axis(axes[i], dims.rank());
    if (steps[i] <= 0) return Refusal{"backwards"};
    int64_t start = starts[i] < 0 ? starts[i] + dims[a] : starts[i];
    box.start[a] = std::clamp<int64_t>(start, 0, dims[a] - 1);
    box.step[a] = steps[i];
  }
  return boxes(r, *order, {box});
}

Answer try_split(const Request& r) {
  if (auto no = refuse(r)) return *no;
  auto order = whole_order(r);
  if (!order) return Refusal{"blocked"};
  Dims dims = r.dims(0);
  int axis = normalize_axis(r.node.i("axis"), dims.rank());
  std::vector<BoxKernel::Box> all;
  int64_t at = 0;
  for (const ir::Value* v : r.node.outputs()) {
    if (!v) return Refusal{"a part that is not wanted"};
    BoxKernel::Box box{Dims::filled(dims.rank(), 0), Dims::filled(dims.rank(), 1), v->shape.get()};
    box.start[axis] = at;
    at += box.extent[axis];
    all.push_back(box);
  }
  return boxes(r, *order, std::move(all));
}

Answer try_transpose(const Request& r) {
  if (auto no = refuse(r)) return *no;
  auto order = order_of(r.layout(0), r.dims(0));
  if (!order) return Refusal{"blocked"};
  Order wanted;  // the axes of more than one element, as the output has them
  Dims dims = r.dims(0);
  std::vector<int64_t> perm = r.node.ints_or_empty("perm");
  if (perm.empty()) return Refusal{"it lies in another order"};
  for (int64_t a : perm)
    if (dims[static_cast<int>(a)] != 1) wanted.push_back(static_cast<int>(a));
  if (wanted != *order) return Refusal{"it lies in another order"};
  plan::Prepared p;
  p.inputs = {r.layout(0)};
  p.alias = 0;
  return p;
}

}  // namespace hf::cpu

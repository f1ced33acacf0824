// Concat: pieces copied side by side, in whatever order of axes the inputs lie; blocked layouts through oneDNN.
#include <algorithm>
#include <cstring>

#include "cpu/candidate.h"
#include "ops/op.h"

namespace hf::cpu {
namespace {

class ConcatKernel final : public plan::Kernel {
 public:
  // Input i gives chunks[i] bytes to each of `outer` rows.
  ConcatKernel(int64_t outer, std::vector<int64_t> chunks) : outer_(outer), chunks_(std::move(chunks)) {
    for (int64_t c : chunks_) row_ += c;
  }

  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void*) const override {
    auto* to = static_cast<char*>(outputs[0]);
    if (outer_ > 1) {
      ops::parallel_for(outer_, static_cast<double>(row_) * 0.1, [&](int64_t from, int64_t end) {
        for (int64_t o = from; o < end; ++o) {
          char* at = to + o * row_;
          for (size_t i = 0; i < chunks_.size(); at += chunks_[i++])
            std::memcpy(at, static_cast<const char*>(inputs[i]) + o * chunks_[i], static_cast<size_t>(chunks_[i]));
        }
      });
      return;
    }
    for (size_t i = 0; i < chunks_.size(); to += chunks_[i++]) {
      const char* from = static_cast<const char*>(inputs[i]);
      ops::parallel_for((chunks_[i] + kPiece - 1) / kPiece, kPiece * 0.1, [&](int64_t begin, int64_t end) {
        int64_t bytes = std::min(end * kPiece, chunks_[i]) - begin * kPiece;
        std::memcpy(to + begin * kPiece, from + begin * kPiece, static_cast<size_t>(bytes));
      });
    }
  }
  std::string text() const override { return "concat by copying"; }

 private:
  static constexpr int64_t kPiece = 16384;
  int64_t outer_, row_ = 0;
  std::vector<int64_t> chunks_;
};

// All axes in the order of the first input that does not lie plain; plain if there is none.
Order common_order(const Request& r) {
  Order all;
  for (int i = 0; i < r.dims(0).rank(); ++i) all.push_back(i);
  for (size_t i = 0; i < r.node.inputs().size(); ++i) {
    Layout layout = r.layout(static_cast<int>(i));
    if (layout.plain()) continue;
    auto order = order_of(layout, r.dims(static_cast<int>(i)));
    if (!order) continue;
    for (int a : all)  // those of extent 1 lie anywhere: outermost, then
      if (std::find(order->begin(), order->end(), a) == order->end()) order->insert(order->begin(), a);
    return *order;
  }
  return all;
}

bool any_empty(const Request& r) {
  return std::any_of(r.node.inputs().begin(), r.node.inputs().end(),
                     [](const ir::Value* v) { return v->shape.count() == 0; });
}

bool any_blocked(const Request& r) {
  for (size_t i = 0; i < r.node.inputs().size(); ++i)
    if (Layout l = r.layout(static_cast<int>(i)); !l.plain() && !order_of(l, r.dims(static_cast<int>(i)))) return true;
  return false;
}

}  // namespace

Answer try_concat(const Request& r) {
  const ir::Node& n = r.node;
  if (n.epilogue) return Refusal{"an epilogue"};
  if (bits(n.output()->dtype) < 8 || n.output()->dtype == DType::String) return Refusal{"not whole bytes"};
  if (any_empty(r)) return Refusal{"an input without elements"};
  if (any_blocked(r)) return Refusal{"blocked inputs"};
  int axis = normalize_axis(n.i("axis"), r.dims(0).rank());
  bool f32 = n.output()->dtype == DType::F32;
  Order order = common_order(r);
  plan::Prepared p;
  std::vector<int64_t> chunks;
  int64_t outer = 1;
  Dims out = r.out_dims();
  auto at = std::find(order.begin(), order.end(), axis);
  for (auto i = order.begin(); i != at; ++i) outer *= out[*i];
  for (size_t i = 0; i < n.inputs().size(); ++i) {
    Dims dims = r.dims(static_cast<int>(i));
    chunks.push_back(dims.count() / outer * bits(n.output()->dtype) / 8);
    p.inputs.push_back(f32 ? ordered_layout(order, dims) : Layout{});
  }
  p.outputs = {f32 ? ordered_layout(order, out) : Layout{}};
  p.kernel = std::make_unique<ConcatKernel>(outer, std::move(chunks));
  return p;
}

Answer try_concat_blocked(const Request& r) {
  if (!r.all_f32()) return Refusal{"not float32"};
  if (any_empty(r) || r.node.epilogue) return Refusal{"no elements, or an epilogue"};
  std::vector<memory::desc> srcs;
  for (size_t i = 0; i < r.node.inputs().size(); ++i) {
    Dims dims = r.dims(static_cast<int>(i));
    srcs.push_back(desc_of(r.layout(static_cast<int>(i)), dims));
  }
  auto pd = compat::concat(normalize_axis(r.node.i("axis"), r.dims(0).rank()), srcs, user_scratchpad());
  if (!pd) return Refusal{"onednn has no implementation"};
  plan::Prepared p;
  auto kernel = std::make_unique<DnnlKernel>("onednn concat " + std::string(pd->impl_info_str()));
  Call call{dnnl::concat(*pd), {{DNNL_ARG_DST, pd->dst_desc(), Arg::Output, 0}}};
  for (size_t i = 0; i < srcs.size(); ++i) {
    call.args.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), srcs[i], Arg::Input, static_cast<int64_t>(i)});
    p.inputs.push_back(layout_of(srcs[i]));
  }
  kernel->add_scratchpad(call, pd->scratchpad_desc());
  kernel->add(std::move(call));
  p.outputs = {layout_of(pd->dst_desc())};
  p.scratch_bytes = kernel->scratch_bytes();
  p.kernel = std::move(kernel);
  return p;
}

}  // namespace hf::cpu

// Pooling and local response normalisation through oneDNN.
#include "cpu/geometry.h"

namespace hf::cpu {
namespace {

std::optional<Refusal> refuse(const Request& r) {
  if (!r.all_f32()) return Refusal{"not float32"};
  if (r.empty()) return Refusal{"no elements"};
  if (r.node.epilogue) return Refusal{"an epilogue"};
  int rank = r.dims(0).rank();
  if (rank < 3 || rank > 5) return Refusal{fmt::format("rank {}", rank)};
  return std::nullopt;
}

Answer prepared(const compat::Ready& ready, std::string name) {
  plan::Prepared p;
  auto kernel = simple_kernel(ready, std::move(name));
  p.inputs = {layout_of(ready.src)};
  p.outputs = {layout_of(ready.dst)};
  p.scratch_bytes = kernel->scratch_bytes();
  p.kernel = std::move(kernel);
  return p;
}

bool is_slow(const compat::Ready& ready) { return ready.implementation.find("ref") != std::string::npos; }

}  // namespace

Answer try_pool(const Request& r) {
  if (auto no = refuse(r)) return *no;
  if (r.node.output(1)) return Refusal{"indices are wanted"};
  const std::vector<int64_t>& kernel = r.node.ints("kernel_shape");
  compat::Window w = window_of(r, kernel);
  bool max = r.node.is("MaxPool"), include = !max && r.node.i("count_include_pad") != 0;
  std::vector<int64_t> pads = r.node.ints_or_empty("pads");
  for (size_t i = 0; i < kernel.size(); ++i) {
    int64_t extent = (kernel[i] - 1) * (w.dilations[i] + 1) + 1;
    if (w.pads_begin[i] >= extent || w.pads_end[i] >= extent) return Refusal{"windows that see only padding"};
    // What ceil_mode adds beyond the padding is not counted, but oneDNN would.
    bool explicit_pads = r.node.s("auto_pad") == "NOTSET";
    int64_t end = pads.empty() ? 0 : pads[i + kernel.size()];
    if (include && explicit_pads && w.pads_end[i] > end) return Refusal{"ceil_mode with counted padding"};
  }
  auto how = max       ? dnnl::algorithm::pooling_max
             : include ? dnnl::algorithm::pooling_avg_include_padding
                       : dnnl::algorithm::pooling_avg_exclude_padding;
  auto ready = compat::pooling(how, w, desc_of(r.layout(0), r.dims(0)), any_desc(r.out_dims()), user_scratchpad());
  if (!ready) return Refusal{"onednn has no implementation"};
  if (is_slow(*ready)) return Refusal{"onednn has only its reference"};
  return prepared(*ready, "pooling");
}

Answer try_lrn(const Request& r) {
  if (auto no = refuse(r)) return *no;
  int64_t size = r.node.i("size");
  if (size % 2 == 0) return Refusal{"even size"};
  memory::desc given = desc_of(r.layout(0), r.dims(0)), plain = plain_desc(r.dims(0));
  for (const memory::desc& src : {given, plain}) {
    auto ready = compat::lrn(size, r.node.f("alpha"), r.node.f("beta"), r.node.f("bias"), src, user_scratchpad());
    if (ready && !is_slow(*ready)) return prepared(*ready, "lrn");
  }
  return Refusal{"onednn has only its reference"};
}

}  // namespace hf::cpu

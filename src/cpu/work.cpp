// How much work a node is.
#include "cpu/work.h"

#include <string_view>

namespace hf::cpu {
namespace {

constexpr double kMacsPerNs = 50, kBytesPerNs = 10;

double elements(const ir::Value* v) { return v ? static_cast<double>(v->shape.get().count()) : 0; }

// Multiply-accumulates an element of output 0 (of input 0 for a transposed convolution); 0 if it is no product.
double macs(const ir::Node& n) {
  auto per_channel = [&] {
    Dims w = n.input(1)->shape.get();
    return w[0] ? static_cast<double>(w.count()) / static_cast<double>(w[0]) : 0;
  };
  if (n.op == "Conv") return elements(n.output()) * per_channel();
  if (n.op == "ConvTranspose") return elements(n.input(0)) * per_channel();
  if (n.op != "MatMul" && n.op != "Gemm" && n.op != "FusedMatMul") return 0;
  Dims a = n.input(0)->shape.get();
  bool transposed = n.has("transA") && n.i("transA") && a.rank() > 1;
  return a.rank() ? elements(n.output()) * static_cast<double>(transposed ? a[a.rank() - 2] : a.back()) : 0;
}

}  // namespace

double work_ns(const ir::Node& node) {
  double bytes = 0;
  for (const ir::Value* v : node.inputs())
    if (v) bytes += elements(v) * bits(v->dtype) / 8;
  for (const ir::Value* v : node.outputs())
    if (v) bytes += elements(v) * bits(v->dtype) / 8;
  return macs(node) / kMacsPerNs + bytes / kBytesPerNs;
}

}  // namespace hf::cpu

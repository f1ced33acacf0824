// The ordered table of candidates: what is tried for each operator, best first. Order is the policy.
#include "cpu/candidates.h"

#include "ops/pointwise.h"

namespace hf::cpu {
namespace {

struct Entry {
  std::string_view op, domain;
  Candidate candidate;
};

constexpr std::string_view kMicrosoft = "com.microsoft";

constexpr Entry kTable[] = {
    {"AveragePool", "", {"onednn pooling", try_pool}},
    {"Concat", "", {"copying", try_concat}},
    {"Concat", "", {"onednn concat", try_concat_blocked}},
    {"Conv", "", {"onednn convolution", try_conv}},
    {"ConvTranspose", "", {"onednn deconvolution", try_conv_transpose}},
    {"Dropout", "", {"alias", try_alias}},
    {"Flatten", "", {"alias", try_alias}},
    {"FusedMatMul", kMicrosoft, {"onednn matmul", try_matmul}},
    {"Gemm", "", {"onednn matmul", try_matmul}},
    {"GlobalAveragePool", "", {"simd", try_reduce}},
    {"GlobalMaxPool", "", {"simd", try_reduce}},
    {"Identity", "", {"alias", try_alias}},
    {"LRN", "", {"onednn lrn", try_lrn}},
    {"LayerNormalization", "", {"simd", try_layer_norm}},
    {"LogSoftmax", "", {"simd", try_softmax}},
    {"MatMul", "", {"onednn matmul", try_matmul}},
    {"MaxPool", "", {"onednn pooling", try_pool}},
    {"Pointwise", "hipforge", {"simd", try_pointwise}},
    {"ReduceMax", "", {"simd", try_reduce}},
    {"ReduceMean", "", {"simd", try_reduce}},
    {"ReduceSum", "", {"simd", try_reduce}},
    {"Reshape", "", {"alias", try_alias}},
    {"Resize", "", {"simd", try_resize}},
    {"Slice", "", {"copying", try_slice}},
    {"Softmax", "", {"simd", try_softmax}},
    {"Split", "", {"copying", try_split}},
    {"Squeeze", "", {"alias", try_alias}},
    {"Transpose", "", {"alias", try_transpose}},
    {"Unsqueeze", "", {"alias", try_alias}},
};

}  // namespace

std::vector<Candidate> candidates_for(const ir::Node& node) {
  std::vector<Candidate> all;
  for (const Entry& e : kTable)
    if (node.is(e.op, e.domain)) all.push_back(e.candidate);
  if (node.domain.empty() && ops::find_pointwise(node.op)) all.push_back({"simd", try_pointwise});
  all.push_back({"reference", try_reference});
  return all;
}

}  // namespace hf::cpu

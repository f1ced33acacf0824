// What is tried for each operator, in order.
#include "lower/table.h"

#include "ops/pointwise.h"

namespace hf::lower {
namespace {

constexpr Row kRows[] = {
    {"ArgMax", "", "arg reduce", lower_arg_reduce},
    {"ArgMin", "", "arg reduce", lower_arg_reduce},
    {"Attention", "", "attention", lower_attention},
    {"AveragePool", "", "pool", lower_pool, true},
    {"BatchNormalization", "", "batch norm", lower_batch_norm},
    {"Cast", "", "pointwise", lower_pointwise, true},
    {"CastLike", "", "pointwise", lower_pointwise, true},
    {"CenterCropPad", "", "copy", lower_center_crop_pad},
    {"Concat", "", "copies", lower_concat},
    // Also the matrix product takes depthwise convolutions, several groups at once and mostly zeros.
    {"Conv", "", "depthwise", lower_depthwise, true},
    {"Conv", "", "conv", lower_conv, true},
    {"Conv", "", "direct", lower_direct_conv, true},
    {"ConvInteger", "", "integer conv", lower_integer_conv},
    {"ConvShortcut", "hipforge", "conv", lower_conv_shortcut, true},
    {"ConvTranspose", "", "direct", lower_direct_conv_transpose, true},
    {"CumProd", "", "scan", lower_cumulative},
    {"CumSum", "", "scan", lower_cumulative},
    {"DepthToSpace", "", "copy", lower_depth_space},
    {"DequantizeLinear", "", "dequantize", lower_dequantize},
    {"Dropout", "", "alias", lower_dropout},
    {"DynamicQuantizeLinear", "", "dynamic quantize", lower_dynamic_quantize},
    {"Einsum", "", "batched gemm", lower_einsum},
    {"EmbedLayerNormalization", "com.microsoft", "embedding", lower_embed_layer_norm},
    {"Expand", "", "copy", lower_expand},
    {"Flatten", "", "alias", lower_alias},
    {"FusedMatMul", "com.microsoft", "gemm", lower_constant_matmul, true},
    {"FusedMatMul", "com.microsoft", "batched gemm", lower_matmul, true},
    {"GRU", "", "recurrent", lower_recurrent},
    {"Gather", "", "gather", lower_gather},
    {"GatherElements", "", "gather", lower_gather_elements},
    {"GatherND", "", "gather", lower_gather_nd},
    {"Gemm", "", "gemm", lower_constant_gemm, true},
    {"Gemm", "", "batched gemm", lower_gemm, true},
    {"GlobalAveragePool", "", "reduce", lower_global_pool, true},
    {"GlobalLpPool", "", "reduce", lower_global_pool, true},
    {"GlobalMaxPool", "", "reduce", lower_global_pool, true},
    {"GridSample", "", "grid sample", lower_grid_sample},
    {"GroupNormalization", "", "channel norm", lower_group_norm_channels, true},
    {"GroupNormalization", "", "row norm", lower_group_norm_rows},
    {"GroupQueryAttention", "com.microsoft", "attention", lower_group_query_attention},
    {"Hardmax", "", "arg reduce", lower_hardmax},
    {"Identity", "", "alias", lower_identity},
    {"Identity", "", "alias", lower_alias},
    {"InstanceNormalization", "", "channel norm", lower_group_norm_channels, true},
    {"InstanceNormalization", "", "row norm", lower_group_norm_rows},
    {"LRN", "", "lrn", lower_lrn},
    {"LSTM", "", "recurrent", lower_recurrent},
    {"LayerNormalization", "", "row norm", lower_layer_norm, true},
    {"LogSoftmax", "", "softmax", lower_softmax},
    {"LpNormalization", "", "row norm", lower_lp_norm},
    {"LpPool", "", "pool", lower_pool, true},
    {"MatMul", "", "gemm", lower_constant_matmul, true},
    {"MatMul", "", "batched gemm", lower_matmul, true},
    {"MatMulInteger", "", "integer gemm", lower_integer_matmul},
    {"MaxPool", "", "pool", lower_pool, true},
    {"Mean", "", "pointwise", lower_pointwise, true},
    {"MeanVarianceNormalization", "", "row norm", lower_mean_variance},
    {"MultiHeadAttention", "com.microsoft", "attention", lower_multi_head_attention},
    {"OneHot", "", "one hot", lower_one_hot},
    {"Pad", "", "copy", lower_pad},
    {"Pointwise", "hipforge", "pointwise", lower_pointwise, true},
    {"QLinearConv", "", "integer conv", lower_integer_conv},
    {"QLinearMatMul", "", "integer gemm", lower_integer_matmul},
    {"QuantizeLinear", "", "quantize", lower_quantize},
    {"RMSNormalization", "", "row norm", lower_rms_norm, true},
    {"RNN", "", "recurrent", lower_recurrent},
    {"ReduceL1", "", "reduce", lower_reduce, true},
    {"ReduceL2", "", "reduce", lower_reduce, true},
    {"ReduceLogSum", "", "reduce", lower_reduce, true},
    {"ReduceLogSumExp", "", "reduce", lower_reduce, true},
    {"ReduceMax", "", "reduce", lower_reduce, true},
    {"ReduceMean", "", "reduce", lower_reduce, true},
    {"ReduceMin", "", "reduce", lower_reduce, true},
    {"ReduceProd", "", "reduce", lower_reduce, true},
    {"ReduceSum", "", "reduce", lower_reduce, true},
    {"ReduceSumSquare", "", "reduce", lower_reduce, true},
    {"Reshape", "", "alias", lower_alias},
    {"Resize", "", "resize", lower_resize, true},
    {"RotaryEmbedding", "", "rotary", lower_rotary},
    {"RotaryEmbedding", "com.microsoft", "rotary", lower_rotary},
    {"ScatterElements", "", "scatter", lower_scatter_elements},
    {"ScatterND", "", "scatter", lower_scatter_nd},
    {"Slice", "", "copy", lower_slice},
    {"Softmax", "", "softmax", lower_softmax},
    {"SpaceToDepth", "", "copy", lower_depth_space},
    {"Split", "", "copies", lower_split},
    {"Squeeze", "", "alias", lower_alias},
    {"StridedAttention", "hipforge", "attention", lower_strided_attention},
    {"Tile", "", "copy", lower_tile},
    {"TopK", "", "topk", lower_topk},
    {"Transpose", "", "alias", lower_transpose_alias},
    {"Transpose", "", "copy", lower_transpose},
    {"Trilu", "", "trilu", lower_trilu},
    {"Unsqueeze", "", "alias", lower_alias},
};

}  // namespace

std::vector<Row> rows_for(const ir::Node& node) {
  std::vector<Row> rows;
  for (const Row& row : kRows)
    if (node.is(row.op, row.domain)) rows.push_back(row);
  if (node.domain.empty() && ops::find_pointwise(node.op))
    rows.push_back({node.op, "", "pointwise", lower_pointwise, true});
  return rows;
}

}  // namespace hf::lower

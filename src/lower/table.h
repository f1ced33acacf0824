// The lowerings that there are, each in the file of its family. All throw nothing for a node that infer accepted.
#pragma once
#include "lower/lowering.h"

namespace hf::lower {

Answer lower_alias(const Request& r);  // alias.cpp: operators that change extents only
Answer lower_identity(const Request& r);
Answer lower_dropout(const Request& r);
Answer lower_gather(const Request& r);  // gather.cpp
Answer lower_gather_elements(const Request& r);
Answer lower_gather_nd(const Request& r);
Answer lower_scatter_elements(const Request& r);  // scatter.cpp
Answer lower_scatter_nd(const Request& r);
Answer lower_cumulative(const Request& r);  // patterns.cpp
Answer lower_one_hot(const Request& r);
Answer lower_trilu(const Request& r);
// movement.cpp, pad.cpp: strided copies
Answer lower_center_crop_pad(const Request& r);
Answer lower_concat(const Request& r);
Answer lower_depth_space(const Request& r);
Answer lower_expand(const Request& r);
Answer lower_pad(const Request& r);
Answer lower_slice(const Request& r);
Answer lower_split(const Request& r);
Answer lower_tile(const Request& r);
Answer lower_transpose(const Request& r);
Answer lower_constant_gemm(const Request& r);  // gemm.cpp: products with a constant matrix
Answer lower_constant_matmul(const Request& r);
Answer lower_conv(const Request& r);  // conv.cpp
Answer lower_conv_shortcut(const Request& r);
Answer lower_depthwise(const Request& r);  // depthwise.cpp
Answer lower_einsum(const Request& r);     // einsum.cpp
Answer lower_gemm(const Request& r);       // matmul.cpp: products of two run-time operands
Answer lower_pointwise(const Request& r);  // pointwise.cpp: elementwise operators, casts, programs
Answer lower_matmul(const Request& r);
// direct_conv.cpp
Answer lower_direct_conv(const Request& r);
Answer lower_direct_conv_transpose(const Request& r);
Answer lower_softmax(const Request& r);     // softmax.cpp
Answer lower_layer_norm(const Request& r);  // row_norm.cpp: normalisations of contiguous rows
Answer lower_rms_norm(const Request& r);
Answer lower_group_norm_channels(const Request& r);
Answer lower_group_norm_rows(const Request& r);  // also InstanceNormalization
Answer lower_lp_norm(const Request& r);
Answer lower_mean_variance(const Request& r);
Answer lower_reduce(const Request& r);  // reduce.cpp
Answer lower_global_pool(const Request& r);
// attention.cpp
Answer lower_grid_sample(const Request& r);        // grid_sample.cpp
Answer lower_pool(const Request& r);               // pool.cpp
Answer lower_recurrent(const Request& r);          // recurrent.cpp
Answer lower_resize(const Request& r);             // resize.cpp
Answer lower_strided_attention(const Request& r);  // attention.cpp
Answer lower_arg_reduce(const Request& r);         // select.cpp
Answer lower_hardmax(const Request& r);
Answer lower_topk(const Request& r);
// integer.cpp
Answer lower_integer_matmul(const Request& r);
Answer lower_integer_conv(const Request& r);
// quantize.cpp
Answer lower_arg_reduce(const Request& r);  // select.cpp
Answer lower_attention(const Request& r);
Answer lower_dequantize(const Request& r);
Answer lower_dynamic_quantize(const Request& r);
Answer lower_grid_sample(const Request& r);  // grid_sample.cpp
Answer lower_group_query_attention(const Request& r);
Answer lower_hardmax(const Request& r);
Answer lower_multi_head_attention(const Request& r);
Answer lower_pool(const Request& r);  // pool.cpp
Answer lower_quantize(const Request& r);
Answer lower_recurrent(const Request& r);  // recurrent.cpp
Answer lower_resize(const Request& r);     // resize.cpp
Answer lower_rotary(const Request& r);
Answer lower_strided_attention(const Request& r);  // attention.cpp
Answer lower_topk(const Request& r);
Answer lower_batch_norm(const Request& r);  // batch_norm.cpp
Answer lower_lrn(const Request& r);
Answer lower_embed_layer_norm(const Request& r);  // embed_layer_norm.cpp

/// transpose_alias.cpp: transposes that move no byte
Answer lower_transpose_alias(const Request& r);

}  // namespace hf::lower

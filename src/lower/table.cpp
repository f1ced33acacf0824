// What is tried for each operator, in order.
#include "lower/table.h"

namespace hf::lower {
namespace {

constexpr Row kRows[] = {
    {"Conv", "", "depthwise", lower_depthwise, true},
    {"Conv", "", "direct", lower_direct_conv, true},
    {"ConvTranspose", "", "direct", lower_direct_conv_transpose, true},
    {"FusedMatMul", "com.microsoft", "batched gemm", lower_matmul, true},
    {"Gemm", "", "batched gemm", lower_gemm, true},
    {"Identity", "", "alias", lower_alias},
    {"MatMul", "", "batched gemm", lower_matmul, true},
};

}  // namespace

std::vector<Row> rows_for(const ir::Node& node) {
  std::vector<Row> rows;
  for (const Row& row : kRows)
    if (node.is(row.op, row.domain)) rows.push_back(row);
  return rows;
}

}  // namespace hf::lower

// What is tried for each operator, in order.
#include "lower/table.h"

namespace hf::lower {
namespace {

constexpr Row kRows[] = {
    {"Conv", "", "depthwise", lower_depthwise, true},
    {"Identity", "", "alias", lower_alias},
};

}  // namespace

std::vector<Row> rows_for(const ir::Node& node) {
  std::vector<Row> rows;
  for (const Row& row : kRows)
    if (node.is(row.op, row.domain)) rows.push_back(row);
  return rows;
}

}  // namespace hf::lower

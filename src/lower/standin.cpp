// Stands in until lower_node.cpp and the conversion of layouts are here: whoever lands one of them deletes its part.
#include "lower/table.h"
namespace hf::lower {
Answer lower_node(const Request& r) {
  std::string why;
  for (const Row& row : rows_for(r.node)) {
    if (r.node.epilogue && !row.takes_epilogue) return Refusal{"epilogue"};
    auto a = row.lower(r);
    if (!std::holds_alternative<Refusal>(a)) return a;
    why += std::get<Refusal>(a).reason;
  }
  return Refusal{why.empty() ? "no kernel" : why};
}
}  // namespace hf::lower

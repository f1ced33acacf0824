// The list of supported operators.
#include "session/operators.h"

#include <algorithm>
#include <tuple>

#include "cpu/backend.h"
#include "ops/pointwise.h"

namespace hf {

std::vector<OperatorInfo> operators() {
  std::vector<OperatorInfo> all;
  for (const ops::OpDef* op : ops::all_ops()) {
    if (op->domain == "hipforge") continue;
    OperatorInfo info;
    info.domain = op->domain;
    info.name = op->name;
    info.since = op->since;
    info.until = op->until == ops::kNewest ? 0 : op->until;
    info.elementwise = op->domain.empty() && ops::find_pointwise(op->name) != nullptr;
    info.cpu = cpu::kernel_names(op->name, op->domain);
    if (!op->reference) info.cpu = {"rewritten at load"};
    all.push_back(std::move(info));
  }
  std::sort(all.begin(), all.end(), [](const OperatorInfo& a, const OperatorInfo& b) {
    return std::tie(a.domain, a.name) < std::tie(b.domain, b.name);
  });
  return all;
}

}  // namespace hf

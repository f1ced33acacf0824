// Offsets for buffers whose lifetimes are known.
#include <algorithm>
#include <numeric>

#include "plan/plan.h"

namespace hf::plan {

int64_t assign_offsets(std::vector<Lifetime>& buffers, int64_t alignment) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  auto rounded = [&](int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  std::vector<size_t> placed;  // sorted by offset
  int64_t total = 0;
  for (size_t i : order) {
    Lifetime& b = buffers[i];
    int64_t at = 0;
    for (size_t j : placed) {
      const Lifetime& p = buffers[j];
      if (p.last < b.first || b.last < p.first) continue;
      if (at + rounded(b.bytes) <= p.offset) break;
      at = std::max(at, p.offset + rounded(p.bytes));
    }
    b.offset = at;
    total = std::max(total, at + rounded(b.bytes));
    auto later = [&](size_t x, size_t y) { return buffers[x].offset < buffers[y].offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i, later), i);
  }
  return total;
}

}  // namespace hf::plan

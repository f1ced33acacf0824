// Reductions: from axes to launches.
#include "kernel/reduce.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/error.h"
#include "kernel/epilogue_text.h"
#include "kernel/reduce_text.h"
#include "kernel/rows.h"

namespace hf::kernel {
namespace {

constexpr int kThreads = 256;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t power_of_two(int64_t n) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n))); }

// One launch: [outer, reduced, inner], where the inner extent has `pitch` elements in memory (the reduced one if inner
// is 1); `pieces` of the reduced axis stay apart.
struct Stage {
  int64_t outer = 1, reduced = 1, inner = 1, pitch = 1, pieces = 1;
  bool from_states = false, to_states = false;
};

class Builder {
 public:
  Builder(const ReduceProblem& p, const Target& target) : p_(p), target_(target) {
    for (const ReduceAxis& a : p.axes) count_ *= a.reduced ? a.extent : 1;
    state_bytes_ = p.op == ReduceOp::LogSumExp || p.integer_bits == 64 ? 8 : 4;
  }

  std::vector<Candidates> build() {
    std::vector<ReduceAxis> axes = merged();
    bool first = true;
    for (;;) {
      // The innermost run of reduced axes first: it shrinks most what the others read.
      size_t at = axes.size();
      while (at > 0 && !axes[at - 1].reduced) --at;
      if (at == 0) break;
      --at;
      Stage s{.reduced = axes[at].extent, .from_states = !first};
      for (size_t i = 0; i < at; ++i) s.outer *= axes[i].extent;
      for (size_t i = at + 1; i < axes.size(); ++i) s.inner *= axes[i].extent;
      s.pitch = first && p_.pitch ? p_.pitch : s.inner == 1 ? s.reduced : s.inner;
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(at));
      const bool more = std::any_of(axes.begin(), axes.end(), [](const ReduceAxis& a) { return a.reduced; });
      add(s, more);
      first = false;
    }
    place();
    return std::move(launches_);
  }

 private:
  // Without axes of one element and with neighbours of a kind as one; one reduced axis at the least. With a pitch the
  // last axis stays apart.
  std::vector<ReduceAxis> merged() const {
    std::vector<ReduceAxis> axes;
    const size_t merging = p_.axes.size() - (p_.pitch ? 1 : 0);
    for (size_t i = 0; i < merging; ++i) {
      const ReduceAxis& a = p_.axes[i];
      if (a.extent == 1) continue;
      if (!axes.empty() && axes.back().reduced == a.reduced)
        axes.back().extent *= a.extent;
      else
        axes.push_back(a);
    }
    if (p_.pitch) {
      const bool apart = p_.axes.back().reduced || (!axes.empty() && axes.back().reduced);
      if (!apart) axes.push_back({.extent = 1, .reduced = true});
      axes.push_back(p_.axes.back());
    }
    if (std::none_of(axes.begin(), axes.end(), [](const ReduceAxis& a) { return a.reduced; }))
      axes.push_back({.extent = 1, .reduced = true});
    return axes;
  }

  int vector_of_stage(const Stage& s) const {
    if (s.from_states || p_.integer_bits) return 1;
    const int64_t together = s.inner == 1 ? std::gcd(s.reduced, s.pitch) : s.pitch;
    return row_vector(together, p_.in, p_.in);
  }

  void add(Stage s, bool more) {
    const int64_t wanted = int64_t{4} * target_.compute_units;
    // Blocks without pieces; and the least that a piece is worth a launch of its own for.
    const int64_t blocks = s.inner == 1 ? s.outer : s.outer * divide_up(s.pitch, 32 * vector_of_stage(s));
    const int64_t least = s.inner == 1 ? 4096 : 128;
    if (blocks * 2 < wanted)
      s.pieces = std::clamp<int64_t>(wanted / blocks, 1, std::max<int64_t>(s.reduced / least, 1));
    s.to_states = more || s.pieces > 1;
    launches_.push_back(s.inner == 1 ? rows(s) : columns(s));
    if (s.pieces == 1) return;
    Stage join{.outer = s.outer, .reduced = s.pieces, .inner = s.inner, .from_states = true, .to_states = more};
    join.pitch = join.inner == 1 ? join.reduced : join.inner;
    launches_.push_back(join.inner == 1 ? rows(join) : columns(join));
  }

  KernelSpec make(const Stage& s, const char* entry, std::string text, int vec, int threads) {
    KernelSpec spec{.family = "reduce",
                    .entry = entry,
                    .block = {static_cast<uint32_t>(threads), 1, 1},
                    .arguments = {s.from_states ? Argument::workspace() : Argument::input(0),
                                  s.to_states ? Argument::workspace() : Argument::output(0)}};
    const std::pair<const char*, int64_t> numbers[] = {{"IN", static_cast<int>(p_.in)},
                                                       {"OUT", static_cast<int>(p_.out)},
                                                       {"OP", static_cast<int>(p_.op)},
                                                       {"INTEGER", p_.integer_bits},
                                                       {"COUNT", count_},
                                                       {"FROM_STATES", s.from_states},
                                                       {"TO_STATES", s.to_states},
                                                       {"LAST", p_.last},
                                                       {"PITCH", s.pitch},
                                                       {"PIECES", s.pieces},
                                                       {"VEC", vec},
                                                       {"THREADS", threads}};
    for (const auto& [name, value] : numbers) spec.defines.push_back(fmt::format("HF_{}={}", name, value));
    spec.source = with_epilogue(std::move(text), s.to_states ? Epilogue{} : p_.epilogue);
    if (s.to_states) results_.push_back(s.outer * s.pieces * s.inner);
    return spec;
  }

  Candidates rows(const Stage& s) {
    if (s.reduced > INT32_MAX / 2)
      fail(Code::Unsupported, "a reduction of {} elements; at most {}", s.reduced, INT32_MAX / 2);
    const int vec = vector_of_stage(s);
    RowPlan plan = row_plans(s.outer * s.pieces, divide_up(divide_up(s.reduced, s.pieces), vec) * vec, vec, target_)[0];
    KernelSpec spec = make(s, "reduce_rows", std::string(kRowsText) + kReduceText + kReduceRows, vec, plan.threads);
    spec.variant = "rows " + plan.variant;
    spec.lds_bytes = kRowLds;
    spec.grid[0] = plan.blocks(s.outer * s.pieces);
    spec.defines.push_back(fmt::format("HF_LANES={}", plan.lanes));
    spec.defines.push_back("HF_TOGETHER=1");
    spec.defines.push_back(fmt::format("HF_COLS={}", s.reduced));
    spec.arguments.push_back(Argument::int64(s.outer));
    if (!s.to_states) add_operands(spec, p_.epilogue, 1);
    return {std::move(spec)};
  }

  Candidates columns(const Stage& s) {
    if (s.reduced > INT32_MAX / 2 || s.pitch > INT32_MAX / 2)
      fail(Code::Unsupported, "a reduction of {} x {} elements; at most {} each", s.reduced, s.pitch, INT32_MAX / 2);
    const int vec = vector_of_stage(s);
    // Threads along the reduced axis only as far as it goes, and at least 128 bytes along the other where it has them.
    const int64_t vectors = s.pitch / vec, per_piece = divide_up(s.reduced, s.pieces);
    int64_t tx = std::min(power_of_two(vectors), std::max<int64_t>(32, kThreads / power_of_two(per_piece)));
    tx = std::min<int64_t>(tx, kThreads);
    while (tx > 8 && s.outer * s.pieces * divide_up(vectors, tx) < 2 * target_.compute_units &&
           per_piece > kThreads / tx)
      tx /= 2;
    const int64_t lds = int64_t{kThreads} * vec * state_bytes_;
    KernelSpec spec = make(s, "reduce_columns", std::string(kReduceText) + kReduceColumns, vec, kThreads);
    spec.variant = fmt::format("columns {}", tx);
    spec.lds_bytes = static_cast<uint32_t>(lds);
    spec.grid[0] = blocks_for(s.outer * s.pieces * divide_up(vectors, tx), 1);
    const std::pair<const char*, int64_t> numbers[] = {
        {"TX", tx}, {"TY", kThreads / tx}, {"INNER", s.inner}, {"REDUCED", s.reduced}, {"LDS", lds}};
    for (const auto& [name, value] : numbers) spec.defines.push_back(fmt::format("HF_{}={}", name, value));
    if (!s.to_states) add_operands(spec, p_.epilogue, 1);
    return {std::move(spec)};
  }

  // States go to the workspace, by turns to its two halves: no launch overwrites what it reads.
  void place() {
    int64_t half = 0;
    for (int64_t n : results_) half = std::max(half, divide_up(n * state_bytes_, 256) * 256);
    for (size_t i = 0; i < launches_.size(); ++i) {
      KernelSpec& spec = launches_[i][0];
      if (launches_.size() > 1) spec.workspace_bytes = launches_.size() > 2 ? 2 * half : half;
      for (size_t end : {0u, 1u})
        if (spec.arguments[end].kind == Argument::Kind::Workspace)
          spec.arguments[end].integer = (i + end) % 2 ? 0 : half;
    }
  }

  const ReduceProblem& p_;
  const Target& target_;
  int64_t count_ = 1, state_bytes_ = 4;
  std::vector<int64_t> results_;
  std::vector<Candidates> launches_;
};

}  // namespace

std::vector<Candidates> reduce(const ReduceProblem& p, const Target& target) { return Builder(p, target).build(); }

}  // namespace hf::kernel

// TopK as launches: pieces of rows sorted in LDS, of which the first k go on; or a whole sort.
#include "kernel/topk.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "kernel/topk_text.h"

namespace hf::kernel {
namespace {

constexpr int64_t kPiece = 4096;  // keys in LDS, 8 bytes each
constexpr int64_t kMostPadded = int64_t{1} << 26;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t power_of_two(int64_t n) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n))); }

class Builder {
 public:
  explicit Builder(const TopKProblem& p) : p_(p) {}

  std::vector<Candidates> build() {
    if (p_.k > kPiece / 2 && p_.axis > kPiece)
      sort();
    else
      narrow();
    return std::move(launches_);
  }

 private:
  KernelSpec make(const char* entry, const char* text, int64_t size, int64_t work, int64_t per_block,
                  const std::vector<std::pair<const char*, int64_t>>& more) {
    const int64_t threads = std::clamp<int64_t>(size / 2, 64, 512);
    KernelSpec spec{.family = "topk",
                    .variant = entry,
                    .source = std::string(kSortText) + text,
                    .entry = entry,
                    .grid = {blocks_for(work, per_block ? per_block : threads), 1, 1},
                    .block = {static_cast<uint32_t>(threads), 1, 1},
                    .lds_bytes = per_block ? static_cast<uint32_t>(size * 8) : 0};
    auto define = [&](const char* name, int64_t value) {
      spec.defines.push_back(fmt::format("HF_{}={}", name, value));
    };
    const std::pair<const char*, int64_t> numbers[] = {{"IN", static_cast<int>(p_.in)},
                                                       {"OUT", static_cast<int>(p_.out)},
                                                       {"INT32", p_.int32},
                                                       {"AXIS", p_.axis},
                                                       {"INNER", p_.inner},
                                                       {"GREATEST", p_.greatest},
                                                       {"SIZE", size},
                                                       {"THREADS", threads},
                                                       {"VALUES", p_.values},
                                                       {"INDICES", p_.indices}};
    for (const auto& [name, value] : numbers) define(name, value);
    for (const auto& [name, value] : more) define(name, value);
    return spec;
  }

  void add_results(KernelSpec& spec) const {
    int output = 0;
    if (p_.values) spec.arguments.push_back(Argument::output(output++));
    if (p_.indices) spec.arguments.push_back(Argument::output(output));
  }

  // The first k of each piece are the next row, until there is one piece.
  void narrow() {
    int64_t n = p_.axis, from = 0, to = 0;
    // The first launch writes most; the halves of the workspace take turns.
    const int64_t half = divide_up(p_.rows * divide_up(n, kPiece) * p_.k * 8, 256) * 256;
    for (bool first = true, final = false; !final; first = false) {
      const int64_t size = std::min(kPiece, power_of_two(n)), pieces = divide_up(n, size), keep = std::min(p_.k, size);
      final = pieces == 1;
      KernelSpec spec = make("topk_pieces", kTopKPieces, size, p_.rows * pieces, 1,
                             {{"N", n}, {"CHUNKS", pieces}, {"K", keep}, {"FROM_KEYS", !first}, {"TO_KEYS", !final}});
      spec.arguments = {Argument::input(0)};
      if (!first) spec.arguments.push_back(Argument::workspace(from));
      if (final)
        add_results(spec);
      else
        spec.arguments.push_back(Argument::workspace(to));
      if (!(first && final)) spec.workspace_bytes = 2 * half;
      launches_.push_back({std::move(spec)});
      n = pieces * keep;
      from = to;
      to = half - to;
    }
  }

  // A bitonic sort of all rows: pieces in LDS, then rounds of twice the run each.
  void sort() {
    const int64_t padded = power_of_two(p_.axis), all = p_.rows * padded;
    if (padded > kMostPadded) fail(Code::Unsupported, "a sort of {} elements; at most {}", p_.axis, kMostPadded);
    auto add = [&](const char* entry, const char* text, bool in_lds, std::vector<Argument> arguments) {
      KernelSpec spec = make(entry, text, kPiece, in_lds ? all : all / 2, in_lds ? kPiece : 0, {{"PADDED", padded}});
      spec.arguments = std::move(arguments);
      spec.workspace_bytes = all * 8;
      launches_.push_back({std::move(spec)});
    };
    const Argument keys = Argument::workspace();
    add("sort_pieces", kSortPieces, true, {Argument::input(0), keys});
    for (int64_t size = 2 * kPiece; size <= padded; size *= 2) {
      for (int64_t apart = size / 2; apart >= kPiece; apart /= 2)
        add("sort_step", kSortStep, false, {keys, Argument::int32(size), Argument::int32(apart)});
      add("sort_merge", kSortMerge, true, {keys, Argument::int32(size)});
    }
    KernelSpec write = make("topk_write", kTopKWrite, kPiece, p_.rows * p_.k, 0, {{"PADDED", padded}, {"K", p_.k}});
    write.arguments = {Argument::input(0), keys, Argument::int64(p_.rows * p_.k)};
    add_results(write);
    write.workspace_bytes = all * 8;
    launches_.push_back({std::move(write)});
  }

  const TopKProblem& p_;
  std::vector<Candidates> launches_;
};

}  // namespace

std::vector<Candidates> topk(const TopKProblem& p, const Target&) {
  if (p.axis > INT32_MAX / 2) fail(Code::Unsupported, "an axis of {} elements; at most {}", p.axis, INT32_MAX / 2);
  return Builder(p).build();
}

}  // namespace hf::kernel

// Reductions over axes: ReduceMean, ReduceSum, ReduceMax and the global pools, in any dense layout.
#include <algorithm>

#include "base/convert.h"
#include "cpu/candidate.h"
#include "cpu/rows.h"
#include "ops/op.h"

namespace hf::cpu {
namespace {

// Input [outer, reduced, inner], output [outer, inner].
struct Extents {
  int64_t outer = 1, reduced = 1, inner = 1;
};

enum class Kind { Sum, Mean, Max };

class ReduceKernel final : public plan::Kernel {
 public:
  ReduceKernel(Kind kind, const Extents& e, std::string text)
      : kind_(kind), e_(e), text_(std::move(text)), join_(find_row(kind == Kind::Max ? "Max" : "Add").f) {}

  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void*) const override {
    const auto* x = static_cast<const float*>(inputs[0]);
    auto* y = static_cast<float*>(outputs[0]);
    if (e_.inner == 1) return rows(x, y);
    int64_t pieces = (e_.inner + kPiece - 1) / kPiece;
    ops::parallel_for(e_.outer * pieces, 0.1 * static_cast<double>(e_.reduced) * kPiece, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        int64_t o = i / pieces, at = i % pieces * kPiece;
        columns(x + o * e_.reduced * e_.inner + at, std::min(kPiece, e_.inner - at), y + o * e_.inner + at);
      }
    });
  }
  std::string text() const override { return text_; }

 private:
  static constexpr int64_t kPiece = 128;  // columns taken together
  static constexpr int64_t kRun = 64;     // rows added up before they join the total, which keeps rounding small

  float scale() const { return kind_ == Kind::Mean ? 1 / static_cast<float>(e_.reduced) : 1; }

  void rows(const float* x, float* y) const {
    const RowReductions& f = row_reductions();
    ops::parallel_for(e_.outer, 0.1 * static_cast<double>(e_.reduced), [&](int64_t from, int64_t to) {
      for (int64_t o = from; o < to; ++o) {
        const float* row = x + o * e_.reduced;
        y[o] = kind_ == Kind::Max ? f.max(e_.reduced, row) : f.sum(e_.reduced, row) * scale();
      }
    });
  }

  void columns(const float* x, int64_t n, float* y) const {
    alignas(64) float total[kPiece], part[kPiece];
    const int64_t strides[] = {1, 1};
    for (int64_t r = 0; r < e_.reduced; r += kRun) {
      std::copy_n(x + r * e_.inner, n, part);
      for (int64_t k = r + 1; k < std::min(r + kRun, e_.reduced); ++k) {
        const float* args[] = {part, x + k * e_.inner};
        join_(n, args, strides, nullptr, part);
      }
      const float* args[] = {total, part};
      if (r == 0)
        std::copy_n(part, n, total);
      else
        join_(n, args, strides, nullptr, total);
    }
    row_reductions().scale(n, total, scale(), y);
  }

  Kind kind_;
  Extents e_;
  std::string text_;
  RowFn join_;
};

// The loops of the layout as [outer, reduced, inner], if the kept ones come out as a plain tensor.
std::optional<Extents> extents_of(const Layout& layout, const Dims& dims, const std::vector<bool>& reduced) {
  Walk walk = walk_of(layout, dims);
  if (!walk.ok) return std::nullopt;
  Extents e;
  int changes = 0;
  bool last = false;  // the kind of the loop before: kept or reduced
  const PhysicalAxis* kept = nullptr;
  for (const PhysicalAxis& a : walk.axes) {
    bool now = reduced[static_cast<size_t>(a.axis)];
    if (now != last) ++changes;
    last = now;
    if (changes > 2) return std::nullopt;
    (changes == 0 ? e.outer : changes == 1 ? e.reduced : e.inner) *= a.extent;
    if (now) continue;
    if (kept && (kept->axis > a.axis || (kept->axis == a.axis && kept->step != a.extent * a.step))) return std::nullopt;
    kept = &a;
  }
  return e;
}

std::optional<Kind> kind_of(std::string_view op) {
  if (op == "ReduceSum") return Kind::Sum;
  if (op == "ReduceMean" || op == "GlobalAveragePool") return Kind::Mean;
  if (op == "ReduceMax" || op == "GlobalMaxPool") return Kind::Max;
  return std::nullopt;
}

}  // namespace

Answer try_reduce(const Request& r) {
  const ir::Node& n = r.node;
  auto kind = kind_of(n.op);
  if (!kind) return Refusal{"not one of the sums, means and maxima"};
  if (n.input(0)->dtype != DType::F32) return Refusal{"not float32"};
  if (r.empty()) return Refusal{"no elements"};
  if (n.epilogue) return Refusal{"an epilogue"};
  Dims dims = r.dims(0);
  std::vector<bool> reduced(static_cast<size_t>(dims.rank()), false);
  if (n.op.starts_with("Global")) {
    std::fill(reduced.begin() + 2, reduced.end(), true);
  } else {
    if (r.has(1) && !r.constant(1)) return Refusal{"axes at run time"};
    std::vector<int64_t> axes = r.has(1) ? to_ints(*r.constant(1)) : std::vector<int64_t>();
    if (axes.empty()) reduced.assign(reduced.size(), n.i("noop_with_empty_axes") == 0);
    for (int64_t a : axes) reduced[static_cast<size_t>(normalize_axis(a, dims.rank()))] = true;
  }
  for (const Layout& layout : {r.layout(0), Layout{}}) {
    auto e = extents_of(layout, dims, reduced);
    if (!e) continue;
    plan::Prepared p;
    p.inputs = {layout};
    p.absorbed = {false, true};
    p.kernel = std::make_unique<ReduceKernel>(*kind, *e, "simd " + n.op);
    return p;
  }
  return Refusal{"reduced and kept axes alternate"};
}

}  // namespace hf::cpu

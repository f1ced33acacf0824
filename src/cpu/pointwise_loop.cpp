// PointwiseLoop: a program of elementwise operators made ready for values of fixed extents and layouts.
#include "cpu/pointwise_loop.h"

#include <algorithm>

#include "cpu/rows.h"
#include "ops/pointwise.h"

namespace hf::cpu {
namespace {

// Strides of a plain operand, broadcast to `result`, along the loops; 0 where it repeats.
std::vector<int64_t> strides_along(const Dims& operand, const Dims& result, std::span<const PhysicalAxis> axes) {
  Dims plain = operand.strides();
  int missing = result.rank() - operand.rank();
  std::vector<int64_t> strides;
  for (const PhysicalAxis& a : axes) {
    int i = a.axis - missing;
    strides.push_back(i < 0 || operand[i] == 1 ? 0 : plain[i] * a.step);
  }
  return strides;
}

bool full_extents(const Dims& operand, const Dims& result) {
  int missing = result.rank() - operand.rank();
  for (int i = 0; i < result.rank(); ++i)
    if ((i < missing ? 1 : operand[i - missing]) != result[i]) return false;
  return true;
}

}  // namespace

void PointwiseLoop::add_operands(const ir::Program& program, const Dims& result, std::span<const Dims> operands,
                                 std::span<const PhysicalAxis> axes) {
  for (const PhysicalAxis& a : axes) extents_.push_back(a.extent);
  if (axes.empty()) extents_.push_back(1);
  operands_.resize(operands.size());
  for (const ir::Step& step : program.steps)
    for (int r : step.args)
      if (r < program.inputs) operands_[static_cast<size_t>(r)].used = true;
  std::vector<Operand*> general;
  for (size_t i = 0; i < operands.size(); ++i) {
    Operand& o = operands_[i];
    if (!o.used || full_extents(operands[i], result)) continue;
    o.strides = strides_along(operands[i], result, axes);
    if (axes.empty()) o.strides.push_back(0);
    o.kind = Operand::General;
    general.push_back(&o);
  }
  for (size_t i = extents_.size() - 1; i > 0; --i) {  // merge loop i into the one outside it where nobody minds
    bool mergeable = std::all_of(general.begin(), general.end(),
                                 [&](const Operand* o) { return o->strides[i - 1] == extents_[i] * o->strides[i]; });
    if (!mergeable) continue;
    extents_[i - 1] *= extents_[i];
    extents_.erase(extents_.begin() + static_cast<std::ptrdiff_t>(i));
    for (Operand* o : general) o->strides.erase(o->strides.begin() + static_cast<std::ptrdiff_t>(i) - 1);
  }
  for (Operand* o : general) {
    bool outer_zero = std::all_of(o->strides.begin(), o->strides.end() - 1, [](int64_t s) { return s == 0; });
    if (outer_zero && o->strides.back() == 0) {
      o->kind = Operand::Scalar;
      continue;
    }
    o->slot = slots_++;
    cost_ns_ += 0.1;
    if (outer_zero && o->strides.back() == 1 && extents_.back() <= kBlock) {
      o->kind = Operand::Periodic;
      period_ = extents_.back();
    }
  }
  if (period_) block_ = period_ * (kBlock / period_);
}

// Gives each intermediate register a slot, free again after its last use.
Refusal PointwiseLoop::add_steps(const ir::Program& program) {
  int inputs = program.inputs, count = static_cast<int>(program.steps.size());
  std::vector<int> last(static_cast<size_t>(inputs + count), -1), slot(last);
  for (int s = 0; s < count; ++s)
    for (int r : program.steps[static_cast<size_t>(s)].args) last[static_cast<size_t>(r)] = s;
  std::vector<int> free;
  for (int s = 0; s < count; ++s) {
    const ir::Step& from = program.steps[static_cast<size_t>(s)];
    const ops::PointwiseOp* row = ops::find_pointwise(from.op);
    if (!row || !row->f32) return {"no float function for " + from.op};
    Row fast = find_row(from.op);
    Step step{fast.f ? fast.f : row->f32, {}, from.attrs, -1};
    cost_ns_ += fast.f ? fast.cost_ns : 4;
    for (int r : from.args) {
      if (r < inputs) {
        const Operand& o = operands_[static_cast<size_t>(r)];
        step.args.push_back(
            {o.slot >= 0 ? Source::Slot : Source::Input, o.slot >= 0 ? o.slot : r, o.kind == Operand::Scalar ? 0 : 1});
      } else {
        step.args.push_back({Source::Slot, slot[static_cast<size_t>(r)]});
      }
    }
    // A row may write over an argument, so what is used up here may be the result's place.
    for (int r : from.args)
      if (int& at = slot[static_cast<size_t>(r)]; r >= inputs && last[static_cast<size_t>(r)] == s && at >= 0)
        free.push_back(std::exchange(at, -1));
    if (s + 1 < count) {
      if (free.empty()) free.push_back(slots_++);
      step.slot = slot[static_cast<size_t>(inputs + s)] = free.back();
      free.pop_back();
    }
    steps_.push_back(std::move(step));
  }
  return {};
}

std::variant<PointwiseLoop, Refusal> PointwiseLoop::make(const ir::Program& program, const Dims& result,
                                                         const Layout& layout, std::span<const Dims> operands) {
  check(static_cast<int>(operands.size()) == program.inputs, "a program has all its operands");
  if (program.steps.empty()) return Refusal{"a program without steps"};
  Walk walk = walk_of(layout, result);
  if (!walk.ok) return Refusal{"padded layout"};
  PointwiseLoop loop;
  loop.count_ = result.count();
  loop.add_operands(program, result, operands, walk.axes);
  Refusal refusal = loop.add_steps(program);
  if (!refusal.reason.empty()) return refusal;
  if (loop.slots_ > kMaxSlots) return Refusal{"too many registers"};
  return loop;
}

void PointwiseLoop::expand(const Operand& o, const float* from, int64_t begin, int64_t n, float* to) const {
  int64_t row_length = extents_.back(), step = o.strides.back();
  int64_t row = begin / row_length, column = begin % row_length;
  while (n > 0) {
    int64_t offset = 0, rest = row;
    for (size_t i = extents_.size() - 1; i-- > 0; rest /= extents_[i]) offset += rest % extents_[i] * o.strides[i];
    const float* at = from + offset + column * step;
    int64_t length = std::min(n, row_length - column);
    if (step == 1)
      std::copy_n(at, length, to);
    else if (step == 0)
      std::fill_n(to, length, *at);
    else
      for (int64_t i = 0; i < length; ++i) to[i] = at[i * step];
    to += length;
    n -= length;
    column = 0;
    ++row;
  }
}

void PointwiseLoop::run_range(std::span<const float* const> operands, float* out, int64_t from, int64_t to) const {
  alignas(64) float slots[kMaxSlots][kBlock];
  for (size_t i = 0; i < operands_.size(); ++i)
    if (operands_[i].kind == Operand::Periodic) expand(operands_[i], operands[i], 0, block_, slots[operands_[i].slot]);
  for (int64_t begin = from; begin < to; begin += block_) {
    int64_t n = std::min(block_, to - begin);
    for (size_t i = 0; i < operands_.size(); ++i)
      if (operands_[i].kind == Operand::General) expand(operands_[i], operands[i], begin, n, slots[operands_[i].slot]);
    for (const Step& s : steps_) {
      const float* args[3] = {};
      int64_t strides[3] = {};
      for (size_t a = 0; a < s.args.size(); ++a) {
        const Source& source = s.args[a];
        auto index = static_cast<size_t>(source.index);
        args[a] = source.from == Source::Slot ? slots[index] : operands[index] + begin * source.stride;
        strides[a] = source.stride;
      }
      s.f(n, args, strides, s.attrs.data(), s.slot < 0 ? out + begin : slots[s.slot]);
    }
  }
}

void PointwiseLoop::run(std::span<const float* const> operands, float* out) const {
  int64_t blocks = (count_ + block_ - 1) / block_;
  ops::parallel_for(blocks, cost_ns_ * static_cast<double>(block_), [&](int64_t from, int64_t to) {
    run_range(operands, out, from * block_, std::min(count_, to * block_));
  });
}

}  // namespace hf::cpu

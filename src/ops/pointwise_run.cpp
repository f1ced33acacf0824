// Running a program block by block: each step works on one block of every register before the next step.
#include "ops/pointwise_run.h"

#include <optional>

#include "ops/broadcast.h"
#include "ops/pointwise_rows.h"

namespace hf::ops {
namespace {

constexpr int64_t kBlock = 1024;  // a dozen registers of it stay in the first cache
constexpr double kStepNs = 2;     // an element a step, between an addition and an exponential

// One input: read in place, converted block by block, or converted at once when it is broadcast (and so small).
template <class T>
class Reader {
 public:
  Reader(const Tensor& t, const Dims& to) : tensor_(t), map_(t.dims(), to) {
    by_block_ = map_.whole() && t.dtype() != dtype_of<T>() && !is_sub_byte(t.dtype());
    if (!by_block_) all_.emplace(t);
  }
  const T* block(int64_t at, int64_t n, T* scratch, int64_t* stride) const {
    if (!by_block_) return map_.block(all_->data(), at, n, scratch, stride);
    read_elements(flat_slice(tensor_, at, n), scratch);
    *stride = 1;
    return scratch;
  }

 private:
  const Tensor& tensor_;
  Broadcast map_;
  std::optional<ReadAs<T>> all_;
  bool by_block_;
};

template <class T>
struct BoundStep {
  RowFn<T> row;
  int arity;
  int args[3];
  T attrs[2];
};

template <class T>
std::vector<BoundStep<T>> bind_steps(const ir::Program& p) {
  std::vector<BoundStep<T>> steps;
  for (const ir::Step& s : p.steps) {
    const PointwiseOp* row = find_pointwise(s.op);
    check(row && static_cast<int>(s.args.size()) == row->arity && s.attrs.size() == row->attrs.size(),
          "a step has its row's arguments and attributes");
    BoundStep<T> b{row_function<T>(static_cast<size_t>(row - pointwise_rows().data())), row->arity, {}, {}};
    if (!b.row) fail(Code::Unsupported, "{} of these element types", s.op);
    for (size_t i = 0; i < s.args.size(); ++i) {
      check(s.args[i] >= 0 && s.args[i] < p.inputs + static_cast<int>(steps.size()), "a step uses earlier registers");
      b.args[i] = s.args[i];
    }
    for (size_t i = 0; i < s.attrs.size(); ++i) b.attrs[i] = static_cast<T>(s.attrs[i]);
    steps.push_back(b);
  }
  return steps;
}

template <class T>
class Run {
 public:
  Run(const ir::Program& p, std::span<const Tensor* const> inputs, Tensor& out) : steps_(bind_steps<T>(p)), out_(out) {
    check(p.inputs == static_cast<int>(inputs.size()) && p.inputs > 0, "a program gets its inputs");
    readers_.reserve(inputs.size());
    for (const Tensor* t : inputs) readers_.emplace_back(*t, out.dims());
  }
  double cost() const { return kStepNs * static_cast<double>(1 + steps_.size()); }

  // Blocks [begin, end).
  void blocks(int64_t begin, int64_t end) const {
    const size_t registers = readers_.size() + std::max<size_t>(steps_.size(), 1);
    std::vector<T> scratch(registers * kBlock);
    std::vector<const T*> at(registers);
    std::vector<int64_t> strides(registers, 1);
    for (int64_t b = begin; b < end; ++b) block(b * kBlock, scratch.data(), at.data(), strides.data());
  }

 private:
  void block(int64_t from, T* scratch, const T** at, int64_t* strides) const {
    const int64_t n = std::min(kBlock, out_.size() - from);
    const size_t inputs = readers_.size();
    const bool direct = out_.dtype() == dtype_of<T>();
    T* result = direct ? static_cast<T*>(out_.raw()) + from : scratch + inputs * kBlock;
    for (size_t i = 0; i < inputs; ++i) at[i] = readers_[i].block(from, n, scratch + i * kBlock, &strides[i]);
    for (size_t s = 0; s < steps_.size(); ++s) {
      const BoundStep<T>& step = steps_[s];
      const T* args[3];
      int64_t by[3];
      for (int i = 0; i < step.arity; ++i) args[i] = at[step.args[i]], by[i] = strides[step.args[i]];
      T* to = s + 1 == steps_.size() ? result : scratch + (inputs + s) * kBlock;
      step.row(n, args, by, step.attrs, to);
      at[inputs + s] = to;
    }
    if (steps_.empty() && strides[0])
      std::copy_n(at[0], n, result);
    else if (steps_.empty())
      std::fill_n(result, n, *at[0]);
    if (direct) return;
    Tensor to = flat_slice(out_, from, n);
    write_elements(result, to);
  }

  std::vector<BoundStep<T>> steps_;
  std::vector<Reader<T>> readers_;
  Tensor& out_;
};

}  // namespace

template <class T>
void run_program_as(const ir::Program& program, std::span<const Tensor* const> inputs, Tensor& out) {
  Run<T> run(program, inputs, out);
  parallel_for((out.size() + kBlock - 1) / kBlock, run.cost() * kBlock,
               [&](int64_t begin, int64_t end) { run.blocks(begin, end); });
}

template void run_program_as<float>(const ir::Program&, std::span<const Tensor* const>, Tensor&);
template void run_program_as<double>(const ir::Program&, std::span<const Tensor* const>, Tensor&);
template void run_program_as<int64_t>(const ir::Program&, std::span<const Tensor* const>, Tensor&);
template void run_program_as<uint64_t>(const ir::Program&, std::span<const Tensor* const>, Tensor&);

void run_program(const ir::Program& program, std::span<const Tensor* const> inputs, Tensor& out) {
  dispatch_float(out.dtype(), [&]<class T>(T) { run_program_as<T>(program, inputs, out); });
}

}  // namespace hf::ops

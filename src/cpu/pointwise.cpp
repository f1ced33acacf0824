// Elementwise operators and fused chains of them on float32.
#include "ops/pointwise.h"

#include "cpu/candidate.h"

namespace hf::cpu {
namespace {

class PointwiseKernel final : public plan::Kernel {
 public:
  PointwiseKernel(PointwiseLoop loop, std::vector<int> inputs, std::string text)
      : loop_(std::move(loop)), inputs_(std::move(inputs)), text_(std::move(text)) {}

  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void*) const override {
    std::vector<const float*> operands;
    for (int i : inputs_) operands.push_back(static_cast<const float*>(inputs[static_cast<size_t>(i)]));
    loop_.run(operands, static_cast<float*>(outputs[0]));
  }
  std::string text() const override { return text_; }

 private:
  PointwiseLoop loop_;
  std::vector<int> inputs_;  // the node's input of each register
  std::string text_;
};

// The node as a program whose registers are its inputs, in order, without those left out.
std::variant<ir::Program, Refusal> program_of(const Request& r, std::vector<int>& inputs) {
  std::vector<int> args;
  for (size_t i = 0; i < r.node.inputs().size(); ++i) {
    args.push_back(r.node.inputs()[i] ? static_cast<int>(inputs.size()) : -1);
    if (r.node.inputs()[i]) inputs.push_back(static_cast<int>(i));
  }
  if (r.node.is("Pointwise", "hipforge")) {
    if (!r.node.epilogue) return Refusal{"no program"};
    return *r.node.epilogue;
  }
  if (r.node.epilogue) return Refusal{"an epilogue on an elementwise operator"};
  ir::Program program{.inputs = static_cast<int>(inputs.size())};
  if (ops::add_steps(program, r.node, args) < 0) return Refusal{"not elementwise"};
  return program;
}

bool same_extents(const Dims& a, const Dims& b) {
  int missing = b.rank() - a.rank();
  for (int i = 0; i < b.rank(); ++i)
    if ((i < missing ? 1 : a[i - missing]) != b[i]) return false;
  return true;
}

// The layout to work in: that of the first operand of the result's shape which does not lie plain.
Layout choose_layout(const Request& r, std::span<const int> inputs, const Dims& result) {
  for (int i : inputs)
    if (!r.layout(i).plain() && r.dims(i) == result && walk_of(r.layout(i), result).ok) return r.layout(i);
  return {};
}

}  // namespace

Answer try_pointwise(const Request& r) {
  if (!r.all_f32()) return Refusal{"not float32"};
  if (r.empty()) return Refusal{"no elements"};
  std::vector<int> inputs;
  auto made = program_of(r, inputs);
  if (auto* refusal = std::get_if<Refusal>(&made)) return *refusal;
  const ir::Program& program = std::get<ir::Program>(made);
  Dims result = r.out_dims();
  Layout layout = choose_layout(r, inputs, result);
  std::vector<Dims> operands;
  for (int i : inputs) {
    operands.push_back(r.dims(i));
    // Of the result's extents but of lower rank: its layout has no name for that rank.
    if (!layout.plain() && !(r.dims(i) == result) && same_extents(r.dims(i), result)) layout = {};
  }
  auto loop = PointwiseLoop::make(program, result, layout, operands);
  if (auto* refusal = std::get_if<Refusal>(&loop)) return *refusal;
  plan::Prepared p;
  p.inputs.resize(r.node.inputs().size());
  p.outputs = {layout};
  for (int i : inputs) {
    if (!(r.dims(i) == result)) continue;
    p.inputs[static_cast<size_t>(i)] = layout;
    p.in_place.push_back(i);
  }
  p.kernel =
      std::make_unique<PointwiseKernel>(std::move(std::get<PointwiseLoop>(loop)), inputs, "simd " + program.text());
  return p;
}

}  // namespace hf::cpu

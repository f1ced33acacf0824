// PointwiseLoop: a program of elementwise operators made ready for values of fixed extents and layouts.
#pragma once
#include <variant>
#include <vector>

#include "cpu/layout.h"
#include "ir/program.h"

namespace hf::cpu {

/// Runs block by block: each register is one block in the first-level cache, and only the inputs and the result touch
/// memory. Immutable; run() may be called from several threads.
class PointwiseLoop {
 public:
  /// `result`: extents and layout of the result. An operand of the result's extents has the result's layout; a smaller
  /// one broadcasts and lies plain. Refuses programs with unknown rows or too many registers, and padded layouts.
  static std::variant<PointwiseLoop, Refusal> make(const ir::Program& program, const Dims& result, const Layout& layout,
                                                   std::span<const Dims> operands);
  /// `out` may be one of the operands of full extents.
  void run(std::span<const float* const> operands, float* out) const;

 private:
  static constexpr int64_t kBlock = 1024;  // floats of a register
  static constexpr int kMaxSlots = 24;

  // How an operand's elements follow the result's, over the loops of the result.
  struct Operand {
    enum Kind : uint8_t { Full, Scalar, Periodic, General } kind = Full;
    int slot = -1;                 // Periodic, General: the block they are expanded into
    std::vector<int64_t> strides;  // General: a stride for each loop
    bool used = false;
  };
  struct Source {
    enum From : uint8_t { Input, Slot, Out } from = Input;
    int index = 0;
    int64_t stride = 1;
  };
  struct Step {
    void (*f)(int64_t n, const float* const* args, const int64_t* strides, const float* attrs, float* out);
    std::vector<Source> args;
    std::vector<float> attrs;
    int slot = -1;  // -1: the result
    double cost_ns = 0;
  };

  void add_operands(const ir::Program& program, const Dims& result, std::span<const Dims> operands,
                    std::span<const PhysicalAxis> axes);
  Refusal add_steps(const ir::Program& program);
  void expand(const Operand& o, const float* from, int64_t begin, int64_t n, float* to) const;
  void run_range(std::span<const float* const> operands, float* out, int64_t from, int64_t to) const;

  int64_t count_ = 0;
  int64_t block_ = kBlock;  // a multiple of the period where there is one
  int64_t period_ = 0;
  double cost_ns_ = 0.3;  // of an element
  int slots_ = 0;
  std::vector<int64_t> extents_;  // loops of the result, merged where every operand allows
  std::vector<Operand> operands_;
  std::vector<Step> steps_;
};

}  // namespace hf::cpu

// DnnlKernel: calls of oneDNN primitives as data, and the weights packed for them.
#pragma once
#include <map>
#include <mutex>
#include <optional>

#include "cpu/layout.h"
#include "cpu/pointwise_loop.h"

namespace hf::cpu {

/// Where an argument of a primitive is when it runs.
struct Arg {
  enum From : uint8_t { Input, Output, Scratch, Held };
  int id;  // DNNL_ARG_...
  memory::desc md;
  From from;
  int64_t at = 0;                      // index of the input or output, or offset in the scratch
  std::shared_ptr<const Tensor> held;  // Held: bytes that the kernel keeps alive
};

struct Call {
  dnnl::primitive primitive;
  std::vector<Arg> args;
};

/// The primitive's attributes that every kernel has: scratchpad memory comes from the caller.
dnnl::primitive_attr user_scratchpad();

/// Runs calls in order. With `carry`, that input is first copied to output 0, unless they are one buffer already (a sum
/// that happens in place). With `tail`, a program then runs in place on output 0.
class DnnlKernel final : public plan::Kernel {
 public:
  struct Carry {
    int input;
    int64_t bytes;
  };

  explicit DnnlKernel(std::string text) : text_(std::move(text)) {}
  void add(Call call) { calls_.push_back(std::move(call)); }
  void set_carry(Carry carry) { carry_ = carry; }
  /// `operands`: the node's inputs that are the program's registers 1, 2, ...
  void set_tail(PointwiseLoop tail, std::vector<int> operands);
  /// A place in the scratch, aligned to 64. All are laid one after another.
  int64_t add_scratch(size_t bytes);
  int64_t scratch_bytes() const { return scratch_bytes_; }
  /// The scratchpad argument of a primitive, if it wants one.
  void add_scratchpad(Call& call, const memory::desc& md);

  void run(std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch) const override;
  std::string text() const override { return text_; }

 private:
  std::vector<Call> calls_;
  std::optional<Carry> carry_;
  std::optional<PointwiseLoop> tail_;
  std::vector<int> tail_operands_;
  int64_t scratch_bytes_ = 0;
  std::string text_;
};

/// One primitive between one input and one output.
std::unique_ptr<DnnlKernel> simple_kernel(const compat::Ready& ready, std::string name);

/// Weights in the forms that primitives want, shared between all kernels that want the same, for as long as one lives.
/// Thread-safe.
class PackedWeights {
 public:
  /// The constant's bytes, which `from` describes, as `to` describes.
  std::shared_ptr<const Tensor> get(const Tensor& constant, const memory::desc& from, const memory::desc& to);

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const Tensor>> packed_;
};

}  // namespace hf::cpu

// Fibers: the threads of an emulated block, switched without the operating system.
#pragma once
#include <cstddef>
#include <memory>

namespace hf::gpu {

/// A stack of its own on which a function runs until it calls yield(). Belongs to the thread that resumes it; may be
/// given to another thread only between runs. Functions must not throw.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Sets the function that the next resume() begins. One that is under way is forgotten: its stack is not unwound.
  void start(void (*function)(void*), void* argument);
  /// Runs until the function yields or returns. True if it returned.
  bool resume();
  /// Back to resume(), from inside the function of the fiber that runs on this thread.
  static void yield();

  static constexpr size_t kStackBytes = 256 << 10;  // touched pages only cost memory; kernels have no deep calls

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hf::gpu

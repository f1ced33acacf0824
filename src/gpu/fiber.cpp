// Switching stacks: a few instructions on x86-64, ucontext elsewhere. Sanitizers are told of each switch.
#include "gpu/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#define HF_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HF_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define HF_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HF_TSAN 1
#endif
#endif
#ifdef HF_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef HF_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#ifdef __x86_64__
// void hf_fiber_switch(void** save, void* load): saves what the System V ABI asks a function to keep, and the stack.
extern "C" void hf_fiber_switch(void** save, void* load);
asm(R"(
.text
.globl hf_fiber_switch
.hidden hf_fiber_switch
.type hf_fiber_switch, @function
hf_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size hf_fiber_switch, .-hf_fiber_switch
)");
#else
#include <ucontext.h>
#endif

namespace hf::gpu {

struct Fiber::State {
  char* memory = nullptr;  // a guard page, then the stack
  size_t memory_bytes = 0;
  void (*function)(void*) = nullptr;
  void* argument = nullptr;
  bool returned = true;
#ifdef __x86_64__
  void *inside = nullptr, *outside = nullptr;
#else
  ucontext_t inside{}, outside{};
#endif
#ifdef HF_ASAN
  void* outside_fake = nullptr;
  const void* outside_bottom = nullptr;
  size_t outside_bytes = 0;
#endif
#ifdef HF_TSAN
  void *tsan = nullptr, *tsan_outside = nullptr;
#endif

  void enter();
  void leave(bool for_good);
  static void main();
};

namespace {
thread_local void* running = nullptr;  // the Fiber::State that runs on this thread
}

// The first frame on a fiber's stack.
void Fiber::State::main() {
  auto* self = static_cast<State*>(running);
#ifdef HF_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &self->outside_bottom, &self->outside_bytes);
#endif
  self->function(self->argument);
  self->returned = true;
  self->leave(true);
}

void Fiber::State::enter() {
#ifdef HF_ASAN
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, memory + memory_bytes - kStackBytes, kStackBytes);
#endif
#ifdef HF_TSAN
  tsan_outside = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan, 0);
#endif
#ifdef __x86_64__
  hf_fiber_switch(&outside, inside);
#else
  swapcontext(&outside, &inside);
#endif
#ifdef HF_ASAN
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void Fiber::State::leave([[maybe_unused]] bool for_good) {
#ifdef HF_ASAN
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(for_good ? nullptr : &fake, outside_bottom, outside_bytes);
#endif
#ifdef HF_TSAN
  __tsan_switch_to_fiber(tsan_outside, 0);
#endif
#ifdef __x86_64__
  hf_fiber_switch(&inside, outside);
#else
  swapcontext(&inside, &outside);
#endif
#ifdef HF_ASAN
  __sanitizer_finish_switch_fiber(fake, &outside_bottom, &outside_bytes);
#endif
}

Fiber::Fiber() : state_(std::make_unique<State>()) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  state_->memory_bytes = kStackBytes + page;
  void* memory = mmap(nullptr, state_->memory_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) fail(Code::OutOfMemory, "no {} bytes for the stack of an emulated thread", kStackBytes);
  state_->memory = static_cast<char*>(memory);
  mprotect(memory, page, PROT_NONE);
}

Fiber::~Fiber() {
#ifdef HF_TSAN
  if (state_->tsan) __tsan_destroy_fiber(state_->tsan);
#endif
  munmap(state_->memory, state_->memory_bytes);
}

void Fiber::start(void (*function)(void*), void* argument) {
  State& s = *state_;
  s.function = function;
  s.argument = argument;
  s.returned = false;
#ifdef HF_TSAN
  if (s.tsan) __tsan_destroy_fiber(s.tsan);
  s.tsan = __tsan_create_fiber(0);
#endif
#ifdef HF_ASAN
  // Frames that were left without returning keep their marks in the shadow.
  __asan_unpoison_memory_region(s.memory + s.memory_bytes - kStackBytes, kStackBytes);
#endif
#ifdef __x86_64__
  // As if main() had called hf_fiber_switch: six registers, the address to return to, and main()'s own return address,
  // which is 8 bytes off a multiple of 16 as after any call.
  auto* top = reinterpret_cast<void**>(s.memory + s.memory_bytes - 72);
  std::memset(static_cast<void*>(top - 7), 0, 8 * sizeof(void*));
  top[-1] = reinterpret_cast<void*>(&State::main);
  s.inside = top - 7;
#else
  getcontext(&s.inside);
  s.inside.uc_stack.ss_sp = s.memory + s.memory_bytes - kStackBytes;
  s.inside.uc_stack.ss_size = kStackBytes;
  s.inside.uc_link = nullptr;
  makecontext(&s.inside, &State::main, 0);
#endif
}

bool Fiber::resume() {
  void* before = running;
  running = state_.get();
  state_->enter();
  running = before;
  return state_->returned;
}

void Fiber::yield() { static_cast<State*>(running)->leave(false); }

}  // namespace hf::gpu

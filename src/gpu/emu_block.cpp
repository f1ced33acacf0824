// The scheduler of an emulated block.
#include "gpu/emu_block.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "gpu/fiber.h"

namespace hf::gpu {
namespace {

enum class Wait : uint8_t { Nothing, Barrier, Shuffle, Done };

struct Thread {
  kernel::HfEmuThread ids;
  Fiber* fiber;
  Wait wait;
  unsigned shuffles;  // how many it has done: alternates between the two rows of its wave's slots
};

// Two rows: a lane that is ahead by one shuffle must not overwrite what others have yet to read. It cannot be ahead by
// two.
struct Wave {
  std::array<std::array<unsigned, 64>, 2> slots;
};

struct Block;
thread_local Block* current_block = nullptr;
thread_local Thread* current_thread = nullptr;

struct Block {
  const EmuKernel& kernel;
  void** args;
  int wave_size;
  std::vector<Thread> threads;
  std::vector<Wave> waves;

  void run(bool backwards);
  bool run_wave(size_t first, size_t end, bool backwards);
  [[noreturn]] void stuck() const;
};

void wait_for(Wait what) {
  current_thread->wait = what;
  Fiber::yield();
}

void barrier() { wait_for(Wait::Barrier); }

unsigned shuffle(unsigned value, unsigned from_lane) {
  Thread& self = *current_thread;
  Wave& wave = current_block->waves[static_cast<size_t>(&self - current_block->threads.data()) /
                                    static_cast<size_t>(current_block->wave_size)];
  auto& row = wave.slots[self.shuffles++ & 1];
  row[self.ids.lane] = value;
  wait_for(Wait::Shuffle);
  return row[from_lane % static_cast<unsigned>(current_block->wave_size)];
}

void thread_main(void*) { current_block->kernel.entry(current_block->args); }

void resume(Thread& t, kernel::HfEmuThread** self) {
  current_thread = &t;
  *self = &t.ids;
  if (t.fiber->resume()) t.wait = Wait::Done;
}

// Runs a wave until all its lanes are done or at a barrier, or cannot go on. True if it got anywhere.
bool Block::run_wave(size_t first, size_t end, bool backwards) {
  kernel::HfEmuThread** self = kernel.self();
  for (bool any = false;; any = true) {
    bool ran = false;
    for (size_t i = first; i < end; ++i) {
      Thread& t = threads[backwards ? first + end - 1 - i : i];
      if (t.wait != Wait::Nothing) continue;
      resume(t, self);
      ran = true;
    }
    auto begin = threads.begin() + static_cast<std::ptrdiff_t>(first);
    auto last = threads.begin() + static_cast<std::ptrdiff_t>(end);
    bool shuffle_is_full = std::none_of(begin, last, [](const Thread& t) { return t.wait == Wait::Barrier; });
    bool released = false;
    if (shuffle_is_full)
      for (auto it = begin; it != last; ++it)
        if (it->wait == Wait::Shuffle) it->wait = Wait::Nothing, released = true;
    if (!released) return any || ran;
  }
}

void Block::run(bool backwards) {
  size_t wave = static_cast<size_t>(wave_size), count = (threads.size() + wave - 1) / wave;
  for (Thread& t : threads) {
    t.wait = Wait::Nothing;
    t.shuffles = 0;
    t.fiber->start(thread_main, nullptr);
  }
  // A lane that has ended leaves poison to those that read from it.
  for (Wave& w : waves)
    for (auto& row : w.slots) row.fill(0x7ffe7ffe);
  for (;;) {
    bool any = false;
    for (size_t i = 0; i < count; ++i) {
      size_t first = (backwards ? count - 1 - i : i) * wave;
      any |= run_wave(first, std::min(first + wave, threads.size()), backwards);
    }
    size_t live = 0, at_barrier = 0;
    for (const Thread& t : threads) {
      live += t.wait != Wait::Done;
      at_barrier += t.wait == Wait::Barrier;
    }
    if (live == 0) return;
    if (at_barrier == live)
      for (Thread& t : threads) t.wait = t.wait == Wait::Barrier ? Wait::Nothing : t.wait;
    else if (!any)
      stuck();
  }
}

void Block::stuck() const {
  size_t at_barrier = 0, at_shuffle = 0;
  for (const Thread& t : threads) {
    at_barrier += t.wait == Wait::Barrier;
    at_shuffle += t.wait == Wait::Shuffle;
  }
  const unsigned* b = threads[0].ids.block;
  fail(Code::Driver, "kernel '{}' block ({}, {}, {}): threads wait for each other: {} at a barrier, {} at a shuffle",
       kernel.name, b[0], b[1], b[2], at_barrier, at_shuffle);
}

// Stacks are kept between launches: there may be a thousand of them.
class FiberPool {
 public:
  std::vector<std::unique_ptr<Fiber>> take(size_t count) {
    std::vector<std::unique_ptr<Fiber>> taken;
    {
      std::lock_guard lock(mutex_);
      while (taken.size() < count && !free_.empty()) {
        taken.push_back(std::move(free_.back()));
        free_.pop_back();
      }
    }
    while (taken.size() < count) taken.push_back(std::make_unique<Fiber>());
    return taken;
  }
  void give(std::vector<std::unique_ptr<Fiber>> fibers) {
    std::lock_guard lock(mutex_);
    for (auto& fiber : fibers)
      if (free_.size() < 1024) free_.push_back(std::move(fiber));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Fiber>> free_;
};
FiberPool& pool() {
  static FiberPool one;
  return one;
}

struct Borrowed {
  explicit Borrowed(size_t count) : fibers(pool().take(count)) {}
  ~Borrowed() { pool().give(std::move(fibers)); }
  std::vector<std::unique_ptr<Fiber>> fibers;
};

struct FreeDeleter {
  void operator()(unsigned char* p) const { std::free(p); }
};

std::unique_ptr<unsigned char, FreeDeleter> make_lds(size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 1024, std::max<size_t>(bytes, 1)) != 0)
    fail(Code::OutOfMemory, "no {} bytes for the LDS of an emulated block", bytes);
  return std::unique_ptr<unsigned char, FreeDeleter>(static_cast<unsigned char*>(memory));
}

void set_ids(Block& block, const LaunchDims& d, unsigned char* lds) {
  size_t i = 0;
  for (unsigned z = 0; z < d.block.z; ++z)
    for (unsigned y = 0; y < d.block.y; ++y)
      for (unsigned x = 0; x < d.block.x; ++x, ++i)
        block.threads[i].ids = {.thread = {x, y, z},
                                .block = {},
                                .block_dim = {d.block.x, d.block.y, d.block.z},
                                .grid_dim = {d.grid.x, d.grid.y, d.grid.z},
                                .lane = static_cast<unsigned>(i) % static_cast<unsigned>(block.wave_size),
                                .lds = lds,
                                .barrier = barrier,
                                .shuffle = shuffle};
}

}  // namespace

void run_blocks(const EmuKernel& kernel, const LaunchDims& dims, int wave_size, void** args) {
  size_t count = dims.block.count(), wave = static_cast<size_t>(wave_size);
  Borrowed stacks(count);
  auto lds = make_lds(dims.lds_bytes);
  Block block{kernel, args, wave_size, std::vector<Thread>(count), std::vector<Wave>((count + wave - 1) / wave)};
  for (size_t i = 0; i < count; ++i) block.threads[i].fiber = stacks.fibers[i].get();
  set_ids(block, dims, lds.get());
  struct Restore {
    Block* before = current_block;
    ~Restore() { current_block = before; }
  } restore;
  current_block = &block;
  for (uint64_t i = 0; i < dims.grid.count(); ++i) {
    unsigned at[3] = {static_cast<unsigned>(i % dims.grid.x), static_cast<unsigned>(i / dims.grid.x % dims.grid.y),
                      static_cast<unsigned>(i / dims.grid.x / dims.grid.y)};
    for (Thread& t : block.threads) std::copy(at, at + 3, t.ids.block);
    for (uint32_t b = 0; b < dims.lds_bytes; ++b) lds.get()[b] = b & 1 ? 0x7f : 0xfe;
    block.run(i & 1);
  }
}

}  // namespace hf::gpu

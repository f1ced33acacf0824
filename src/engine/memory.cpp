// Device memory with accounting and a limit.
#include "engine/memory.h"

#include <algorithm>

#include "base/error.h"

namespace hf::engine {

std::shared_ptr<void> MemoryBook::allocate(int64_t bytes, const std::string& what, int64_t DeviceMemory::*account) {
  bytes = std::max<int64_t>(bytes, 1);
  {
    std::lock_guard lock(mutex_);
    int64_t held = held_.constants_bytes + held_.runs_bytes;
    if (limit_ && held + bytes > limit_)
      fail(Code::OutOfMemory, "{} needs {} bytes of device memory; {} are held and the limit is {}", what, bytes, held,
           limit_);
    held_.*account += bytes;
    held_.peak_bytes = std::max(held_.peak_bytes, held + bytes);
  }
  try {
    auto where = context([&] { return what; });
    auto buffer = std::make_shared<gpu::DeviceBuffer>(device_, bytes);
    void* address = buffer->get();
    return {address, [book = shared_from_this(), buffer = std::move(buffer), bytes, account](void*) mutable {
              buffer.reset();
              book->give(bytes, account);
            }};
  } catch (...) {
    give(bytes, account);
    throw;
  }
}

void MemoryBook::give(int64_t bytes, int64_t DeviceMemory::*account) {
  std::lock_guard lock(mutex_);
  held_.*account -= bytes;
}

DeviceMemory MemoryBook::now() const {
  std::lock_guard lock(mutex_);
  return held_;
}

}  // namespace hf::engine

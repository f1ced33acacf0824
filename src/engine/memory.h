// Device memory with accounting and a limit.
#pragma once
#include <mutex>

#include "engine/engine.h"
#include "gpu/objects.h"

namespace hf::engine {

/// Counts what is allocated through it. Thread-safe; outlives all that it gave out.
class MemoryBook : public std::enable_shared_from_this<MemoryBook> {
 public:
  MemoryBook(std::shared_ptr<gpu::Device> device, int64_t limit) : device_(std::move(device)), limit_(limit) {}

  /// Device memory that counts towards `what` ("weights", "an arena") until it is released. Throws OutOfMemory, saying
  /// what needed how much beside what is held.
  std::shared_ptr<void> allocate(int64_t bytes, const std::string& what, int64_t DeviceMemory::*account);
  DeviceMemory now() const;

 private:
  void give(int64_t bytes, int64_t DeviceMemory::*account);

  std::shared_ptr<gpu::Device> device_;
  int64_t limit_;
  mutable std::mutex mutex_;
  DeviceMemory held_;
};

}  // namespace hf::engine

// One run's device memory, queue and recorded work.
#include "engine/device_run.h"

#include "base/error.h"
#include "base/log.h"

namespace hf::engine {

EngineRun::EngineRun(const std::shared_ptr<gpu::Device>& device, const std::shared_ptr<MemoryBook>& book,
                     const plan::DeviceNeeds& needs, int counters, bool graphs)
    : device_(device), graphs_(graphs), stream_(device) {
  arena_ = book->allocate(needs.arena_bytes + needs.scratch_bytes, "a run's arena", &DeviceMemory::runs_bytes);
  if (counters) {
    counters_ = book->allocate(counters * int64_t{4}, "a run's counters", &DeviceMemory::runs_bytes);
    device_->fill(counters_.get(), 0, counters * int64_t{4}, stream_.get());
  }
  if (needs.staging_bytes) staging_ = gpu::HostBuffer(device, needs.staging_bytes);
}

EngineRun::~EngineRun() {
  try {
    stream_.synchronize();  // a failed run may have left work queued
  } catch (const Error& e) {
    log::warn("engine", "the last work of a run failed: {}", e.what());
  }
}

void EngineRun::upload(void* device, int64_t staging_offset, int64_t bytes) {
  device_->copy_to_device(device, staging() + staging_offset, bytes, stream_.get());
}

void EngineRun::download(int64_t staging_offset, const void* device, int64_t bytes) {
  device_->copy_to_host(staging() + staging_offset, device, bytes, stream_.get());
}

void EngineRun::execute(int segment, size_t count, const std::function<void(size_t)>& queue) {
  if (segments_.size() <= static_cast<size_t>(segment)) segments_.resize(static_cast<size_t>(segment) + 1);
  Segment& s = segments_[static_cast<size_t>(segment)];
  auto queue_all = [&] {
    for (size_t i = 0; i < count; ++i) queue(i);
  };
  if (s.graph) return s.graph.launch(stream_);
  if (!graphs_ || s.unrecordable || s.calls++ == 0) return queue_all();
  try {
    s.graph = stream_.capture(queue_all);
  } catch (const Error& e) {
    s.unrecordable = true;
    log::warn("engine", "the work cannot be recorded and is launched kernel by kernel: {}", e.what());
    return queue_all();
  }
  s.graph.launch(stream_);
}

std::vector<double> EngineRun::time_each(size_t count, const std::function<void(size_t)>& queue) {
  std::vector<gpu::Event> events;
  for (size_t i = 0; i <= count; ++i) events.emplace_back(device_);
  stream_.record(events[0]);
  for (size_t i = 0; i < count; ++i) {
    queue(i);
    stream_.record(events[i + 1]);
  }
  events[count].synchronize();
  std::vector<double> us;
  for (size_t i = 0; i < count; ++i) us.push_back(device_->elapsed_us(events[i].get(), events[i + 1].get()));
  return us;
}

double EngineRun::time_all(int segment, size_t count, const std::function<void(size_t)>& queue) {
  gpu::Event from(device_), to(device_);
  stream_.record(from);
  execute(segment, count, queue);
  stream_.record(to);
  to.synchronize();
  return device_->elapsed_us(from.get(), to.get());
}

}  // namespace hf::engine

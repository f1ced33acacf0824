// One run's device memory, queue and recorded work.
#pragma once
#include "engine/memory.h"

namespace hf::engine {

class EngineRun final : public plan::DeviceRun {
 public:
  /// `counters`: words that are zero between kernels.
  EngineRun(const std::shared_ptr<gpu::Device>& device, const std::shared_ptr<MemoryBook>& book,
            const plan::DeviceNeeds& needs, int counters, bool graphs);
  ~EngineRun() override;

  std::byte* arena() override { return static_cast<std::byte*>(arena_.get()); }
  std::byte* staging() override { return staging_.as<std::byte>(); }
  void upload(void* device, int64_t staging_offset, int64_t bytes) override;
  void download(int64_t staging_offset, const void* device, int64_t bytes) override;
  void execute(int segment, size_t count, const std::function<void(size_t)>& queue) override;
  std::vector<double> time_each(size_t count, const std::function<void(size_t)>& queue) override;
  double time_all(int segment, size_t count, const std::function<void(size_t)>& queue) override;
  void synchronize() override { stream_.synchronize(); }

  const gpu::Stream& stream() const { return stream_; }
  void* counters() const { return counters_.get(); }

 private:
  // A segment's way from its first call, whose launches may still load things, over the recording to the replay.
  struct Segment {
    int calls = 0;
    bool unrecordable = false;
    gpu::Graph graph;
  };

  std::shared_ptr<gpu::Device> device_;
  bool graphs_;
  gpu::Stream stream_;
  std::shared_ptr<void> arena_, counters_;
  gpu::HostBuffer staging_;
  std::vector<Segment> segments_;
};

}  // namespace hf::engine

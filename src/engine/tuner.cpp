// Measuring candidates.
#include "engine/tuner.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "gpu/cache.h"

namespace hf::engine {
namespace {

constexpr int kWarm = 2, kRounds = 5, kLaunches = 4;

// Values between 1 and 2, or -1 and -2, of the elements that a layout stores; integers are 0, which indexes anything.
std::vector<std::byte> contents(const BufferNeed& need) {
  std::vector<std::byte> bytes(static_cast<size_t>(need.bytes));
  uint32_t state = 1;
  auto fill = [&](auto one, int mantissa, auto sign) {
    using Word = decltype(one);
    for (size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
      state = state * 1664525 + 1013904223;
      Word word = static_cast<Word>(one | (state >> 8 & ((1u << mantissa) - 1)) | (state >> 31 ? sign : Word{0}));
      std::memcpy(&bytes[at], &word, sizeof word);
    }
  };
  if (need.stored == DType::F32) fill(uint32_t{0x3f800000}, 23, uint32_t{0x80000000});
  if (need.stored == DType::F16) fill(uint16_t{0x3c00}, 10, uint16_t{0x8000});
  if (need.stored == DType::BF16) fill(uint16_t{0x3f80}, 7, uint16_t{0x8000});
  return bytes;
}

}  // namespace

std::string Tuner::key_of(const kernel::Candidates& candidates) const {
  gpu::Source all{.name = "tuning"};
  for (const kernel::KernelSpec& s : candidates) {
    all.text += code_key(s);
    for (uint32_t blocks : s.grid) all.text += fmt::format(" {}", blocks);
  }
  return gpu::cache_key(all, device_->info().arch, "tuning 1 on " + device_->info().name);
}

int Tuner::known(const kernel::Candidates& candidates) {
  if (candidates.size() < 2) return 0;
  std::string key = key_of(candidates);
  if (auto it = found_.find(key); it != found_.end()) return it->second;
  auto stored = gpu::code_cache().find(key);
  if (!stored) return -1;
  auto it = std::find_if(candidates.begin(), candidates.end(), [&](const auto& s) { return s.variant == *stored; });
  if (it == candidates.end()) return -1;
  return found_[key] = static_cast<int>(it - candidates.begin());
}

double Tuner::time_us(const gpu::LoadedKernel& kernel, const gpu::LaunchBuffers& buffers) {
  gpu::Stream stream(device_);
  gpu::Event from(device_), to(device_);
  for (int i = 0; i < kWarm; ++i) kernel.launch(stream, buffers);
  stream.synchronize();
  gpu::Graph graph = stream.capture([&] {
    for (int i = 0; i < kLaunches; ++i) kernel.launch(stream, buffers);
  });
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    stream.record(from);
    graph.launch(stream);
    stream.record(to);
    to.synchronize();
    times.push_back(device_->elapsed_us(from.get(), to.get()) / kLaunches);
  }
  return *std::min_element(times.begin(), times.end());
}

int Tuner::measure(const Work& work, size_t index, const KernelStore& kernels) {
  const kernel::Candidates& candidates = work.candidates[index];
  gpu::Stream stream(device_);
  std::vector<gpu::DeviceBuffer> held;
  auto buffer = [&](const BufferNeed& need) -> void* {
    if (need.bytes <= 0) return nullptr;
    held.emplace_back(device_, need.bytes);
    std::vector<std::byte> bytes = contents(need);
    device_->copy_to_device(held.back().get(), bytes.data(), need.bytes, stream.get());
    stream.synchronize();
    return held.back().get();
  };
  std::vector<void*> inputs, outputs, packed;
  for (const BufferNeed& need : work.inputs) inputs.push_back(buffer(need));
  for (const BufferNeed& need : work.outputs) outputs.push_back(buffer(need));
  for (const auto& p : work.packed) packed.push_back(const_cast<void*>(p.get()));
  int64_t workspace = 0, counters = 0;
  for (const auto& launch : work.candidates)
    for (const kernel::KernelSpec& s : launch) {
      workspace = std::max(workspace, s.workspace_bytes);
      counters = std::max<int64_t>(counters, s.counters * int64_t{4});
    }
  gpu::LaunchBuffers buffers{.inputs = inputs,
                             .outputs = outputs,
                             .packed = packed,
                             .workspace = buffer({workspace, DType::U8}),
                             .counters = buffer({counters, DType::U8})};
  int best = -1;
  double least = 0, first = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!kernels.failure(candidates[i]).empty()) continue;
    double us = time_us(gpu::LoadedKernel(kernels.get(candidates[i]), candidates[i]), buffers);
    log::debug("tuner", "{} {}: {:.2f} us", candidates[i].family, candidates[i].variant, us);
    if (first == 0) first = us;
    if (best < 0 || us < least) best = static_cast<int>(i), least = us;
  }
  if (best < 0) return 0;
  log::info("tuner", "{}: {} {:.2f} us, the heuristic's {} {:.2f} us ({:.2f})", work.text,
            candidates[static_cast<size_t>(best)].variant, least, candidates[0].variant, first, first / least);
  std::string key = key_of(candidates);
  found_[key] = best;
  gpu::code_cache().store(key, candidates[static_cast<size_t>(best)].variant);
  return best;
}

}  // namespace hf::engine

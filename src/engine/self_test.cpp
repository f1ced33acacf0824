// A first small kernel: whatever is wrong with a compiler, a driver or a device shows here, with one clear message.
#include <mutex>
#include <set>

#include "base/error.h"
#include "engine/engine.h"
#include "gpu/loaded_kernel.h"

namespace hf::engine {
namespace {

constexpr int kCount = 1000;

const char* const kSource = R"hip(
KERNEL(256, 1) self_test(const float* x, float* y, int count) {
  LDS(lds, 1024);
  float* shared = (float*)lds;
  int i = block_x() * 256 + thread_x();
  shared[thread_x()] = i < count ? x[i] : 0.f;
  barrier();
  if (i < count) y[i] = shared[thread_x()] * 2.f + 1.f;
}
)hip";

void run(const std::shared_ptr<gpu::Device>& device) {
  gpu::LoadedKernel kernel(device, self_test_kernel());
  gpu::Stream stream(device);
  constexpr int64_t kBytes = kCount * sizeof(float);
  gpu::HostBuffer host(device, kBytes);
  gpu::DeviceBuffer x(device, kBytes), y(device, kBytes);
  for (int i = 0; i < kCount; ++i) host.as<float>()[i] = static_cast<float>(i);
  device->copy_to_device(x.get(), host.get(), kBytes, stream.get());
  device->fill(y.get(), 0xff, kBytes, stream.get());
  void *in = x.get(), *out = y.get();
  kernel.launch(stream, {.inputs = {&in, 1}, .outputs = {&out, 1}});
  device->copy_to_host(host.get(), y.get(), kBytes, stream.get());
  stream.synchronize();
  for (int i = 0; i < kCount; ++i)
    if (host.as<float>()[i] != 2.f * static_cast<float>(i) + 1.f)
      fail(Code::Driver, "the device computes wrongly: element {} is {}, not {}", i, host.as<float>()[i], 2 * i + 1);
}

}  // namespace

kernel::KernelSpec self_test_kernel() {
  return {.family = "self_test",
          .variant = "only",
          .source = kSource,
          .entry = "self_test",
          .grid = {kernel::blocks_for(kCount, 256), 1, 1},
          .block = {256, 1, 1},
          .lds_bytes = 1024,
          .arguments = {kernel::Argument::input(0), kernel::Argument::output(0), kernel::Argument::int32(kCount)}};
}

void self_test(const std::shared_ptr<gpu::Device>& device) {
  static std::mutex mutex;
  static std::set<std::string> passed;  // a process tests each device once
  std::string key = device->info().name + device->info().arch + device->info().pci_id;
  std::lock_guard lock(mutex);
  if (passed.contains(key)) return;
  auto where = context([&] { return fmt::format("self-test of device '{}'", device->info().name); });
  run(device);
  passed.insert(key);
}

}  // namespace hf::engine

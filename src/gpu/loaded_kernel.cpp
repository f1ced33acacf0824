// From a kernel as data to a launch.
#include "gpu/loaded_kernel.h"

#include "base/error.h"
#include "kernel/target_facts.h"

namespace hf::gpu {
namespace {

using kernel::Argument;

// Storage of one argument, as wide as the widest.
union Value {
  void* pointer;
  int32_t int32;
  int64_t int64;
  float number;
};

Value value_of(const Argument& a, const LaunchBuffers& buffers) {
  auto pick = [&](std::span<void* const> from) {
    check(static_cast<size_t>(a.index) < from.size(), "a launch gives all buffers of the kernel");
    return from[static_cast<size_t>(a.index)];
  };
  auto at = [&](void* base) -> void* { return base ? static_cast<char*>(base) + a.integer : nullptr; };
  switch (a.kind) {
    case Argument::Kind::Input: return {.pointer = at(pick(buffers.inputs))};
    case Argument::Kind::Output: return {.pointer = at(pick(buffers.outputs))};
    case Argument::Kind::Packed: return {.pointer = pick(buffers.packed)};
    case Argument::Kind::Workspace: return {.pointer = at(buffers.workspace)};
    case Argument::Kind::Counters: return {.pointer = buffers.counters};
    case Argument::Kind::Int32: return {.int32 = static_cast<int32_t>(a.integer)};
    case Argument::Kind::Int64: return {.int64 = a.integer};
    case Argument::Kind::Float32: return {.number = a.number};
  }
  return {};
}

}  // namespace

kernel::Target target_of(const DeviceInfo& info) {
  kernel::Target target = kernel::target_named(info.arch);
  if (info.wave_size > 0) target.wave_size = info.wave_size;
  if (info.lds_bytes > 0) target.lds_bytes = info.lds_bytes;
  if (info.compute_units > 0) target.compute_units = info.compute_units;
  return target;
}

Source source_of(const kernel::KernelSpec& spec) {
  return {.name = spec.family, .text = kernel::full_text(spec), .entries = {spec.entry}, .defines = spec.defines};
}

LoadedKernel::LoadedKernel(const std::shared_ptr<Device>& device, kernel::KernelSpec spec)
    : LoadedKernel(std::make_shared<const Module>(device, compile(source_of(spec), device->info().arch).bytes), spec) {}

LoadedKernel::LoadedKernel(std::shared_ptr<const Module> module, kernel::KernelSpec spec)
    : spec_(std::move(spec)),
      dims_{.grid = {spec_.grid[0], spec_.grid[1], spec_.grid[2]},
            .block = {spec_.block[0], spec_.block[1], spec_.block[2]},
            .lds_bytes = module->device().info().lds_at_launch ? spec_.lds_bytes : 0},
      module_(std::move(module)),
      function_(module_->function(spec_.entry)) {
  check(spec_.arguments.size() <= 32, "a kernel has at most 32 arguments");
}

void LoadedKernel::launch(const Stream& stream, const LaunchBuffers& buffers) const {
  auto where = context([&] { return fmt::format("kernel '{}' ({})", spec_.family, spec_.variant); });
  Value values[32];
  void* pointers[32];
  for (size_t i = 0; i < spec_.arguments.size(); ++i) {
    values[i] = value_of(spec_.arguments[i], buffers);
    pointers[i] = &values[i];
  }
  stream.device().launch(function_, dims_, pointers, stream.get());
}

}  // namespace hf::gpu

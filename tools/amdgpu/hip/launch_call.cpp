// Checks and packs a launch.
#include "hip/launch_call.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "device/launch.h"
#include "device/support.h"

namespace amdgpu {

namespace {

constexpr uint32_t kMaxThreads = 1024, kMaxGridX = 0x7fffffff, kMaxGridYz = 65536;
constexpr uint64_t kMaxItemsX = 0xffffffff;

// HIP_LAUNCH_PARAM_*: the tags of the list that `extra` points to.
constexpr uintptr_t kBufferPointer = 1, kBufferSize = 2, kListEnd = 3;
constexpr int kMaxListEntries = 16;

// What is wrong with a call.
struct Refused {
  int code = 0;
  const char* why = "";
};

// Configurations that ROCm 7 gives a code of their own.
int configuration_error() {
  return runtime().settings.major() >= 7 ? error::InvalidConfiguration : error::InvalidValue;
}

Refused check_shape(const LaunchCall& call, const Kernel& k) {
  const auto& [gx, gy, gz] = call.grid;
  const auto& [bx, by, bz] = call.block;
  if (gx > kMaxGridX || gy > kMaxGridYz || gz > kMaxGridYz) return {error::InvalidValue, "grid too large"};
  if (!gx || !gy || !gz) return {configuration_error(), "grid dimension 0"};
  if (!bx || !by || !bz) return {configuration_error(), "block dimension 0"};
  if (uint64_t{gx} * bx > kMaxItemsX) return {error::InvalidConfiguration, "more than 2^32-1 work-items in x"};
  const uint64_t threads = uint64_t{bx} * by * bz;
  if (std::max({bx, by, bz}) > kMaxThreads || threads > kMaxThreads)
    return {configuration_error(), "more than 1024 threads in a block"};
  if (call.dynamic_lds > kLdsBytes || k.lds_bytes + call.dynamic_lds > kLdsBytes)
    return {error::InvalidValue, "more than 64 KiB of LDS"};
  if (threads > k.max_block) return {error::LaunchFailure, "block larger than the kernel's launch bounds"};
  return {};
}

Refused pack_parameters(const Kernel& k, void** parameters, std::vector<uint8_t>& to) {
  size_t i = 0;
  for (const Argument& a : k.arguments) {
    if (a.hidden()) continue;
    if (!parameters[i]) return {error::InvalidValue, "null entry in kernelParams"};
    memcpy(&to[a.offset], parameters[i++], a.size);
  }
  return {};
}

Refused pack_buffer(const Kernel& k, void** extra, std::vector<uint8_t>& to) {
  const void* buffer = nullptr;
  size_t bytes = 0;
  bool ended = false;
  for (int i = 0; i < kMaxListEntries && !ended; i += 2) {
    const auto tag = reinterpret_cast<uintptr_t>(extra[i]);
    if (tag == kListEnd)
      ended = true;
    else if (tag == kBufferPointer)
      buffer = extra[i + 1];
    else if (tag == kBufferSize)
      bytes = *static_cast<size_t*>(extra[i + 1]);
    else
      break;
  }
  if (!ended || !buffer) return {error::InvalidValue, "bad extra list"};
  if (bytes < k.explicit_bytes) return {error::InvalidValue, "argument buffer smaller than the kernel's arguments"};
  memcpy(to.data(), buffer, std::min<size_t>(bytes, k.argument_bytes));
  return {};
}

Refused pack_arguments(const LaunchCall& call, const Kernel& k, std::vector<uint8_t>& to) {
  to.resize(k.argument_bytes);
  if (!k.explicit_count) return {};
  if (call.parameters) return pack_parameters(k, call.parameters, to);
  if (call.extra) return pack_buffer(k, call.extra, to);
  return {error::InvalidValue, "no kernel arguments"};
}

Refused prepare(const LaunchCall& call, Kernel& k, const Stream& stream, Launch& l) {
  if (call.parameters && call.extra) return {error::InvalidValue, "kernelParams and extra are both given"};
  if (const Refused r = check_shape(call, k); r.code) return r;
  if (k.module->device != stream.device)
    return {error::InvalidDevice, "the module was loaded on another device than the stream's"};
  l.kernel = &k;
  std::copy(call.grid, call.grid + 3, l.grid);
  std::copy(call.block, call.block + 3, l.block);
  l.dynamic_lds = static_cast<uint32_t>(call.dynamic_lds);
  return pack_arguments(call, k, l.arguments);
}

// A fault ends the process as the GPU driver would, unless AMDEMU_FAULT=error.
int report_fault(const std::string& message) {
  log("%s", message.c_str());
  if (runtime().settings.fault_aborts) {
    log("aborting, as the GPU driver would (AMDEMU_FAULT=error returns hipErrorIllegalAddress instead)");
    print_statistics();
    abort();
  }
  return error::IllegalAddress;
}

int run_launch(const Launch& l) {
  std::string message;
  const Status status = run(l, message);
  if (status == kIllegalAddress) return report_fault(message);
  if (status) {
    log("%s", message.c_str());
    return status;
  }
  for (const Device& d : devices())
    if (!check_canaries(d.id, message)) return report_fault("kernel " + l.kernel->name + ": " + message);
  return 0;
}

}  // namespace

int find_function(hipFunction_t handle, FunctionHandle*& function) {
  auto it = runtime().functions.find(reinterpret_cast<FunctionHandle*>(handle));
  if (!handle || it == runtime().functions.end()) return error::InvalidHandle;
  function = it->second.get();
  return 0;
}

int launch(const LaunchCall& call) {
  HIP_TRY(need_device());
  std::shared_ptr<Stream> stream;
  if (find_stream(call.stream, stream)) return error::InvalidValue;
  FunctionHandle* function;
  if (find_function(call.function, function)) {
    log("%s: invalid function handle", call.who);
    return error::InvalidHandle;
  }
  Kernel& k = *function->kernel;
  Launch l;
  if (const Refused r = prepare(call, k, *stream, l); r.code) {
    log("%s(%s): %s", call.who, k.name.c_str(), r.why);
    return r.code;
  }
  if (runtime().settings.trace)
    log("launch %s grid %u %u %u block %u %u %u lds %u+%zu", k.name.c_str(), l.grid[0], l.grid[1], l.grid[2],
        l.block[0], l.block[1], l.block[2], k.lds_bytes, call.dynamic_lds);
  auto work = [l, keep = function->module] { return run_launch(l); };
  if (runtime().settings.async || stream->capture) return submit(*stream, KernelNode, work);
  HIP_TRY(check_stream(*stream));
  int status = 0;
  enqueue(*stream, [&] {
    status = work();
    return status == error::NotSupported ? 0 : status;
  });
  return status == error::NotSupported ? status : 0;
}

int occupancy(const Kernel& k, int block, size_t dynamic_lds) {
  constexpr int kSimds = 4, kMaxBlocks = 32;
  constexpr size_t kLdsGranule = 512;
  const Arch& a = *devices()[k.module->device].arch;
  if (block <= 0 || block > static_cast<int>(k.max_block) || k.lds_bytes + dynamic_lds > kLdsBytes) return 0;
  const auto granule = static_cast<uint64_t>(a.vgpr_granule);
  const int registers = static_cast<int>(round_up(std::max(k.vgprs, 1u), granule));
  const int waves = std::min(a.waves_per_simd, a.vgprs_per_simd / registers) * kSimds;
  int blocks = waves / ((block + a.wave - 1) / a.wave);
  const size_t lds = round_up(k.lds_bytes + dynamic_lds, kLdsGranule);
  const size_t lds_of_multiprocessor = a.wave == 64 ? kLdsBytes : 2 * kLdsBytes;
  if (lds) blocks = std::min(blocks, static_cast<int>(lds_of_multiprocessor / lds));
  return std::min(blocks, kMaxBlocks);
}

}  // namespace amdgpu
